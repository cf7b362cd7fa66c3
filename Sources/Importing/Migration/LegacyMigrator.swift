import AndroidDatabase
import Executors
import Files
import Foundation
import LibraryModel
import LibraryStorage
import ServiceMesh

/// Takes over the Android app's library: a private copy of its database is read whole and checked → its categories
/// come in by one transaction → each photo's file is found and goes the way of an import, with the old row's uuid,
/// date and favourite mark.
///
/// What was taken over is recognised in a second run, categories by their name and photos by their uuid, then by their
/// content; so a run that was stopped is completed by the same command, and a run more changes nothing.
public actor LegacyMigrator: MeshService {
    public static let serviceName = "LegacyMigrator"
    public static var messages: MessageList<LegacyMigrator> { MigrateLibrary.self }

    private let catalogue: any Catalogue
    private let namedFiles: NamedFiles
    private let photoFiles: any PhotoFiles
    private let files: BlockingPool
    /// For the copy of the old database: a folder of this machine, of which the next start removes what a kill left.
    private let scratch: String
    /// Photos under way at once, as in an import.
    private let width: Int
    private unowned var mesh: Mesh?

    /// - Parameter scratch: a folder of this machine, of which the next start removes what a kill left.
    package init(
        catalogue: any Catalogue, namedFiles: NamedFiles, photoFiles: any PhotoFiles, files: BlockingPool,
        scratch: String, workers: Int
    ) {
        self.catalogue = catalogue
        self.namedFiles = namedFiles
        self.photoFiles = photoFiles
        self.files = files
        self.scratch = scratch
        width = workers + 2
    }

    public func start(on mesh: Mesh) { self.mesh = mesh }

    func check(_ request: MigrateLibrary) async throws {
        for path in [request.database, request.photos].compactMap({ $0 })
        where !path.hasPrefix("/") || path.utf8.contains(0) {
            throw MeshError(.invalidArgument, "Paths are absolute here; '\(path.prefix(200))' is not.")
        }
        try await files.run {
            guard access(request.database, F_OK) == 0 else {
                throw FileSystem.Failure(action: "open", path: request.database, code: errno)
            }
            guard let photos = request.photos else { return }
            var found = stat()
            guard stat(photos, &found) == 0 else {
                throw FileSystem.Failure(action: "look at", path: photos, code: errno)
            }
            guard found.st_mode & S_IFMT == S_IFDIR else {
                throw MeshError(.invalidArgument, "\(photos) is not a folder. Name the one that has the photos.")
            }
        }
    }

    /// Whether it can go on: what it reads has to be there.
    func checkAgain(_ request: MigrateLibrary) async throws {
        try await files.run {
            for path in [request.database, request.photos].compactMap({ $0 }) { try FileSystem.requireThere(path) }
        }
        try await check(request)
    }

    func run(_ request: MigrateLibrary, job: Job) async throws -> MigrationReceipt {
        let flag = CancellationFlag()
        return try await withTaskCancellationHandler {
            try await migrate(request, flag, job)
        } onCancel: {
            flag.set()
        }
    }

    private func migrate(_ request: MigrateLibrary, _ flag: CancellationFlag, _ job: Job) async throws
        -> MigrationReceipt
    {
        guard let mesh else { throw MeshError(.unavailable, "The migration is not started.") }
        try await job.mayContinue()
        let isDryRun = request.dryRun == true
        job.begin(phase: "reading the old database")
        let (old, copy) = try await read(request.database, flag)
        job.begin(phase: "looking for files")
        let found = try await files.run { [namedFiles] in
            try LegacyPhotoFiles(folder: request.photos, namedFiles: namedFiles, isCancelled: { flag.isSet })
        }
        let categories = try await place(old, isDryRun: isDryRun)
        // The categories are here: from now on the truth is a receipt, also for whoever stops the job.
        let items = try await uncancelled { try await self.items(old, categories) }

        var tally = MigrationTally(old, database: request.database, isDryRun: isDryRun)
        for line in categories.lines { tally.countCategory(line, in: job) }
        tally.countEncrypted(in: job)
        tally.countUnread(copy, in: job)
        job.begin(phase: isDryRun ? "checking" : "migrating", items: Int64(items.count))
        let names = Dictionary(old.categories.compactMap { category in category.key.map { ($0, category) } }) {
            first, _ in
            first
        }
        let one = OneMigration(
            mesh: mesh, job: job, catalogue: catalogue, namedFiles: namedFiles, photoFiles: photoFiles, files: files,
            found: found, keepsMissing: request.keepMissing == true,
            keepsOriginals: try await mesh.keepsOriginals(nil), isDryRun: isDryRun)
        await withTaskGroup(of: OneMigration.Lines.self) { group in
            var next = items.makeIterator()
            func startNext() {
                guard let item = next.next() else { return }
                let further = LegacyCategories.titles(item.photo.furtherKeys, names)
                group.addTask { await one.take(item, further: further) }
            }
            for _ in 0..<width { startNext() }
            // Photos of a job that is stopped end at once: each still gets its line.
            while let lines = await group.next() {
                // A problem met while the library closes may be the closing; the next run looks again.
                guard !job.isInterrupted else { continue }
                tally.countPhoto(lines, in: job)
                if lines.photo.outcome != MigrationOutcome.cancelled.rawValue { job.advance(items: 1) }
                startNext()
            }
        }
        if job.isInterrupted { throw CancellationError() }
        return tally.receipt
    }

    /// Reads the old database from a private copy, which is gone again when this returns.
    private func read(
        _ path: String, _ flag: CancellationFlag
    ) async throws -> (LegacyLibrary, LegacyDatabaseCopy) {
        let copy = try await files.run { [namedFiles, scratch] in
            try LegacyDatabaseCopy(of: path, in: scratch, namedFiles: namedFiles, isCancelled: { flag.isSet })
        }
        let result: Result<LegacyLibrary, any Error>
        do {
            result = .success(try await LegacyLibrary(reading: copy, of: path))
        } catch {
            result = .failure(error)
        }
        try await files.run { copy.remove() }
        return (try result.get(), copy)
    }

    private func place(_ old: LegacyLibrary, isDryRun: Bool) async throws -> LegacyCategories {
        if isDryRun {
            return try await catalogue.read { LegacyCategories(old, here: try $0.categories.all()) }
        }
        return try await catalogue.write { transaction in
            var categories = LegacyCategories(old, here: try transaction.categories.all())
            try categories.add(in: transaction)
            return categories
        }
    }

    /// Each photo with its category, its uuid, and whether the library has that already.
    private func items(_ old: LegacyLibrary, _ categories: LegacyCategories) async throws -> [OneMigration.Item] {
        let uuids = LegacyIdentity.uuids(of: old.photos)
        return try await catalogue.read { transaction in
            let trashed = try transaction.trash.uuids(among: uuids)
            let known = try transaction.photos.find(uuids.map(PhotoKey.uuid))
            return zip(old.photos, zip(uuids, known)).map { photo, here in
                let (uuid, known) = here
                var there: String?
                if let known {
                    there =
                        known.fileSize > 0
                        ? "the library has it already, as photo \(known.id)"
                        : "the library has it without its file, as photo \(known.id); to take the file over, forget that first: smilepile photos forget \(known.id)"
                } else if trashed.contains(uuid) {
                    there = "it is in the trash: smilepile trash list"
                }
                return OneMigration.Item(photo: photo, home: categories.home(of: photo), uuid: uuid, there: there)
            }
        }
    }
}

/// What the receipt of a migration adds up.
private struct MigrationTally {
    private let old: (database: String, version: Int, encrypted: [String: Int])
    private let isDryRun: Bool
    private var categories: [String: Int] = [:]
    private var photos: [String: Int] = [:]
    private var defaulted = 0
    private var renamed = 0
    private var further = 0
    private var needsAttention = false
    private var isWithoutLog = false

    init(_ library: LegacyLibrary, database: String, isDryRun: Bool) {
        old = (database, library.version, library.encryptedValues)
        self.isDryRun = isDryRun
    }

    private mutating func record(_ line: ReceiptLine, in job: Job) {
        job.record(line)
        needsAttention = needsAttention || MigrationOutcome(rawValue: line.outcome)?.needsAttention ?? true
    }

    mutating func countCategory(_ line: ReceiptLine, in job: Job) {
        record(line, in: job)
        switch MigrationOutcome(rawValue: line.outcome) {
        case .renamed: renamed += 1
        case .defaulted: defaulted += 1
        default: categories[line.outcome, default: 0] += 1
        }
    }

    func countEncrypted(in job: Job) {
        for (column, count) in old.encrypted.sorted(by: { $0.key < $1.key }) {
            job.record(
                ReceiptLine(
                    item: column, outcome: MigrationOutcome.left.rawValue,
                    detail:
                        "\(count) encrypted \(count == 1 ? "value" : "values"): only the phone that wrote them can read them"
                ))
        }
    }

    mutating func countUnread(_ copy: LegacyDatabaseCopy, in job: Job) {
        isWithoutLog = copy.isWithoutLog
        guard copy.unreadPages > 0 else { return }
        record(
            ReceiptLine(
                item: (old.database as NSString).lastPathComponent + "-wal", outcome: MigrationOutcome.left.rawValue,
                detail:
                    "its last \(copy.unreadPages) pages are of no finished change: the app was stopped while it wrote, or the file was cut off while it was copied"
            ), in: job)
    }

    mutating func countPhoto(_ lines: OneMigration.Lines, in job: Job) {
        record(lines.photo, in: job)
        photos[lines.photo.outcome, default: 0] += 1
        for line in lines.others {
            record(line, in: job)
            if line.outcome == MigrationOutcome.left.rawValue { further += 1 } else { defaulted += 1 }
        }
    }

    var receipt: MigrationReceipt {
        let isCancelled = photos[MigrationOutcome.cancelled.rawValue] ?? 0 > 0
        return MigrationReceipt(
            database: old.database, version: old.version, isDryRun: isDryRun, categories: categories, photos: photos,
            defaulted: defaulted, renamed: renamed, furtherCategories: further, encryptedValues: old.encrypted,
            ending: isCancelled
                ? .cancelled : needsAttention || !old.encrypted.isEmpty ? .completeWithProblems : .complete,
            isWithoutLog: isWithoutLog ? true : nil)
    }
}

extension MigrateLibrary: HandledJob {
    public typealias Service = LegacyMigrator
    /// From its beginning: what the first run took over is found again, and the receipt calls it duplicate.
    public static var resumption: JobResumption { .again }

    public static func needsAttention(_ outcome: String) -> Bool {
        MigrationOutcome(rawValue: outcome)?.needsAttention ?? true
    }

    public func prepare(on service: LegacyMigrator) async throws { try await service.check(self) }

    public func prepareAgain(on service: LegacyMigrator, job: Job) async throws { try await service.checkAgain(self) }

    public func run(on service: LegacyMigrator, job: Job) async throws -> MigrationReceipt {
        try await service.run(self, job: job)
    }
}
