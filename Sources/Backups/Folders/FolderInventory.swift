import BackupFormats
import Files
import Foundation
import Scratch
import ServiceMesh
import ZipArchive

/// What a backup folder has of the files of a library, and what of them is to be read again or copied.
struct FolderInventory: Sendable {
    /// A file that the last snapshot names.
    struct Known: Sendable {
        let size: Int64
        /// SHA-256, lower-case hex.
        let digest: String
    }

    /// Days within which each file has been read again.
    static let days: Int64 = 30

    /// Bytes of the files that are there, by their names in the folder.
    private let sizes: SpooledIndex<SizedFile>
    private let known: SpooledIndex<BackupManifest.File>
    /// When the last snapshot was made; nil before the first.
    private let last: Timestamp?

    init(sizes: SpooledList<SizedFile>, known: SpooledList<BackupManifest.File>, last: Timestamp?) throws {
        (self.sizes, self.known) = (try SpooledIndex(sizes, by: \.path), try SpooledIndex(known, by: \.path))
        self.last = last
    }

    /// One look at each name. Blocks.
    init(of folder: SnapshotFolder, _ namedFiles: NamedFiles) throws {
        var sizes = SpooledList<SizedFile>.Spooler(in: namedFiles.scratch)
        for part in SnapshotFolder.parts {
            for name in try FileSystem.names(in: folder.file(part)) {
                guard let name, let found = try FileSystem.status(folder.file(part + name)),
                    found.st_mode & S_IFMT == S_IFREG
                else { continue }
                try sizes.append(SizedFile(path: part + name, size: Int64(found.st_size)))
            }
        }
        let there = try sizes.finish()
        // One that is damaged says nothing: then what is there is read, and known by that.
        for name in try folder.snapshotNames() {
            let path = folder.file(SnapshotFolder.snapshots) + "/" + name
            if let listed = try? BackupArchive.promisedFiles(ofSnapshot: path, namedFiles) {
                try self.init(sizes: there, known: listed.files, last: listed.time)
                return
            }
        }
        try self.init(sizes: there, known: [], last: nil)
    }

    /// What is to be done about one file of the library.
    enum Step: Sendable {
        /// It is there, and a snapshot says what it is.
        case keep(Known)
        /// The same, and it is its turn to be read again; or nobody has said yet that it is whole.
        case read(Known)
        /// It is not there, or is not what it was; `isMended` where a snapshot has it.
        case copy(isMended: Bool)
    }

    /// - Parameter now: of the backup.
    func step(for file: BackedUpFile, at now: Timestamp) throws -> Step {
        let (size, told) = (try sizes[file.path]?.size, try told(of: file.path))
        guard let size else { return .copy(isMended: told != nil) }
        // A thumbnail is what it was when it was copied, though the library may have made it anew since.
        let wanted = file.isThumbnail ? told : file.digest.map { Known(size: file.size, digest: $0) }
        guard let wanted, size == wanted.size else { return .copy(isMended: told != nil) }
        guard let told, told.digest == wanted.digest else { return .read(wanted) }
        return isDue(file.path, at: now) ? .read(told) : .keep(told)
    }

    /// What the last snapshot says of a file; nil where it does not name it.
    func told(of path: String) throws -> Known? { try known[path].map { Known(size: $0.size, digest: $0.sha256) } }

    /// Whether it is a file's turn: each has its day among ``days``, by its name, and those of the days since the last snapshot
    /// are read. So nothing has to be noted of a file, and a run that is left out is made up for by the next.
    func isDue(_ path: String, at now: Timestamp) -> Bool {
        guard let last else { return false }
        let (from, to) = (Self.day(last), Self.day(now))
        guard to >= from, to - from < Self.days else { return true }
        let turn = Int64(path.utf8.reduce(UInt32(2_166_136_261)) { ($0 ^ UInt32($1)) &* 16_777_619 }) % Self.days
        // Behind the day of the last one, up to this.
        return to > from && (from + 1...to).contains { $0 % Self.days == turn }
    }

    private static func day(_ time: Timestamp) -> Int64 { time.milliseconds / 86_400_000 }
}
