import ServiceMesh
import TestSupport
import Testing

/// What a health check says when it is itself called off.
@Suite struct HealthTests {
    @Test func aCheckThatIsCalledOffBlamesNoService() async throws {
        let patient = Patient()
        let mesh = try Mesh(services: [patient])
        try await mesh.start()
        let checking = Task { try await mesh.send(CheckMeshHealth()) }
        await patient.gate.arrivals(1)
        checking.cancel()
        patient.gate.open()
        let ended = await checking.result
        #expect(throws: MeshError.self) { try ended.get() }
        #expect((ended.failure as? MeshError)?.status == .cancelled)
        #expect(try await mesh.send(CheckMeshHealth()).isHealthy)
        await mesh.stop()
    }

    /// Looks at itself through calls that can be cancelled, as one does that reads its database.
    private actor Patient: MeshService {
        static let serviceName = "Patient"
        static var messages: MessageList<Patient> {}
        nonisolated let gate = Gate()

        func checkHealth() async throws {
            await gate.pass()
            try Task.checkCancellation()
        }
    }
}

extension Result {
    fileprivate var failure: Failure? {
        if case .failure(let error) = self { error } else { nil }
    }
}
