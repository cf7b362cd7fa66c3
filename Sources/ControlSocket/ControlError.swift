import Glibc
import ServiceMesh

/// What goes wrong with the socket itself. Errors of a request are the mesh's, as ``/ServiceMesh/MeshError``.
public enum ControlError: Error, Sendable, Equatable, CustomStringConvertible {
    /// Nothing listens at `path`.
    case notRunning(path: String)
    /// Something listens, but this user may not connect.
    case cannotConnect(path: String, reason: String)
    /// Another user's process listens, who would read what is said to it.
    case foreign(path: String, uid: UInt32)
    /// Something listens, and no word came from it; `pid` is 0 where the system does not say whose socket it is.
    case notAnswering(path: String, pid: Int32)
    /// Another process answers at `path`; `pid` is 0 where the system does not say.
    case alreadyServed(path: String, pid: Int32)
    /// The socket cannot be made at `path`; `reason` says why and what to do.
    case unusableAddress(path: String, reason: String)
    /// The other side broke the protocol.
    case protocolViolation(String)
    /// The connection ended before the answer came.
    case closed(String)
    /// The system refused something that the socket needs: descriptors, memory.
    case system(operation: String, errno: Int32)

    /// Why connecting failed, by its error number.
    public init(connecting path: String, _ code: Int32) {
        self =
            switch code {
            case ENOENT, ECONNREFUSED, ENOTDIR: .notRunning(path: path)
            case EAGAIN: .notAnswering(path: path, pid: 0)
            default: .cannotConnect(path: path, reason: SystemCall.reason(code))
            }
    }

    public var description: String {
        switch self {
        case .notRunning(let path):
            "No daemon answers at \(path). Start it with 'smilepile up', or in the foreground with 'smilepiled'."
        case .cannotConnect(let path, let reason): "The daemon at \(path) cannot be reached: \(reason)."
        case .foreign(let path, let uid):
            "Another user (\(uid)) answers at \(path), and nothing was sent to them. Name your own daemon's socket with --socket, or start "
                + "one at another place."
        case .notAnswering(let path, let pid):
            "The daemon at \(path) is not answering\(pid > 0 ? ", process \(pid)" : ""). It may be stopped or hang. Try "
                + "again; if it stays so, end it with 'smilepile down'."
        case .alreadyServed(let path, let pid):
            "Another daemon\(pid > 0 ? " (process \(pid))" : "") answers at \(path). Stop it first with "
                + "'smilepile down', or choose another socket with --socket."
        case .unusableAddress(let path, let reason): "The socket \(path) cannot be used: \(reason)."
        case .protocolViolation(let what):
            "The other side does not speak this protocol: \(what). Are both of the same version?"
        case .closed(let why): "The connection ended before the answer came: \(why). Connect again."
        case .system(let operation, let errno):
            "The system refused \(operation): \(SystemCall.reason(errno)). Free some resources and try again."
        }
    }
}

extension ControlError: MeshErrorConvertible {
    public var meshError: MeshError {
        switch self {
        case .notRunning, .closed, .cannotConnect: MeshError(.unavailable, description)
        case .notAnswering(_, let pid):
            MeshError(.unavailable, description, details: pid > 0 ? ["pid": .integer(Int64(pid))] : [:])
        case .alreadyServed(_, let pid):
            MeshError(.failedPrecondition, description, details: ["pid": .integer(Int64(pid))])
        case .unusableAddress, .foreign: MeshError(.failedPrecondition, description)
        case .protocolViolation: MeshError(.internal, description)
        case .system: MeshError(.resourceExhausted, description)
        }
    }
}
