import CLinux
import Glibc
import ServiceMesh

/// The process at the other end of a connection, as the kernel knows it (SO_PEERCRED).
public struct Peer: Sendable, Equatable {
    public let pid: Int32
    public let uid: UInt32
    public let gid: UInt32

    public init(pid: Int32, uid: UInt32, gid: UInt32) {
        self.pid = pid
        self.uid = uid
        self.gid = gid
    }

    /// Nil where the kernel does not tell.
    init?(socket: Int32) {
        var pid: pid_t = 0
        var uid: uid_t = 0
        var gid: gid_t = 0
        guard clinux_peer_credentials(socket, &pid, &uid, &gid) == 0 else { return nil }
        self.init(pid: pid, uid: uid, gid: gid)
    }

    /// Whether a client of a user may tell it passphrases and PINs: it is that user's or root's. Root may ask anybody's daemon.
    public func isTrusted(by user: UInt32) -> Bool { uid == user || uid == 0 || user == 0 }

    /// The same user as this process, or root: the role `parent`. Anyone else: none.
    public var standardRole: Role? { uid == geteuid() || uid == 0 ? .parent : nil }
}
