import CCell
import ControlSocket
import Executors
import Foundation
import ServiceMesh

/// Makes connections to a daemon's door for a program in a cell, which cannot make any itself: a process of its own, outside, that
/// knows this one address and does nothing else.
public struct Connector: Sendable {
    fileprivate let descriptor: Int32
    fileprivate let path: String
    /// Whom the daemon has to belong to. Asked before the cell, in which numbers of users may mean nothing.
    fileprivate let user: UInt32

    /// While there is one thread, and before the cell.
    /// - Parameter socket: the daemon's, beside which its door is.
    /// - Throws: `MeshError`.
    public init(socket: String) throws {
        let door = ControlAddress.door(of: socket)
        descriptor = ccell_start_connector(door)
        guard descriptor >= 0 else {
            throw MeshError(
                .failedPrecondition,
                "What connects to the daemon cannot be started: \(String(cString: strerror(errno)).lowercased()) (\(door))."
            )
        }
        path = socket
        user = geteuid()
    }
}

/// A daemon's door: each connection begins as nobody's, and becomes that of the device whose token comes over it first.
public final class Door: Sendable {
    private let connector: Connector
    // The connector answers one after the other, and may wait for the daemon.
    private let thread = BlockingPool(name: "door", threads: 1)

    /// - Parameters:
    ///   - connector: the door's alone from now on.
    ///   - onLoss: called when the connector is gone, without which the daemon is out of reach for good.
    public init(_ connector: Connector, onLoss: @escaping @Sendable () -> Void) {
        self.connector = connector
        let descriptor = connector.descriptor
        let watch = Thread {
            // For nothing but the end of the other side.
            var end = pollfd(fd: descriptor, events: 0, revents: 0)
            while poll(&end, 1, -1) <= 0 {}
            onLoss()
        }
        watch.name = "door-watch"
        watch.stackSize = 512 << 10
        watch.start()
    }

    /// - Throws: `ControlError` where nothing listens there.
    public func connect() async throws -> any DaemonConnection {
        let (descriptor, path) = (connector.descriptor, connector.path)
        let answer = try await thread.run { ccell_ask_connector(descriptor) }
        guard answer >= 0 else { throw ControlError(connecting: path, -answer) }
        return SocketConnection(try ControlClient(connected: answer, path: path, user: connector.user))
    }
}
