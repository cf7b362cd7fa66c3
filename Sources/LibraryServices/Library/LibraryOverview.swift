import Executors
import Files
import Foundation
import LibraryModel
import LibraryStorage
import ServiceMesh

/// Answers what the library is and holds, across the other services' tables. It changes nothing.
public actor LibraryOverview: MeshService {
    public static let serviceName = "LibraryOverview"
    public static var messages: MessageList<LibraryOverview> { GetLibraryStatus.self }

    private let path: String
    private let places: BackupPlaces
    private let presences: BackupAvailability
    private var clock = MeshClock.system
    private let due: DueTime
    private let catalogue: any Catalogue
    private let photoFiles: any PhotoFiles
    private let thumbnailer: Thumbnailer
    private let files: BlockingPool
    /// What the start found wrong with the catalogue.
    private let problems: [String]
    private let lostLogLines: @Sendable () -> Int

    /// - Parameter path: of the library, as a person is told.
    package init(
        path: String, catalogue: any Catalogue, photoFiles: any PhotoFiles, thumbnailer: Thumbnailer,
        files: BlockingPool, problems: [String], due: DueTime, lostLogLines: @escaping @Sendable () -> Int = { 0 }
    ) {
        self.due = due
        self.path = path
        places = BackupPlaces(library: path)
        presences = BackupAvailability(MadeBackups(catalogue: catalogue, places: places, pool: files))
        self.catalogue = catalogue
        self.photoFiles = photoFiles
        self.thumbnailer = thumbnailer
        self.files = files
        self.problems = problems
        self.lostLogLines = lostLogLines
    }

    public func start(on mesh: Mesh) { clock = mesh.clock }

    func status() async throws -> LibraryStatus {
        let (places, now) = (places, clock.timestamp())
        let (path, photoFiles) = (path, photoFiles)
        let (free, peak) = try await files.run { (try photoFiles.room(), FileSystem.peakMemory(of: getpid())) }
        let workers = try await thumbnailer.status()
        let problems = await catalogue.problems() + problems
        let lostLines = lostLogLines()
        // Apart from the rest, so that nobody's files are waited for inside a transaction.
        let (made, stored) = try await catalogue.read { transaction in
            (try transaction.madeBackups.all(), try transaction.madeBackups.schedule())
        }
        // One from the future is from a clock that was wrong; it counts where there is no other.
        let past = made.filter { $0.madeAt <= now }
        let (newest, newestScheduled) = await presences.newest(
            of: past.isEmpty ? made : past, in: stored?.folder, on: clock)
        let jump = due.jump()
        let unreadable = try await catalogue.unreadableRows()
        return try await catalogue.read { transaction in
            let totals = try transaction.photos.totals()
            return LibraryStatus(
                version: Release.version, pid: getpid(), path: path, photos: totals.photos,
                favorites: totals.favorites, categories: try transaction.categories.count(),
                trashed: try transaction.trash.count(), photoBytes: totals.bytes,
                photosWithoutOriginal: try transaction.photos.countWithoutOriginal(), freeBytes: free,
                lastBackupDate: try transaction.settings.settings().lastBackupDate,
                newestBackup: newest.flatMap { NewestBackup($0, places, now: now) },
                backupSchedule: stored.map { BackupSchedule($0, newest: newestScheduled, now: now) },
                imageWorkers: workers, peakMemoryBytes: peak, catalogueProblems: problems.isEmpty ? nil : problems,
                lostLogLines: lostLines == 0 ? nil : lostLines,
                clockJump: try jump.map { try ClockJump($0, in: transaction) },
                unreadable: unreadable.isEmpty ? nil : unreadable)
        }
    }
}

extension ClockJump {
    fileprivate init(
        _ jump: (from: Timestamp?, to: Timestamp, endsAt: Timestamp), in transaction: any CatalogueTransaction
    ) throws {
        let isCleanedUp = try transaction.settings.settings().storageCleanupEnabled
        let end = Timestamp(milliseconds: jump.endsAt.milliseconds &- TrashTerm.milliseconds)
        self.init(
            from: jump.from, to: jump.to, endsAt: jump.endsAt,
            photos: isCleanedUp ? try transaction.trash.countDeleted(before: end) : 0)
    }
}

extension NewestBackup {
    fileprivate init?(_ backup: MadeBackup, _ places: BackupPlaces, now: Timestamp) {
        guard let verified = backup.verifiedAt else { return nil }
        self.init(
            path: places.path(backup.path) ?? backup.path, madeAt: backup.madeAt, verifiedAt: verified,
            ageSeconds: max(0, (now.milliseconds &- backup.madeAt.milliseconds) / 1000))
    }
}

extension GetLibraryStatus: HandledMessage {
    public func perform(on service: LibraryOverview) async throws -> LibraryStatus { try await service.status() }
}
