import Database
import Executors
import Foundation
import LibraryModel
import ServiceMesh

/// Answers what the library is and holds, across the other services' tables. It changes nothing.
public actor LibraryOverview: MeshService {
    public static let serviceName = "LibraryOverview"
    public static var messages: MessageList<LibraryOverview> { GetLibraryStatus.self }

    private let folder: LibraryFolder
    private let database: Database
    private let thumbnailer: Thumbnailer
    private let files: BlockingPool
    private let check: CatalogueCheck
    /// What the start found wrong with the catalogue.
    private let problems: [String]

    init(
        folder: LibraryFolder, database: Database, thumbnailer: Thumbnailer, files: BlockingPool, problems: [String]
    ) {
        self.problems = problems
        self.folder = folder
        self.database = database
        self.thumbnailer = thumbnailer
        self.files = files
        check = CatalogueCheck(database: database)
    }

    public func start(on mesh: Mesh) async throws { await check.start() }

    public func stop() async { await check.stop() }

    static let totals = "SELECT sum(photos), sum(favorites), sum(bytes) FROM category_totals"

    func status() async throws -> LibraryStatus {
        let path = folder.path
        let (free, peak) = try await files.run {
            (try FileSystem.freeBytes(path), FileSystem.peakMemory(of: getpid()))
        }
        let workers = try await thumbnailer.status()
        let stopped = database.writingStopped.map { DatabaseError.writingStopped(detail: $0).description }
        let damage = await check.problems.map { DatabaseError.corrupt(detail: $0).description }
        let problems = [stopped].compactMap { $0 } + damage + problems
        return try await database.read { connection in
            let counts = try connection.first(Self.totals) {
                (try $0[0] as Int?, try $0[1] as Int?, try $0[2] as Int64?)
            }
            return LibraryStatus(
                version: LibraryModel.version, pid: getpid(), path: path, photos: counts?.0 ?? 0,
                favorites: counts?.1 ?? 0, categories: try CategoryTable.count(in: connection),
                trashed: try TrashTable.count(in: connection), photoBytes: counts?.2 ?? 0, freeBytes: free,
                lastBackupDate: try SettingTable.settings(in: connection).lastBackupDate, imageWorkers: workers,
                peakMemoryBytes: peak, catalogueProblems: problems.isEmpty ? nil : problems)
        }
    }
}

extension GetLibraryStatus: HandledMessage {
    public func perform(on service: LibraryOverview) async throws -> LibraryStatus { try await service.status() }
}
