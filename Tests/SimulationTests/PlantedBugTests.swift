import Foundation
import ServiceMesh
import ServiceMeshTesting
import Testing

/// A bug of the kind that reviews miss: simulation and checker have to find it, and nothing where it is not.
@Suite struct PlantedBugSimulationTests {
    private static func scenario(actsLate: Bool) -> @Sendable (Simulation) async throws -> Void {
        { simulation in
            let mesh = try Mesh(
                services: [NameRegistry(actsLate: actsLate)], journal: MemoryJobJournal(), clock: simulation.clock)
            try await mesh.start()
            let history = NameModel.Record(in: simulation)
            await NameModel.exercise(mesh, clients: 3, operations: 4, recording: history) { simulation.choose($0) }
            await mesh.stop()
            try Linearizability.check(history.operations, against: NameModel(), by: \.name)
        }
    }

    // A seed to be replayed is another test's.
    @Test(.disabled(if: ProcessInfo.processInfo.environment["SMILEPILE_SEED"] != nil, "one seed is replayed"))
    func findsAStoreThatActsAfterAnAwaitOnWhatItCheckedBefore() async throws {
        let failure = try #require(
            await #expect(throws: SimulationFailure.self) {
                try await Simulation.explore("a planted bug", seeds: 1000, Self.scenario(actsLate: true))
            })
        #expect(failure.reason.contains("Not linearizable"))
        #expect(failure.description.contains("SMILEPILE_SEED=\(failure.run.seed) "))
        print("The planted bug was found with seed \(failure.run.seed).")
        // What a person does next: the same seed again, and it goes the same way.
        let replay = await Simulation.run(seed: failure.run.seed, Self.scenario(actsLate: true))
        #expect(replay.digest == failure.run.digest)
        #expect(replay.failure == failure.run.failure)
    }

    @Test func findsNothingInTheSameStoreWithoutTheBug() async throws {
        try await Simulation.explore("names", seeds: 1000, Self.scenario(actsLate: false))
    }
}
