import Testing

@testable import ServiceMesh
import ServiceMeshTesting

@Suite struct FaultTests {
    private static let rules: [String: [FaultPlan.Fault]] = [
        "test.echo": [.delay(milliseconds: 0...9), .fail(.unavailable, percent: 30)]
    ]

    private func verdicts(seed: UInt64, calls: Int = 1_000) -> [[FaultPlan.Verdict]] {
        let plan = FaultPlan(seed: seed, rules: Self.rules)
        return (0..<calls).map { call in
            // Calls of others in between change nothing.
            if call % 3 == 0 { _ = plan.verdicts(for: "test.hold") }
            return plan.verdicts(for: "test.echo")
        }
    }

    @Test func aSeedDecidesEveryFault() {
        #expect(verdicts(seed: 1) == verdicts(seed: 1))
        #expect(verdicts(seed: 1) != verdicts(seed: 2))
        let failed = verdicts(seed: 1).count { $0.contains(.fail(.unavailable)) }
        #expect((240...360).contains(failed))
        let delays = Set(verdicts(seed: 1).compactMap(\.first).map { "\($0)" })
        #expect(delays.count == 10, "every delay of the range comes up")
    }

    @Test func failuresOnPurposeAreCountedAndTheServiceIsNotAsked() async throws {
        let workshop = Workshop()
        let mesh = try Mesh(
            services: [workshop], journal: MemoryJobJournal(),
            faults: FaultPlan(seed: 7, rules: ["test.hold": [.fail(.dataLoss, percent: 100)]]))
        try await mesh.start()
        for _ in 0..<20 { #expect(await meshStatus { _ = try await mesh.send(Hold(text: "")) } == .dataLoss) }
        // Its gate is closed, so a call that had come through would not have ended.
        let counts = try await mesh.counts("test.hold")
        #expect(counts.admitted == 20 && counts.failed == 20 && counts.inFlight == 0)
        #expect(try await mesh.send(Echo(text: "x")).text == "x")
        await mesh.stop()
    }

    @Test func aDeadlineHoldsForDelaysOnPurpose() async throws {
        let mesh = try Mesh(
            services: [Workshop()], journal: MemoryJobJournal(),
            faults: FaultPlan(seed: 7, rules: ["test.echo": [.delay(milliseconds: 600_000...600_000)]]))
        try await mesh.start()
        #expect(
            await meshStatus { _ = try await mesh.send(Echo(text: ""), deadline: .after(milliseconds: 20)) }
                == .deadlineExceeded)
        #expect(try await mesh.counts("test.echo").inFlight == 0)
        await mesh.stop()
    }
}
