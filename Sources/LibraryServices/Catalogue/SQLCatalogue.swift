import Database
import LibraryModel

/// The catalogue in the library's own SQLite file.
struct SQLCatalogue: Catalogue {
    private let database: Database

    init(_ database: Database) { self.database = database }

    func read<Value: Sendable>(
        _ body: @escaping @Sendable (CatalogueTransaction) throws -> Value
    ) async throws -> Value {
        try await database.read { try Self.run(body, on: $0) }
    }

    func write<Value: Sendable>(
        _ body: @escaping @Sendable (CatalogueTransaction) throws -> Value
    ) async throws -> Value {
        try await database.write { try Self.run(body, on: $0) }
    }

    /// The database is told of its own errors as such: it decides by them what becomes of a transaction.
    private static func run<Value>(
        _ body: (CatalogueTransaction) throws -> Value, on connection: Connection
    ) throws -> Value {
        do {
            return try body(CatalogueTransaction(connection))
        } catch CatalogueError.storage(let cause) {
            throw cause
        }
    }
}

extension CatalogueTransaction {
    init(_ connection: Connection) {
        self.init(
            photos: SQLPhotoRepository(connection: connection),
            categories: SQLCategoryRepository(connection: connection),
            settings: SQLSettingRepository(connection: connection))
    }
}

private struct SQLSettingRepository: SettingRepository {
    let connection: Connection

    func settings() throws(CatalogueError) -> Settings {
        try CatalogueError.typed { try SettingTable.settings(in: connection) }
    }

    func areDefaultCategoriesMade() throws(CatalogueError) -> Bool {
        try CatalogueError.typed { try SettingTable.value(.defaultCategoriesInitialized, in: connection) == "true" }
    }

    func setDefaultCategoriesMade() throws(CatalogueError) {
        try CatalogueError.typed { try SettingTable.set(.defaultCategoriesInitialized, to: "true", in: connection) }
    }

    func store(_ settings: Settings) throws(CatalogueError) {
        try CatalogueError.typed { try SettingTable.store(settings, in: connection) }
    }
}
