@testable import AndroidDatabase
import CSQLite
@testable import Database
import Foundation
import FuzzSupport
import LibraryModel
@testable import Importing
import PhotoFolder
import ServiceMesh
import TestSupport

/// A database of the Android app, and the log and the journal beside it: copied, looked at, read. Whatever they are, it
/// ends with what the database holds or with a refusal that says why; the originals stay as they are, and nothing is left
/// in the library.
@main
enum RoomDatabases: FuzzTarget {
    private static let suffixes = ["", "-wal", "-journal"]
    private static let folders = Result {
        (phone: try TemporaryFolder("fuzz-phone"), library: try TemporaryFolder("fuzz-library"))
    }

    static func seeds() throws -> [[UInt8]] { try RoomSeeds.all() }

    static func run(_ input: [UInt8]) {
        do {
            try read(Parts.split(input, suffixes.count))
        } catch {
            fail("an error of no type that is promised: \(error)")
        }
    }

    private static func read(_ parts: [[UInt8]]) throws {
        let (phone, library) = try folders.get()
        let path = phone.file("smilepile_database")
        for (suffix, part) in zip(suffixes, parts) {
            unlink(path + suffix)
            if !part.isEmpty || suffix.isEmpty { try Data(part).write(to: URL(fileURLWithPath: path + suffix)) }
        }
        let folder = LibraryFolder(path: library.path)
        if !FileManager.default.fileExists(atPath: folder.staging) { try folder.make() }
        do {
            let copy = try LegacyDatabaseCopy(
                of: path, in: folder.staging, namedFiles: folder.namedFiles, isCancelled: { false })
            defer { copy.remove() }
            require(copy.unreadPages >= 0, "fewer pages than none")
            try read(copy.path)
        } catch {
            check(LegacyDatabaseFault.explaining(error, path))
        }
        for (suffix, part) in zip(suffixes, parts) where !part.isEmpty || suffix.isEmpty {
            let after = try Data(contentsOf: URL(fileURLWithPath: path + suffix))
            require(Array(after) == part, "the original\(suffix) was changed")
        }
        let left = try FileManager.default.contentsOfDirectory(atPath: folder.staging)
        require(left.isEmpty, "left behind: \(left)")
    }

    /// As ``DatabasePool/inspect(at:isOwnCopy:deadline:_:)`` does, on this thread.
    private static func read(_ path: String) throws {
        let interruption = Interruption(deadline: .now.advanced(by: .seconds(5)))
        let connection = try Connection(path: path, readOnly: true, recovers: true, statements: 16, functions: [])
        sqlite3_limit(connection.handle, SQLITE_LIMIT_LENGTH, 16 << 20)
        connection.interruption = interruption
        try withExtendedLifetime(connection) {
            interruption.begin(on: connection)
            defer { interruption.end() }
            try connection.control(.begin)
            let old = try connection.lent { try LegacyLibrary(reading: connection, path: path) }
            check(old)
        }
    }

    private static func check(_ old: LegacyLibrary) {
        require(old.categories.allSatisfy { ($0.name?.count ?? 0) <= LegacyLibrary.nameBytes }, "a name too long")
        let uuids = LegacyIdentity.uuids(of: old.photos)
        require(Set(uuids).count == old.photos.count, "two photos of one identity")
        let categories = LegacyCategories(old, here: [])
        _ = categories
    }

    private static func check(_ error: any Error) {
        let refusal = MeshError(describing: error)
        let allowed: Set<MeshStatus> = [.failedPrecondition, .dataLoss, .resourceExhausted, .invalidArgument]
        require(allowed.contains(refusal.status), "refused as \(refusal.status): \(refusal)")
        require(refusal.message.utf8.count < 4_000, "\(refusal.message.utf8.count) bytes of explanation")
    }
}
