import CLinux
import Executors
import Files
import Foundation
import ServiceMesh
import ZipArchive

/// A backup's ZIP file: its names and its bytes, whatever its documents say.
///
/// Opening it checks the structure and every name; nothing is written, and no entry is read.
final class BackupArchive: Sendable {
    /// An entry that the documents promise.
    struct Entry: Sendable {
        let path: String
        let size: Int64
        /// SHA-256 of its bytes, hex.
        let sha256: String
    }

    private let reader: ZipReader
    /// Every entry's index by its name; names are known to be unique, because no entry was refused.
    private let indices: [String: Int]
    private let descriptor: Int32

    deinit { close(descriptor) }

    /// - Parameters:
    ///   - namedFiles: of the library that reads it.
    ///   - maximumBytes: that it may hold, inflated.
    /// - Throws: `not_found`; `data_loss` for a damaged archive, and for one with names that are not taken.
    init(path: String, _ namedFiles: NamedFiles, maximumBytes: Int64) throws {
        let (descriptor, _) = try namedFiles.open(path, links: .followed)
        do {
            reader = try Self.read(descriptor, maximumBytes: maximumBytes)
        } catch {
            close(descriptor)
            throw error
        }
        indices = Dictionary(reader.entries.map { ($0.name, $0.index) }, uniquingKeysWith: { first, _ in first })
        self.descriptor = descriptor
    }

    private static func read(_ descriptor: Int32, maximumBytes: Int64) throws -> ZipReader {
        let reader: ZipReader
        do {
            reader = try ZipReader(descriptor: descriptor, limits: ZipLimits(maximumTotalBytes: maximumBytes))
        } catch {
            throw MeshError(refusingBackup: MeshError(describing: error).message)
        }
        guard reader.bytesInFront == 0 else {
            throw MeshError(
                refusingBackup:
                    "\(reader.bytesInFront) bytes stand before the archive, and not every reader of ZIP files finds what is behind them."
            )
        }
        if let refusal = reader.refusals.first {
            throw MeshError(refusingBackup: refusal.description, entry: refusal.name)
        }
        return reader
    }

    var entryCount: Int { reader.entries.count }
    /// Names of entries that are no folders.
    var files: [String] { reader.entries.filter { !$0.isFolder }.map(\.name) }

    /// - Throws: `data_loss` where an entry is not there, or is not what is promised as far as can be seen without reading it.
    func require(_ promised: Entry) throws {
        let name = promised.path.prefix(200)
        guard let index = indices[promised.path] else {
            throw MeshError(
                refusingBackup: "'\(name)' is in the manifest but not in the archive.", entry: promised.path)
        }
        guard !reader.entries[index].isFolder else {
            throw MeshError(refusingBackup: "'\(name)' is a folder, and the manifest has a file.", entry: promised.path)
        }
        guard reader.entries[index].size == promised.size, SHA256Digest(hex: promised.sha256) != nil else {
            throw MeshError(refusingBackup: "the size or digest of '\(name)' disagrees.", entry: promised.path)
        }
    }

    /// A JSON document.
    /// - Throws: `invalid_argument` where it is not there; `data_loss` where it cannot be read or understood.
    func document<T: Decodable>(_ name: String, _ type: T.Type) throws -> T {
        guard let index = indices[name] else {
            throw MeshError(
                .invalidArgument, "This is not a SmilePile backup: it has no \(name).",
                details: ["entry": .string(name)])
        }
        let bytes: Data
        do {
            bytes = try reader.read(index, limit: BackupFormat.maximumDocument)
        } catch {
            throw MeshError(refusingBackup: MeshError(describing: error).message, entry: name)
        }
        do {
            return try JSONDecoder().decode(type, from: bytes)
        } catch {
            throw MeshError(refusingBackup: "\(name) cannot be understood (\(error)).", entry: name)
        }
    }

    /// Writes an entry's bytes to `output`.
    /// - Returns: their digest.
    func extract(
        _ name: String, to output: Int32, cancelled: () -> Bool, progress: (Int) -> Void
    ) throws -> ContentDigest {
        guard let index = indices[name] else { throw MeshError(.internal, "The photo \(name) has no entry.") }
        return try reader.extract(index, to: output, cancelled: cancelled, progress: progress)
    }

    /// Reads every byte, and compares it with what is promised. What passes is read by others too: unzip, 7-Zip, bsdtar,
    /// Python.
    /// - Returns: bytes read.
    func check(
        _ promised: [Entry], width: Int, pool: BlockingPool, isCancelled: CancellationFlag, job: Job
    ) async throws -> Int64 {
        let total = reader.entries.reduce(Int64(0)) { $0 &+ $1.size }
        job.begin(phase: "verifying", bytes: total)
        let verification = ZipVerification(reader, forOthers: true)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<width {
                group.addTask {
                    var isLeft = true
                    while isLeft {
                        // Between two turns nothing is held while the job stands still.
                        try await job.mayContinue()
                        isLeft = try await pool.run {
                            var turn = BackupTurn()
                            while turn.mayTakeAnother {
                                let goesOn = try verification.workOnNext(
                                    cancelled: { isCancelled.isSet },
                                    progress: { bytes in
                                        turn.bytes += Int64(bytes)
                                        job.advance(bytes: Int64(bytes))
                                    })
                                turn.entries += 1
                                if !goesOn { return false }
                            }
                            return true
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        if let failure = verification.failures.first {
            throw MeshError(refusingBackup: failure.description, entry: failure.name)
        }
        let digests = verification.digests
        for entry in promised {
            guard let index = indices[entry.path], digests[index]?.sha256.hex == entry.sha256.lowercased() else {
                throw MeshError(
                    refusingBackup: "the bytes of '\(entry.path.prefix(200))' are not those that were saved.",
                    entry: entry.path)
            }
        }
        return total
    }
}

/// What one thread does of a backup before it asks whether to go on: enough that asking costs nothing, little enough
/// that a person who pauses the job sees it stand still.
struct BackupTurn {
    var entries = 0
    var bytes: Int64 = 0

    var mayTakeAnother: Bool { entries < 32 && bytes < 8 << 20 }
}

extension MeshError {
    /// A backup that is not restored.
    /// - Parameter entry: what is wrong in it, by its name in the archive.
    init(refusingBackup sentence: String, entry: String? = nil) {
        self.init(
            .dataLoss, "The backup is refused: \(sentence)",
            details: entry.map { ["entry": .string(String($0.prefix(300)))] } ?? [:])
    }
}
