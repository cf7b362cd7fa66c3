import ServiceMesh
import ServiceMeshTesting
import TestSupport
import Testing

@Suite struct HealthTests {
    /// A service whose check stands at a gate.
    private actor Hanging: MeshService {
        static let serviceName = "Hanging"
        static var messages: MessageList<Hanging> {}
        nonisolated let gate = Gate()
        nonisolated let log = EventLog()

        nonisolated func checkHealth() async {
            log.add("checked")
            await gate.pass()
        }
    }

    @Test func aServiceThatHangsIsNamedAndHoldsUpNobody() async throws {
        let hanging = Hanging()
        let mesh = try Mesh(services: [hanging, Workshop()], journal: MemoryJobJournal())
        try await mesh.start()
        let health = await mesh.health(within: 20)
        #expect(health.services.filter { $0.problem != nil }.map(\.name) == ["Hanging"])
        #expect(health.services.first { $0.name == "Hanging" }?.problem?.status == .deadlineExceeded)
        hanging.gate.open()
        await mesh.stop()
    }

    @Test func itIsCheckedOnceHoweverOftenSomebodyAsks() async throws {
        let hanging = Hanging()
        let mesh = try Mesh(services: [hanging], journal: MemoryJobJournal())
        try await mesh.start()
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<50 { group.addTask { #expect(await !mesh.health(within: 20).isHealthy) } }
        }
        #expect(hanging.log.all == ["checked"])
        // Once the check comes back, whoever waits for it has its answer, and the next one is a new one.
        async let joined = mesh.health(within: 600_000)
        hanging.gate.open()
        #expect(await joined.isHealthy)
        #expect(await mesh.health(within: 600_000).isHealthy)
        #expect(hanging.log.all.count >= 2)
        await mesh.stop()
    }

    @Test func aFloodOfQuestionsDoesNotShutTheWatchdogOut() async throws {
        let hanging = Hanging()
        let mesh = try Mesh(services: [hanging], journal: MemoryJobJournal())
        try await mesh.start()
        let (refusals, refused) = AsyncStream.makeStream(of: Void.self)
        let flood = (0..<400).map { _ in
            Task {
                let status = await meshStatus { _ = try await mesh.send(CheckMeshHealth()) }
                if status == .resourceExhausted { refused.yield() }
            }
        }
        for await _ in refusals { break }
        async let health = mesh.health(within: 600_000)
        hanging.gate.open()
        #expect(await health.isHealthy)
        for task in flood { await task.value }
        await mesh.stop()
    }

    @Test func aCheckThatIsCalledOffBlamesNoService() async throws {
        let patient = Patient()
        let mesh = try Mesh(services: [patient], journal: MemoryJobJournal())
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
