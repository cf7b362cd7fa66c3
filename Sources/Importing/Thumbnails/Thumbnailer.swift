import Executors
import Files
import Foundation
import Imaging
import LibraryModel
import LibraryServices
import LibraryStorage
import ServiceMesh

/// Makes stored photos, thumbnails and previews, through the image workers: helper processes that get open descriptors and
/// nothing else. A photo that crashes, hangs or overfills a worker costs that photo. It keeps the thumbnails and previews of stored
/// photos too (`Thumbnails/Thumbnailer+Stored.swift`), and turns them. It calls no other service.
public actor Thumbnailer: MeshService {
    public static let serviceName = "Thumbnailer"
    /// Callers wait here for a worker; the bound on what waits is the importers' own.
    public static let admission = AdmissionLimit(concurrent: 64, queued: 256)
    public static var messages: MessageList<Thumbnailer> {
        PreparePhoto.self
        MakeThumbnail.self
        GetThumbnail.self
        GetPhotoPixels.self
        RebuildThumbnails.self
        OpenPhoto.self
        OpenTrashedPhoto.self
        MakeSheetPage.self
        RotatePhotos.self
    }

    let catalogue: any Catalogue
    let access: LibraryAccess
    private let namedFiles: NamedFiles
    let photoFiles: any PhotoFiles
    let workers: ImageWorkerPool
    /// Those that open films.
    let filmWorkers: ImageWorkerPool
    let files: BlockingPool
    /// Thumbnails that a job makes at once: one for each worker, and one that is read or put in place meanwhile.
    let width: Int
    /// Thumbnails and previews of stored photos that are being made, by their own names.
    var making: [StoredName: Making] = [:]
    /// Thumbnails and previews that could not be made because of their photos, until one is. ``mostRemembered`` at most.
    var unmade: [StoredName: MeshError] = [:]
    static let mostRemembered = 1_000
    /// Pages of contact sheets that are being made.
    var sheetsUnderWay = 0

    /// - Parameter access: which knows who asks: a child's device sees the photos of chosen categories alone, and no originals.
    package init(
        catalogue: any Catalogue, access: LibraryAccess = LibraryAccess(), namedFiles: NamedFiles,
        photoFiles: any PhotoFiles,
        workers: ImageWorkerPool, filmWorkers: ImageWorkerPool, files: BlockingPool, width: Int
    ) {
        self.catalogue = catalogue
        self.access = access
        self.namedFiles = namedFiles
        self.photoFiles = photoFiles
        self.workers = workers
        self.filmWorkers = filmWorkers
        self.files = files
        self.width = width + 1
    }

    public func stop() async {
        await workers.shutDown()
        await filmWorkers.shutDown()
    }

    /// A photo that somebody asks for by its key.
    /// - Throws: `noPhoto`, also for a child's device that does not see it.
    nonisolated func photo(id: Int64?, uuid: String?) async throws -> Photo {
        let (key, viewer) = (try PhotoKey(id: id, uuid: uuid), access.viewer)
        return try await catalogue.read { try $0.photos.require(key, in: viewer.scope(in: $0)) }
    }

    package nonisolated func status() async throws -> ImageWorkerStatus {
        // What the kernel grants can only be told by trying, so the first one who asks has a worker started.
        let cell = await workers.cell()
        let statistics = workers.statistics + filmWorkers.statistics
        let living = try await files.run {
            statistics.livePIDs.reduce(Int64(0)) { $0 + FileSystem.peakMemory(of: $1) }
        }
        let peak = max(living, statistics.peakMemory)
        return ImageWorkerStatus(
            started: statistics.started, crashed: statistics.crashed, lost: statistics.lost,
            timedOut: statistics.timedOut, pids: statistics.livePIDs, peakMemoryBytes: peak,
            sharedMemoryBytes: Int64(clamping: workers.sharedMemory), cell: cell.map(ImageWorkerCell.init))
    }

    // Not isolated: several conversions run at once, and nothing of the actor's changes.
    nonisolated func prepare(_ request: PreparePhoto) async throws -> PreparedPhoto {
        let (namedFiles, photoFiles) = (namedFiles, photoFiles)
        let (descriptor, status) = try await files.run {
            guard request.isStaged else { return try namedFiles.open(FilePath(text: request.source)) }
            let descriptor = try photoFiles.openStaged(request.source)
            var status = stat()
            guard fstat(descriptor, &status) == 0 else {
                defer { close(descriptor) }
                throw FileSystem.Failure(action: "look at", path: request.source, code: errno)
            }
            return (descriptor, status)
        }
        defer { close(descriptor) }
        let source = OpenSource(descriptor, status)
        if try await files.run({ try FileContent.isFilm(descriptor) }) { return try await prepareFilm(source, request) }
        do {
            return try await decode(source, request)
        } catch ImagingError.needsMemory(let words, let picture?) where request.takesUnseen {
            guard picture.isPlausible(bytes: Int64(status.st_size)) else {
                throw ImagingError.tooLarge("\(words), in \(status.st_size) bytes")
            }
            return try await prepareUnseen(picture, source, request)
        }
    }

    private nonisolated func decode(_ source: OpenSource, _ request: PreparePhoto) async throws -> PreparedPhoto {
        try await staging { photo in
            try await staging { thumbnail in
                try await staging { preview in
                    try await decode(source, request, photo, thumbnail, preview)
                }
            }
        }
    }

    private nonisolated func decode(
        _ source: OpenSource, _ request: PreparePhoto, _ photo: Staged, _ thumbnail: Staged, _ preview: Staged
    ) async throws -> PreparedPhoto {
        let photoFiles = photoFiles
        let made = try await workers.convert(
            source: source.descriptor, photo: photo.descriptor, thumbnail: thumbnail.descriptor,
            preview: preview.descriptor, within: request.processorSeconds.map { .seconds(max(1, $0)) })
        try await files.run {
            try FileSystem.sync(photo.descriptor, photo.name)
            try FileSystem.sync(thumbnail.descriptor, thumbnail.name)
            // Not of the preview: it can be made again, and tells by its end whether all of it is there.
            if made.previewSize == nil { photoFiles.unstage([preview.name]) }
        }
        // Copied last: of what turns out to be no picture, however long, nothing is.
        let original =
            request.keepsOriginal && !made.keptOriginal
            ? try await stage(source, made.sourceDigest) : nil
        return PreparedPhoto(
            stagedPhoto: photo.name, stagedThumbnail: thumbnail.name,
            stagedPreview: made.previewSize == nil ? nil : preview.name, stagedOriginal: original,
            sourceDigest: made.sourceDigest, sourceSize: made.sourceSize, sourceWidth: made.sourceWidth,
            sourceHeight: made.sourceHeight, contentDigest: made.contentDigest, mediaType: "image/jpeg",
            fileExtension: ".jpg", fileSize: made.fileSize, width: made.width,
            height: made.height, facts: made.facts, sourceMediaType: made.sourceMediaType, shortfall: made.shortfall)
    }

    private nonisolated func stage(_ source: OpenSource, _ digest: String) async throws -> String {
        try await staging { copy in
            try await files.run {
                try source.copy(digest, to: copy.descriptor, copy.name)
                return copy.name
            }
        }
    }

    nonisolated func makeThumbnail(_ request: MakeThumbnail) async throws -> StagedThumbnail {
        let photoFiles = photoFiles
        let source = try await files.run { try photoFiles.openStaged(request.stagedPhoto) }
        defer { close(source) }
        return try await staging { thumbnail in
            _ = try await workers.makeThumbnail(
                source: source, thumbnail: thumbnail.descriptor, turned: request.rotation?.rawValue ?? 0)
            try await files.run { try FileSystem.sync(thumbnail.descriptor, thumbnail.name) }
            return StagedThumbnail(stagedThumbnail: thumbnail.name)
        }
    }

    /// A name in the staging folder, and a descriptor to write it.
    typealias Staged = (name: String, descriptor: Int32)

    /// Runs `body` with a new staged file, which goes again where it throws.
    nonisolated func staging<Value: Sendable>(
        _ body: (Staged) async throws -> Value
    ) async throws -> Value {
        let photoFiles = photoFiles
        let staged = try await files.run { try photoFiles.stage() }
        defer { close(staged.descriptor) }
        do {
            return try await body(staged)
        } catch {
            try? await files.run { photoFiles.unstage([staged.name]) }
            throw error
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
    package func perform(on service: Thumbnailer) async throws -> PreparedPhoto { try await service.prepare(self) }
}

extension MakeThumbnail: HandledMessage {
    package func perform(on service: Thumbnailer) async throws -> StagedThumbnail {
        try await service.makeThumbnail(self)
    }
}
