import CLinux
import Foundation

/// Which web program serves a daemon, and where: a file beside the daemon's socket, locked for as long as the program runs.
///
/// The lock says whether it runs, and the kernel takes it away with the process, however that ends. So the file itself may
/// stay behind, and the web program needs no right to remove it.
public struct WebRecord: Codable, Sendable, Equatable {
    public let pid: Int32
    /// `http://127.0.0.1:8468`: for browsers, without a slash at its end.
    public let address: String
    /// Numeric, with the port: `0.0.0.0:8468`.
    public let listens: String
    /// Where it serves a home under an authority of its own; nil where it does not.
    public let home: Home?

    /// A home's address.
    public struct Home: Codable, Sendable, Equatable {
        /// `https://192.168.1.5:8468`, the likeliest first; none while this machine is in no home's network.
        public let addresses: [String]
        /// `http://192.168.1.5:8469`, in the same order: where a device gets the authority's certificate.
        public let doors: [String]
        /// The authority, as devices show it.
        public let authority: String
        /// SHA-256 of its certificate, as people compare it.
        public let fingerprint: String
        /// When the server's certificate ends, unless it is renewed before; when the authority's does. Seconds since 1970.
        public let certificateEnds, authorityEnds: Int64

        public init(
            addresses: [String], doors: [String], authority: String, fingerprint: String, certificateEnds: Int64,
            authorityEnds: Int64
        ) {
            self.addresses = addresses
            self.doors = doors
            self.authority = authority
            self.fingerprint = fingerprint
            self.certificateEnds = certificateEnds
            self.authorityEnds = authorityEnds
        }
    }

    public init(pid: Int32, address: String, listens: String, home: Home? = nil) {
        self.pid = pid
        self.address = address
        self.listens = listens
        self.home = home
    }

    /// The largest that is read.
    private static let bytes = 8_192

    /// For the daemon that listens at `socket`.
    public static func path(socket: String) -> String { socket + ".web" }

    /// The page's program that runs for this daemon; nil where none does.
    public static func running(socket: String) -> WebRecord? {
        let descriptor = clinux_open(path(socket: socket), O_RDONLY | O_NOFOLLOW | O_NONBLOCK, 0)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        // Where the lock can be had, no program of the page runs.
        guard flock(descriptor, LOCK_SH | LOCK_NB) != 0, errno == EWOULDBLOCK else { return nil }
        var room = [UInt8](repeating: 0, count: bytes)
        let count = pread(descriptor, &room, room.count, 0)
        guard count > 0 else { return nil }
        return try? JSONDecoder().decode(WebRecord.self, from: Data(room.prefix(count)))
    }

    /// The turn to serve a daemon, held until the value goes.
    public final class Claim: Sendable {
        private let descriptor: Int32

        /// - Throws: ``ControlError/unusableAddress(path:reason:)`` where another one has it, or the file cannot be written.
        public init(socket: String) throws {
            let path = WebRecord.path(socket: socket)
            try ControlAddress.checkLength(socket)
            try SocketFolder.prepare(for: path)
            descriptor = clinux_open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK, 0o600)
            guard descriptor >= 0 else {
                throw ControlError.unusableAddress(path: path, reason: SystemCall.reason(errno))
            }
            guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
                close(descriptor)
                let other = WebRecord.running(socket: socket).map { " (process \($0.pid), at \($0.address))" } ?? ""
                throw ControlError.unusableAddress(
                    path: path,
                    reason: "another web program\(other) serves this daemon; stop it first with 'smilepile web stop'")
            }
        }

        deinit { close(descriptor) }

        /// Says who has it. Again, where that changes.
        ///
        /// Always of one length: a program in a cell may write to its file and not cut it, and who reads meanwhile finds a whole one.
        /// - Throws: ``ControlError``.
        public func write(_ record: WebRecord) throws {
            guard var bytes = try? JSONEncoder().encode(record), bytes.count < WebRecord.bytes else {
                throw ControlError.system(operation: "a file beside the socket", errno: EFBIG)
            }
            bytes.append(contentsOf: repeatElement(UInt8(ascii: " "), count: WebRecord.bytes - bytes.count))
            guard bytes.withUnsafeBytes({ pwrite(descriptor, $0.baseAddress, $0.count, 0) }) == bytes.count
            else { throw ControlError.system(operation: "a file beside the socket", errno: errno) }
        }
    }
}
