import Executors
import LibraryModel
import LibraryStorage
import Scratch
import ServiceMesh

/// Compares the library's files with its catalogue: what they take, which are not as they should be, which belong to
/// nothing. It removes orphaned thumbnails and previews on request, and unknown photos where that is asked for by name. It calls no
/// other service.
public actor StorageAuditor: MeshService {
    public static let serviceName = "StorageAuditor"
    public static var messages: MessageList<StorageAuditor> {
        GetStorageUsage.self
        ListStoredFiles.self
        RescanLibrary.self
        CleanStorage.self
        IdentifyPath.self
    }

    /// Bytes that a request for room means where it does not say.
    private static let usualNeed: Int64 = 10_000_000

    private let catalogue: any Catalogue
    private let photoFiles: any PhotoFiles
    private let files: BlockingPool
    private let scratch: Scratch
    private let width: Int

    /// - Parameter scratch: for lists of all files.
    package init(
        catalogue: any Catalogue, photoFiles: any PhotoFiles, files: BlockingPool, scratch: Scratch, workers: Int
    ) {
        self.scratch = scratch
        self.catalogue = catalogue
        self.photoFiles = photoFiles
        self.files = files
        width = workers
    }

    // MARK: Usage

    func usage(_ request: GetStorageUsage) async throws -> StorageUsage {
        let needed = request.needed ?? Self.usualNeed
        guard needed >= 0 else { throw MeshError(.invalidArgument, "'needed' is a number of bytes, 0 or more.") }
        let photoFiles = photoFiles
        return try await files.run {
            let photos = try photoFiles.sum(.photos)
            let thumbnails = try photoFiles.sum(.thumbnails)
            let previews = try photoFiles.sum(.previews)
            let originals = try photoFiles.sum(.originals)
            let room = try photoFiles.room()
            return StorageUsage(
                photoBytes: photos.bytes, photoCount: photos.count, thumbnailBytes: thumbnails.bytes,
                thumbnailCount: thumbnails.count, previewBytes: previews.bytes, previewCount: previews.count,
                originalBytes: originals.bytes, originalCount: originals.count, freeBytes: room,
                hasEnoughSpace: needed <= room)
        }
    }

    func list(_ request: ListStoredFiles) async throws -> StoredFilePage {
        let limit = try PageLimit.validated(request.limit)
        let photoFiles = photoFiles
        // What is no name of a photo comes before or behind all of them.
        let after = request.after.map { StoredName(path: $0)?.fileName ?? $0 }
        let found = try await files.run { try photoFiles.list(.photos, after: after, limit: limit + 1) }
        let page = found.prefix(limit).map(\.name.path)
        return StoredFilePage(paths: page, next: found.count > limit ? page.last : nil)
    }

    // MARK: Cleaning up

    func clean(_ request: CleanStorage) async throws -> StorageCleaning {
        let photoFiles = photoFiles
        let thumbnails = try await unknown(.thumbnails).filter(\.name.isThumbnail)
        let previews = try await unknown(.previews).filter(\.name.isPreview)
        let orphans = thumbnails + previews
        let unknown = try await unknown(.photos) + unknown(.originals)
        if request.dryRun != true {
            if request.unknownPhotos == true, !unknown.isEmpty { try await requireAllReadable() }
            let wanted = (orphans + (request.unknownPhotos == true ? unknown : [])).map(\.name)
            try await files.run {
                try photoFiles.requireMayRemove()
                guard Set(photoFiles.remove(wanted)) == Set(wanted) else {
                    throw MeshError(
                        .unavailable,
                        "Not every file could be removed. Check the owner and the permissions of the library's folders, and the disk; then try again."
                    )
                }
            }
        }
        return StorageCleaning(
            thumbnails: thumbnails.count, previews: previews.count, bytes: StoredFile.bytes(of: orphans),
            unknownPhotos: unknown.prefix(1_000).map(\.name.path), unknownCount: unknown.count,
            unknownBytes: StoredFile.bytes(of: unknown))
    }

    /// What belongs to a photo that cannot be read may look as if it belonged to none.
    private func requireAllReadable() async throws {
        let photos = try await catalogue.findUnreadableRows().filter {
            ["photo", "photo in the trash"].contains($0.kind)
        }
        guard let first = photos.first else { return }
        throw MeshError(
            .failedPrecondition,
            "\(photos.count) photos cannot be read, so which files are unknown is not certain. \(first.sentence)")
    }

    /// Files of a kind that no photo has and that nobody is bringing in at this moment, by name.
    ///
    /// The order makes it safe while imports run: a file that was seen and is not staged after that has been settled,
    /// and then its row is there for whoever looks later still.
    private func unknown(_ kind: StoredName.Kind) async throws -> [StoredFile] {
        let (photoFiles, scratch) = (photoFiles, scratch)
        let (seen, staged) = try await files.run {
            var found = SpooledList<StoredFile>.Spooler(in: scratch)
            try photoFiles.forEach(kind) { try found.append($0) }
            let seen = try found.finish()
            return (seen, Set(try photoFiles.leftovers()))
        }
        var unknown: [StoredFile] = []
        for start in stride(from: 0, to: seen.count, by: 1_000) {
            let part = try await files.run {
                try seen.elements(start..<min(start + 1_000, seen.count)).filter { !staged.contains($0.name) }
            }
            let names = part.map(\.name)
            let known = try await catalogue.read { transaction in
                try transaction.photos.inUse(names).union(transaction.discardedFiles.among(names))
            }
            unknown += part.filter { !known.contains($0.name) }
        }
        return unknown.sorted { $0.name < $1.name }
    }

    // MARK: Checking

    func rescan(_ request: RescanLibrary, job: Job) async throws -> RescanReceipt {
        let flag = CancellationFlag()
        return try await withTaskCancellationHandler {
            try await rescan(digests: request.digests == true, flag, job)
        } onCancel: {
            flag.set()
        }
    }

    private func rescan(digests: Bool, _ flag: CancellationFlag, _ job: Job) async throws -> RescanReceipt {
        let (items, bytes) = try await catalogue.read { transaction in
            let (photos, trash) = (try transaction.photos.totals(), try transaction.trash.totals())
            return (photos.photos + trash.photos, photos.bytes &+ trash.bytes)
        }
        job.begin(phase: "checking", items: Int64(items), bytes: digests ? bytes : nil)
        var tally = RescanTally()
        for place in PhotoFileEntry.Place.allCases {
            var last: Int64 = 0
            while !flag.isSet {
                let after = last
                let page = try await catalogue.read { try $0.photos.files(place, after: after) }
                guard let end = page.last else { break }
                last = end.id
                // Cancelled, it has a receipt to give; the flag tells.
                do { try await job.mayContinue() } catch  where flag.isSet { break }
                try await check(page, digests: digests, flag, job, &tally)
            }
        }
        if !flag.isSet {
            for row in try await catalogue.findUnreadableRows() {
                tally.record(row.name, .unreadable, "\(row.problem). \(row.advice)", in: job)
            }
            job.begin(phase: "looking for unknown files")
            for file in try await unknown(.photos) + unknown(.originals) {
                tally.record(
                    file.name.path, .unknown,
                    "no photo has this file; move it out of the library and import it from there if it is wanted, else: smilepile storage clean --unknown-photos",
                    in: job)
            }
            for file in try await unknown(.thumbnails) + unknown(.previews) {
                tally.record(file.name.path, .unknown, "no photo has it: smilepile storage clean", in: job)
            }
        }
        if job.isInterrupted { throw CancellationError() }
        return tally.receipt(isCancelled: flag.isSet)
    }

    private func check(
        _ page: [PhotoFileEntry], digests: Bool, _ flag: CancellationFlag, _ job: Job, _ tally: inout RescanTally
    ) async throws {
        let files = files
        let check = PhotoFileCheck(photoFiles: photoFiles, digests: digests, isCancelled: flag, job: job)
        let found = try await withThrowingTaskGroup(of: [PhotoFileCheck.Finding].self) { group in
            for part in page.split(maximum: max(1, (page.count + width - 1) / width)) {
                group.addTask { try await files.run { part.flatMap(check.findings) } }
            }
            var all: [PhotoFileCheck.Finding] = []
            for try await part in group { all += part }
            return all
        }
        tally.photos += page.count
        tally.withoutPreview += try await files.run { page.count(where: check.lacksPreview) }
        tally.bytes += digests ? page.reduce(0) { $1.files.reduce($0) { $0 &+ $1.size } } : 0
        guard !found.isEmpty else { return }
        // A photo that went meanwhile took its files along.
        let still = try await catalogue.read { transaction in
            try transaction.photos.inUse(found.compactMap { StoredName(path: $0.path) })
        }
        for finding in found where StoredName(path: finding.path).map(still.contains) ?? true {
            tally.record(finding.path, finding.kind, finding.detail, in: job)
        }
    }

    // MARK: Paths

    func identify(_ path: String) async throws -> PathIdentity {
        guard path.hasPrefix("/"), !path.utf8.contains(0) else {
            throw MeshError(.invalidArgument, "Paths are absolute here; '\(path.prefix(200))' is not.")
        }
        guard photoFiles.owns(path), let name = photoFiles.name(at: path),
            !name.kind.isMade || name.isThumbnail || name.isPreview
        else {
            return PathIdentity(isOurs: photoFiles.owns(path), photoId: nil, photoPath: nil, thumbnailPath: nil)
        }
        let photo = try await catalogue.read { try $0.photos.find(.path(name.photo.path)) }
        let stored = photo == nil ? nil : name.photo
        return PathIdentity(
            isOurs: true, photoId: photo?.id, photoPath: stored.flatMap(photoFiles.path(of:)),
            thumbnailPath: stored.flatMap { photoFiles.path(of: $0.thumbnail) })
    }
}

extension PhotoFiles {
    /// How many files of a kind there are, and what they take; sparse ones may claim more than a number holds. Blocks.
    fileprivate func sum(_ kind: StoredName.Kind) throws -> (count: Int, bytes: Int64) {
        var (count, bytes) = (0, Int64(0))
        try forEach(kind) { file in
            count += 1
            bytes.add(clamping: file.size)
        }
        return (count, bytes)
    }
}

/// What a rescan's receipt adds up.
private struct RescanTally {
    var photos = 0
    var bytes: Int64 = 0
    var withoutPreview = 0
    private var findings: [String: Int] = [:]

    mutating func record(_ path: String, _ kind: StorageFinding, _ detail: String?, in job: Job) {
        job.record(ReceiptLine(item: path, outcome: kind.rawValue, detail: detail))
        findings[kind.rawValue, default: 0] += 1
    }

    func receipt(isCancelled: Bool) -> RescanReceipt {
        RescanReceipt(
            photos: photos, bytes: bytes, findings: findings, withoutPreview: withoutPreview,
            ending: isCancelled ? .cancelled : findings.isEmpty ? .complete : .completeWithProblems)
    }
}

extension Array {
    /// In parts of at most `maximum` elements.
    fileprivate func split(maximum: Int) -> [[Element]] {
        stride(from: 0, to: count, by: maximum).map { Array(self[$0..<Swift.min($0 + maximum, count)]) }
    }
}

extension GetStorageUsage: HandledMessage {
    public func perform(on service: StorageAuditor) async throws -> StorageUsage { try await service.usage(self) }
}

extension ListStoredFiles: HandledMessage {
    public func perform(on service: StorageAuditor) async throws -> StoredFilePage { try await service.list(self) }
}

extension CleanStorage: HandledMessage {
    public func perform(on service: StorageAuditor) async throws -> StorageCleaning { try await service.clean(self) }
}

extension IdentifyPath: HandledMessage {
    public func perform(on service: StorageAuditor) async throws -> PathIdentity { try await service.identify(path) }
}

extension RescanLibrary: HandledJob {
    public typealias Service = StorageAuditor
    /// Half a look says nothing about the other half, and files may have changed.
    public static var resumption: JobResumption { .again }

    public func run(on service: StorageAuditor, job: Job) async throws -> RescanReceipt {
        try await service.rescan(self, job: job)
    }
}
