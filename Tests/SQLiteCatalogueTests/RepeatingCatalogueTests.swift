import CatalogueContract
import CatalogueTestSupport
import LibraryModel
import LibraryStorage
import SQLiteCatalogue
import Synchronization
import Testing

/// The catalogue of tests that runs each body twice.
@Suite struct RepeatingCatalogueTests {
    /// What a body did outside of its transaction.
    private final class Calls: Sendable {
        private let count = Mutex(0)

        var now: Int { count.withLock { $0 } }

        func add() { count.withLock { $0 += 1 } }
    }

    private static func withCatalogue(_ body: (RepeatingCatalogue) async throws -> Void) async throws {
        let place = try MemoryPlace()
        let catalogue = RepeatingCatalogue(try await place.open())
        try await body(catalogue)
        await catalogue.close()
        try await place.remove()
    }

    @Test func aBodyThatChangesWhatItsTransactionDoesNotUndoShowsItTwice() async throws {
        try await Self.withCatalogue { catalogue in
            let calls = Calls()
            _ = try await catalogue.read { _ in calls.add() }
            #expect(calls.now == 2)
            try await catalogue.write { _ in calls.add() }
            #expect(calls.now == 4)
            try await catalogue.writeAlone { _ in calls.add() }
            #expect(calls.now == 6)
            try await catalogue.writeFreeingSpace { _ in calls.add() }
            #expect(calls.now == 8)
        }
    }

    @Test func whatATransactionChangesItChangesOnce() async throws {
        try await Self.withCatalogue { catalogue in
            let name = try await catalogue.write { transaction in
                let family = CategoryDetails(displayName: "Family", colorHex: "#010203", iconResource: nil)
                return try transaction.categories.insert(CategoryEntry(family)).displayName
            }
            #expect(name == "Family")
            #expect(try await catalogue.read { try $0.categories.all().map(\.displayName) } == ["Family"])
        }
    }

    @Test func whatABodyThrowsComesBack() async throws {
        try await Self.withCatalogue { catalogue in
            let refused = { @Sendable (_: any CatalogueTransaction) throws -> Void in throw CatalogueError.noGroup("x")
            }
            await #expect(throws: CatalogueError.self) { try await catalogue.read(refused) }
            await #expect(throws: CatalogueError.self) { try await catalogue.write(refused) }
            await #expect(throws: CatalogueError.self) { try await catalogue.writeAlone(refused) }
            await #expect(throws: CatalogueError.self) { try await catalogue.writeFreeingSpace(refused) }
        }
    }

    /// Nothing of the first time is left, whatever it did.
    @Test(arguments: CatalogueContract.repositories)
    func everyRepositoryUndoesAll(_ check: ContractCheck) async throws {
        for failure in await check.failures(at: RepeatingPlace(place: try MemoryPlace())) { Issue.record("\(failure)") }
    }
}

private struct RepeatingPlace: CataloguePlace {
    let place: MemoryPlace

    func open() async throws -> any Catalogue { RepeatingCatalogue(try await place.open()) }

    func endOwnership() async throws { try await place.endOwnership() }

    func remove() async throws { try await place.remove() }
}
