import ServiceMesh
import ServiceMeshTesting
import Testing

/// The real stores over real SQLite, under clients that interleave, give up, run out of time, and lose the database
/// under their hands. Every answer has to be that of the model in some order, everything acknowledged has to be there
/// after a crash, and the library has to keep its rules.
@Suite struct CatalogueSimulationTests {
    private static func scenario(_ template: CatalogueTemplate, crashes: Bool)
        -> @Sendable (Simulation) async throws -> Void
    {
        { simulation in
            try await template.withCopy { path in
                let library = try await SimulatedLibrary(at: path, in: simulation)
                try await library.startSessions()
                let history = History<CatalogueModel.Input, CatalogueModel.Output>(in: simulation)
                func client(_ number: Int, _ kinds: [Int] = []) -> CatalogueClient {
                    CatalogueClient(
                        number: number, library: library, simulation: simulation, history: history,
                        kinds: kinds)
                }
                for category in 1...2 as ClosedRange<Int64> {
                    let identity = library.newIdentity()
                    await client(9).ask(.addPhoto(picture: identity, identity: identity, category: category))
                }
                let kinds =
                    [6] + simulation.pick(CatalogueChoice.groups)
                    + (simulation.oneIn(2) ? simulation.pick(CatalogueChoice.groups) : [])
                try await withThrowingTaskGroup { group in
                    for number in 0..<3 {
                        group.addTask { await client(number, kinds).act(6) }
                    }
                    if crashes {
                        for _ in 0..<simulation.choose(120) { await simulation.pause() }
                        simulation.note("crash")
                        try await library.crash()
                    }
                    try await group.waitForAll()
                }
                let reader = client(9)
                await reader.ask(.asKid(.process))
                await reader.ask(.process)
                for input: CatalogueModel.Input in [
                    .listCategories, .listTrash, .listPending, .getSettings, .searchReviewed(.notReviewed),
                    .deleteProcessed, .searchReviewed(.reviewed),
                ] {
                    await reader.ask(input)
                }
                for id in 1...6 as ClosedRange<Int64> {
                    await reader.ask(.getPhoto(id))
                    await reader.ask(.restorePhotos([id]))
                    await reader.ask(.readNotes(id))
                }
                try await library.close()
                try Linearizability.check(history.operations, against: CatalogueModel())
            }
        }
    }

    @Test func theStoresAnswerAsTheModelDoesInSomeOrder() async throws {
        let report = try await Simulation.explore(
            "the stores", seeds: 50, Self.scenario(try await CatalogueTemplate(), crashes: false))
        #expect(report.interleavings == report.seeds)
    }

    @Test func nothingAcknowledgedIsLostInACrash() async throws {
        let report = try await Simulation.explore(
            "the stores, killed and opened again", seeds: 50,
            Self.scenario(try await CatalogueTemplate(), crashes: true))
        #expect(report.interleavings == report.seeds)
    }

    @Test func theSameSeedGoesTheSameWayThroughTheStores() async throws {
        let scenario = Self.scenario(try await CatalogueTemplate(), crashes: true)
        for seed in 1...40 as ClosedRange<UInt64> {
            let first = await Simulation.run(seed: seed, scenario)
            let second = await Simulation.run(seed: seed, scenario)
            #expect(first.failure == nil)
            #expect(first.digest == second.digest)
        }
    }
}
