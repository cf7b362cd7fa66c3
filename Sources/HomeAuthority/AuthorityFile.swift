import Files
import Foundation
import ServiceMesh

/// Where a home's authority is kept: one file with its key and its certificate as PEM, its owner's alone, beside the file of the
/// sealing key and outside of every library's folder. One serves all libraries of its owner. Everything here blocks.
package struct AuthorityFile: Sendable {
    /// Bytes at most; a real one has some 1,500.
    private static let most = 16_384

    private let file: PrivateFile

    package var path: String { file.path }

    /// - Parameter owner: for tests.
    package init(path: String, owner: uid_t = geteuid()) {
        file = PrivateFile(
            path: path, title: "The authority's file", variable: "SMILEPILE_AUTHORITY_FILE", reason: "authority_file",
            owner: owner)
    }

    /// Where it is looked for: `$SMILEPILE_AUTHORITY_FILE`; else `home-authority.pem` beside `$SMILEPILE_KEY_FILE`; else
    /// `smilepile/home-authority.pem` in `$XDG_CONFIG_HOME`, or in `~/.config`. Nil where none of these is set. Not in the folder of a
    /// service manager's credentials, where nothing can be made.
    package static func usual(
        _ environment: [String: String] = ProcessInfo.processInfo.environment
    ) -> AuthorityFile? {
        func absolute(_ name: String) -> String? { environment[name].flatMap { $0.hasPrefix("/") ? $0 : nil } }
        if let named = absolute("SMILEPILE_AUTHORITY_FILE") { return AuthorityFile(path: named) }
        let folder =
            absolute("SMILEPILE_KEY_FILE").map(FileSystem.parent(of:))
            ?? (absolute("XDG_CONFIG_HOME") ?? absolute("HOME").map { $0 + "/.config" }).map { $0 + "/smilepile" }
        return folder.map { AuthorityFile(path: $0 + "/home-authority.pem") }
    }

    // MARK: Reading

    /// - Returns: nil where there is no such file.
    /// - Throws: `failed_precondition`, with what makes it right, for a file that is not the owner's alone, is a link, or
    ///   holds no authority; the file system's errors.
    package func read() throws -> Authority? {
        try file.read { descriptor, status in
            guard status.st_size < Self.most else {
                throw file.refusal("is too large for an authority", "Move it away.")
            }
            var text = [UInt8](repeating: 0, count: Self.most)
            let count = pread(descriptor, &text, text.count, 0)
            guard count >= 0 else { throw FileSystem.Failure(action: "read", path: path, code: errno) }
            guard let authority = try? Authority(pem: Data(text.prefix(count))) else {
                throw file.refusal(
                    "holds no authority of a home that can be read",
                    "Bring the right file back, or remove it: a new one is made then, which each device installs once "
                        + "more.")
            }
            return authority
        }
    }

    // MARK: Making

    /// Makes the file with a new authority, durably, and the folder that it lies in. A file that is there already stays as it is,
    /// and is the one that counts.
    /// - Parameter meanwhile: for tests, between the look for a file and the making of one.
    /// - Returns: whether it was made here.
    /// - Throws: as ``read()``.
    package func make(
        names: [String], now: Int64, meanwhile: () throws -> Void = {}
    ) throws -> (authority: Authority, isNew: Bool) {
        if let there = try read() { return (there, false) }
        try meanwhile()
        let made = try Authority.make(names: names, now: now)
        var isNew = true
        do {
            try write(made) { try FileSystem.renameNew($0, to: path) }
        } catch let failure as FileSystem.Failure where failure.code == EEXIST {
            // Another process was faster; its authority counts.
            isNew = false
        }
        guard let there = try read() else { throw FileSystem.Failure(action: "open", path: path, code: ENOENT) }
        return (there, isNew && there == made)
    }

    /// Makes a new authority in the place of one that has expired, which stays beside it: where the clock was wrong, a person can put
    /// it back.
    package func replace(_ expired: Authority, names: [String], now: Int64) throws -> Authority {
        let made = try Authority.make(names: names, now: now)
        try write(made) { new in
            let folder = FileSystem.parent(of: path)
            let mark = expired.fingerprint.prefix(4).map { String(Int($0) + 256, radix: 16).dropFirst() }.joined()
            try? FileSystem.renameNew(path, to: folder + "/home-authority-expired-\(mark).pem")
            try FileSystem.rename(new, to: path)
        }
        return made
    }

    private func write(_ authority: Authority, place: (String) throws -> Void) throws {
        let pem = try authority.pem()
        try file.write { descriptor in
            try pem.withUnsafeBytes { try FileSystem.write($0, to: descriptor, path) }
        } place: {
            try place($0)
        }
    }
}
