import Executors
import Files
import Foundation
import LibraryModel
import LibraryStorage
import ServiceMesh
import ZipArchive

/// What an import does with one file. It never throws: whatever happens is the file's line in the receipt.
struct OneImport: Sendable {
    /// A file's line, and whether the journal has it already, written together with the photo's row.
    struct Outcome: Sendable {
        let line: ReceiptLine
        var isJournaled = false
        /// Of the bytes that a dry run has looked at.
        var sourceDigest: String?
    }

    let mesh: Mesh
    /// Whose receipt gets the line of an imported file together with the photo's row; nil where the caller records it.
    let job: JobID?
    let namedFiles: NamedFiles
    let photoFiles: any PhotoFiles
    let files: BlockingPool
    let category: Int64
    let keepOriginal: Bool
    let isDryRun: Bool
    var particulars = Particulars()

    /// What is known of a photo beforehand, because it comes from another library and not only from a file.
    struct Particulars: Sendable {
        /// Lower case; a new one unless told.
        var uuid: String?
        /// Now unless told.
        var createdAt: Timestamp?
        var isFavorite = false
    }

    func take(_ file: SourceFiles.File) async -> Outcome {
        do {
            try Task.checkCancellation()
            if let digest = try await duplicateDigest(of: file) {
                return Outcome(
                    line: line(
                        file, .duplicate, "the library has a photo of the same bytes (SHA-256 \(digest.prefix(12))…)"))
            }
            let prepared = try await mesh.send(PreparePhoto(source: file.path, keepOriginal: keepOriginal))
            return try await store(prepared, from: file)
        } catch {
            return Outcome(line: line(file, describing: MeshError(describing: error)))
        }
    }

    /// The line of a file whose turn did not come.
    func untaken(_ file: SourceFiles.File) -> ReceiptLine { line(file, .cancelled, nil) }

    func failed(_ file: SourceFiles.File, _ error: any Error) -> ReceiptLine {
        line(file, describing: MeshError(describing: error))
    }

    private func line(_ file: SourceFiles.File, _ outcome: ImportOutcome, _ detail: String?) -> ReceiptLine {
        ReceiptLine(item: file.path, outcome: outcome.rawValue, detail: detail)
    }

    private func line(_ file: SourceFiles.File, describing error: MeshError) -> ReceiptLine {
        switch (error.details["imaging"]?.stringValue, error.status) {
        case (_, .cancelled): line(file, .cancelled, nil)
        case ("unsupported_media", _): line(file, .unsupported, error.message)
        case ("too_large", _): line(file, .tooLarge, error.message)
        case ("damaged", _): line(file, .damaged, error.message)
        case ("changed", _): line(file, .changed, error.message)
        case ("worker_lost", _): line(file, .workerLost, error.message)
        default: line(file, .unreadable, error.message)
        }
    }

    /// The file's digest where the library has a photo made from it. Read only where some source had its size.
    private func duplicateDigest(of file: SourceFiles.File) async throws -> String? {
        let known = try await mesh.send(FindSourceDigests(sourceSize: file.size)).digests
        guard !known.isEmpty else { return nil }
        let isCancelled = CancellationFlag()
        let digest = try await withTaskCancellationHandler {
            try await files.run {
                try namedFiles.withSteadyFile(file.path) { descriptor in
                    try ContentDigest(ofDescriptor: descriptor, cancelled: { isCancelled.isSet }).sha256.hex
                }
            }
        } onCancel: {
            isCancelled.set()
        }
        return known.contains(digest) ? digest : nil
    }

    private func store(_ prepared: PreparedPhoto, from file: SourceFiles.File) async throws -> Outcome {
        guard !isDryRun else {
            try await discard(prepared)
            return Outcome(
                line: line(file, .imported, "would be imported, \(prepared.width) x \(prepared.height)"),
                sourceDigest: prepared.sourceDigest)
        }
        let fileName: StoredName
        do {
            try Task.checkCancellation()
            fileName = try await publish(prepared)
        } catch {
            try? await discard(prepared)
            throw error
        }
        let photo = Photo(
            id: 0, uuid: particulars.uuid ?? UUID().uuidString.lowercased(), path: fileName.path,
            categoryId: category,
            name: Self.name(of: file.path), caption: nil, isFromAssets: false,
            createdAt: particulars.createdAt ?? .now(),
            fileSize: prepared.fileSize, width: prepared.width, height: prepared.height,
            isFavorite: particulars.isFavorite,
            takenAt: prepared.takenAt, contentDigest: prepared.contentDigest, mediaType: prepared.mediaType)
        let imported = line(file, .imported, photo.path)
        do {
            _ = try await mesh.send(
                AddPhoto(
                    photo: photo, sourceDigest: prepared.sourceDigest, sourceSize: prepared.sourceSize, job: job,
                    line: job == nil ? nil : imported))
        } catch {
            if MeshError(describing: error).mayHaveBeenStored { throw error }
            // No row: the linked files go again. Not cancellable, or a cancelled import would leave them.
            try await finishing { try photoFiles.withdraw([fileName.fileName]) }
            if let error = error as? MeshError, error.status == .alreadyExists {
                return Outcome(line: line(file, .duplicate, error.message))
            }
            throw error
        }
        // The photo is imported: a staging name that stays is the next start's business, not the person's.
        try? await finishing { try photoFiles.settle([fileName.fileName]) }
        return Outcome(line: imported, isJournaled: job != nil)
    }

    /// Runs to its end whether or not the import is cancelled: `BlockingPool` work is not interrupted.
    private func finishing(_ work: @escaping @Sendable () throws -> Void) async throws { try await files.run(work) }

    private func discard(_ prepared: PreparedPhoto) async throws {
        try await finishing {
            photoFiles.unstage([prepared.stagedPhoto, prepared.stagedThumbnail])
        }
    }

    private func publish(_ prepared: PreparedPhoto) async throws -> StoredName {
        try await files.run {
            // Eight random digits within one second's name clash about never; a second try is enough, and a
            // third failing says that something else is wrong.
            for attempt in 1...3 {
                let name = PhotoFileName.new(takenAt: prepared.takenAt, fileExtension: prepared.fileExtension)
                do {
                    try photoFiles.publish([
                        StagedPhoto(
                            photo: prepared.stagedPhoto, thumbnail: prepared.stagedThumbnail, fileName: name.fileName)
                    ])
                    return name
                } catch is NameTaken where attempt < 3 {
                    continue
                }
            }
            throw MeshError(.internal, "No free file name was found.")
        }
    }

    /// The source's name without its extension, shortened to 200 characters.
    private static func name(of path: String) -> String {
        let file = path.split(separator: "/").last.map(String.init) ?? path
        let stem = file.lastIndex(of: ".").map { $0 == file.startIndex ? file : String(file[..<$0]) } ?? file
        return String(stem.prefix(200))
    }
}
