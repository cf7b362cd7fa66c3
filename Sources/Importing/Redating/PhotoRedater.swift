import Executors
import Foundation
import Imaging
import LibraryModel
import LibraryStorage
import ServiceMesh
import Sidecars

/// Finds out again when photos were taken, and with what. Pictures are opened by the image workers, several at once; each photo's new facts
/// and its line in the receipt are one transaction. It calls no other service.
public actor PhotoRedater: MeshService {
    public static let serviceName = "PhotoRedater"
    public static var messages: MessageList<PhotoRedater> { RedatePhotos.self }

    /// Photos that are looked up together.
    private static let pageLength = 256

    /// How far a job has come; kept after each page.
    private struct Progress: Codable {
        /// The last photo's id.
        var last: Int64 = 0
        /// Photos looked at.
        var photos: Int64 = 0
    }

    private let catalogue: any Catalogue
    private let photoFiles: any PhotoFiles
    private let workers: ImageWorkerPool
    private let filmWorkers: ImageWorkerPool
    private let files: BlockingPool
    /// Photos under way at once: one for each worker, and one more that is written down meanwhile.
    private let width: Int

    package init(
        catalogue: any Catalogue, photoFiles: any PhotoFiles, workers: ImageWorkerPool,
        filmWorkers: ImageWorkerPool, files: BlockingPool, width: Int
    ) {
        self.catalogue = catalogue
        self.photoFiles = photoFiles
        self.workers = workers
        self.filmWorkers = filmWorkers
        self.files = files
        self.width = width + 1
    }

    func check(_ request: RedatePhotos) async throws {
        _ = try PhotoQuery(request.filter)
        guard let category = request.filter.categoryId else { return }
        _ = try await catalogue.read { try $0.categories.require(.id(category)) }
    }

    /// Photos go by their ids and not by the dates that change under it. Goes on behind the last page that was done; in the
    /// page that was not, photos that have a line are left out.
    func run(_ request: RedatePhotos, job: Job) async throws -> RedateReceipt {
        do {
            try await redate(request, job)
        } catch  where job.isCancelled {
            return receipt(of: request, job, ending: .cancelled)
        }
        let isSound = job.snapshot.outcomes[RedateOutcome.unreadable.rawValue] == nil
        return receipt(of: request, job, ending: isSound ? .complete : .completeWithProblems)
    }

    private func redate(_ request: RedatePhotos, _ job: Job) async throws {
        let query = try PhotoQuery(request.filter)
        let done = try await Set(job.recordedItems().compactMap(Self.id))
        var progress = job.checkpoint.flatMap { try? JSONDecoder().decode(Progress.self, from: $0) } ?? Progress()
        let total = try await catalogue.read { try $0.photos.count(query) }
        // Those that have been redated may not meet the filters any more.
        job.begin(phase: "reading dates and cameras", items: max(Int64(total), progress.photos))
        job.advance(items: progress.photos)
        while true {
            try await job.mayContinue()
            let last = progress.last
            let selection = try PhotoIDQuery(SelectPhotos(request.filter, limit: Self.pageLength, after: last))
            let (ids, photos) = try await catalogue.read { transaction in
                let ids = try transaction.photos.ids(selection).ids
                return (ids, try transaction.photos.findReadable(ids.map { .id($0) }))
            }
            guard let end = ids.last else { return }
            try await redate(photos.filter { !done.contains($0.id) }, request.dryRun == true, job)
            job.advance(items: Int64(ids.count { done.contains($0) }))
            progress = Progress(last: end, photos: progress.photos + Int64(ids.count))
            try await job.keep(checkpoint: JSONEncoder().encode(progress))
        }
    }

    private func redate(_ photos: [Photo], _ isDryRun: Bool, _ job: Job) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (index, photo) in photos.enumerated() {
                if index >= width { _ = try await group.next() }
                group.addTask {
                    try await job.mayContinue()
                    try await self.redate(photo, isDryRun, job)
                    job.advance(items: 1)
                }
            }
            try await group.waitForAll()
        }
    }

    // Not isolated: several photos at once, and nothing of the actor's changes.
    private nonisolated func redate(_ photo: Photo, _ isDryRun: Bool, _ job: Job) async throws {
        let picture: PictureFacts
        do {
            picture = try await readFacts(of: photo)
        } catch {
            // A helper that is ended together with the daemon, or with the job, says nothing of the photo.
            try Task.checkCancellation()
            return job.record(Self.line(photo, .unreadable, Self.why(MeshError(describing: error))))
        }
        let camera = picture.camera == photo.camera ? nil : picture.camera
        let kept = try await readSidecars(of: photo)
        let found = PhotoDate.best(of: [picture.date, kept])
        switch DateRevision(of: photo, found: found, now: .now()) {
        case .stays:
            guard let camera else { return }
            try await set(nil, camera, of: photo, Self.line(photo, .cameraFound, camera), isDryRun, job)
        case .isDoubtful(let date):
            let (old, new) = (Self.text(photo), Self.text(date))
            let why = "\(old) stays, because a person may have said so; the picture says \(new)"
            let line = Self.line(photo, .kept, [why, camera].compactMap { $0 }.joined(separator: "; "))
            guard let camera else { return job.record(line) }
            try await set(nil, camera, of: photo, line, isDryRun, job)
        case .becomes(let date):
            let change = "\(Self.text(photo)) → \(Self.text(date))"
            let line = Self.line(photo, .redated, [change, camera].compactMap { $0 }.joined(separator: "; "))
            try await set(date, camera, of: photo, line, isDryRun, job)
        }
    }

    /// Writes what is not nil.
    private nonisolated func set(
        _ date: PhotoDate?, _ camera: String?, of photo: Photo, _ line: ReceiptLine, _ isDryRun: Bool, _ job: Job
    ) async throws {
        guard !isDryRun else { return job.record(line) }
        let id = job.id
        // Uncancelled: what is written is counted too.
        let isSet = try await uncancelled { [catalogue] in
            try await catalogue.write {
                try $0.photos.setDate(date, camera: camera, of: photo, line: line, of: id)
            }
        }
        // Else somebody has dated it meanwhile, or it has gone.
        if isSet { job.count(journaled: line) }
    }

    /// What the picture says: the original, or where that cannot be read, the photo.
    /// - Throws: why neither can be read; not for a photo that was taken over without a picture.
    private nonisolated func readFacts(of photo: Photo) async throws -> PictureFacts {
        if let original = photo.originalPath, original != photo.path, let facts = try? await readFacts(in: original) {
            return facts
        }
        do {
            return try await readFacts(in: photo.path)
        } catch let error as MeshError where error.status == .notFound && photo.fileSize == 0 {
            return PictureFacts()
        }
    }

    /// When it was taken by the sidecars that are kept with it, which may say more to this version than to the one that kept them.
    private nonisolated func readSidecars(of photo: Photo) async throws -> PhotoDate? {
        guard !photo.sidecars.isEmpty else { return nil }
        let photoFiles = photoFiles
        return try await files.run {
            photo.sidecars.lazy.filter { !$0.isCompanion }.compactMap {
                photoFiles.facts(of: $0).flatMap(PhotoDate.init)
            }
            .first
        }
    }

    private nonisolated func readFacts(in path: String) async throws -> PictureFacts {
        let photoFiles = photoFiles
        do {
            let descriptor = try await files.run { try photoFiles.open(StoredName(catalogued: path)) }
            defer { close(descriptor) }
            let isFilm = try await files.run { try FileContent.isFilm(descriptor) }
            return try await (isFilm ? filmWorkers : workers).readFacts(source: descriptor)
        } catch {
            throw MeshError(describing: error)
        }
    }

    // MARK: The receipt

    /// By the lines of all runs of the job.
    func receipt(of request: RedatePhotos, _ job: Job, ending: JobEnding) -> RedateReceipt {
        let now = job.snapshot
        func count(_ outcome: RedateOutcome) -> Int { now.outcomes[outcome.rawValue] ?? 0 }
        return RedateReceipt(
            photos: Int(clamping: now.progress.itemsDone), redated: count(.redated),
            camerasFound: count(.cameraFound), kept: count(.kept),
            unreadable: count(.unreadable), isDryRun: request.dryRun == true, ending: ending)
    }

    /// The number by which `smilepile photos show` finds it, and its name.
    private static func line(_ photo: Photo, _ outcome: RedateOutcome, _ detail: String) -> ReceiptLine {
        ReceiptLine(item: "\(photo.id) \(photo.displayName)", outcome: outcome.rawValue, detail: detail)
    }

    /// What is told of a source makes no sense for a file that was a picture when it was imported.
    private static func why(_ error: MeshError) -> String {
        switch error.details["imaging"] {
        case "unsupported_media", "damaged": "its file is not the picture that it was; see: smilepile storage check"
        default: error.message
        }
    }

    private static func id(_ item: String) -> Int64? { Int64(item.prefix { $0 != " " }) }

    private static func text(_ photo: Photo) -> String {
        guard let clock = photo.takenAt else { return "no date" }
        return text(clock, photo.datePrecision, photo.takenOffset, photo.dateSource)
    }

    private static func text(_ date: PhotoDate) -> String {
        text(date.clock, date.precision, date.offset, date.source)
    }

    /// `2024-06-01 13:01:01 +02:00 (EXIF)`
    private static func text(
        _ clock: LocalDateTime, _ precision: DatePrecision?, _ offset: Int?, _ source: DateSource?
    ) -> String {
        func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        let time = clock.text(to: precision ?? .second)
        let zone = offset.map { " \($0 < 0 ? "-" : "+")\(two(abs($0) / 60)):\(two(abs($0) % 60))" } ?? ""
        let origin =
            switch source {
            case .person: "a person"
            case .exif: "EXIF"
            case .exifCreated: "EXIF, when it became a file"
            case .xmp: "XMP"
            case .iptc: "IPTC"
            case .film: "its film"
            case .sidecar: "a file beside it"
            case .png: "its PNG text"
            case .gps: "its GPS time"
            case .modified: "when it was last saved"
            case .app: "the phone app"
            case .fileName: "its name"
            case .fileTime: "its file's time"
            case nil: "source unknown"
            }
        return "\(time)\(zone) (\(origin))"
    }
}

extension RedatePhotos: HandledJob {
    public typealias Service = PhotoRedater
    public static var resumption: JobResumption { .onward }

    public static func needsAttention(_ outcome: String) -> Bool {
        ![RedateOutcome.redated, .cameraFound].map(\.rawValue).contains(outcome)
    }

    public func prepare(on service: PhotoRedater) async throws { try await service.check(self) }

    public func run(on service: PhotoRedater, job: Job) async throws -> RedateReceipt {
        try await service.run(self, job: job)
    }

    public func receipt(on service: PhotoRedater, failing job: Job) async -> RedateReceipt? {
        await service.receipt(of: self, job, ending: job.isCancelled ? .cancelled : .failed)
    }
}
