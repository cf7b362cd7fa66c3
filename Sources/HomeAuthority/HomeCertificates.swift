import Foundation
import ServiceMesh

/// What a home's server is to show, kept right as time goes by: the authority, and a certificate that it has signed for the addresses and
/// names of now. Blocks where the authority's file is read or made.
package struct HomeCertificates {
    private let file: AuthorityFile
    package private(set) var authority: Authority
    package private(set) var server: ServerCertificate
    /// Sentences for the log, and for who starts the page.
    package private(set) var notes: [String] = []

    /// - Throws: `MeshError`; the file system's errors.
    package init(file: AuthorityFile, addresses: [PrivateAddress], names: [String], now: Int64) throws {
        self.file = file
        let (made, isNew) = try file.make(names: names, now: now)
        authority = made
        if isNew {
            notes.append("made this home's authority, \(made.name), in \(file.path); each device installs it once")
        }
        var notes: [String] = []
        authority = try Self.unexpired(made, file, names, now, &notes)
        server = try authority.serverCertificate(addresses: addresses, names: names, now: now)
        self.notes += notes + Self.early(authority, now)
    }

    /// Looks at the clock, at the file, at the addresses and names.
    /// - Returns: whether the server has to show something else from now on.
    /// - Throws: as the initialiser; what was shown until now is still there.
    package mutating func look(addresses: [PrivateAddress], names: [String], now: Int64) throws -> Bool {
        notes = []
        var current = authority
        do {
            // Put back, or exchanged. Where it is gone, the one in memory goes on: nothing else could be shown that devices know.
            if let kept = try file.read(), kept != current {
                current = kept
                notes.append("the authority has changed, and is \(kept.name) now; each device installs it once")
            }
        } catch {
            notes.append(MeshError(describing: error).message)
        }
        current = try Self.unexpired(current, file, names, now, &notes)
        if current == authority, server.isGood(authority: current, addresses: addresses, names: names, now: now) {
            return false
        }
        server = try current.serverCertificate(addresses: addresses, names: names, now: now)
        authority = current
        return true
    }

    private static func unexpired(
        _ authority: Authority, _ file: AuthorityFile, _ names: [String], _ now: Int64, _ notes: inout [String]
    ) throws -> Authority {
        guard now >= authority.ends else { return authority }
        let made = try file.replace(authority, names: names, now: now)
        notes.append(
            "the authority \(authority.name) has expired, so there is a new one, \(made.name): each device has to install "
                + "it once more. Was the clock wrong? Then put the old file back, which lies beside \(file.path)")
        return made
    }

    /// It is not made anew where it seems to be of the future: a machine without a battery begins each day in 1970, and every device
    /// would have to install the new one.
    private static func early(_ authority: Authority, _ now: Int64) -> [String] {
        guard now < authority.begins else { return [] }
        return ["this machine's clock stands before the time when its authority was made; set it right"]
    }
}
