import CLinux
import Foundation
import ServiceMesh

/// What the keeper of a home's authority says to the program that serves the page: one message for each, and nothing comes back.
package enum HomeUpdate: Codable, Sendable, Equatable {
    /// Two sockets that listen at this address come with it: the page's, then the door's.
    case opened(address: String)
    case state(HomeState)
    /// Why nothing comes any more.
    case failed(String)

    /// Bytes at most.
    static let most = 64 << 10
}

/// What a home's page shows from now on.
package struct HomeState: Codable, Sendable, Equatable {
    /// Where the page and its door listen, the likeliest first. What is not among them is closed.
    package var addresses: [String]
    /// PEM.
    package var key, certificate: String
    /// Seconds since 1970.
    package var certificateEnds, authorityEnds: Int64
    package var authorityName: String
    /// DER: what devices install.
    package var authority: Data
    /// As people compare it.
    package var fingerprint: String
    /// For iPhones, by language.
    package var profiles: [String: Data]
    /// For the log, in this program's words.
    package var notes: [String]

    package init(_ certificates: HomeCertificates, addresses: [PrivateAddress]) {
        self.addresses = addresses.map(\.text)
        (key, certificate) = (certificates.server.key, certificates.server.certificate)
        (certificateEnds, authorityEnds) = (certificates.server.ends, certificates.authority.ends)
        authorityName = certificates.authority.name
        authority = certificates.authority.certificate
        fingerprint = certificates.authority.shownFingerprint
        profiles = Dictionary(
            uniqueKeysWithValues: InstallationProfile.Language.allCases.map {
                ($0.rawValue, InstallationProfile.make(for: certificates.authority, in: $0))
            })
        notes = certificates.notes
    }
}

/// One end of the conversation between the keeper and the page's program.
package struct HomeConversation: Sendable {
    package let descriptor: Int32

    package init(_ descriptor: Int32) { self.descriptor = descriptor }

    /// Blocks while the other side does not read.
    /// - Returns: false where the other side is gone.
    func send(_ update: HomeUpdate, sockets: [Int32] = []) -> Bool {
        guard let bytes = try? JSONEncoder().encode(update), bytes.count <= HomeUpdate.most else { return false }
        return bytes.withUnsafeBytes {
            clinux_send_with_descriptors(descriptor, $0.baseAddress, $0.count, sockets, Int32(sockets.count))
        } == bytes.count
    }

    /// The next message; nil where none comes any more. Blocks. The sockets are the caller's.
    package func next() -> (update: HomeUpdate, sockets: [Int32])? {
        var room = [UInt8](repeating: 0, count: HomeUpdate.most)
        var sockets: [Int32] = [-1, -1]
        var arrived: Int32 = 0
        let count = clinux_receive_with_descriptors(
            descriptor, &room, room.count, &sockets, Int32(sockets.count), &arrived)
        sockets = Array(sockets.prefix(Int(arrived)))
        guard count > 0, let update = try? JSONDecoder().decode(HomeUpdate.self, from: Data(room.prefix(count))) else {
            for socket in sockets { close(socket) }
            return nil
        }
        return (update, sockets)
    }
}
