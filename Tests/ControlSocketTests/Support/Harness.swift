import ControlSocket
import Foundation
import ServiceMesh
import ServiceMeshTesting
import TestSupport

/// A server on a socket of its own, in front of a mesh with a ``TestService``.
struct Harness: Sendable {
    let folder: TemporaryFolder
    let path: String
    /// The path of its door.
    let door: String
    let service: TestService
    let mesh: Mesh
    let server: ControlServer

    init(
        _ configuration: ControlServer.Configuration = .init(), services: [any MeshService]? = nil
    ) async throws {
        folder = try TemporaryFolder("socket")
        path = folder.file("c.sock")
        door = ControlAddress.door(of: path)
        service = TestService()
        mesh = try Mesh(services: services ?? [service], journal: MemoryJobJournal())
        try await mesh.start()
        server = try ControlServer(
            mesh: mesh, listener: try ListeningSocket(at: path), door: try ListeningSocket(at: door),
            configuration: configuration)
    }

    init(limits: ControlLimits) async throws {
        try await self.init(ControlServer.Configuration(limits: limits))
    }

    func connect() throws -> RawClient { try RawClient(path: path) }

    func knock() throws -> RawClient { try RawClient(path: door) }

    func client() throws -> ControlClient { try ControlClient(path: path) }

    /// Opens the gates, stops the mesh and the server, in the daemon's order.
    func stop() async {
        service.gate.open()
        service.pageGate.open()
        service.workGate.open()
        await server.drain()
        await mesh.stop()
        await server.close()
    }
}

/// Runs `body` with a server and stops that afterwards, also where `body` throws.
func withHarness(
    _ configuration: ControlServer.Configuration = .init(), _ body: (Harness) async throws -> Void
) async throws {
    let harness = try await Harness(configuration)
    do {
        try await body(harness)
    } catch {
        await harness.stop()
        throw error
    }
    await harness.stop()
}

func withHarness(limits: ControlLimits, _ body: (Harness) async throws -> Void) async throws {
    try await withHarness(ControlServer.Configuration(limits: limits), body)
}
