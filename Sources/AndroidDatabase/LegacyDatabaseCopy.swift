import Files
import Foundation
import ImageWorkerProtocol
import ServiceMesh

/// A private copy of an old database, with the log or journal beside it. Blocks.
///
/// A copy, because reading the original could change its folder: SQLite makes an index beside a database in WAL mode,
/// and undoes a killed writer's work in the file itself. `immutable` would read neither log nor journal, and so miss
/// what the phone wrote last. The copy lies where the next start removes what a kill left.
///
/// While it is made, the original is held by the same shared lock that a reader of SQLite takes, so that no other
/// program can be in the middle of a change.
package struct LegacyDatabaseCopy: Sendable {
    package let path: String
    /// Pages that the log has and no reader sees: see ``LegacyDatabaseSides``.
    package private(set) var unreadPages = 0
    /// The database is of the kind that has a log, and there is none. It may have been written back, or left behind.
    package private(set) var isWithoutLog = false

    /// Space that a copy leaves for everybody else, in bytes.
    private static let reserve: Int64 = 16 << 20
    private static let sideFiles = ["-wal", "-journal"]

    /// - Parameter folder: for the copy.
    /// - Throws: ``MeshError`` or `FileSystem.Failure`; then nothing is left of the copy.
    package init(
        of original: String, in folder: String, namedFiles: NamedFiles, isCancelled: () -> Bool
    ) throws {
        guard let real = realpath(original, nil) else {
            throw FileSystem.Failure(action: "open", path: original, code: errno)
        }
        defer { free(real) }
        guard let resolved = String(validatingCString: real) else {
            throw MeshError(.invalidArgument, "The path \(original) is not valid UTF-8. Rename what is on the way.")
        }
        path = folder + "/" + String(UInt64.random(in: 0 ... .max), radix: 16) + ".database"
        do {
            try namedFiles.withFile(resolved) { try copy(resolved, $0, namedFiles, to: folder, isCancelled) }
        } catch {
            remove()
            throw error
        }
    }

    /// The copy and whatever SQLite put beside it. What cannot be removed is left to the next start.
    package func remove() {
        for suffix in [""] + Self.sideFiles + ["-shm"] { try? FileSystem.remove(path + suffix) }
    }

    private static func status(_ descriptor: Int32, _ path: String) throws -> stat {
        var found = stat()
        guard fstat(descriptor, &found) == 0 else {
            throw FileSystem.Failure(action: "look at", path: path, code: errno)
        }
        return found
    }

    // MARK: Copying

    private mutating func copy(
        _ original: String, _ descriptor: Int32, _ namedFiles: NamedFiles, to folder: String,
        _ isCancelled: () -> Bool
    ) throws {
        let states = try Self.states(of: original)
        let before = try Self.status(descriptor, original)
        let header = try Self.header(descriptor, original, size: Int64(before.st_size))
        let sides = try Self.sideFiles.filter { try FileSystem.status(original + $0) != nil }
        try LegacyDatabaseLock.share(
            descriptor, path: original, isAlone: header.usesLog || sides.contains("-wal"))
        let sizes = try sides.map { Int64(try FileSystem.status(original + $0)?.st_size ?? 0) }
        try Self.requireSpace(sizes.reduce(Int64(before.st_size)) { $0 &+ max(0, $1) }, in: folder)
        try Self.copy(descriptor, original, to: path, isCancelled)
        for side in sides {
            try namedFiles.withFile(original + side) {
                try Self.copy($0, original + side, to: path + side, isCancelled)
            }
        }
        // A program that takes no locks, as a copy that is still going on, shows itself like this.
        guard try Self.states(of: original) == states else { throw LegacyDatabaseLock.inUse(original) }
        unreadPages = try LegacyDatabaseSides(besides: path, original).unreadPages
        isWithoutLog = header.usesLog && !sides.contains("-wal")
    }

    /// Of the database and of what belongs to it; nil for what is not there.
    private static func states(of original: String) throws -> [FileState?] {
        try ([""] + sideFiles).map { try FileSystem.status(original + $0).map(FileState.init) }
    }

    private static func header(
        _ descriptor: Int32, _ path: String, size: Int64
    ) throws -> (usesLog: Bool, length: Int) {
        var bytes = [UInt8](repeating: 0, count: 100)
        let count = pread(descriptor, &bytes, bytes.count, 0)
        guard count >= 0 else { throw FileSystem.Failure(action: "read", path: path, code: errno) }
        guard size > 0 else {
            throw MeshError(
                .failedPrecondition, "\(path) is empty. Copy the database from the phone again, with the app closed.")
        }
        guard count == 100, bytes.starts(with: Array("SQLite format 3\0".utf8)) else {
            throw LegacyDatabaseFault.notADatabase(path)
        }
        return (bytes[18] == 2 || bytes[19] == 2, count)
    }

    private static func requireSpace(_ bytes: Int64, in folder: String) throws {
        let free = try FileSystem.freeBytes(folder)
        guard bytes >= 0, bytes <= free - reserve else {
            throw MeshError(
                short: .space,
                "Reading the old database takes a copy of \(max(1, bytes >> 20)) MiB and leaves \(reserve >> 20) MiB free; the library's disk has \(free >> 20) MiB. Free some space and try again.",
                details: ["neededBytes": .integer(bytes), "freeBytes": .integer(free)])
        }
    }

    private static func copy(
        _ source: Int32, _ sourcePath: String, to target: String, _ isCancelled: () -> Bool
    ) throws {
        try FileSystem.withFile(target, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW) { descriptor in
            var part = [UInt8](repeating: 0, count: 256 << 10)
            var position: off_t = 0
            while true {
                if isCancelled() { throw CancellationError() }
                let count = pread(source, &part, part.count, position)
                guard count >= 0 else {
                    throw FileSystem.Failure(action: "read", path: sourcePath, code: errno)
                }
                if count == 0 { return }
                var written = 0
                while written < count {
                    let more = part.withUnsafeBytes {
                        pwrite(descriptor, $0.baseAddress?.advanced(by: written), count - written, position)
                    }
                    guard more > 0 else { throw FileSystem.Failure(action: "write", path: target, code: errno) }
                    written += more
                    position += off_t(more)
                }
            }
        }
    }
}

/// The locks of SQLite, taken as it does, on a file that SQLite here never opens.
enum LegacyDatabaseLock {
    // Where SQLite's file format puts them: https://www.sqlite.org/src/file/src/os.h
    private static let pending: off_t = 0x4000_0000
    private static let reserved: off_t = pending + 1
    private static let shared: (start: off_t, length: off_t) = (pending + 2, 510)

    /// Holds the file as a reader does, until its descriptor is closed.
    ///
    /// Open-file locks and not those of the process, which end when any descriptor of the file is closed.
    /// - Parameter isAlone: whether nobody else may have it open at all: a writer in WAL mode takes its locks in a
    ///   file of its own, which is not ours to touch.
    /// - Throws: `failed_precondition` where another program is using it.
    static func share(_ descriptor: Int32, path: String, isAlone: Bool) throws {
        // The lock that a writer takes before it waits for readers to go.
        guard set(F_RDLCK, descriptor, pending, 1), set(F_RDLCK, descriptor, shared.start, shared.length) else {
            throw inUse(path)
        }
        _ = set(F_UNLCK, descriptor, pending, 1)
        guard isFree(descriptor, reserved, 1), !isAlone || isFree(descriptor, shared.start, shared.length) else {
            throw inUse(path)
        }
    }

    static func inUse(_ path: String) -> MeshError {
        MeshError(
            .failedPrecondition,
            "Another program is using \(path). Close it, or copy the database together with its -wal and -journal files and name the copy."
        )
    }

    /// False where somebody else holds what stands against it. A file system without locks has nobody else.
    private static func set(_ type: Int32, _ descriptor: Int32, _ start: off_t, _ length: off_t) -> Bool {
        var lock = description(type, start, length)
        return fcntl(descriptor, openFileSetLock, &lock) == 0 || (errno != EAGAIN && errno != EACCES)
    }

    private static func isFree(_ descriptor: Int32, _ start: off_t, _ length: off_t) -> Bool {
        var lock = description(F_WRLCK, start, length)
        return fcntl(descriptor, openFileGetLock, &lock) != 0 || Int32(lock.l_type) == F_UNLCK
    }

    private static func description(_ type: Int32, _ start: off_t, _ length: off_t) -> flock {
        var lock = flock()
        lock.l_type = Int16(type)
        lock.l_whence = Int16(SEEK_SET)
        lock.l_start = start
        lock.l_len = length
        return lock
    }

    // `F_OFD_GETLK` and `F_OFD_SETLK` of Linux, which stand behind `_GNU_SOURCE` and are not always imported.
    private static let openFileGetLock: Int32 = 36
    private static let openFileSetLock: Int32 = 37
}
