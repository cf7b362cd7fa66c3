import CLinux
import Executors
import Foundation
import Imaging
import LibraryModel
import ServiceMesh

/// Makes stored photos and thumbnails, through the image workers: helper processes that get open descriptors and
/// nothing else. A photo that crashes, hangs or overfills a worker costs that photo. It calls no other service.
public actor Thumbnailer: MeshService {
    public static let serviceName = "Thumbnailer"
    /// Callers wait here for a worker; the bound on what waits is the importers' own.
    public static let admission = AdmissionLimit(concurrent: 64, queued: 256)
    public static var messages: MessageList<Thumbnailer> {
        PreparePhoto.self
        MakeThumbnail.self
    }

    private let folder: LibraryFolder
    private let workers: ImageWorkerPool
    private let files: BlockingPool

    init(folder: LibraryFolder, workers: ImageWorkerPool, files: BlockingPool) {
        self.folder = folder
        self.workers = workers
        self.files = files
    }

    public func stop() async { await workers.shutDown() }

    nonisolated func status() async throws -> ImageWorkerStatus {
        // What the kernel grants can only be told by trying, so the first one who asks has a worker started.
        let cell = await workers.cell()
        let statistics = workers.statistics
        let peak = try await files.run {
            statistics.livePIDs.reduce(Int64(0)) { $0 + FileSystem.peakMemory(of: $1) }
        }
        return ImageWorkerStatus(
            started: statistics.started, crashed: statistics.crashed, lost: statistics.lost,
            timedOut: statistics.timedOut, pids: statistics.livePIDs, peakMemoryBytes: peak,
            sharedMemoryBytes: Int64(clamping: workers.sharedMemory), cell: cell.map(ImageWorkerCell.init))
    }

    // Not isolated: several conversions run at once, and nothing of the actor's changes.
    nonisolated func prepare(_ request: PreparePhoto) async throws -> PreparedPhoto {
        let names = folder.temporaryNames()
        let staged = (photo: folder.staging + "/" + names.photo, thumbnail: folder.staging + "/" + names.thumbnail)
        let folder = folder
        let (source, _) = try await files.run { try folder.open(named: request.source) }
        defer { close(source) }
        do {
            let photo = try await files.run { try Self.openNew(staged.photo) }
            defer { close(photo) }
            let thumbnail = try await files.run { try Self.openNew(staged.thumbnail) }
            defer { close(thumbnail) }
            let made = try await workers.convert(
                source: source, photo: photo, thumbnail: thumbnail, keepOriginal: request.keepOriginal)
            try await files.run {
                try FileSystem.sync(photo, staged.photo)
                try FileSystem.sync(thumbnail, staged.thumbnail)
            }
            return PreparedPhoto(
                stagedPhoto: names.photo, stagedThumbnail: names.thumbnail, sourceDigest: made.sourceDigest,
                sourceSize: made.sourceSize, contentDigest: made.contentDigest, mediaType: made.mediaType,
                fileExtension: Self.fileExtension(made.mediaType), fileSize: made.fileSize, width: made.width,
                height: made.height, takenAt: made.takenAtMilliseconds.map(Timestamp.init(milliseconds:)))
        } catch {
            try? await files.run {
                try FileSystem.remove(staged.photo)
                try FileSystem.remove(staged.thumbnail)
            }
            throw error
        }
    }

    nonisolated func makeThumbnail(_ request: MakeThumbnail) async throws {
        let folder = folder
        let (source, _) = try await files.run { try folder.open(named: request.photo) }
        defer { close(source) }
        let thumbnail = try await files.run { try Self.openNew(request.thumbnail) }
        defer { close(thumbnail) }
        do {
            _ = try await workers.makeThumbnail(source: source, thumbnail: thumbnail)
            try await files.run { try FileSystem.sync(thumbnail, request.thumbnail) }
        } catch {
            try? await files.run { try FileSystem.remove(request.thumbnail) }
            throw error
        }
    }

    private static func openNew(_ path: String) throws -> Int32 {
        let descriptor = clinux_open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw FileSystem.Failure(action: "make", path: path, code: errno) }
        return descriptor
    }

    private static func fileExtension(_ mediaType: String) -> String {
        switch mediaType {
        case "image/png": ".png"
        case "image/webp": ".webp"
        case "image/gif": ".gif"
        case "image/bmp": ".bmp"
        case "image/tiff": ".tif"
        case "image/heic", "image/heif": ".heic"
        case "image/avif": ".avif"
        default: ".jpg"
        }
    }
}

extension ImageWorkerCell {
    init(_ cell: WorkerCell) {
        self.init(
            seccomp: cell.seccomp, landlock: cell.landlock, noNewPrivileges: cell.noNewPrivileges,
            ownMemoryBytes: cell.ownMemoryBytes.map(Int64.init), processorSeconds: cell.processorSeconds,
            descriptors: cell.descriptors, fileBytes: cell.fileBytes.map(Int64.init), processes: cell.processes,
            missing: cell.missing)
    }
}

extension PreparePhoto: HandledMessage {
    public func perform(on service: Thumbnailer) async throws -> PreparedPhoto { try await service.prepare(self) }
}

extension MakeThumbnail: HandledMessage {
    public func perform(on service: Thumbnailer) async throws -> Done {
        try await service.makeThumbnail(self)
        return Done()
    }
}
