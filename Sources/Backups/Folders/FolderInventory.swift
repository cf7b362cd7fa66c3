import BackupFormats
import Files
import Foundation
import Scratch
import ServiceMesh
import ZipArchive

/// What the last snapshot in a backup folder says of its files, and what of them is to be read again or copied.
struct FolderInventory: Sendable {
    /// A file that the last snapshot names.
    struct Known: Sendable {
        let size: Int64
        /// SHA-256, lower-case hex.
        let digest: String

        fileprivate init(_ file: BackupManifest.File) { self.init(size: file.size, digest: file.sha256) }

        init(size: Int64, digest: String) { (self.size, self.digest) = (size, digest) }
    }

    /// Days within which each file has been read again.
    static let days: Int64 = 30

    private let folder: SnapshotFolder
    private let known: DeferredIndex<BackupManifest.File>
    /// When the last snapshot was made; nil before the first.
    private let last: Timestamp?

    init(of folder: SnapshotFolder, known: SpooledList<BackupManifest.File>, last: Timestamp?) {
        (self.folder, self.known, self.last) = (folder, DeferredIndex(known, by: \.path), last)
    }

    /// Reads the last snapshot. Blocks.
    init(of folder: SnapshotFolder, _ namedFiles: NamedFiles) throws {
        // One that is damaged says nothing: then what is there is read, and known by that.
        for name in try folder.snapshotNames() {
            let path = folder.file(SnapshotFolder.snapshots) + "/" + name
            if let listed = try? BackupArchive.promisedFiles(ofSnapshot: path, namedFiles) {
                self.init(of: folder, known: listed.files, last: listed.time)
                return
            }
        }
        self.init(of: folder, known: [], last: nil)
    }

    /// Goes through what the last snapshot says, for one who asks for files in about the order in which it names them.
    struct Told {
        private var finder: SpooledFinder<BackupManifest.File>

        fileprivate init(_ finder: SpooledFinder<BackupManifest.File>) { self.finder = finder }

        /// What the snapshot says of a file; nil where it does not name it.
        mutating func of(_ path: String) throws -> Known? { try finder.find(path).map { Known($0.element) } }
    }

    var told: Told { Told(SpooledFinder(known)) }

    /// What the last snapshot says of a file, for one who asks for any.
    func told(of path: String) throws -> Known? { try known.index()[path].map(Known.init) }

    /// Bytes of a file that is there; nil where none is.
    func size(of path: String) throws -> Int64? {
        guard let found = try FileSystem.status(folder.file(path)), found.st_mode & S_IFMT == S_IFREG else {
            return nil
        }
        return Int64(found.st_size)
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

    /// - Parameters:
    ///   - size: as ``size(of:)`` has found it.
    ///   - told: what the last snapshot says of the file.
    ///   - now: of the backup.
    func step(for file: BackedUpFile, size: Int64?, told: Known?, at now: Timestamp) -> Step {
        guard let size else { return .copy(isMended: told != nil) }
        // A thumbnail is what it was when it was copied, though the library may have made it anew since.
        let wanted = file.isThumbnail ? told : file.digest.map { Known(size: file.size, digest: $0) }
        guard let wanted, size == wanted.size else { return .copy(isMended: told != nil) }
        guard let told, told.digest == wanted.digest else { return .read(wanted) }
        return isDue(file.path, at: now) ? .read(told) : .keep(told)
    }

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
