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
    private let catalogue: any Catalogue
    private let photoFiles: any PhotoFiles
    private let thumbnailer: Thumbnailer
    private let files: BlockingPool
    /// What the start found wrong with the catalogue.
    private let problems: [String]

    /// - Parameter path: of the library, as a person is told.
    package init(
        path: String, catalogue: any Catalogue, photoFiles: any PhotoFiles, thumbnailer: Thumbnailer,
        files: BlockingPool, problems: [String]
    ) {
        self.path = path
        self.catalogue = catalogue
        self.photoFiles = photoFiles
        self.thumbnailer = thumbnailer
        self.files = files
        self.problems = problems
    }

    func status() async throws -> LibraryStatus {
        let (path, photoFiles) = (path, photoFiles)
        let (free, peak) = try await files.run { (try photoFiles.room(), FileSystem.peakMemory(of: getpid())) }
        let workers = try await thumbnailer.status()
        let problems = await catalogue.problems() + problems
        return try await catalogue.read { transaction in
            let totals = try transaction.photos.totals()
            return LibraryStatus(
                version: Release.version, pid: getpid(), path: path, photos: totals.photos,
                favorites: totals.favorites, categories: try transaction.categories.count(),
                trashed: try transaction.trash.count(), photoBytes: totals.bytes,
                photosWithoutOriginal: try transaction.photos.countWithoutOriginal(), freeBytes: free,
                lastBackupDate: try transaction.settings.settings().lastBackupDate, imageWorkers: workers,
                peakMemoryBytes: peak, catalogueProblems: problems.isEmpty ? nil : problems)
        }
    }
}

extension GetLibraryStatus: HandledMessage {
    public func perform(on service: LibraryOverview) async throws -> LibraryStatus { try await service.status() }
}
