import LibraryModel

/// Where photos, categories and settings are kept, as the actors that own their rules see it: transactions over
/// repositories. No SQL passes this line, so this is where a catalogue on another database would plug in
/// (ARCHITECTURE.md, Past one machine).
///
/// The unit is the transaction and not the single method: a rule is checked in the transaction that acts on it, so
/// several repositories' methods make one. They are synchronous, since a transaction that waits for something else
/// keeps all others waiting. Rejected: repositories whose methods are transactions of their own; each rule would then
/// be part of every implementation, or be checked too early.
///
/// Backups and migrations read and write whole catalogues, row by row, and use the SQL of the same folders directly.
protocol Catalogue: Sendable {
    /// Runs `body` on one state of the catalogue, which it cannot change. Ends early where the task is cancelled.
    /// - Throws: what `body` throws, a ``CatalogueError/storage(_:)`` as its cause; where the catalogue cannot be read, why.
    func read<Value: Sendable>(
        _ body: @escaping @Sendable (CatalogueTransaction) throws -> Value
    ) async throws -> Value

    /// Runs `body` as one transaction, after and before all others, and returns when it is durable. What it throws
    /// undoes all of it.
    /// - Throws: as `read`; where it cannot be committed, why.
    func write<Value: Sendable>(
        _ body: @escaping @Sendable (CatalogueTransaction) throws -> Value
    ) async throws -> Value
}

/// The repositories inside one transaction. They are of no use after it.
struct CatalogueTransaction {
    let photos: any PhotoRepository
    let categories: any CategoryRepository
    let settings: any SettingRepository
}

/// Settings inside one transaction.
protocol SettingRepository {
    func settings() throws(CatalogueError) -> Settings
    /// Whether the categories of the first start were made once; they are not made again.
    func areDefaultCategoriesMade() throws(CatalogueError) -> Bool
    func setDefaultCategoriesMade() throws(CatalogueError)
    /// Everything but the date of the last backup, which only a backup sets.
    func store(_ settings: Settings) throws(CatalogueError)
}
