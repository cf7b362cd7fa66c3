import Executors
import Files
import Foundation
import LibraryModel
import LibraryStorage
import ServiceMesh

/// What has become of the files of backups, as far as the library's status tells it.
package protocol BackupLookup: Sendable {
    /// The newest one that would give the library back, as far as is known, and the newest one of a folder. It answers soon,
    /// also where a disk does not.
    /// - Parameter all: what the catalogue remembers, the last first.
    func newest(
        of all: [MadeBackup], in folder: String?, on clock: MeshClock
    ) async -> (anywhere: MadeBackup?, inFolder: MadeBackup?)

    /// Where a person finds its file.
    func path(of backup: MadeBackup) -> String
}

/// Answers what the library is and holds, across the other services' tables. It changes nothing.
public actor LibraryOverview: MeshService {
    public static let serviceName = "LibraryOverview"
    public static var messages: MessageList<LibraryOverview> { GetLibraryStatus.self }

    private let path: String
    private let backups: any BackupLookup
    private let imageWorkers: @Sendable () async throws -> ImageWorkerStatus
    private var clock = MeshClock.system
    private let due: DueTime
    private let catalogue: any Catalogue
    private let photoFiles: any PhotoFiles
    private let files: BlockingPool
    /// What the start found wrong with the catalogue.
    private let problems: [String]
    private let lostLogLines: @Sendable () -> Int

    /// - Parameters:
    ///   - path: of the library, as a person is told.
    ///   - backups, imageWorkers: of services that stand above this one and are not known here.
    package init(
        path: String, catalogue: any Catalogue, photoFiles: any PhotoFiles, backups: any BackupLookup,
        imageWorkers: @escaping @Sendable () async throws -> ImageWorkerStatus, files: BlockingPool,
        problems: [String], due: DueTime, lostLogLines: @escaping @Sendable () -> Int = { 0 }
    ) {
        self.due = due
        self.path = path
        self.backups = backups
        self.imageWorkers = imageWorkers
        self.catalogue = catalogue
        self.photoFiles = photoFiles
        self.files = files
        self.problems = problems
        self.lostLogLines = lostLogLines
    }

    public func start(on mesh: Mesh) { clock = mesh.clock }

    func status() async throws -> LibraryStatus {
        let (backups, now) = (backups, clock.timestamp())
        let (path, photoFiles) = (path, photoFiles)
        let (free, peak) = try await files.run { (try photoFiles.room(), FileSystem.peakMemory(of: getpid())) }
        let workers = try await imageWorkers()
        let problems = await catalogue.problems() + problems
        let lostLines = lostLogLines()
        // Apart from the rest, so that nobody's files are waited for inside a transaction.
        let (made, stored) = try await catalogue.read { transaction in
            (try transaction.madeBackups.all(), try transaction.madeBackups.schedule())
        }
        // One from the future is from a clock that was wrong; it counts where there is no other.
        let past = made.filter { $0.madeAt <= now }
        let (newest, newestScheduled) = await backups.newest(
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
                newestBackup: newest.flatMap { NewestBackup($0, at: backups.path(of: $0), now: now) },
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
    fileprivate init?(_ backup: MadeBackup, at path: String, now: Timestamp) {
        guard let verified = backup.verifiedAt else { return nil }
        self.init(
            path: path, madeAt: backup.madeAt, verifiedAt: verified,
            ageSeconds: max(0, (now.milliseconds &- backup.madeAt.milliseconds) / 1000))
    }
}

extension GetLibraryStatus: HandledMessage {
    public func perform(on service: LibraryOverview) async throws -> LibraryStatus { try await service.status() }
}
