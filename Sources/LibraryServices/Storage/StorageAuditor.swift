import Database
import Executors
import Foundation
import LibraryModel
import ServiceMesh

/// Compares the library's files with its catalogue: what they take, which are not as they should be, which belong to
/// nothing. It removes orphaned thumbnails on request, and unknown photos where that is asked for by name. It calls no
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

    private let folder: LibraryFolder
    private let database: Database
    private let files: BlockingPool
    private let width: Int

    init(folder: LibraryFolder, database: Database, files: BlockingPool, workers: Int) {
        self.folder = folder
        self.database = database
        self.files = files
        width = workers
    }

    // MARK: Usage

    func usage(_ request: GetStorageUsage) async throws -> StorageUsage {
        let needed = request.needed ?? Self.usualNeed
        guard needed >= 0 else { throw MeshError(.invalidArgument, "'needed' is a number of bytes, 0 or more.") }
        let folder = folder
        return try await files.run {
            let photos = try StoredFiles(in: folder.photos)
            let thumbnails = try StoredFiles(in: folder.thumbnails)
            let free = try FileSystem.freeBytes(folder.path)
            return StorageUsage(
                photoBytes: photos.bytes, photoCount: photos.sizes.count, thumbnailBytes: thumbnails.bytes,
                thumbnailCount: thumbnails.sizes.count, freeBytes: free, hasEnoughSpace: needed <= free)
        }
    }

    func list(_ request: ListStoredFiles) async throws -> StoredFilePage {
        let limit = try PhotoQuery.validated(limit: request.limit)
        let folder = folder
        let paths = try await files.run {
            try StoredFiles(in: folder.photos).sizes.keys.map { "photos/" + $0 }
                .filter { $0 > request.after ?? "" }.sorted()
        }
        let page = Array(paths.prefix(limit))
        return StoredFilePage(paths: page, next: paths.count > limit ? page.last : nil)
    }

    // MARK: Cleaning up

    func clean(_ request: CleanStorage) async throws -> StorageCleaning {
        let folder = folder
        let orphans = try await unknown(in: folder.thumbnails) { "thumbnails/" + $0 }
            .filter { $0.key.hasPrefix(LibraryFolder.thumbnailPrefix) }
        let unknown = try await unknown(in: folder.photos) { "photos/" + $0 }
        if request.dryRun != true {
            try await files.run {
                for name in orphans.keys { try FileSystem.remove(folder.thumbnails + "/" + name) }
                try FileSystem.sync(folder.thumbnails)
                guard request.unknownPhotos == true else { return }
                for name in unknown.keys { try FileSystem.remove(folder.photos + "/" + name) }
                try FileSystem.sync(folder.photos)
            }
        }
        return StorageCleaning(
            thumbnails: orphans.count, bytes: StoredFiles.sum(orphans.values),
            unknownPhotos: unknown.keys.sorted().prefix(1_000).map { "photos/" + $0 },
            unknownCount: unknown.count, unknownBytes: StoredFiles.sum(unknown.values))
    }

    /// Files in a folder, with their sizes, that no photo has and that nobody is bringing in at this moment.
    ///
    /// The order makes it safe while imports run: a file that was seen and is not in `staging/` after that has been
    /// settled, and then its row is there for whoever looks later still.
    private func unknown(in path: String, relative: @escaping @Sendable (String) -> String) async throws -> [String:
        Int64]
    {
        let folder = folder
        let seen = try await files.run {
            let found = try StoredFiles(in: path).sizes
            let staged = Set(try FileSystem.names(in: folder.staging).compactMap { $0 })
            return found.filter { !staged.contains($0.key) }
        }
        var unknown: [String: Int64] = [:]
        for part in seen.keys.sorted().split(maximum: 1_000) {
            let strangers = try await database.read { connection in
                try part.filter { name in
                    try !PhotoTable.isInUse(path: relative(name), in: connection)
                        && !DiscardedFileTable.contains(relative(name), in: connection)
                }
            }
            for name in strangers { unknown[name] = seen[name] }
        }
        return unknown
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
        let total = try await database.read { connection in
            try connection.first(
                """
                SELECT sum(n), sum(bytes) FROM (SELECT count(*) AS n, coalesce(sum(file_size), 0) AS bytes FROM photos
                    UNION ALL SELECT count(*), coalesce(sum(file_size), 0) FROM trash)
                """
            ) { (try $0[0] as Int64, try $0[1] as Int64) } ?? (0, 0)
        }
        job.begin(phase: "checking", items: total.0, bytes: digests ? total.1 : nil)
        var tally = RescanTally()
        for table in StoredPhoto.Table.allCases {
            var last: Int64 = 0
            while !flag.isSet {
                let after = last
                let page = try await database.read { try StoredPhoto.page(of: table, after: after, in: $0) }
                guard let end = page.last else { break }
                last = end.id
                // Cancelled, it has a receipt to give; the flag tells.
                do { try await job.mayContinue() } catch  where flag.isSet { break }
                try await check(page, digests: digests, flag, job, &tally)
            }
        }
        if !flag.isSet {
            job.begin(phase: "looking for unknown files")
            for name in try await unknown(in: folder.photos, relative: { "photos/" + $0 }).keys.sorted() {
                tally.record(
                    "photos/" + name, .unknown,
                    "no photo has this file; move it out of the library and import it from there if it is wanted, else: smilepile storage clean --unknown-photos",
                    in: job)
            }
            for name in try await unknown(in: folder.thumbnails, relative: { "thumbnails/" + $0 }).keys.sorted() {
                tally.record("thumbnails/" + name, .unknown, "no photo has it: smilepile storage clean", in: job)
            }
        }
        if job.isInterrupted { throw CancellationError() }
        return tally.receipt(isCancelled: flag.isSet)
    }

    private func check(
        _ page: [StoredPhoto], digests: Bool, _ flag: CancellationFlag, _ job: Job, _ tally: inout RescanTally
    ) async throws {
        let folder = folder
        let files = files
        let found = try await withThrowingTaskGroup(of: [StoredPhoto.Finding].self) { group in
            for part in page.split(maximum: max(1, (page.count + width - 1) / width)) {
                group.addTask {
                    try await files.run {
                        part.flatMap { $0.check(in: folder, digests: digests, isCancelled: flag, job: job) }
                    }
                }
            }
            var all: [StoredPhoto.Finding] = []
            for try await part in group { all += part }
            return all
        }
        tally.photos += page.count
        tally.bytes += digests ? page.reduce(0) { $0 + $1.size } : 0
        guard !found.isEmpty else { return }
        // A photo that went meanwhile took its files along.
        let still = try await database.read { connection in
            try Set(found.map(\.path).filter { try PhotoTable.isStored(path: $0, in: connection) })
        }
        for finding in found where still.contains(finding.path) {
            tally.record(finding.path, finding.kind, finding.detail, in: job)
        }
    }

    // MARK: Paths

    func identify(_ path: String) async throws -> PathIdentity {
        guard path.hasPrefix("/"), !path.utf8.contains(0) else {
            throw MeshError(.invalidArgument, "Paths are absolute here; '\(path.prefix(200))' is not.")
        }
        let plain = URL(fileURLWithPath: path).standardizedFileURL.path
        let isPhoto = plain.hasPrefix(folder.photos + "/")
        guard isPhoto || plain.hasPrefix(folder.thumbnails + "/") else {
            return PathIdentity(isOurs: false, photoId: nil, photoPath: nil, thumbnailPath: nil)
        }
        let name = plain.split(separator: "/").last.map(String.init) ?? ""
        let prefix = isPhoto ? "" : LibraryFolder.thumbnailPrefix
        let stored = "photos/" + name.dropFirst(name.hasPrefix(prefix) ? prefix.count : 0)
        let isExact = plain == (isPhoto ? folder.photos : folder.thumbnails) + "/" + name && name.hasPrefix(prefix)
        let photo = try await database.read { isExact ? try PhotoTable.find(path: stored, in: $0) : nil }
        return PathIdentity(
            isOurs: true, photoId: photo?.id, photoPath: try photo.map { try folder.location(of: $0.path) },
            thumbnailPath: try photo.map { try folder.location(of: $0.thumbnailPath) })
    }
}

/// What a rescan's receipt adds up.
private struct RescanTally {
    var photos = 0
    var bytes: Int64 = 0
    private var findings: [String: Int] = [:]

    mutating func record(_ path: String, _ kind: StorageFinding, _ detail: String?, in job: Job) {
        job.record(ReceiptLine(item: path, outcome: kind.rawValue, detail: detail))
        findings[kind.rawValue, default: 0] += 1
    }

    func receipt(isCancelled: Bool) -> RescanReceipt {
        RescanReceipt(
            photos: photos, bytes: bytes, findings: findings,
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
