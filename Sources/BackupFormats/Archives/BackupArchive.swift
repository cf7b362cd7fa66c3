import CLinux
import Executors
import Files
import Foundation
import Scratch
import ServiceMesh
import ZipArchive

/// A backup's ZIP file: its names and its bytes, whatever its documents say. Or the folder that one was unpacked into; a snapshot
/// in a backup folder; or a document that lies bare in its file, as the first phone app wrote it.
///
/// Opening it checks the structure and every name; nothing is written, and no entry is read.
package final class BackupArchive: Sendable {
    /// An entry that the documents promise.
    typealias Entry = BackupManifest.File

    /// Closes the file once nobody looks at any folder of it.
    final class Descriptor: Sendable {
        let number: Int32

        init(_ number: Int32) { self.number = number }

        deinit { close(number) }
    }

    /// Nil of a bare document.
    private let reader: ZipReader?
    /// Nil of an archive.
    private let bare: Data?
    /// The folder that is looked at, with a slash at its end; empty for the whole archive. Names are names in it.
    let root: String
    /// For lists of what is in it, where they do not fit into memory.
    let scratch: Scratch
    /// When the file was last written, as its file system says.
    let modified: Timestamp
    /// Nil of a folder, whose files are opened one at a time.
    private let descriptor: Descriptor?
    /// Whether it is a snapshot in a backup folder.
    package let isSnapshot: Bool
    /// Of a snapshot, whose manifest was read to open it; nil of others, and where it cannot be read.
    let manifest: BackupManifest?

    /// - Parameters:
    ///   - namedFiles: of the library that reads it.
    ///   - maximumBytes: that it may hold, inflated.
    ///   - salvaging: whether what is whole of it is wanted: then an entry that is not taken refuses nothing but itself, and
    ///     entries are found where the directory is damaged.
    ///   - proven: what is known of it by whoever has just written it, and is not read again.
    /// - Throws: `not_found`; `data_loss` for a damaged archive, and for one with names that are not taken.
    package init(
        path: String, _ namedFiles: NamedFiles, maximumBytes: Int64, salvaging: Bool, proven: ProvenEntries? = nil,
        isCancelled: CancellationFlag = CancellationFlag()
    ) throws {
        scratch = namedFiles.scratch
        if let snapshot = try FolderSnapshot(at: path, namedFiles, salvaging: salvaging) {
            // A file of the folder that is not taken is one that is not there: its photo is refused, or named by a check.
            reader = snapshot.reader
            (bare, descriptor, root, modified, isSnapshot) = (nil, nil, "", snapshot.modified, true)
            manifest = snapshot.manifest
            return
        }
        manifest = nil
        if let folder = try UnpackedBackup(at: path, namedFiles) {
            reader = salvaging ? folder.reader : try Self.refusingEntries(folder.reader)
            (bare, descriptor, root, modified) = (nil, nil, "", folder.modified)
            isSnapshot = false
            return
        }
        let (number, status) = try namedFiles.open(path, links: .followed)
        descriptor = Descriptor(number)
        bare = try Self.bareDocument(number, size: Int64(status.st_size))
        let limits = ZipLimits(
            maximumEntries: BackupFormat.maximumEntries, maximumTotalBytes: maximumBytes,
            maximumDirectoryBytes: BackupFormat.maximumDirectory)
        if bare != nil {
            reader = nil
        } else if salvaging {
            reader = try Self.refusing { [scratch] in
                try ZipReader.salvaging(number, limits: limits, scratch: scratch, cancelled: { isCancelled.isSet })
            }
        } else {
            reader = try Self.read(number, limits, proven, scratch)
        }
        root = ""
        modified = Timestamp(milliseconds: Int64(status.st_mtim.tv_sec) * 1000)
        isSnapshot = false
    }

    private init(_ archive: BackupArchive, root: String) {
        (descriptor, bare, reader, self.root) = (archive.descriptor, archive.bare, archive.reader, root)
        (modified, isSnapshot, scratch) = (archive.modified, archive.isSnapshot, archive.scratch)
        manifest = nil
    }

    /// The same file, of which only a folder is looked at.
    /// - Parameter root: as ``root(of:)`` has it.
    func below(_ root: String) -> BackupArchive { root == self.root ? self : BackupArchive(self, root: root) }

    /// Where in the archive the entry stands that has a name in the folder; nil where none has, or it was refused.
    func index(of name: String) throws -> Int? {
        guard let reader, Self.name(root + name, below: root) == name else { return nil }
        return try reader.index(of: root + name)
    }

    private func entry(_ name: String) throws -> ZipEntry? {
        guard let reader else { return nil }
        return try index(of: name).map { try reader.entries[$0] }
    }

    /// - Returns: nil for what is not in the folder, and for the folder itself.
    private static func name(_ name: String, below root: String) -> String? {
        if root.isEmpty { return name }
        return name.hasPrefix(root) && name != root ? String(name.dropFirst(root.count)) : nil
    }

    var isBare: Bool { bare != nil }
    package var entryCount: Int { bare == nil ? reader?.entries.count ?? 0 : 1 }
    /// Names of entries that are no folders.
    var files: [String] { get throws { try compactMap { entry, name in entry.isFolder ? nil : name } } }

    /// What is made of each entry in the folder and its name there.
    private func compactMap<Value>(_ transform: (ZipEntry, String) -> Value?) throws -> [Value] {
        var values: [Value] = []
        try reader?.entries.forEach { entry in
            if let name = Self.name(entry.name, below: root), let value = transform(entry, name) {
                values.append(value)
            }
        }
        return values
    }

    /// Names, in the archive, of entries that are no folders and none of those that are meant.
    /// - Parameters:
    ///   - meant: places of entries in the archive.
    ///   - isKnown: whether a name, in the folder, is that of one: several entries may have it.
    func files(otherThan meant: EntrySet, _ isKnown: (String) throws -> Bool) throws -> [String] {
        var names: [String] = []
        for index in reader?.entries.indices ?? 0..<0 where !meant.contains(index) {
            guard let entry = try reader?.entries[index], !entry.isFolder else { continue }
            if try Self.name(entry.name, below: root).map({ try !isKnown($0) }) ?? true { names.append(entry.name) }
        }
        return names
    }
    /// Entries that are not taken, of an archive from which is taken what is whole.
    var refused: [Failure] { failures((reader?.refusals ?? []).filter { !$0.problem.concernsOtherReaders }) }

    /// What is wrong with the archive and with entries of it that are taken all the same.
    var mended: [Failure] {
        let whole = reader?.salvage?.problem.map {
            Failure(name: "archive", sentence: "\($0); its entries were found by what stands before each of them")
        }
        let others = (reader?.refusals ?? []).filter(\.problem.concernsOtherReaders)
        return [whole].compactMap { $0 }
            + failures((reader?.salvage?.mended ?? []) + others) {
                "what the archive says of it is damaged (\($0.problem)); it is taken all the same"
            }
    }

    /// What is not as it was written, of an archive of ours, though its entries have their bytes. One of which we have written
    /// none of the entries was packed by somebody else, in a way of their own; what somebody has added to one of ours likewise.
    /// - Parameter ours: places in the archive of entries that are part of the backup.
    func altered(_ ours: EntrySet) throws -> [Failure] {
        guard let reader, let form = reader.form, form.hasOtherEnd || !form.otherEntries.isEmpty else { return [] }
        let (others, indices) = (form.otherEntries, reader.entries.indices)
        guard indices.contains(where: { ours.contains($0) && !others.contains($0) }) else { return [] }
        let altered = try indices.lazy.filter { ours.contains($0) && others.contains($0) }.map { index in
            let name = try reader.entries[index].name
            return Failure(
                name: name, sentence: "what the archive says of '\(name.prefix(200))' is not what was saved.")
        }
        let end = Failure(name: "archive", sentence: "what stands at the end of the archive is not what was saved.")
        return altered + (form.hasOtherEnd ? [end] : [])
    }

    /// Without those outside the folder, which are ignored.
    private func failures(
        _ refusals: [ZipRefusal], _ sentence: (ZipRefusal) -> String = { $0.description }
    ) -> [Failure] {
        refusals.compactMap { refusal in
            Self.name(refusal.name, below: root).map { Failure(name: $0, sentence: sentence(refusal)) }
        }
    }

    func has(_ name: String) throws -> Bool { try entry(name).map { !$0.isFolder } ?? false }

    /// The files of a folder, of which nothing is promised.
    /// - Parameter folder: with a slash at its end.
    func entries(below folder: String) throws -> [Entry] {
        try compactMap { entry, name in
            guard !entry.isFolder, entry.name.hasPrefix(root + folder) else { return nil }
            return Entry(path: name, size: entry.size, sha256: "")
        }
    }

    /// The folder that has an entry of this name: the archive itself, which is empty, or one folder in it, with a slash at its
    /// end; nil where none has, or several have.
    func root(of name: String) throws -> String? {
        if try has(name) { return "" }
        let roots = try files.filter { $0.hasSuffix("/" + name) && $0.split(separator: "/").count == 2 }
            .map { String($0.dropLast(name.count)) }.filter { !$0.hasPrefix("__MACOSX") }
        return roots.count == 1 ? roots[0] : nil
    }

    /// Finds entries of the whole archive, for ``require(_:_:)``; nil of a bare document.
    var finder: ZipEntryFinder? { reader.map { ZipEntryFinder($0) } }

    /// - Parameter finder: which is asked for one entry after the other.
    /// - Returns: where the entry stands in the archive.
    /// - Throws: `data_loss` where an entry is not there, or is not what is promised as far as can be seen without reading it.
    func require(_ promised: Entry, _ finder: inout ZipEntryFinder?) throws -> Int {
        let name = promised.path.prefix(200)
        guard Self.name(root + promised.path, below: root) == promised.path,
            let entry = try finder?.find(root + promised.path)
        else {
            throw MeshError(
                refusingBackup: "'\(name)' is in the manifest but not in the archive.", entry: promised.path)
        }
        guard !entry.isFolder else {
            throw MeshError(refusingBackup: "'\(name)' is a folder, and the manifest has a file.", entry: promised.path)
        }
        guard entry.size == promised.size, SHA256Digest(hex: promised.sha256) != nil else {
            throw MeshError(refusingBackup: "the size or digest of '\(name)' disagrees.", entry: promised.path)
        }
        return entry.index
    }

    /// What `decode` makes of a document's bytes.
    /// - Throws: `invalid_argument` where it is not there; `data_loss` where it cannot be read or understood; a `MeshError` of
    ///   `decode` as it is.
    func decoded<T>(_ name: String, _ decode: (DocumentBytes) throws -> T) throws -> T {
        if let bare { return try Self.decoded(name, DocumentBytes(bare), decode) }
        guard let reader, let index = try index(of: name) else {
            throw MeshError(
                .invalidArgument, "This is not a SmilePile backup: it has no \(name).",
                details: ["entry": .string(name)])
        }
        let bytes: DocumentBytes
        do {
            bytes = try reader.document(index, in: scratch)
        } catch {
            throw MeshError(
                refusingBackup: MeshError(describing: error).message + BackupFormat.salvageHint, entry: name)
        }
        return try Self.decoded(name, bytes, decode)
    }

    private static func decoded<T>(
        _ name: String, _ bytes: DocumentBytes, _ decode: (DocumentBytes) throws -> T
    ) throws -> T {
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
        guard let reader, let index = try index(of: name) else {
            throw MeshError(.internal, "There is no entry \(name).")
        }
        return try reader.digested(index, limit: limit, verified: try checked.read[index])
    }

    /// Writes an entry's bytes to `output`.
    /// - Parameter checked: where it was checked, and may not have changed.
    /// - Returns: their digest.
    func extract(
        _ name: String, _ checked: Checked, to output: Int32, cancelled: () -> Bool, progress: (Int) -> Void
    ) throws -> ContentDigest {
        guard let reader, let index = try index(of: name) else {
            throw MeshError(.internal, "The photo \(name) has no entry.")
        }
        return try reader.extract(
            index, to: output, verified: try checked.read[index], cancelled: cancelled, progress: progress)
    }

    /// The MD5 of an entry's bytes, lower-case hex; nil where it cannot be computed.
    func md5(_ name: String, cancelled: () -> Bool) throws -> String? {
        guard let reader, let index = try index(of: name) else { return nil }
        return try reader.md5(index, cancelled: cancelled)
    }

    /// An entry that is not what it should be.
    struct Failure: Sendable {
        let name: String
        let sentence: String
    }

    /// What reading has found out, by the places of entries in the archive: it may have been read before it was known in which
    /// folder the backup is.
    struct Checked: Sendable {
        /// That were read.
        let bytes: Int64
        /// Entries that were not proven before.
        fileprivate var read = EntryTable<VerifiedEntry>()
        fileprivate var damaged: [ZipRefusal] = []
    }

    /// Whether no entry is compressed: then every reader finds the same bytes in it.
    var isStored: Bool { get throws { try reader?.entries.allSatisfy(\.isStored) ?? false } }

    /// Reads every byte of which nobody knows what the disk has.
    /// - Parameters:
    ///   - forOthers: refuses also what unzip, 7-Zip, bsdtar or Python would not read.
    ///   - forAgain: whether entries are to be read again.
    func readThrough(
        forOthers: Bool, forAgain: Bool, width: Int, pool: BlockingPool, isCancelled: CancellationFlag, job: Job
    ) async throws -> Checked {
        guard let reader else { return Checked(bytes: Int64(bare?.count ?? 0)) }
        let (total, verification) = try await pool.run {
            var total: Int64 = 0
            try reader.entries.forEach { total &+= $0.size }
            return (total, try ZipVerification(reader, forOthers: forOthers, forAgain: forAgain))
        }
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
            bytes: total, read: verification.read, damaged: verification.failures)
    }

    /// What reading has found an entry to be.
    func digest(of name: String, _ checked: Checked) throws -> ContentDigest? {
        try index(of: name).flatMap { try known($0, checked) }
    }

    private func known(_ index: Int, _ checked: Checked) throws -> ContentDigest? {
        try checked.read[index]?.digest ?? reader?.proven[index]
    }

    /// Compares what was read with what is promised.
    /// - Returns: in the order of the archive, then of what is promised.
    func failures(_ promised: PromisedEntries, _ checked: Checked) throws -> [Failure] {
        guard reader != nil else { return [] }
        var failures = failures(checked.damaged)
        let unreadable = Set(failures.map(\.name))
        try promised.list.forEach { place, entry in
            guard !unreadable.contains(entry.path) else { return }
            let found = try promised.index(of: place).flatMap { try known($0, checked) }
            guard let found, found.sha256 == SHA256Digest(hex: entry.sha256) else {
                failures.append(
                    Failure(
                        name: entry.path,
                        sentence: "the bytes of '\(entry.path.prefix(200))' are not those that were saved."))
                return
            }
        }
        return failures
    }
}

/// What one thread does of a backup before it asks whether to go on: enough that asking costs nothing, little enough
/// that a person who pauses the job sees it stand still.
package struct BackupTurn {
    package var entries = 0
    package var bytes: Int64 = 0

    package init(bytes: Int64 = 0) {
        self.bytes = bytes
    }

    package var mayTakeAnother: Bool { entries < 32 && bytes < 8 << 20 }
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
    package init(refusingBackup sentence: String, entry: String? = nil) {
        self.init(
            .dataLoss, "The backup is refused: \(sentence)",
            details: entry.map { ["entry": .string(String($0.prefix(300)))] } ?? [:])
    }
}
