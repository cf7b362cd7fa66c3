import Database
import Foundation
import TestSupport
import Testing

@Suite(.enabled(if: SmallDisk.isPossible, "mounting a small tmpfs takes root"))
struct FullDiskTests {
    @Test func aFullDiskIsATypedErrorAndTheDatabaseRecovers() async throws {
        let disk = try SmallDisk()
        defer { disk.unmount() }
        let database = try await DatabasePool.open(at: disk.folder.file("library.db"), schema: Album.schema)
        try await database.write { try Album.add("before", to: $0) }
        try disk.fill()

        // One page of the log may still have been there; no more than that.
        var stored = ["before"]
        var isRefused = false
        for number in 0..<100 {
            do {
                try await database.write { try Album.add("\(number) " + String(repeating: "x", count: 2_000), to: $0) }
                stored.append("\(number)")
            } catch {
                #expect(error as? DatabaseError == .diskFull)
                isRefused = true
            }
        }
        #expect(isRefused)
        let names = try await database.read { try Album.names($0) }
        #expect(names.map { $0.prefix { $0 != " " }.description } == stored)

        disk.relieve()
        try await database.write { try Album.add("after", to: $0) }
        #expect(try await database.read { try Album.names($0) }.last == "after")
        #expect(try await database.integrityCheck().isEmpty)
        await database.close()
    }

    @Test func everyWriteOfAGroupLearnsThatTheDiskIsFull() async throws {
        let disk = try SmallDisk()
        defer { disk.unmount() }
        let database = try await DatabasePool.open(at: disk.folder.file("library.db"), schema: Album.schema)
        try await database.write { try Album.add("before", to: $0) }
        try disk.fill()
        let errors = try await database.writeTogether(
            (0..<20).map { number in
                { try Album.add("\(number) " + String(repeating: "x", count: 5_000), to: $0) }
            })
        #expect(errors.map { $0 as? DatabaseError } == Array(repeating: .diskFull, count: 20))
        disk.relieve()
        #expect(try await database.read { try Album.names($0) } == ["before"])
        await database.close()
    }

    @Test func aBackupThatDoesNotFitLeavesNothingBehind() async throws {
        let disk = try SmallDisk()
        defer { disk.unmount() }
        let open = try await OpenDatabase()
        try await open.database.write { (connection) throws in
            try connection.execute("CREATE TABLE ballast (bytes BLOB)")
            try connection.execute("INSERT INTO ballast VALUES (randomblob(4000000))")
        }
        await #expect(throws: DatabaseError.diskFull) {
            try await open.database.backupSnapshot(to: disk.folder.file("copy.db"))
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: disk.folder.path).isEmpty)
        await open.database.close()
    }

    @Test func aMigrationThatDoesNotFitChangesNothing() async throws {
        let disk = try SmallDisk()
        defer { disk.unmount() }
        let path = disk.folder.file("library.db")
        var database = try await DatabasePool.open(at: path, schema: Album.schema)
        try await database.write { try Album.add("before", to: $0) }
        await database.close()
        let large = Migration(version: 2, name: "large") { connection in
            try connection.execute("CREATE TABLE ballast (bytes BLOB)")
            try connection.execute("INSERT INTO ballast VALUES (randomblob(4000000))")
        }
        await #expect(throws: DatabaseError.diskFull) {
            _ = try await DatabasePool.open(
                at: path, schema: Schema(applicationID: Album.applicationID, migrations: [Album.first, large]))
        }
        // Nor does it leave the disk fuller than it was.
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: disk.folder.path).allSatisfy {
                !$0.contains("before-v")
            })
        database = try await DatabasePool.open(at: path, schema: Album.schema)
        #expect(try await database.read { try Album.names($0) } == ["before"])
        await database.close()
    }
}
