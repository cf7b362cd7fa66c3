import LibraryModel
import LibraryStorage
import ServiceMesh

/// A catalogue whose bodies run twice each, as a catalogue on a server may run them: the first time of a write is undone, that of a
/// read is forgotten. A service whose body changes something that its transaction does not undo shows it twice.
package struct RepeatingCatalogue: Catalogue {
    private struct Undone: Error {}

    private let base: any Catalogue

    package init(_ base: any Catalogue) { self.base = base }

    // MARK: Transactions

    package func read<Value: Sendable>(
        _ body: @escaping @Sendable (any CatalogueTransaction) throws -> Value
    ) async throws -> Value {
        // What the body throws, it throws again.
        try await base.read { transaction in _ = try? body(transaction) }
        return try await base.read(body)
    }

    package func write<Value: Sendable>(
        _ body: @escaping @Sendable (any CatalogueTransaction) throws -> Value
    ) async throws -> Value {
        try await undone { try await base.write(Self.undoing(body)) }
        return try await base.write(body)
    }

    package func writeFreeingSpace<Value: Sendable>(
        _ body: @escaping @Sendable (any CatalogueTransaction) throws -> Value
    ) async throws -> Value {
        try await undone { try await base.writeFreeingSpace(Self.undoing(body)) }
        return try await base.writeFreeingSpace(body)
    }

    package func writeAlone<Value: Sendable>(
        _ body: @escaping @Sendable (any CatalogueTransaction) throws -> Value
    ) async throws -> Value {
        try await undone { try await base.writeAlone(Self.undoing(body)) }
        return try await base.writeAlone(body)
    }

    /// The body, which throws at its end whatever it did.
    private static func undoing<Value: Sendable>(
        _ body: @escaping @Sendable (any CatalogueTransaction) throws -> Value
    ) -> @Sendable (any CatalogueTransaction) throws -> Void {
        { transaction in
            _ = try? body(transaction)
            throw Undone()
        }
    }

    private func undone(_ write: () async throws -> Void) async throws {
        do { try await write() } catch is Undone {}
    }

    // MARK: Everything else

    package var ownership: CatalogueOwnership { base.ownership }

    package func onCommit(_ listener: @escaping @Sendable (Set<CataloguePart>) -> Void) { base.onCommit(listener) }

    package var journal: any JobJournal { base.journal }

    package func problems() async -> [String] { await base.problems() }

    package func check() async throws -> [String] { try await base.check() }

    package func unreadableRows() async throws -> [UnreadableEntry] { try await base.unreadableRows() }

    package func findUnreadableRows() async throws -> [UnreadableEntry] { try await base.findUnreadableRows() }

    package func eraseDeleted() async throws -> Bool { try await base.eraseDeleted() }

    package func close() async { await base.close() }
}
