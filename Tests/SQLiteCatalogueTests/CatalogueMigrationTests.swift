import CatalogueTestSupport
import Database
import Foundation
import LibraryModel
import LibraryStorage
@testable import SQLiteCatalogue
import ServiceMesh
import SmilePile
import TestSupport
import Testing

/// Catalogues of every version that there was, upgraded by this one. Their texts are in `Tests/Fixtures`, made from
/// catalogues that the programs of the time had written, and are never changed. (In version 4's, the paths of the
/// imported files are others than they were.)
@Suite struct CatalogueMigrationTests {
    private static let versions = 1..<CatalogueSchema.schema.version

    @Test("What programs say for --version is the newest format") func theReleaseSaysTheFormat() {
        #expect(Release.catalogueFormat == CatalogueSchema.schema.version, "Release.catalogueFormat is to be raised.")
    }

    private static func text(_ version: Int) throws -> String {
        let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        return try String(
            contentsOf: tests.appendingPathComponent("Fixtures/catalogue-v\(version).sql"), encoding: .utf8)
    }

    /// A catalogue as the program of `version` left it.
    private func make(_ version: Int, at path: String) async throws {
        let text = try Self.text(version)
        let schema = Schema(
            applicationID: CatalogueSchema.applicationID,
            migrations: [Migration(version: version, name: "as it was", script: text)])
        let database = try await DatabasePool.open(at: path, schema: schema)
        await database.close()
    }

    private func objects(_ path: String) async throws -> [String] {
        try await DatabasePool.inspect(at: path) { connection in
            // Statistics are there once a table has rows, and are no part of a version.
            try connection.query(
                """
                SELECT type, name, coalesce(sql, '') FROM sqlite_schema WHERE name <> 'sqlite_stat1' ORDER BY type, name
                """
            ) { row in
                let sql = try row[2] as String
                return "\(try row[0] as String) \(try row[1] as String): "
                    + sql.split(whereSeparator: \.isWhitespace).joined(separator: " ")
            }
        }
    }

    /// A fixture that differed from what its version made would prove nothing.
    @Test(arguments: versions) func theFixtureHasTheTablesOfItsVersion(_ version: Int) async throws {
        let folder = try TemporaryFolder()
        try await make(version, at: folder.file("fixture.sqlite"))
        let database = try await DatabasePool.open(at: folder.file("empty.sqlite"), schema: schema(upTo: version))
        await database.close()
        #expect(try await objects(folder.file("fixture.sqlite")) == objects(folder.file("empty.sqlite")))
    }

    private func schema(upTo version: Int, and more: Migration? = nil) -> Schema {
        Schema(
            applicationID: CatalogueSchema.applicationID,
            migrations: CatalogueSchema.schema.migrations.filter { $0.version <= version } + (more.map { [$0] } ?? []))
    }

    /// Everything a person would miss, as text; the shadow tables of the text index apart, whose pages may differ.
    /// - Parameter known: columns of tables that had fewer; of these, only those are told.
    private func contents(_ path: String, of known: [String: [String]] = [:]) async throws -> [String] {
        try await DatabasePool.inspect(at: path) { connection in
            var lines = try connection.query(
                """
                SELECT type || ' ' || name || ' ' || coalesce(sql, '') FROM sqlite_schema WHERE name <> 'sqlite_stat1'
                ORDER BY type, name
                """
            ) { try $0[0] as String }
            for table in [
                "categories", "photos", "sealed_fields", "trash", "swipe_sessions", "swipe_actions", "settings",
                "discarded_files", "unfinished_backups", "jobs", "job_lines", "category_totals", "photo_days",
                "sqlite_sequence",
            ] where lines.contains(where: { $0.hasPrefix("table \(table) ") }) {
                let row = try (known[table] ?? Self.columns(of: table, in: connection)).map { "quote(\($0))" }.joined(
                    separator: " || ', ' || ")
                lines += try connection.query("SELECT \(row) FROM \(table) ORDER BY 1") {
                    "\(table): \(try $0[0] as String)"
                }
            }
            return lines
        }
    }

    private static func columns(of table: String, in connection: Connection) throws -> [String] {
        try connection.query("SELECT name FROM pragma_table_xinfo('\(table)')") { try $0[0] as String }
    }

    @Test(arguments: versions) func anOldCatalogueIsUpgradedStepByStepAndKeepsEverything(_ version: Int) async throws {
        let folder = try TemporaryFolder()
        let path = folder.file("catalogue.sqlite")
        try await make(version, at: path)
        let known = try await DatabasePool.inspect(at: path) { connection in
            try Dictionary(
                uniqueKeysWithValues: ["photos", "trash", "jobs", "swipe_sessions", "swipe_actions"].filter {
                    try !Self.columns(of: $0, in: connection).isEmpty
                }.map { ($0, try Self.columns(of: $0, in: connection).filter { $0 != "search_text" }) })
        }
        let before = try await contents(path, of: known)
        for next in version + 1...CatalogueSchema.schema.version {
            let database = try await DatabasePool.open(at: path, schema: schema(upTo: next))
            #expect(try await database.read { try $0.value("PRAGMA user_version") as Int? } == next)
            await database.close()
        }
        // What was there is there: tables, rows, indices. Upgrades only add, but for what version 5 has another form of
        // and version 6 another place for; since version 7 photos have more columns, and since version 8 jobs; since version
        // 9 sealed fields are found by the photo's uuid, sessions have a column more, and decisions wider indices; since
        // version 10 decisions have a column more, since version 11 groups and their photos, since version 12
        // decisions two more, since version 14 sessions, hubs and machines, since version 16 the trash;
        // since version 17 decisions that wait are found by their time; since version 21 the texts of searches are others;
        // since version 22 the schedule of backups has a column more; since version 23 photos have what films need;
        // since version 24 devices say whom they are for, and photos have what films of their own need;
        // since version 25 photos say how far they are turned.
        let replaced = [
            "view photo_search_source", "trigger photo_search_", "table swipe_actions", "discarded_files: '/",
            "table photos ", "table trash ", "table jobs ", "table sealed_fields ", "table swipe_sessions ",
            "index swipe_actions_by_", "index swipe_actions_pending", "table groups ", "table group_photos ",
            "table group_hubs ",
            "table swipe_machines ", "table swipe_partners ", "table backup_schedule ", "table devices ",
        ]
        let lost = Set(before).subtracting(try await contents(path, of: known))
        let after = try await contents(path)
        #expect(lost.allSatisfy { line in replaced.contains { line.hasPrefix($0) } }, "\(lost)")
        #expect(try await catalogueProblems(at: path).isEmpty)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["catalogue.sqlite"])

        // In one go it becomes the same catalogue.
        let other = folder.file("other.sqlite")
        try await make(version, at: other)
        let database = try await DatabasePool.open(at: other, schema: CatalogueSchema.schema)
        await database.close()
        let once = try await contents(other)
        #expect(once == after, "\(Set(once).symmetricDifference(after).sorted())")
    }

    @Test func devicesThatWerePairedBeforeThereWereRolesAreParents() async throws {
        let folder = try TemporaryFolder()
        let path = folder.file("catalogue.sqlite")
        try await make(23, at: path)
        let catalogue = try await SQLiteCatalogue(at: path)
        let devices = try await catalogue.read { try $0.devices.all().map(\.device) }
        #expect(devices.map(\.name) == ["Kitchen"])
        #expect(devices.allSatisfy { $0.rights == .parent })
        await catalogue.close()
    }

    @Test(arguments: versions) func anUpgradedLibraryServes(_ version: Int) async throws {
        let folder = try TemporaryFolder()
        try FileManager.default.createDirectory(atPath: folder.file("library"), withIntermediateDirectories: true)
        try await make(version, at: folder.file("library/catalogue.sqlite"))
        let library = try await PhotoLibrary.open(at: folder.file("library"))
        let found = try await library.mesh.send(SearchPhotos(PhotoFilter(text: "MOWEN, 100 % \"B"))).photos
        #expect(found.map(\.caption) == ["Strand & Möwen, 100 % \"blau\""])
        #expect(try await library.mesh.send(SearchPhotos(PhotoFilter(text: "É"))).photos.count == 6)
        let categories = try await library.mesh.send(ListCategories()).categories
        #expect(categories.map(\.displayName) == ["Family", "Cars", "Games", "Sports", "Été 2009", "Großeltern"])
        #expect(categories.map(\.photoCount) == [0, 0, 0, 0, 4, 2])
        let status = try await library.mesh.send(GetLibraryStatus())
        #expect(status.photos == 6 && status.favorites == 2 && status.trashed == 1)
        let trashed = try await library.mesh.send(ListTrash()).photos.map(\.photo.id)
        _ = try await library.mesh.send(RestorePhotos(ids: trashed))
        #expect(try await library.mesh.send(SearchPhotos(PhotoFilter(text: "sample"))).photos.count == 7)
        await library.close()
    }

    @Test func unfinishedBackupsHaveATableOfTheirOwnAfterTheUpgrade() async throws {
        let folder = try TemporaryFolder()
        let path = folder.file("catalogue.sqlite")
        try await make(5, at: path)
        let database = try await DatabasePool.open(at: path, schema: CatalogueSchema.schema)
        let (discarded, unfinished) = try await database.read {
            (try DiscardedFileTable(connection: $0).all(), try UnfinishedBackupTable(connection: $0).all())
        }
        #expect(discarded.isEmpty && unfinished.map(\.path) == ["/home/family/backup.zip.partial"])
        #expect(unfinished.allSatisfy { $0.isFromBefore && $0.job == nil })
        await database.close()
    }

    /// What was stored as it came is its own original; what was made smaller has none.
    @Test func originalsAreKnownAfterTheUpgrade() async throws {
        let folder = try TemporaryFolder()
        let path = folder.file("catalogue.sqlite")
        try await make(6, at: path)
        let old = try await DatabasePool.open(at: path, schema: schema(upTo: 6))
        try await old.write { connection in
            try connection.execute("UPDATE photos SET content_digest = 'of a smaller one' WHERE id % 2 = 0")
            try connection.execute("UPDATE trash SET content_digest = 'of a smaller one'")
        }
        await old.close()
        let database = try await DatabasePool.open(at: path, schema: CatalogueSchema.schema)
        try await database.read { connection in
            var photos: [Photo] = []
            try PhotoTable(connection: connection).forEach(since: nil) { photos.append($0.photo) }
            #expect(photos.count == 6)
            for photo in photos {
                #expect(photo.originalPath == (photo.id % 2 == 0 ? nil : photo.path) && photo.sidecars.isEmpty)
            }
            let trash = try TrashTable(connection: connection).page(TrashQuery(ListTrash())).photos
            #expect(trash.map(\.photo.originalPath) == [nil])
        }
        await database.close()
    }

    /// Sealed values stay with their photo, and from now on also in the trash.
    @Test func sealedFieldsAreFoundByUUIDAfterTheUpgrade() async throws {
        let folder = try TemporaryFolder()
        let path = folder.file("catalogue.sqlite")
        try await make(8, at: path)
        let old = try await DatabasePool.open(at: path, schema: schema(upTo: 8))
        try await old.write { connection in
            try connection.execute(
                "INSERT INTO sealed_fields (photo_id, field, sealed) VALUES (2, 'notes', x'01'), (3, 'tags', x'02')")
        }
        await old.close()
        let database = try await DatabasePool.open(at: path, schema: CatalogueSchema.schema)
        try await database.write { connection in
            let (photos, sealed) = (PhotoTable(connection: connection), SealedFieldTable(connection: connection))
            let two = try photos.require([.id(2), .id(3)])
            #expect(try sealed.totals() == SealedTotals(values: 2, photos: 2))
            #expect(try sealed.values(of: two[0].uuid).map(\.sealed) == [[1]])
            #expect(try sealed.values(of: two[1].uuid).map(\.name.field) == ["tags"])
            #expect(try TrashTable(connection: connection).add(two, at: .now()) == 2)
            #expect(try sealed.totals().values == 2 && sealed.keys().isEmpty)
        }
        await database.close()
    }

    /// What had ended within the hour is kept from now on; whole first, and cut like any other.
    @Test func jobsThatHadEndedKeepTheirReceiptsAfterTheUpgrade() async throws {
        let folder = try TemporaryFolder()
        let path = folder.file("catalogue.sqlite")
        try await make(7, at: path)
        let database = try await DatabasePool.open(at: path, schema: CatalogueSchema.schema)
        let journal = CatalogueJobJournal(database: database, reserve: nil)
        let imports = try await journal.jobs(beginningWith: "import-", limit: 9)
        let ended = try #require(imports.first?.endedAt)
        #expect(imports.count == 2 && imports.allSatisfy { $0.state == .finished && $0.unlistedLines == nil })
        var retention = JobRetention(at: Timestamp(milliseconds: ended.milliseconds + 3_600_000 * 24))
        retention.lines = 1
        try await journal.tidy(retention) { outcome, _ in outcome != "imported" }
        for job in try await journal.jobs(beginningWith: "import-", limit: 9) {
            let lines = try await journal.lines(of: job.id, after: 0, limit: 9).lines
            #expect(lines.count == 1 && job.outcomes == imports.first { $0.id == job.id }?.outcomes)
            #expect(job.unlistedLines ?? 0 == job.outcomes.values.reduce(0, +) - 1)
        }
        await database.close()
    }

    /// Of decisions that were deleted only what photos say is known: neither it nor what was before comes from elsewhere then.
    @Test func deletedDecisionsAreRememberedAfterTheUpgrade() async throws {
        let folder = try TemporaryFolder()
        let path = folder.file("catalogue.sqlite")
        try await make(11, at: path)
        let old = try await DatabasePool.open(at: path, schema: schema(upTo: 11))
        let (photos, trashed) = try await old.write { connection in
            let photos = try connection.query("SELECT uuid FROM photos ORDER BY id") { try $0[0] as String }
            let trashed = try connection.query("SELECT uuid FROM trash") { try $0[0] as String }
            try connection.execute("DELETE FROM swipe_actions")
            try connection.execute("UPDATE photos SET last_decision = NULL")
            try connection.execute("UPDATE trash SET last_decision = 'trash'")
            let session = "14bb41c1-18bf-448b-ba6d-d6a49da16328"
            func say(_ photo: Int, _ action: String) throws {
                try connection.execute("UPDATE photos SET last_decision = ? WHERE uuid = ?", action, photos[photo])
            }
            func decide(_ photo: Int, _ action: String, isProcessed: Bool, digest: String? = nil) throws {
                try connection.execute(
                    """
                    INSERT INTO swipe_actions (session_id, photo_uuid, content_digest, action, decided_at, is_processed)
                    SELECT ?, uuid, coalesce(?, content_digest), ?, 1795362443400, ? FROM photos WHERE uuid = ?
                    """, session, digest, action, isProcessed, photos[photo])
            }
            // Deleted; there; the latest deleted and an earlier one there; of another picture; waiting; never reviewed.
            try say(0, "keep")
            try say(1, "favorite")
            try decide(1, "favorite", isProcessed: true)
            try say(2, "keep")
            try decide(2, "trash", isProcessed: true)
            try say(3, "keep")
            try decide(3, "trash", isProcessed: true, digest: String(repeating: "0", count: 64))
            try say(4, "keep")
            try decide(4, "trash", isProcessed: false)
            try connection.execute("UPDATE swipe_sessions SET forgotten_photos = 2 WHERE ended_at = 1795362443461")
            return (photos, trashed)
        }
        await old.close()
        let database = try await DatabasePool.open(at: path, schema: CatalogueSchema.schema)
        try await database.write { connection in
            let forgotten = try connection.query(
                "SELECT photo_uuid, action, decided_at, session_id FROM swipe_forgotten ORDER BY photo_uuid"
            ) { "\(try $0[0] as String) \(try $0[1] as String) \(try $0[2] as Int64) '\(try $0[3] as String)'" }
            // The last end of a session that had some, which is not the last end.
            let expected = [0, 2, 3].map { "\(photos[$0]) keep 1795362443461 ''" }
            #expect(forgotten == (expected + trashed.map { "\($0) trash 1795362443461 ''" }).sorted())
            let (table, reviews) = (PhotoTable(connection: connection), ReviewTable(connection: connection))
            let photo = try table.require(.uuid(photos[0]))
            func decided(_ time: Int64) -> ReviewChanges {
                ReviewChanges(
                    sessions: [],
                    decisions: [
                        .init(
                            session: "s", photo: "elsewhere", digest: photo.contentDigest, action: .trash,
                            decidedAt: Timestamp(milliseconds: time))
                    ], undone: [], next: "", more: false)
            }
            #expect(try reviews.merge(decided(1_795_362_443_460), from: "m").decisions == 0)
            #expect(try reviews.merge(decided(1_795_362_443_462), from: "m").decisions == 1)
            // What is recalled is what was said, or what is later.
            for uuid in photos { try SwipeTable(connection: connection).recallLastDecision(uuid) }
            let said = try photos.map { try table.require(.uuid($0)).lastDecision }
            #expect(said.prefix(5) == [.trash, .favorite, .keep, .keep, .trash])
            // All that was there before is told, in the order in which it was.
            let told = try reviews.changes(after: .start, except: nil, limit: 99)
            #expect(told.sessions.count >= 4 && told.decisions.count == 5)
        }
        await database.close()
    }

    /// One of two machines had told of a session with a decision and another that was taken back.
    @Test func whatMachinesToldIsCountedAfterTheUpgrade() async throws {
        let folder = try TemporaryFolder()
        let path = folder.file("catalogue.sqlite")
        try await make(13, at: path)
        let database = try await DatabasePool.open(at: path, schema: CatalogueSchema.schema)
        try await database.read { connection in
            let reviews = ReviewTable(connection: connection)
            let partners = try ReviewMachineTable(connection: connection).partners()
            #expect(try partners.map { try reviews.countTaken(from: $0.id) } == [0, 3])
            let machine = partners[1].id
            let counts = try ArrivedKind.allCases.map {
                try reviews.arrived($0, from: machine, after: .min, limit: 9).count
            }
            #expect(counts == [1, 0, 1, 1])
        }
        await database.close()
    }

    @Test func aFailedUpgradeLeavesTheOldCatalogueAndSaysWhatToDo() async throws {
        let folder = try TemporaryFolder()
        let path = folder.file("catalogue.sqlite")
        try await make(2, at: path)
        let before = try await contents(path)
        let bytes = try Data(contentsOf: URL(fileURLWithPath: path))
        let broken = Migration(version: 3, name: "broken", script: "DROP TABLE photos; SELECT nothing;")
        do {
            _ = try await DatabasePool.open(at: path, schema: schema(upTo: 2, and: broken))
            Issue.record("the upgrade did not fail")
        } catch {
            let error = MeshError(describing: error)
            #expect(error.status == .failedPrecondition)
            #expect(error.message.contains("\(path).before-v3"))
            #expect(error.message.contains("Nothing of that step was kept"))
        }
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == bytes)
        #expect(try await contents(path) == before)
        #expect(try await contents(path + ".before-v3") == before)
        // The program of before still opens it.
        let database = try await DatabasePool.open(at: path, schema: schema(upTo: 2))
        await database.close()
    }

    @Test func aNewerCatalogueIsRefusedAndLeftAlone() async throws {
        let folder = try TemporaryFolder()
        try FileManager.default.createDirectory(atPath: folder.file("library"), withIntermediateDirectories: true)
        let path = folder.file("library/catalogue.sqlite")
        let next = Migration(version: CatalogueSchema.schema.version + 1, name: "future", script: "CREATE TABLE a (b)")
        let newer = try await DatabasePool.open(at: path, schema: schema(upTo: .max, and: next))
        await newer.close()
        let bytes = try Data(contentsOf: URL(fileURLWithPath: path))
        do {
            let library = try await PhotoLibrary.open(at: folder.file("library"))
            await library.close()
            Issue.record("a newer catalogue was opened")
        } catch {
            let error = MeshError(describing: error)
            #expect(error.status == .failedPrecondition && error.message.contains("Update the program"))
        }
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == bytes)
    }
}
