import Executors
import Foundation
import LibraryModel
import ServiceMesh
import ZipArchive

/// Imports files and folders: several at once, one line in the receipt for each, whatever becomes of it.
///
/// Per file: is it a duplicate (only a file whose size some source had is hashed first) → the Thumbnailer makes
/// photo and thumbnail in `staging/` → both are linked into place, durably → the PhotoStore enters the row → the
/// staging names go. A file that fails anywhere leaves nothing behind.
public actor PhotoImporter: MeshService {
    public static let serviceName = "PhotoImporter"
    public static var messages: MessageList<PhotoImporter> { ImportPhotos.self }

    private let folder: LibraryFolder
    private let files: BlockingPool
    /// Files under way at once: one for each worker, and two more that read or publish meanwhile.
    private let width: Int
    private unowned var mesh: Mesh?

    init(folder: LibraryFolder, files: BlockingPool, workers: Int) {
        self.folder = folder
        self.files = files
        width = workers + 2
    }

    public func start(on mesh: Mesh) { self.mesh = mesh }

    private func requireMesh() throws -> Mesh {
        guard let mesh else { throw MeshError(.unavailable, "The importer is not started.") }
        return mesh
    }

    func check(_ request: ImportPhotos) async throws {
        guard !request.paths.isEmpty else {
            throw MeshError(.invalidArgument, "Name at least one file or folder to import.")
        }
        for path in request.paths where !path.hasPrefix("/") || path.utf8.contains(0) {
            throw MeshError(.invalidArgument, "Paths are absolute here; '\(path.prefix(200))' is not.")
        }
        try await files.run {
            for path in request.paths where access(path, F_OK) != 0 {
                throw FileSystem.Failure(action: "import", path: path, code: errno)
            }
        }
        _ = try await category(request)
    }

    private func category(_ request: ImportPhotos) async throws -> Int64 {
        let mesh = try requireMesh()
        if let id = request.categoryId { return try await mesh.send(GetCategory(id: id)).id }
        guard let first = try await mesh.send(ListCategories()).categories.first else {
            throw MeshError(.failedPrecondition, "The library has no category. Add one first.")
        }
        return first.id
    }

    func run(_ request: ImportPhotos, job: Job) async throws -> ImportReceipt {
        let mesh = try requireMesh()
        let category = try await category(request)
        job.begin(phase: "reading folders")
        let library = folder.path
        let isCancelled = CancellationFlag()
        let found = try await withTaskCancellationHandler {
            try await files.run {
                try SourceFiles(paths: request.paths, library: library, isCancelled: { isCancelled.isSet })
            }
        } onCancel: {
            isCancelled.set()
        }
        var tally = Tally()
        for line in found.refused { tally.count(line, in: job) }
        job.begin(
            phase: request.dryRun == true ? "checking" : "importing", items: Int64(found.files.count),
            bytes: found.bytes)

        let one = OneImport(
            mesh: mesh, folder: folder, files: files, category: category, keepOriginal: request.originals == true,
            isDryRun: request.dryRun == true)
        await withTaskGroup(of: (SourceFiles.File, ReceiptLine).self) { group in
            var next = found.files.makeIterator()
            func startNext() {
                guard let file = next.next() else { return }
                group.addTask { (file, await one.take(file)) }
            }
            for _ in 0..<width { startNext() }
            // Cancelled files end at once, so the group runs through the rest by itself: each gets its line.
            while let (file, line) = await group.next() {
                tally.count(line, in: job)
                // What was not reached is not progress.
                if line.outcome != ImportOutcome.cancelled.rawValue { job.advance(items: 1, bytes: file.size) }
                startNext()
            }
        }
        return tally.receipt(category: category, isDryRun: request.dryRun == true)
    }

    /// What the receipt adds up.
    private struct Tally {
        var counts: [ImportOutcome: Int] = [:]

        mutating func count(_ line: ReceiptLine, in job: Job) {
            job.record(line)
            if let outcome = ImportOutcome(rawValue: line.outcome) { counts[outcome, default: 0] += 1 }
        }

        func receipt(category: Int64, isDryRun: Bool) -> ImportReceipt {
            let problems = counts.filter { $0.key.needsAttention }.values.reduce(0, +)
            let notDone = counts[.cancelled] ?? 0
            return ImportReceipt(
                categoryId: category, files: counts.values.reduce(0, +), imported: counts[.imported] ?? 0,
                duplicates: counts[.duplicate] ?? 0, problems: problems, notDone: notDone, isDryRun: isDryRun,
                ending: notDone > 0 ? .cancelled : problems > 0 ? .completeWithProblems : .complete)
        }
    }
}

extension ImportPhotos: HandledJob {
    public typealias Service = PhotoImporter

    public func prepare(on service: PhotoImporter) async throws { try await service.check(self) }

    public func run(on service: PhotoImporter, job: Job) async throws -> ImportReceipt {
        try await service.run(self, job: job)
    }
}
