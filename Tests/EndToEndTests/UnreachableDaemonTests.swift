import ControlSocket
import EndToEndSupport
import Foundation
import Testing

/// A daemon that answers nobody: the owner is told, and can stop it.
@Suite(.serialized, .timeLimit(.minutes(5))) struct UnreachableDaemonTests {
    /// Connections that are held, each with half a line, until the value goes.
    private final class HeldConnections: Sendable {
        private let sockets: [Int32]

        init(_ count: Int, to path: String) {
            var sockets: [Int32] = []
            for _ in 0..<count {
                let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue), 0)
                var address = sockaddr_un()
                address.sun_family = sa_family_t(AF_UNIX)
                withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
                let size = socklen_t(MemoryLayout<sockaddr_un>.size)
                _ = withUnsafePointer(to: &address) {
                    $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(descriptor, $0, size) }
                }
                _ = send(descriptor, "{", 1, Int32(MSG_NOSIGNAL))
                sockets.append(descriptor)
            }
            self.sockets = sockets
        }

        deinit { for socket in sockets { close(socket) } }
    }

    @Test func withAllConnectionsHeldItIsStoppedAllTheSame() async throws {
        let place = try Installation("held")
        try await place.up()
        let held = HeldConnections(128, to: place.socket)
        let status = try await place.smilepile("status")
        #expect(status.status == 4 && status.errors.contains("128 connections"), "\(status)")
        let down = try await place.smilepile("down", "--json")
        #expect(down.status == 0 && down.output.contains("\"stopped\":true"), "\(down)")
        #expect(place.daemonPID == nil)
        withExtendedLifetime(held) {}
    }

    @Test func oneThatIsSuspendedIsGivenUpAndNamedAndCanBeStopped() async throws {
        let place = try Installation("suspended")
        try await place.up()
        let pid = try #require(place.daemonPID)
        kill(pid, SIGSTOP)
        let status = try await place.smilepile("status")
        #expect(status.status == 4 && status.errors.contains("not answering, process \(pid)"), "\(status)")
        // More than its queue holds, so that nobody even gets a connection.
        let held = HeldConnections(200, to: place.socket)
        let ping = try await place.smilepile("ping")
        #expect(ping.status == 4 && ping.errors.contains("not answering"), "\(ping)")
        let down = try await place.smilepile("down")
        #expect(down.status == 0, "\(down)")
        #expect(place.daemonPID == nil)
        withExtendedLifetime(held) {}
    }
}
