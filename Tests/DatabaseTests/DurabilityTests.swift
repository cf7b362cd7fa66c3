import Database
import Foundation
import TestSupport
import Testing

/// What is on disk: after a crash, on a full disk, in copies, after erasing.
@Suite struct DurabilityTests {
    /// A power cut is taken by copying what is in file and log between two commits, with checkpoints going on. The copy
    /// is made by another process, since closing a descriptor of the file here would drop SQLite's locks.
    @Test func everyAcknowledgedWriteIsInTheFilesAtOnce() async throws {
        var limits = DatabaseLimits.patient
        limits.logPages = 20
        let open = try await OpenDatabase(limits: limits)
        let database = open.database
        let acknowledged = Record<String>()
        let writers = Task {
            await withTaskGroup(of: Void.self) { group in
                for writer in 0..<8 {
                    group.addTask {
                        var number = 0
                        while !Task.isCancelled {
                            number += 1
                            let name = "\(writer)-\(number)"
                            if (try? await database.write { try Album.add(name, to: $0) }) != nil {
                                acknowledged.add(name)
                            }
                        }
                    }
                }
            }
        }
        for round in 0..<5 {
            let gate = Gate()
            let holder = await database.holdCommits(until: gate)
            let before = acknowledged.all
            let copy = open.folder.file("crash-\(round).db")
            try await copyFiles(of: open.path, to: copy)
            gate.open()
            try await holder.value
            let after = try await DatabasePool.open(at: copy, schema: Album.schema)
            #expect(try await after.integrityCheck().isEmpty)
            #expect(Set(try await after.read { try Album.names($0) }).isSuperset(of: before))
            await after.close()
        }
        writers.cancel()
        await writers.value
        #expect(database.statistics.checkpoints > 0)
        #expect(!acknowledged.all.isEmpty)
        await database.close()
    }

    /// A log that ends anywhere, as after a power cut in the middle of a commit, holds exactly the commits before.
    @Test func aLogCutAnywhereHoldsExactlyTheCommitsBefore() async throws {
        var limits = DatabaseLimits.patient
        limits.idleCheckpoint = .seconds(3_600)
        let open = try await OpenDatabase(limits: limits)
        #expect(try await open.database.checkpoint())
        var ends: [Int64] = []
        for number in 0..<30 {
            try await open.database.write { try Album.add("\(number)", to: $0) }
            ends.append(try size(of: open.path + "-wal"))
        }
        let whole = open.folder.file("whole.db")
        try await copyFiles(of: open.path, to: whole)
        await open.database.close()
        let last = try #require(ends.last)
        for length in stride(from: 0, through: last, by: 3_333).map({ $0 }) + ends + ends.map({ $0 - 1 }) {
            let cut = open.folder.file("cut.db")
            try await copyFiles(of: whole, to: cut)
            #expect(truncate(cut + "-wal", off_t(length)) == 0)
            let database = try await DatabasePool.open(at: cut, schema: Album.schema)
            let expected = ends.prefix { $0 <= length }.indices.map(String.init)
            #expect(try await database.read { try Album.names($0) } == expected, "cut to \(length) bytes")
            #expect(try await database.integrityCheck(quick: true).isEmpty)
            await database.close()
        }
    }

    private func copyFiles(of path: String, to copy: String) async throws {
        let script = "cp \"$1\" \"$2\" && cp \"$1-wal\" \"$2-wal\""
        let copied = try await run("/bin/sh", ["-c", script, "sh", path, copy])
        try #require(copied.status == 0, "\(copied.output)")
    }

    private func size(of path: String) throws -> Int64 {
        var status = stat()
        try #require(stat(path, &status) == 0)
        return Int64(status.st_size)
    }

    @Test func theLogIsWrittenBackWhenItHasGrown() async throws {
        var limits = DatabaseLimits.patient
        limits.logPages = 10
        limits.idleCheckpoint = .seconds(3_600)
        let open = try await OpenDatabase(limits: limits)
        for number in 0..<200 { try await open.database.write { try Album.add("\(number)", to: $0) } }
        let growing = open.database.statistics.checkpoints
        #expect(growing > 1)
        #expect(growing < 200, "not at every commit")
        await open.database.close()
    }

    @Test func aReadThatHoldsTheLogDoesNotMakeEveryCommitTryToWriteItBack() async throws {
        var limits = DatabaseLimits.patient
        limits.logPages = 10
        limits.idleCheckpoint = .seconds(3_600)
        let open = try await OpenDatabase(limits: limits)
        let database = open.database
        try await database.write { try Album.add("first", to: $0) }
        let gate = Gate()
        let held = Event()
        let reading = Task {
            try await database.read { connection in
                let before = try Album.names(connection)
                held.happen()
                gate.pass()
                return [before, try Album.names(connection)]
            }
        }
        await held.wait()
        for number in 0..<100 { try await database.write { try Album.add("\(number)", to: $0) } }
        #expect(database.statistics.checkpoints < 50)
        #expect(try await database.checkpoint() == false)
        gate.open()
        #expect(try await reading.value == [["first"], ["first"]])
        #expect(try await database.checkpoint())
        await database.close()
    }

    @Test func whatIsErasedIsInNeitherFileNorLogAfterACheckpoint() async throws {
        let open = try await OpenDatabase()
        let secret = "Ludmilla lost her first tooth"
        let large = String(repeating: secret + " ", count: 1_000)
        try await open.database.write { (connection) throws in
            try Album.add(secret, to: connection)
            try Album.add(large, to: connection)
        }
        try await open.database.write { try $0.execute("DELETE FROM album") }
        #expect(try await open.database.checkpoint())
        let found = try await run("/bin/grep", ["-rlaF", "first tooth", open.folder.path])
        #expect(found.output.isEmpty)
        #expect(found.status == 1)
        await open.database.close()
    }

    @Test func aBackupIsOneCompleteFileThatOpens() async throws {
        let open = try await OpenDatabase()
        try await open.database.write { (connection) throws in
            for number in 0..<1_000 { try Album.add("album \(number)", to: connection) }
        }
        let copy = open.folder.file("copy.db")
        try await open.database.backupSnapshot(to: copy)
        try await open.database.write { try Album.add("afterwards", to: $0) }
        let names = try FileManager.default.contentsOfDirectory(atPath: open.folder.path).filter {
            $0.hasPrefix("copy")
        }
        #expect(names == ["copy.db"])
        let mode = try FileManager.default.attributesOfItem(atPath: copy)[.posixPermissions] as? Int
        #expect(mode == 0o600)

        let opened = try await DatabasePool.open(at: copy, schema: Album.schema)
        #expect(try await opened.integrityCheck().isEmpty)
        #expect(try await opened.read { try Album.names($0) }.count == 1_000)
        #expect(try await opened.write { try Album.add("more", to: $0) } == 1_001)
        await opened.close()

        // Over an older copy, but never over itself.
        try await open.database.backupSnapshot(to: copy)
        #expect(try await DatabasePool.inspect(at: copy) { try Album.names($0) }.count == 1_001)
        await #expect(throws: DatabaseError.self) { try await open.database.backupSnapshot(to: open.path) }
        #expect(try await open.database.read { try Album.names($0) }.count == 1_001)
        await open.database.close()
    }

    @Test func aBackupToNowhereSaysSoAndLeavesNothing() async throws {
        let open = try await OpenDatabase()
        await #expect {
            try await open.database.backupSnapshot(to: open.folder.file("missing/copy.db"))
        } throws: { error in
            if case .cannotOpen = error as? DatabaseError { true } else { false }
        }
        await open.database.close()
        #expect(try FileManager.default.contentsOfDirectory(atPath: open.folder.path) == ["library.db"])
    }

    @Test func aDamagedFileIsToldFromASoundOne() async throws {
        let open = try await OpenDatabase()
        try await open.database.write { (connection) throws in
            for number in 0..<5_000 { try Album.add("album \(number)", to: connection) }
        }
        #expect(try await open.database.integrityCheck(quick: true).isEmpty)
        await open.database.close()

        // Every page but the first two, hence not the schema.
        let file = try FileHandle(forUpdating: URL(fileURLWithPath: open.path))
        let size = try file.seekToEnd()
        try file.seek(toOffset: 3 * 4_096)
        try file.write(contentsOf: Data(repeating: 0xEE, count: Int(size) - 3 * 4_096))
        try file.close()

        let damaged = try await DatabasePool.open(at: open.path, schema: Album.schema)
        #expect(try await !damaged.integrityCheck(quick: true).isEmpty)
        #expect(try await !damaged.integrityCheck().isEmpty)
        await #expect {
            _ = try await damaged.read { try Album.names($0) }
        } throws: { error in
            if case .corrupt = error as? DatabaseError { true } else { false }
        }
        await damaged.close()
    }

    @Test func aTruncatedFileIsATypedErrorAndNoCrash() async throws {
        let open = try await OpenDatabase()
        try await open.database.write { (connection) throws in
            for number in 0..<5_000 { try Album.add("album \(number)", to: connection) }
        }
        await open.database.close()
        let whole = try Data(contentsOf: URL(fileURLWithPath: open.path))
        // SQLite takes a file of one byte for an empty one.
        for length in [2, 50, 99, 100, 1_000, 4_096, 5_000, 8_192, 20_000, whole.count - 1] {
            try whole.prefix(length).write(to: URL(fileURLWithPath: open.path))
            do throws(DatabaseError) {
                let database = try await DatabasePool.open(at: open.path, schema: Album.schema)
                let problems = try? await database.integrityCheck()
                #expect(problems?.isEmpty != true, "cut to \(length) bytes")
                await database.close()
            } catch {
                switch error {
                case .corrupt, .notADatabase: break
                default: Issue.record("cut to \(length) bytes: \(error)")
                }
            }
        }
    }
}
