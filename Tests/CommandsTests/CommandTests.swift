import Foundation
import LibraryModel
import ServiceMesh
import TestSupport
import Testing

@testable import CommandLineInterface

@Suite("Commands")
struct CommandTests {
    private func stage(terminalColumns: Int? = nil, personSays: String? = nil) throws -> Stage {
        let stage = Stage(terminalColumns: terminalColumns, personSays: personSays)
        try stage.answer("category.list", Sample.categories)
        try stage.answer("library.status", Sample.status)
        stage.answer("rpc.hello", Sample.hello)
        stage.answer("job.list", #"{"jobs":[]}"#)
        return stage
    }

    // MARK: Categories

    @Test("A category is found by '#' and its id, by its name, and by its id alone where nothing is called so")
    func categoryNames() async throws {
        let stage = Stage()
        try stage.answer(
            "category.list",
            CategoryList(categories: [
                // As a library of an older version may have them.
                Sample.category(1, "Family"), Sample.category(7, "1"), Sample.category(9, "2025"),
            ]))
        let found = try await stage.connection.categories(named: ["#1", "1", "family", "2025", "9", "#9", " 9 ", "007"])
        #expect(found.map(\.id) == [1, 7, 1, 9, 9, 9, 9, 7])
        #expect(stage.methods == ["category.list"])
        for wrong in ["3", "#3", "#", "#2025", "#-1", "99999999999999999999", ""] {
            await #expect(throws: CommandFailure.self) { try await stage.connection.category(named: wrong) }
        }
    }

    @Test("Categories in a table, as names, and as JSON")
    func categoryList() async throws {
        let table = try stage()
        #expect(await table.run("categories") == .done)
        #expect(
            table.results
                == "ID  NAME    COLOUR   PHOTOS\n#1  Family  #4CAF50       3\n#2  Cars    #4CAF50       0\n#3  Été     #4CAF50       0\n"
        )
        let names = try stage()
        #expect(await names.run("categories", "--names") == .done)
        #expect(names.results == "Family\nCars\nÉté\n")
        let json = try stage()
        #expect(await json.run("categories", "--json") == .done)
        #expect(try json.json()["categories"]?.arrayValue?.count == 3)
    }

    @Test("Changes of categories name them by id, and send only what was given")
    func categoryChanges() async throws {
        let stage = try stage()
        try stage.answer("category.edit", Sample.category(2, "Motors"))
        try stage.answer("category.reorder", Sample.categories)
        try stage.answer("category.delete", CategoryDeletion(photosTrashed: 0, photosMoved: 4))
        #expect(await stage.run("categories", "edit", "cars", "--name", "Motors") == .done)
        #expect(stage.params("category.edit") == ["id": 2, "displayName": "Motors"])
        #expect(await stage.run("categories", "reorder", "Été", "1", "Cars") == .done)
        #expect(stage.params("category.reorder") == ["ids": [3, 1, 2]])
        #expect(await stage.run("categories", "delete", "Cars", "--move-to", "family") == .done)
        #expect(stage.params("category.delete") == ["id": 2, "moveTo": 1])
        #expect(stage.results.contains("Deleted Cars. 4 photos moved."))
        #expect(await stage.run("categories", "edit", "Cars") == .usage)
        #expect(await stage.run("categories", "delete", "Cars", "--move-to", "1", "--delete-photos") == .usage)
    }

    // MARK: Photos

    @Test("Filters become one message; a last day counts to its end")
    func search() async throws {
        let stage = try stage()
        try stage.answer("photo.search", PhotoPage(photos: [Sample.photo(1), Sample.photo(2)], next: "abc"))
        #expect(
            await stage.run(
                "photos", "search", "100%", "--category", "Cars", "--from", "2025-06-01T00:00:00Z", "--to",
                "2025-06-30",
                "--favorites", "--limit", "2", "--after", "xyz") == .done)
        let params = try #require(stage.params("photo.search"))
        #expect(params["words"] == ["100%"] && params["categoryId"] == 2 && params["favoritesOnly"] == true)
        #expect(params["limit"] == 2 && params["after"] == "xyz")
        #expect(params["from"] == "2025-06-01T00:00:00" && params["to"] == "2025-06-30T23:59:59.999")
        #expect(stage.results.contains("Family") && stage.results.contains("2048×1536"))
        #expect(stage.messages.contains("--after abc"))
    }

    @Test("A photo that cannot be shown yet is marked, and says what to do")
    func unseen() async throws {
        let stage = try stage()
        var photo = Sample.photo(7)
        photo.unseenBy = Release.version
        try stage.answer("photo.search", PhotoPage(photos: [Sample.photo(1), photo], next: nil))
        #expect(await stage.run("photos") == .done)
        let lines = stage.results.split(separator: "\n")
        #expect(lines.filter { $0.contains("2048×1536*") }.count == 1 && lines.count == 3)
        #expect(stage.messages.contains("* cannot be shown yet. Its original is kept: smilepile photos export NUMBER"))
    }

    @Test("What a photo is called cannot break the table or the terminal")
    func hostileNames() async throws {
        let stage = try stage(terminalColumns: 100)
        let photo = Sample.photo(
            1, name: "\u{1B}]52;c;ZXZpbA==\u{7}", caption: "two\nlines \u{202E}" + String(repeating: "x", count: 500))
        try stage.answer("photo.search", PhotoPage(photos: [photo], next: nil))
        #expect(await stage.run("photos") == .done)
        let lines = stage.results.split(separator: "\n")
        #expect(lines.count == 2)
        #expect(lines[1].contains("␛]52;c") && !lines[1].contains("\u{1B}") && !lines[1].contains("\u{202E}"))
        #expect(TextWidth.of(String(lines[1])) <= 100)
    }

    @Test("--json prints the reply as it came, and asks for nothing more")
    func asItCame() async throws {
        let stage = Stage()
        let reply = #"{"photos":[],"next":"c","later":{"version":2}}"#
        stage.answer("photo.search", reply)
        #expect(await stage.run("photos", "list", "--json") == .done)
        #expect(stage.results == reply + "\n")
        #expect(stage.methods == ["photo.search"])
    }

    @Test("Photos are named by number or uuid")
    func photoNames() async throws {
        let stage = try stage()
        try stage.answer("photo.get", Sample.photo(5))
        try stage.answer("photo.favorite", PhotosChanged(count: 2))
        #expect(await stage.run("photos", "favorite", "3", "0B1C2D3E-0000-4000-8000-000000000005") == .done)
        #expect(stage.params("photo.get") == ["uuid": "0b1c2d3e-0000-4000-8000-000000000005"])
        #expect(stage.params("photo.favorite") == ["ids": [3, 5], "isFavorite": true])
        #expect(stage.results == "2 photos changed.\n")
    }

    @Test("A caption is written or removed, never by accident")
    func caption() async throws {
        let stage = try stage()
        try stage.answer("photo.caption", Sample.photo(5))
        #expect(await stage.run("photos", "caption", "5") == .usage)
        #expect(await stage.run("photos", "caption", "5", "x", "--remove") == .usage)
        #expect(!stage.methods.contains("photo.caption"))
        #expect(await stage.run("photos", "caption", "5", "--remove") == .done)
        #expect(stage.params("photo.caption") == ["id": 5])
    }

    @Test("A decision names the content that was shown, else the photo's present one")
    func swipe() async throws {
        let stage = try stage()
        let photo = Sample.photo(5)
        try stage.answer("photo.get", photo)
        try stage.answer(
            "swipe.record",
            PhotoAction(
                id: 1, sessionID: "s", photoIdentifier: photo.uuid, contentDigest: photo.contentDigest,
                action: .favorite, timestamp: Timestamp(milliseconds: 0), isProcessed: false))
        #expect(await stage.run("swipe", "record", "s", "5", "favorite") == .done)
        #expect(stage.params("swipe.record")?["contentDigest"] == .string(photo.contentDigest))
        #expect(await stage.run("swipe", "record", "s", "5", "favorite", "--digest", "AA") == .done)
        #expect(stage.params("swipe.record")?["contentDigest"] == "aa")
        stage.answer("swipe.process", #"{"favorited":1,"trashed":0,"kept":2,"outdated":1}"#)
        #expect(await stage.run("swipe", "process") == .doneWithProblems)
    }

    // MARK: What cannot be undone

    @Test(
        "Emptying the trash asks first: a no, a yes, --yes, and nobody there",
        arguments: [("n" as String?, ExitCode.failed), ("", .failed), ("yes", .done), ("Y ", .done), (nil, .usage)])
    func purge(said: String?, code: ExitCode) async throws {
        let stage = try stage(personSays: said)
        try stage.answer("trash.purge", PhotosChanged(count: 2))
        #expect(await stage.run("trash", "purge", "--all") == code)
        #expect(stage.questions == ["Remove 2 photos in the trash for good? [y/N] "])
        #expect(stage.methods.contains("trash.purge") == (code == .done))
        let sure = try self.stage()
        try sure.answer("trash.purge", PhotosChanged(count: 2))
        #expect(await sure.run("trash", "purge", "--all", "--yes") == .done)
        #expect(sure.questions.isEmpty && sure.params("trash.purge") == ["all": true])
    }

    @Test(
        "The way to take over what differs is told where it takes something over",
        arguments: [
            (1, 1, "1 difference to the backup stays as the library has it. To take the backup's: --prefer-backup"),
            (3, 3, "3 differences to the backup stay as the library has them. To take the backup's: --prefer-backup"),
            (
                3, 2,
                "3 differences to the backup stay as the library has them. To take the backup's in 2 of them: --prefer-backup"
            ),
            (2, nil, "2 differences to the backup stay as the library has them."),
        ] as [(Int, Int?, String)])
    func differences(_ all: Int, _ takeable: Int?, _ expected: String) async throws {
        let stage = try stage()
        let backup = BackupSummary(
            dialect: "smilepile", backupVersion: "1.0", appVersion: "1.2.3",
            timestamp: try #require(LocalDate.startOf("2025-06-15")), photoCount: 40, categoryCount: 1,
            isPartial: false, sealedWith: nil)
        try stage.answer("mode.get", ModeStatus(mode: .parent))
        stage.answer("backup.restore", #"{"job":"restore-1"}"#)
        stage.answer("job.receipt", #"{"lines":[]}"#)
        let receipt = RestoreReceipt(
            backup: backup, mode: .merge, isDryRun: false, categoriesAdded: 0, photosAdded: 0, photosKept: 40,
            photosRemoved: 0, swipeSessionsAdded: 0, takeableDifferences: takeable, ending: .completeWithProblems)
        stage.answer(
            "job.watch", try Sample.job("backup.restore", outcomes: ["conflict": all], receipt: receipt))
        _ = await stage.run("backup", "restore", "b.zip", "--yes")
        #expect(stage.results.split(separator: "\n").contains(Substring(expected)), "\(stage.results)")
    }

    @Test("Restoring shows what would happen, the backup's date and both counts, and needs a yes")
    func replace() async throws {
        func prepared(_ says: String?) throws -> Stage {
            let stage = try stage(personSays: says)
            let backup = BackupSummary(
                dialect: "smilepile", backupVersion: "1.0", appVersion: "1.2.3",
                timestamp: try #require(LocalDate.startOf("2025-06-15")), photoCount: 40, categoryCount: 1,
                isPartial: false, sealedWith: nil)
            try stage.answer("mode.get", ModeStatus(mode: .parent))
            stage.answer("backup.restore", #"{"job":"restore-1"}"#)
            stage.answer("job.receipt", #"{"lines":[]}"#)
            let receipt = RestoreReceipt(
                backup: backup, mode: .replace, isDryRun: false, categoriesAdded: 1, photosAdded: 40, photosKept: 0,
                photosRemoved: 3, swipeSessionsAdded: 0, ending: .complete)
            stage.answer("job.watch", try Sample.job("backup.restore", receipt: receipt))
            return stage
        }
        let no = try prepared("no")
        #expect(await no.run("backup", "restore", "b.zip", "--replace") == .failed)
        #expect(
            no.questions == [
                "Replace the library (3 photos in 3 categories) by the backup of 2025-06-15 00:00, 1.2.3 "
                    + "(40 photos in 1 category)? [y/N] "
            ])
        #expect(no.params("backup.restore")?["dryRun"] == true && no.results.contains("Photos added"))
        let merge = try prepared("no")
        #expect(await merge.run("backup", "restore", "b.zip") == .failed)
        #expect(
            merge.questions == [
                "Merge the backup of 2025-06-15 00:00, 1.2.3 (40 photos in 1 category) into the library (3 photos in "
                    + "3 categories)? [y/N] "
            ])
        let nobody = try prepared(nil)
        #expect(await nobody.run("backup", "restore", "b.zip", "--replace") == .usage)
        #expect(await nobody.run("backup", "restore", "b.zip") == .usage)
        #expect(nobody.messages.contains("--yes") && !nobody.methods.contains("backup.restore"))
        // A library without photos has nothing to lose by a merge.
        let empty = try prepared(nil)
        try empty.answer("library.status", Sample.status(Sample.status.imageWorkers, photos: 0))
        // The answers come in their order.
        _ = await empty.run("status")
        #expect(await empty.run("backup", "restore", "b.zip") == .done)
        let yes = try prepared("y")
        #expect(await yes.run("backup", "restore", "b.zip", "--replace") == .done)
        #expect(yes.params("backup.restore") == ["path": "/home/ada/b.zip", "mode": "replace"])
        #expect(yes.results.contains("Replaced the library by the backup of 2025-06-15 00:00."))
        let preview = try prepared(nil)
        #expect(await preview.run("backup", "restore", "b.zip", "--replace", "--dry-run") == .done)
        #expect(preview.questions.isEmpty)
        #expect(await preview.run("backup", "restore", "b.zip", "--replace", "--merge") == .usage)
        #expect(await preview.run("backup", "restore") == .usage)
        #expect(await preview.run("backup", "restore", "b.zip", "--undo", "restore-1") == .usage)
    }

    @Test("Whoever brings back a library with its lock is told so, and not that it failed")
    func restoredIntoKidsMode() async throws {
        func prepared(modes: [AppMode]) throws -> Stage {
            let stage = try stage()
            for mode in modes { try stage.answer("mode.get", ModeStatus(mode: mode)) }
            stage.answer("backup.restore", #"{"job":"restore-1"}"#)
            stage.fail(
                "job.watch",
                .refused(
                    MeshError(.permissionDenied, "This is a parent's.", details: ["neededRole": "parent"])))
            return stage
        }
        let locked = try prepared(modes: [.parent, .kids])
        #expect(await locked.run("backup", "restore", "b.zip", "--yes") == .done)
        #expect(locked.messages.contains("The backup is restored") && locked.messages.contains("kids mode"))
        // Where the mode is what it was, nobody knows that it was done.
        for modes in [[AppMode.parent, .parent], [.kids, .kids]] {
            let refused = try prepared(modes: modes)
            #expect(await refused.run("backup", "restore", "b.zip", "--yes") != .done)
        }
    }

    // MARK: Backups and the rest

    @Test("A part of a library is backed up by categories and date; a damaged photo is told")
    func backup() async throws {
        let stage = try stage()
        stage.answer("backup.create", #"{"job":"create-1"}"#)
        let receipt = BackupReceipt(
            path: "/media/b.zip", photos: 9, categories: 2, bytes: 12_000_000, damaged: 1, isPartial: true,
            ending: .completeWithProblems)
        stage.answer(
            "job.watch",
            try Sample.job("backup.create", needsAttention: true, outcomes: ["damaged": 1], receipt: receipt))
        stage.answer("job.receipt", #"{"lines":[{"item":"IMG_1.jpg","outcome":"damaged","detail":"bytes differ"}]}"#)
        #expect(
            await stage.run("backup", "create", "out", "--category", "Cars", "--category", "1", "--since", "2025-01-01")
                == .doneWithProblems)
        let params = try #require(stage.params("backup.create"))
        #expect(params["path"] == "/home/ada/out" && params["categoryIds"] == [2, 1])
        #expect(params["since"]?.stringValue.flatMap(Timestamp.init(rfc3339:)) == LocalDate.startOf("2025-01-01"))
        #expect(stage.results.contains("(12.0 MB, a part of the library):\n/media/b.zip\n"))
        #expect(stage.results.contains("1 file of the library could not be backed up whole."))
        #expect(stage.results.contains("damaged  IMG_1.jpg: bytes differ"))
    }

    @Test("A backup for a phone says what it is, and takes no passphrase")
    func backupForPhone() async throws {
        let stage = try stage()
        stage.answer("backup.create", #"{"job":"create-1"}"#)
        let receipt = BackupReceipt(
            path: "/media/b.zip", photos: 9, categories: 2, bytes: 12_000_000, damaged: 0, isPartial: false,
            isForPhone: true, ending: .complete)
        stage.answer("job.watch", try Sample.job("backup.create", outcomes: ["left": 1], receipt: receipt))
        let line = #"{"item":"metadata.json","outcome":"left","detail":"not in it: captions (3)"}"#
        stage.answer("job.receipt", #"{"lines":[\#(line)]}"#)
        #expect(await stage.run("backup", "create", "out", "--for-phone") == .done)
        #expect(try #require(stage.params("backup.create"))["forPhone"] == true)
        #expect(stage.results.contains("It is for the phone apps, and no backup of the library"))
        #expect(stage.results.contains("left  metadata.json: not in it: captions (3)"), "\(stage.results)")
        #expect(await stage.run("backup", "create", "--for-phone", "--passphrase") == .usage)
        #expect(await stage.run("backup", "create", "--for-phone", "--passphrase-file", "p") == .usage)
    }

    @Test("call sends what it is given, and prints notifications beside the result")
    func call() async throws {
        let stage = Stage()
        stage.updates("job.watch", [#"{"state":"running"}"#])
        stage.answer("job.watch", #"{"state":"finished"}"#)
        #expect(await stage.run("call", "job.watch", "{\"job\":\n\"x\"}") == .done)
        #expect(stage.params("job.watch") == ["job": "x"])
        #expect(stage.results == "{\"state\":\"finished\"}\n")
        #expect(stage.messages == "{\"state\":\"running\"}\n")
        for wrong in ["[]", "{", "7", "{\"a\":}"] { #expect(await stage.run("call", "job.list", wrong) == .usage) }
    }

    @Test("What the daemon refuses is said, with the exit code of its status, as JSON too")
    func refused() async throws {
        let stage = Stage()
        stage.answer("rpc.hello", Sample.hello)
        stage.fail(
            "library.status",
            .refused(MeshError(.unavailable, "The library is\u{1B}[2J shutting down.", details: ["pid": 7])))
        #expect(await stage.run("status", "--json") == .busy)
        #expect(stage.messages == "smilepile: The library is␛[2J shutting down.\n")
        let error = try #require(try stage.json()["error"])
        #expect(error["status"] == "unavailable" && error["exitCode"] == 4 && error["details"]?["pid"] == 7)
    }

    @Test(
        "An answer that is not understood is an error and not a crash",
        arguments: ["null", "[]", "{\"photos\":7}", "{"])
    func nonsense(answer: String) async {
        let stage = Stage()
        stage.answer("photo.search", answer)
        stage.answer("category.list", #"{"categories":[]}"#)
        #expect(await stage.run("photos") == .failed)
        #expect(stage.messages.contains("one version"))
    }
}
