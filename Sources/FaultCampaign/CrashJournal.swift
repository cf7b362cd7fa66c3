import CFaults
import Foundation

/// What the shim has recorded: every change of a file and of a name, in the order in which they happened.
struct CrashJournal {
    enum Change {
        case create(path: String, inode: UInt64)
        case edit(inode: UInt64, CrashModel.Edit)
        case sync(inode: UInt64)
        case folderSync(path: String)
        case rename(from: String, to: String)
        case link(from: String, to: String)
        case unlink(path: String)
    }

    struct Record {
        let change: Change
        /// Bytes of the journal up to here and with it: the same measure as of an answer's time.
        let end: Int

        /// The call that it comes from.
        var call: FaultCall {
            switch change {
            case .create: .create
            case .edit(_, .truncate): .truncate
            case .edit: .write
            case .sync: .fdatasync
            case .folderSync: .folderSync
            case .rename: .rename
            case .link: .link
            case .unlink: .unlink
            }
        }
    }

    struct Damaged: Error {}

    let records: [Record]

    init(path: String) throws {
        let data = try Data(contentsOf: URL(fileURLWithPath: path))
        var records: [Record] = []
        var offset = 0
        let headSize = MemoryLayout<faults_record_head>.size
        while offset + headSize <= data.count {
            let head = data.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: offset, as: faults_record_head.self) }
            let begin = offset + headSize
            let end = begin + Int(head.path) + Int(head.other) + Int(head.bytes)
            // The last one may be half written: its process was killed.
            guard end <= data.count else { break }
            let path = String(decoding: data[begin..<begin + Int(head.path)], as: UTF8.self)
            let second = begin + Int(head.path)
            let other = String(decoding: data[second..<second + Int(head.other)], as: UTF8.self)
            let bytes = Data(data[(second + Int(head.other))..<end])
            let change: Change
            switch faults_record(head.kind) {
            case faults_record_create: change = .create(path: path, inode: head.file)
            case faults_record_write: change = .edit(inode: head.file, .write(offset: Int(head.offset), bytes))
            case faults_record_truncate: change = .edit(inode: head.file, .truncate(Int(head.offset)))
            case faults_record_content: change = .edit(inode: head.file, .content(bytes))
            case faults_record_sync: change = .sync(inode: head.file)
            case faults_record_folder_sync: change = .folderSync(path: path)
            case faults_record_rename: change = .rename(from: path, to: other)
            case faults_record_link: change = .link(from: path, to: other)
            case faults_record_unlink: change = .unlink(path: path)
            default: throw Damaged()
            }
            records.append(Record(change: change, end: end))
            offset = end
        }
        self.records = records
    }
}
