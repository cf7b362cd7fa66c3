import LibraryModel
import LibraryStorage
import ServiceMesh
import Synchronization

/// A catalogue in which something happens between what is read first and what is read next.
final class InterruptedCatalogue: Catalogue {
    private let whole: any Catalogue
    private let meanwhile: @Sendable () async throws -> Void
    private let reads = Mutex(0)

    init(_ whole: any Catalogue, meanwhile: @escaping @Sendable () async throws -> Void) {
        (self.whole, self.meanwhile) = (whole, meanwhile)
    }

    func read<Value: Sendable>(
        _ body: @escaping @Sendable (any CatalogueTransaction) throws -> Value
    ) async throws -> Value {
        let number = reads.withLock { reads in
            reads += 1
            return reads
        }
        if number == 2 { try await meanwhile() }
        return try await whole.read(body)
    }

    func write<Value: Sendable>(
        _ body: @escaping @Sendable (any CatalogueTransaction) throws -> Value
    ) async throws -> Value { try await whole.write(body) }

    func writeFreeingSpace<Value: Sendable>(
        _ body: @escaping @Sendable (any CatalogueTransaction) throws -> Value
    ) async throws -> Value { try await whole.writeFreeingSpace(body) }

    func writeAlone<Value: Sendable>(
        _ body: @escaping @Sendable (any CatalogueTransaction) throws -> Value
    ) async throws -> Value { try await whole.writeAlone(body) }

    func onCommit(_ listener: @escaping @Sendable (Set<CataloguePart>) -> Void) { whole.onCommit(listener) }
    var ownership: CatalogueOwnership { whole.ownership }
    var journal: any JobJournal { whole.journal }
    func problems() async -> [String] { await whole.problems() }
    func check() async throws -> [String] { try await whole.check() }
    func unreadableRows() async throws -> [UnreadableEntry] { try await whole.unreadableRows() }
    func findUnreadableRows() async throws -> [UnreadableEntry] { try await whole.findUnreadableRows() }
    func eraseDeleted() async throws -> Bool { try await whole.eraseDeleted() }
    func close() async { await whole.close() }
}
