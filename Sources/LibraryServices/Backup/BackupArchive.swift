import CLinux
import Executors
import Files
import Foundation
import ServiceMesh
import ZipArchive

/// A backup's ZIP file: its names and its bytes, whatever its documents say. Or a document that lies bare in its file, as the
/// first phone app wrote it.
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

    /// Nil of a bare document.
    private let reader: ZipReader?
    /// Nil of an archive.
    private let bare: Data?
    /// The index of every entry that was not refused, by its name; those are unique.
    private let indices: [String: Int]
    /// Entries that are not taken, of an archive from which is taken what is whole.
    let refused: [Failure]
    /// When the file was last written, as its file system says.
    let modified: Timestamp
    private let descriptor: Int32

    deinit { close(descriptor) }

    /// - Parameters:
    ///   - namedFiles: of the library that reads it.
    ///   - maximumBytes: that it may hold, inflated.
    ///   - salvaging: whether what is whole of it is wanted: then an entry that is not taken refuses nothing but itself.
    ///   - proven: what is known of it by whoever has just written it, and is not read again.
    /// - Throws: `not_found`; `data_loss` for a damaged archive, and for one with names that are not taken.
    init(
        path: String, _ namedFiles: NamedFiles, maximumBytes: Int64, salvaging: Bool, proven: ProvenEntries? = nil
    ) throws {
        let (descriptor, status) = try namedFiles.open(path, links: .followed)
        do {
            bare = try Self.bareDocument(descriptor, size: Int64(status.st_size))
            reader =
                bare == nil ? try Self.read(descriptor, maximumBytes: maximumBytes, salvaging: salvaging, proven) : nil
        } catch {
            close(descriptor)
            throw error
        }
        let entries = reader?.entries ?? []
        let refusals = reader?.refusals ?? []
        let isRefused = Set(refusals.map(\.entry))
        indices = Dictionary(
            entries.filter { !isRefused.contains($0.index) }.map { ($0.name, $0.index) },
            uniquingKeysWith: { first, _ in first })
        refused = refusals.map { Failure(name: $0.name, sentence: $0.description) }
        modified = Timestamp(milliseconds: Int64(status.st_mtim.tv_sec) * 1000)
        self.descriptor = descriptor
    }

    /// The bytes of a file that begins as an object of JSON does; nil for all others, which are archives or nothing.
    private static func bareDocument(_ descriptor: Int32, size: Int64) throws -> Data? {
        var head = [UInt8](repeating: 0, count: 64)
        let count = pread(descriptor, &head, head.count, 0)
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        var start = head.prefix(max(0, count))
        if start.starts(with: mark) { start = start.dropFirst(mark.count) }
        guard start.first(where: { ![0x20, 0x09, 0x0A, 0x0D].contains($0) }) == UInt8(ascii: "{") else { return nil }
        guard size <= BackupFormat.maximumDocument else {
            throw MeshError(refusingBackup: "it is a document of more than \(BackupFormat.maximumDocument >> 20) MiB.")
        }
        var bytes = Data(count: Int(size))
        let read = bytes.withUnsafeMutableBytes { pread(descriptor, $0.baseAddress, $0.count, 0) }
        guard read == bytes.count else { throw MeshError(refusingBackup: "it cannot be read to its end.") }
        return start.startIndex == 0 ? bytes : bytes.dropFirst(mark.count)
    }

    private static func read(
        _ descriptor: Int32, maximumBytes: Int64, salvaging: Bool, _ proven: ProvenEntries?
    ) throws -> ZipReader {
        let reader: ZipReader
        do {
            reader = try ZipReader(
                descriptor: descriptor,
                limits: ZipLimits(
                    maximumEntries: BackupFormat.maximumEntries, maximumTotalBytes: maximumBytes,
                    maximumDirectoryBytes: 128 << 20), proven: proven)
        } catch {
            throw MeshError(refusingBackup: MeshError(describing: error).message)
        }
        if salvaging { return reader }
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

    var isBare: Bool { bare != nil }
    private var entries: [ZipEntry] { reader?.entries ?? [] }
    var entryCount: Int { bare == nil ? entries.count : 1 }
    /// Names of entries that are no folders.
    var files: [String] { entries.filter { !$0.isFolder }.map(\.name) }

    func has(_ name: String) -> Bool { indices[name].map { !entries[$0].isFolder } ?? false }

    /// The files of a folder, of which nothing is promised.
    /// - Parameter folder: with a slash at its end.
    func entries(below folder: String) -> [Entry] {
        entries.filter { !$0.isFolder && $0.name.hasPrefix(folder) }.map {
            Entry(path: $0.name, size: $0.size, sha256: "")
        }
    }

    /// The folder that has an entry of this name: the archive itself, which is empty, or one folder in it, with a slash at its
    /// end; nil where none has, or several have.
    func root(of name: String) -> String? {
        if has(name) { return "" }
        let roots = files.filter { $0.hasSuffix("/" + name) && $0.split(separator: "/").count == 2 }
            .map { String($0.dropLast(name.count)) }.filter { !$0.hasPrefix("__MACOSX") }
        return roots.count == 1 ? roots[0] : nil
    }

    /// - Throws: `data_loss` where an entry is not there, or is not what is promised as far as can be seen without reading it.
    func require(_ promised: Entry) throws {
        let name = promised.path.prefix(200)
        guard let index = indices[promised.path] else {
            throw MeshError(
                refusingBackup: "'\(name)' is in the manifest but not in the archive.", entry: promised.path)
        }
        guard !entries[index].isFolder else {
            throw MeshError(refusingBackup: "'\(name)' is a folder, and the manifest has a file.", entry: promised.path)
        }
        guard entries[index].size == promised.size, SHA256Digest(hex: promised.sha256) != nil else {
            throw MeshError(refusingBackup: "the size or digest of '\(name)' disagrees.", entry: promised.path)
        }
    }

    /// What `decode` makes of a document's bytes.
    /// - Throws: `invalid_argument` where it is not there; `data_loss` where it cannot be read or understood; a `MeshError` of
    ///   `decode` as it is.
    func decoded<T>(_ name: String, _ decode: (Data) throws -> T) throws -> T {
        if let bare { return try Self.decoded(name, bare, decode) }
        guard let reader, let index = indices[name] else {
            throw MeshError(
                .invalidArgument, "This is not a SmilePile backup: it has no \(name).",
                details: ["entry": .string(name)])
        }
        let bytes: Data
        do {
            bytes = try reader.read(index, limit: BackupFormat.maximumDocument)
        } catch {
            throw MeshError(
                refusingBackup: MeshError(describing: error).message + BackupFormat.salvageHint, entry: name)
        }
        return try Self.decoded(name, bytes, decode)
    }

    private static func decoded<T>(_ name: String, _ bytes: Data, _ decode: (Data) throws -> T) throws -> T {
        do {
            return try decode(bytes)
        } catch let error as MeshError {
            throw error
        } catch {
            throw MeshError(
                refusingBackup: "\(name) cannot be understood: \(JSONFault(error)).", entry: name)
        }
    }

    /// The bytes of a small entry, and their digest.
    /// - Parameter checked: where it was checked, and may not have changed.
    /// - Throws: where it has more than `limit`, or is damaged.
    func read(_ name: String, limit: Int, _ checked: Checked) throws -> (bytes: Data, digest: ContentDigest) {
        guard let reader, let index = indices[name] else { throw MeshError(.internal, "There is no entry \(name).") }
        return try reader.digested(index, limit: limit, verified: checked.read[index])
    }

    /// Writes an entry's bytes to `output`.
    /// - Parameter checked: where it was checked, and may not have changed.
    /// - Returns: their digest.
    func extract(
        _ name: String, _ checked: Checked, to output: Int32, cancelled: () -> Bool, progress: (Int) -> Void
    ) throws -> ContentDigest {
        guard let reader, let index = indices[name] else {
            throw MeshError(.internal, "The photo \(name) has no entry.")
        }
        return try reader.extract(
            index, to: output, verified: checked.read[index], cancelled: cancelled, progress: progress)
    }

    /// The MD5 of an entry's bytes, lower-case hex; nil where it cannot be computed.
    func md5(_ name: String, cancelled: () -> Bool) throws -> String? {
        guard let reader, let index = indices[name] else { return nil }
        return try reader.md5(index, cancelled: cancelled)
    }

    /// An entry that is not what it should be.
    struct Failure: Sendable {
        let name: String
        let sentence: String
    }

    /// What reading has found out.
    struct Checked: Sendable {
        /// That were read.
        let bytes: Int64
        /// By the places of entries in the archive: of all, and of those that were not proven before.
        fileprivate let placed: [Int: ContentDigest]
        fileprivate let read: [Int: VerifiedEntry]
        /// In the order of the archive, then of what is promised.
        fileprivate(set) var failures: [Failure]
    }

    /// Whether no entry is compressed: then every reader finds the same bytes in it.
    var isStored: Bool { reader?.entries.allSatisfy(\.isStored) ?? false }

    /// Reads every byte of which nobody knows what the disk has.
    /// - Parameter forOthers: refuses also what unzip, 7-Zip, bsdtar or Python would not read.
    func readThrough(
        forOthers: Bool, width: Int, pool: BlockingPool, isCancelled: CancellationFlag, job: Job
    ) async throws -> Checked {
        guard let reader else {
            return Checked(bytes: Int64(bare?.count ?? 0), placed: [:], read: [:], failures: [])
        }
        let total = entries.reduce(Int64(0)) { $0 &+ $1.size }
        let verification = ZipVerification(reader, forOthers: forOthers)
        job.begin(phase: "verifying", bytes: verification.bytes)
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
        return Checked(
            bytes: total, placed: verification.digests, read: verification.read,
            failures: verification.failures.map { Failure(name: $0.name, sentence: $0.description) })
    }

    /// What reading has found an entry to be.
    func digest(of name: String, _ checked: Checked) -> ContentDigest? { indices[name].flatMap { checked.placed[$0] } }

    /// Compares what was read with what is promised.
    func compare(_ promised: [Entry], _ checked: Checked) -> Checked {
        guard reader != nil else { return checked }
        var checked = checked
        let unreadable = Set(checked.failures.map(\.name))
        for entry in promised where !unreadable.contains(entry.path) {
            guard let index = indices[entry.path], checked.placed[index]?.sha256.hex == entry.sha256.lowercased() else {
                checked.failures.append(
                    Failure(
                        name: entry.path,
                        sentence: "the bytes of '\(entry.path.prefix(200))' are not those that were saved."))
                continue
            }
        }
        return checked
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
    /// A backup that a later version wrote.
    init(laterBackup what: String, known: String) {
        self.init(
            .unimplemented,
            "The backup is \(what), and this program knows \(known). Restore it with a newer version of SmilePile.")
    }

    /// A backup that is not restored.
    /// - Parameter entry: what is wrong in it, by its name in the archive.
    init(refusingBackup sentence: String, entry: String? = nil) {
        self.init(
            .dataLoss, "The backup is refused: \(sentence)",
            details: entry.map { ["entry": .string(String($0.prefix(300)))] } ?? [:])
    }
}
