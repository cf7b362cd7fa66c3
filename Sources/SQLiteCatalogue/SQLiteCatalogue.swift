import Database
import Foundation
import LibraryModel
import LibraryStorage
import ServiceMesh

/// A catalogue in one SQLite file. Bodies run on the database's own threads: reads on one snapshot, writes that wait at
/// the same time in one transaction, each in a savepoint of its own.
package struct SQLiteCatalogue: Catalogue {
    /// Seen by tests, which let its disk fail, and look at what is stored.
    package let database: DatabasePool
    private let startCheck: CatalogueCheck
    package let ownership: CatalogueOwnership
    private let decisions = DecisionIndex()
    private let reserve: SpaceReserve?
    private let jobReserve: SpaceReserve?
    let unreadable = UnreadableRows()

    /// Opens the catalogue at `path`, making or upgrading it where that is to be done.
    /// - Throws: an error that says at the mesh what is wrong: `failed_precondition` for another program's file or a newer
    ///   version's, `data_loss` for a damaged one.
    /// - Parameters:
    ///   - checkpointsWhenIdle: false for tests of full disks: what a checkpoint has emptied of the log is room.
    ///   - ownership: of the file. The program that opens it sees to it that no other process does while this is open, since SQLite
    ///     would let several in.
    package init(
        at path: String, checkpointsWhenIdle: Bool = true, ownership: CatalogueOwnership = CatalogueOwnership()
    ) async throws {
        var limits = DatabaseLimits()
        limits.refusal = { ownership.fault }
        if !checkpointsWhenIdle { limits.idleCheckpoint = .seconds(86_400) }
        let folder = (path as NSString).deletingLastPathComponent
        try await self.init(
            DatabasePool.open(at: path, schema: CatalogueSchema.schema, limits: limits),
            reserve: SpaceReserve(in: folder, size: SpaceReserve.forDeletions),
            jobReserve: SpaceReserve(in: folder, size: SpaceReserve.forJobs), ownership: ownership)
    }

    /// - Parameter database: with the schema of catalogues.
    package init(_ database: DatabasePool) {
        self.init(database, reserve: nil, jobReserve: nil, ownership: CatalogueOwnership())
    }

    private init(
        _ database: DatabasePool, reserve: SpaceReserve?, jobReserve: SpaceReserve?,
        ownership: CatalogueOwnership
    ) {
        self.database = database
        (self.reserve, self.jobReserve) = (reserve, jobReserve)
        self.ownership = ownership
        startCheck = CatalogueCheck(database)
        // On the commit thread, which waits for the disk anyway. What frees space has a commit after it has.
        for reserve in [reserve, jobReserve].compactMap(\.self) { database.onCommit { _ in reserve.hold() } }
    }

    /// Every file that a catalogue at `path` is made of, now or at times.
    package static func files(at path: String) -> [String] { ["", "-wal", "-shm", "-journal"].map { path + $0 } }

    /// The files that are there for as long as it is open, and hold what was changed.
    package static func lastingFiles(at path: String) -> [String] { [path, path + "-wal"] }

    // MARK: Transactions

    package func read<Value: Sendable>(
        _ body: @escaping @Sendable (any CatalogueTransaction) throws -> Value
    ) async throws -> Value {
        await decisions.completeBeforeReading(in: database)
        return try await database.read { try body(SQLTransaction(connection: $0, noting: unreadable)) }
    }

    package func write<Value: Sendable>(
        _ body: @escaping @Sendable (any CatalogueTransaction) throws -> Value
    ) async throws -> Value {
        try await decisions.whileWriting {
            try await database.write {
                try body(SQLTransaction(connection: $0, decisions: decisions, noting: unreadable))
            }
        }
    }

    package func writeFreeingSpace<Value: Sendable>(
        _ body: @escaping @Sendable (any CatalogueTransaction) throws -> Value
    ) async throws -> Value {
        try await SpaceReserve.spending(reserve) { try await write(body) }
    }

    package func writeAlone<Value: Sendable>(
        _ body: @escaping @Sendable (any CatalogueTransaction) throws -> Value
    ) async throws -> Value {
        try await decisions.whileWriting {
            try await database.writeAlone {
                try body(SQLTransaction(connection: $0, decisions: decisions, noting: unreadable))
            }
        }
    }

    /// A decision changes what its photo says, also while that is not written yet.
    private static let parts: [String: Set<CataloguePart>] = [
        "photos": [.photos], "sealed_fields": [.sealedFields], "trash": [.trash], "categories": [.categories],
        "swipe_sessions": [.swipeSessions], "swipe_actions": [.swipeActions, .photos], "settings": [.settings],
        "swipe_machines": [.reviewMachines], "swipe_partners": [.reviewMachines],
        "backups": [.backups], "backup_schedule": [.backups],
        "groups": [.groups], "group_photos": [.groups], "group_departures": [.groups], "group_hubs": [.groups],
        "group_undelivered": [.groups],
    ]

    package func onCommit(_ listener: @escaping @Sendable (Set<CataloguePart>) -> Void) {
        database.onCommit { notice in
            let parts = notice.tables.reduce(into: Set()) { $0.formUnion(Self.parts[$1] ?? []) }
            if !parts.isEmpty { listener(parts) }
        }
    }

    package var journal: any JobJournal { CatalogueJobJournal(database: database, reserve: jobReserve) }

    // MARK: Health

    package func problems() async -> [String] {
        let stopped = database.writingStopped.map { DatabaseError.writingStopped(detail: $0).description }
        let damage = await startCheck.problems.map { DatabaseError.corrupt(detail: $0).description }
        return [ownership.fault, stopped].compactMap { $0 } + damage
    }

    /// Writes all that this process has of the catalogue into one file, also where the catalogue's own files have lost their names.
    package func copy(to path: String) async throws { try await database.backupSnapshot(to: path) }

    package func check() async throws -> [String] { try await database.integrityCheck(quick: true) }

    /// Deleted values are overwritten in the file (`secure_delete`); the log alone has pages from before.
    package func eraseDeleted() async throws -> Bool {
        for _ in 0..<20 {
            if try await database.checkpoint() { return true }
            // Reads are short. The next turn comes behind those that are queued by now.
            _ = try await database.read { try $0.value("SELECT 1") as Int? }
        }
        return false
    }

    /// Looks through the whole file of a catalogue that nobody has open.
    /// - Returns: what is wrong, in SQLite's words.
    package static func problems(inFileAt path: String) async throws -> [String] {
        try await DatabasePool.inspect(at: path) { connection in
            let found = try connection.query("PRAGMA integrity_check") { try $0[0] as String }
            let orphans = try connection.query("PRAGMA foreign_key_check") {
                "a row of \(try $0[0] as String) refers to none"
            }
            return (found == ["ok"] ? [] : found) + orphans
        }
    }

    /// Returns when the look that follows an unclean stop is done, at once where none was needed.
    package func waitForStartCheck() async { await startCheck.wait() }

    package func close() async {
        await startCheck.stop()
        // Room for what is written back.
        reserve?.giveUp()
        jobReserve?.giveUp()
        await database.close()
    }
}

/// The repositories that a body has while it runs.
struct SQLTransaction: CatalogueTransaction {
    let connection: Connection
    /// Nil in a read.
    var decisions: DecisionIndex?

    init(connection: Connection, decisions: DecisionIndex? = nil, noting unreadable: UnreadableRows? = nil) {
        self.connection = connection
        self.decisions = decisions
        if let unreadable { connection.unreadable = unreadable }
    }

    var photos: any PhotoRepository {
        decisions?.complete(in: connection)
        return PhotoTable(connection: connection)
    }
    var sealedFields: any SealedFieldRepository { SealedFieldTable(connection: connection) }
    var trash: any TrashRepository {
        decisions?.complete(in: connection)
        return TrashTable(connection: connection)
    }
    var categories: any CategoryRepository { CategoryTable(connection: connection) }
    var swipes: any SwipeRepository { SwipeTable(connection: connection, index: decisions) }
    var settings: any SettingRepository { SettingTable(connection: connection) }
    var access: any AccessRepository { AccessTable(connection: connection) }
    var devices: any DeviceRepository { DeviceTable(connection: connection) }
    var links: any LinkRepository { LinkTable(connection: connection) }
    var sentFiles: any SentFileRepository { SentFileTable(connection: connection) }
    var jobs: any JobRepository { JobRows(connection: connection) }
    var failedSources: any FailedSourceRepository { FailedSourceTable(connection: connection) }
    var knownFiles: any KnownFileRepository { KnownFileTable(connection: connection) }
    var discardedFiles: any DiscardedFileRepository { DiscardedFileTable(connection: connection) }
    var unfinishedBackups: any UnfinishedBackupRepository { UnfinishedBackupTable(connection: connection) }
    var madeBackups: any MadeBackupRepository { MadeBackupTable(connection: connection) }
    var overwritten: any OverwrittenRepository { OverwrittenTable(connection: connection) }
    var groups: any GroupRepository { GroupTable(connection: connection) }
    var groupHubs: any GroupHubRepository { GroupHubTable(connection: connection) }
    var reviews: any ReviewRepository { ReviewTable(connection: connection) }
    var reviewMachines: any ReviewMachineRepository { ReviewMachineTable(connection: connection) }

    func isConsistent() throws -> Bool {
        try connection.query("PRAGMA foreign_key_check") { try $0[0] as String }.isEmpty
    }
}
