import CLinux
import Files
import Foundation
import LibraryModel
import ServiceMesh
import Synchronization

/// A session of uploads on the disk: `ID.session` in the folder of uploads, a line of JSON for each thing that happened. Lines are
/// only ever added, durably; one that was cut by a kill is left out. Everything here blocks.
///
/// What is not in it is known by the uploads themselves: which of them were begun, and which have arrived.
struct SessionFile: Sendable {
    /// One of its properties is there.
    struct Line: Codable, Sendable {
        var opened: Opened?
        var job: JobID?
        var added: [UploadSession.File]?
        var refused: Refused?
        var isWhole: Bool?
        var isEnded: Bool?
        /// Before its files are moved.
        var taken: UploadSession.Batch?
        /// The batch's folder, before it is removed.
        var settled: String?
    }

    struct Opened: Codable, Sendable {
        let device: String
        let categoryId: Int64?
        var endsWhenIdle: Bool?
    }

    struct Refused: Codable, Sendable {
        let file: Int
        let outcome: ImportOutcome
        let reason: String
    }

    static let ending = ".session"
    /// Bytes that are read: twice what ``AnnounceUploads/maximumFiles`` names of usual length take, with all that happens to them.
    private static let maximumBytes = 32 << 20

    let path: String

    init(_ id: String, in folder: String) { path = folder + "/" + id + Self.ending }

    /// A new one, or the one that is there, gets lines.
    func append(_ lines: [Line]) throws {
        var bytes: [UInt8] = []
        for line in lines {
            // Before it, so that what a kill has cut stays a line of its own.
            bytes.append(UInt8(ascii: "\n"))
            bytes += try JSONEncoder().encode(line)
        }
        bytes.append(UInt8(ascii: "\n"))
        let isNew = try FileSystem.status(path) == nil
        try FileSystem.withFile(path, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW) { descriptor in
            var done = 0
            while done < bytes.count {
                let count = bytes[done...].withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
                if count < 0 && errno == EINTR { continue }
                guard count > 0 else { throw FileSystem.Failure(action: "write", path: path, code: errno) }
                done += count
            }
            try FileSystem.sync(descriptor, path)
        }
        if isNew { try FileSystem.sync(FileSystem.parent(of: path)) }
    }

    /// Of a session that nothing has happened in for long, when that was.
    func written() throws -> Timestamp? {
        try FileSystem.status(path).map { Timestamp(milliseconds: Int64($0.st_mtim.tv_sec) * 1000) }
    }

    /// As if something had happened now.
    func beginTerm() { utimensat(AT_FDCWD, path, nil, AT_SYMLINK_NOFOLLOW) }

    func remove() throws { try FileSystem.remove(path) }

    /// The session that the lines tell of; nil where they tell of none.
    func read() throws -> UploadSession? {
        let data = try FileSystem.withFile(path, O_RDONLY | O_NOFOLLOW) { descriptor in
            var bytes = [UInt8](repeating: 0, count: 1 << 16)
            var data = Data()
            while data.count < Self.maximumBytes {
                let count = Foundation.read(descriptor, &bytes, bytes.count)
                if count < 0 && errno == EINTR { continue }
                guard count > 0 else { break }
                data.append(contentsOf: bytes.prefix(count))
            }
            return data
        }
        let decoder = JSONDecoder()
        var session: UploadSession?
        for text in data.split(separator: UInt8(ascii: "\n")) {
            guard let line = try? decoder.decode(Line.self, from: text) else { continue }
            if let opened = line.opened, session == nil {
                session = UploadSession(
                    device: opened.device, categoryId: opened.categoryId, endsWhenIdle: opened.endsWhenIdle == true)
            }
            session?.take(line)
        }
        return session
    }
}

extension UploadSession {
    /// A line of its file. What no file of ours says changes nothing.
    fileprivate mutating func take(_ line: SessionFile.Line) {
        if let job = line.job { self.job = job }
        for file in line.added ?? []
        where files.count < AnnounceUploads.maximumFiles && (endsWhenIdle || number(of: file) == nil) {
            _ = add(file)
        }
        if let refused = line.refused, files.indices.contains(refused.file) {
            refuse(refused.file, refused.outcome, refused.reason)
        }
        if line.isWhole == true { setWhole() }
        if line.isEnded == true { end() }
        if let batch = line.taken {
            // One before it that was not settled could not be moved: its files are where they were.
            dropBatch()
            take(Batch(folder: batch.folder, files: batch.files.filter(files.indices.contains)))
        }
        if let folder = line.settled, folder == batch?.folder { settleBatch() }
    }
}

/// Lines of sessions on their way to the disk, in the order in which things happened: what could not be written, on a full disk, is
/// written before whatever comes next, so that the numbers of files are the same after a restart.
final class SessionJournal: Sendable {
    private let waiting = Mutex([String: [SessionFile.Line]]())
    /// Held by the one who writes.
    private let disk = Mutex(())

    func add(_ lines: [SessionFile.Line], of id: String) {
        if !lines.isEmpty { waiting.withLock { $0[id, default: []] += lines } }
    }

    func isWaiting(_ id: String) -> Bool { waiting.withLock { $0[id] != nil } }

    func forget(_ id: String) { waiting.withLock { $0[id] = nil } }

    /// Returns when all that was added before is durable. Blocks.
    func write(_ id: String, to file: SessionFile) throws {
        try disk.withLock { _ in
            guard let lines = waiting.withLock({ $0[id] }) else { return }
            try file.append(lines)
            waiting.withLock { waiting in
                waiting[id]?.removeFirst(lines.count)
                if waiting[id]?.isEmpty == true { waiting[id] = nil }
            }
        }
    }
}
