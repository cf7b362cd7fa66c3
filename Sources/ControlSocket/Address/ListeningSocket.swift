import CLinux
import Foundation
import Synchronization

/// A socket that listens, mode 0600 from its first moment, and its name in the file system.
public final class ListeningSocket: Sendable {
    /// Connections that wait for the reactor; it takes them in microseconds.
    private static let backlog: Int32 = 128

    let descriptor: Int32
    public let path: String
    /// What the name stood for when this socket was bound, so that another's socket is never unlinked. Nil where
    /// the name is not ours: the socket was handed over by the service manager.
    private let identity: Mutex<Identity?>

    private struct Identity: Equatable {
        let device: UInt64
        let inode: UInt64

        init?(path: String) {
            var facts = stat()
            guard lstat(path, &facts) == 0 else { return nil }
            device = UInt64(facts.st_dev)
            inode = UInt64(facts.st_ino)
        }
    }

    /// Listens at `path`; its folder is made (0700) where it is missing.
    ///
    /// A name left behind by a process that ended is removed. The caller holds the library's lock: that, not the
    /// name, decides who serves.
    /// - Throws: ``ControlError/alreadyServed(path:pid:)`` where someone answers there,
    ///   ``ControlError/unusableAddress(path:reason:)`` where the folder is not private or the path too long.
    public init(at path: String) throws {
        try ControlAddress.checkLength(path)
        try SocketFolder.prepare(for: path)
        try Self.removeStale(path)
        let descriptor = clinux_unix_socket()
        guard descriptor >= 0 else { throw ControlError.system(operation: "a socket", errno: errno) }
        guard clinux_unix_bind(descriptor, path, 0o600) == 0 else {
            let code = errno
            close(descriptor)
            throw ControlError.unusableAddress(path: path, reason: SystemCall.reason(code))
        }
        self.descriptor = descriptor
        self.path = path
        identity = Mutex(Identity(path: path))
        guard listen(descriptor, Self.backlog) == 0 else {
            throw ControlError.unusableAddress(path: path, reason: SystemCall.reason(errno))
        }
    }

    /// Takes over a socket that listens already, as a service manager hands it over.
    /// - Throws: ``ControlError/unusableAddress(path:reason:)`` where it is not a listening Unix stream socket.
    public init(inherited descriptor: Int32) throws {
        var name = [CChar](repeating: 0, count: Int(CLINUX_UNIX_PATH_MAXIMUM) + 1)
        guard clinux_is_unix_listener(descriptor) == 1, clinux_unix_path(descriptor, &name, name.count) == 0,
            clinux_set_nonblocking(descriptor) == 0, fcntl(descriptor, F_SETFD, FD_CLOEXEC) == 0
        else {
            throw ControlError.unusableAddress(
                path: "descriptor \(descriptor)",
                reason: "it is not a Unix stream socket that listens; the socket unit needs ListenStream= with a path")
        }
        self.descriptor = descriptor
        path = String(decoding: name.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
        identity = Mutex(nil)
    }

    /// The first descriptor handed over by socket activation (`LISTEN_PID`, `LISTEN_FDS`), nil where there is none.
    public static func inherited(
        environment: [String: String] = ProcessInfo.processInfo.environment, pid: Int32 = getpid()
    ) throws -> ListeningSocket? {
        guard let intended = environment["LISTEN_PID"].flatMap({ Int32($0) }), intended == pid,
            let count = environment["LISTEN_FDS"].flatMap({ Int($0) }), count > 0
        else { return nil }
        return try ListeningSocket(inherited: 3)
    }

    deinit {
        withdraw()
        close(descriptor)
    }

    /// Whether nothing has its name any more: somebody emptied the folder, as the end of a login session does. False where the
    /// name is another's by now, or was never this socket's.
    var hasLostItsName: Bool {
        guard identity.withLock({ $0 != nil }) else { return false }
        var facts = stat()
        return lstat(path, &facts) != 0 && (errno == ENOENT || errno == ENOTDIR)
    }

    /// Takes the name away, where it is still this socket's. What is connected stays connected.
    public func withdraw() {
        let ours = identity.withLock { identity in
            defer { identity = nil }
            return identity
        }
        if let ours, Identity(path: path) == ours { unlink(path) }
    }

    private static func removeStale(_ path: String) throws {
        var facts = stat()
        guard lstat(path, &facts) == 0 else { return }
        guard facts.st_mode & UInt32(S_IFMT) == UInt32(S_IFSOCK) else {
            throw ControlError.unusableAddress(
                path: path, reason: "something else has that name; move it away, or choose another with --socket")
        }
        let probe = clinux_unix_socket()
        guard probe >= 0 else { throw ControlError.system(operation: "a socket", errno: errno) }
        defer { close(probe) }
        if clinux_unix_connect(probe, path) == 0 {
            throw ControlError.alreadyServed(path: path, pid: Peer(socket: probe)?.pid ?? 0)
        }
        switch errno {
        case ECONNREFUSED: unlink(path)
        case ENOENT: break
        case EAGAIN: throw ControlError.alreadyServed(path: path, pid: 0)
        default: throw ControlError.unusableAddress(path: path, reason: SystemCall.reason(errno))
        }
    }
}
