import Foundation
import LibraryModel
import LibraryTestSupport
import SampleAlbum
import ServiceMesh
import SmilePile
import TestSupport
import Testing
import ZipArchive

/// What a restore gives back, what it leaves as it is, and that it says so.
@Suite(.timeLimit(.minutes(4))) struct RestoreDifferenceTests {
    // MARK: A new machine

    @Test func anUnusedLibraryBecomesTheBackupByAPlainRestore() async throws {
        let old = try await TestLibrary.livedIn()
        let (path, made) = try await old.backUp()
        #expect(made.receipt?["trashed"] == 1)
        let new = try await TestLibrary("new")
        let key = try await old.mesh.send(ExportKeys(passphrase: "correct horse"))
        _ = try await new.mesh.send(ImportKeys(text: key.text, passphrase: "correct horse"))
        let dry = try await new.run(RestoreBackup(path: path, dryRun: true))
        #expect(dry.receipt?["becameBackup"] == true)
        let job = try await new.run(RestoreBackup(path: path))
        #expect(job.state == .finished && !job.needsAttention && job.receipt?["becameBackup"] == true, "\(job)")
        #expect(try await new.allPhotos() == old.allPhotos())
        #expect(try await new.mesh.send(ListCategories()) == old.mesh.send(ListCategories()))
        #expect(try await new.mesh.send(ListSwipeSessions()) == old.mesh.send(ListSwipeSessions()))
        let (settings, before) = (try await new.mesh.send(GetSettings()), try await old.mesh.send(GetSettings()))
        #expect(settings.swipeThreshold == 0.7 && !settings.enableHapticFeedback)
        #expect(settings.keepOriginals == before.keepOriginals)
        for photo in try await old.allPhotos() {
            let detail = try await old.mesh.send(GetPhotoDetail(id: photo.id))
            #expect(try await new.mesh.send(GetPhotoDetail(id: photo.id)) == detail)
        }
        // The next ids are behind those that are there.
        let added = try await new.mesh.send(AddCategory(displayName: "More"))
        #expect(added.id > (try await old.mesh.send(ListCategories()).categories.map(\.id).max() ?? 0))
        // It is used now: a second run merges, and changes nothing.
        let again = try await new.run(RestoreBackup(path: path))
        #expect(again.receipt?["becameBackup"] == nil && again.receipt?["photosAdded"] == 0)
        #expect(again.outcomes["conflict"] == nil, "\(again)")
        await old.library.close()
        await new.library.close()
    }

    @Test(arguments: ["a category", "a trashed photo", "another colour", "a review", "a part"])
    func aLibraryThatWasUsedDoesNot(_ use: String) async throws {
        let old = try await TestLibrary.livedIn()
        var (path, _) = try await old.backUp()
        let new = try await TestLibrary("used")
        let family = try await new.mesh.send(ListCategories()).categories[0]
        switch use {
        case "a category": _ = try await new.mesh.send(AddCategory(displayName: "Mine"))
        case "another colour":
            _ = try await new.mesh.send(EditCategory(id: family.id, colorHex: "#000000"))
        case "a review": _ = try await new.mesh.send(StartSwipeSession())
        case "a part":
            path = old.folder.file("part.zip")
            let sea = try await old.mesh.send(GetCategory(displayName: "Sea"))
            _ = try await old.run(CreateBackup(path: path, categoryIds: [sea.id]))
        default:
            _ = try await new.importSamples(1, album: SampleAlbum(width: 32, height: 32, seed: 8))
            _ = try await new.mesh.send(DeletePhotos(ids: new.allPhotos().map(\.id)))
        }
        let job = try await new.run(RestoreBackup(path: path))
        #expect(job.state == .finished && job.receipt?["becameBackup"] == nil, "\(use): \(job)")
        let names = try await new.mesh.send(ListCategories()).categories.map(\.displayName)
        #expect(names.contains("Games") && names.contains("Sea"), "\(use): \(names)")
        await old.library.close()
        await new.library.close()
    }

    // MARK: Differences

    @Test(arguments: [false, true]) func everyDifferenceIsALine(_ prefersBackup: Bool) async throws {
        let test = try await TestLibrary.livedIn()
        let (path, _) = try await test.backUp()
        let before = try await test.allPhotos()
        let categories = try await test.mesh.send(ListCategories())
        let wheels = try await test.mesh.send(GetCategory(displayName: "Wheels"))
        _ = try await test.mesh.send(
            EditCategory(id: wheels.id, displayName: "WHEELS", colorHex: "#999999"))
        let ids = categories.categories.map(\.id)
        _ = try await test.mesh.send(ReorderCategories(ids: Array(ids.dropFirst()) + [ids[0]]))
        let (moved, named, dated) = (before[0], before[1], before[3])
        _ = try await test.mesh.send(MovePhotos(ids: [moved.id], categoryId: wheels.id))
        _ = try await test.mesh.send(SetFavorite(ids: [moved.id], isFavorite: !moved.isFavorite))
        _ = try await test.mesh.send(EditPhoto(id: named.id, name: "another"))
        _ = try await test.mesh.send(SetCaption(id: named.id, caption: nil))
        _ = try await test.mesh.send(EditPhoto(id: dated.id, takenAt: LocalDateTime("2001-02-03T04:05:06")))
        _ = try await test.mesh.send(SetPhotoDetail(id: dated.id, location: "elsewhere"))
        _ = try await test.mesh.send(ChangeSettings(swipeThreshold: 0.1, enableHapticFeedback: true))
        let session = try #require(try await test.mesh.send(ListSwipeSessions()).sessions.first)
        _ = try await test.mesh.send(FinishSwipeSession(sessionID: session.sessionID))

        let changed = try await test.allPhotos()
        let dry = try await test.run(RestoreBackup(path: path, dryRun: true, prefersBackup: prefersBackup))
        #expect(try await test.allPhotos() == changed)
        let job = try await test.run(RestoreBackup(path: path, prefersBackup: prefersBackup))
        #expect(job.state == .finished && job.outcomes == dry.outcomes, "\(job)")
        let said = try await test.details(job, prefersBackup ? "updated" : "conflict")
        let verb = prefersBackup ? "gets the backup's" : "the library's"
        #expect(said["WHEELS"]?.contains("name") == true && said["WHEELS"]?.contains("colour") == true, "\(said)")
        #expect(said["categories"]?.contains("order") == true)
        // What the backup's word counts of says what was there.
        func was(_ text: String) -> String { prefersBackup ? " (was: \(text))" : "" }
        let mark = was(before[0].isFavorite ? "none" : "set")
        #expect(
            said[moved.path]?.hasPrefix("\(verb) category\(was("WHEELS")), favourite mark\(mark)") == true, "\(said)")
        #expect(said[named.path]?.hasPrefix("\(verb) name\(was("'another'")), caption\(was("none"))") == true)
        #expect(said[dated.path]?.contains("date") == true && said[dated.path]?.contains("sealed fields") == true)
        #expect(said["settings"]?.contains("swipeThreshold\(was("0.1")), enableHapticFeedback\(was("true"))") == true)
        // What was decided here stays, whoever is asked.
        #expect(try await test.details(job, "conflict")["review \(session.sessionID.prefix(8))"] != nil)
        let after = try await test.allPhotos()
        let settings = try await test.mesh.send(GetSettings())
        if prefersBackup {
            #expect(after == before && settings.swipeThreshold == 0.7)
            #expect(try await test.mesh.send(ListCategories()) == categories)
            #expect(try await test.mesh.send(GetPhotoDetail(id: dated.id)).location != "elsewhere")
            let again = try await test.run(RestoreBackup(path: path, prefersBackup: true))
            #expect(again.outcomes["updated"] == nil, "\(again)")
        } else {
            #expect(after == changed && settings.swipeThreshold == 0.1)
            #expect(try await test.mesh.send(GetCategory(id: wheels.id)).displayName == "WHEELS")
            #expect(try await test.mesh.send(GetPhotoDetail(id: dated.id)).location == "elsewhere")
        }
        await test.library.close()
    }

    // MARK: Categories

    private func categories(_ test: TestLibrary) async throws -> [String] {
        try await test.mesh.send(ListCategories()).categories.map(\.displayName)
    }

    @Test func aCategoryThatWasRenamedSinceIsTheSame() async throws {
        let test = try await TestLibrary.livedIn()
        let (path, _) = try await test.backUp()
        let sea = try await test.mesh.send(GetCategory(displayName: "Sea"))
        let before = try await categories(test)
        _ = try await test.mesh.send(EditCategory(id: sea.id, displayName: "Ocean"))
        let renamed = try await categories(test)
        let job = try await test.run(RestoreBackup(path: path))
        #expect(try await test.details(job, "conflict") == ["Ocean": "the library's name 'Ocean' stays"])
        #expect(job.receipt?["categoriesAdded"] == 0)
        #expect(try await categories(test) == renamed)
        let taken = try await test.run(RestoreBackup(path: path, prefersBackup: true))
        #expect(try await test.details(taken, "updated") == ["Ocean": "gets the backup's name (was: 'Ocean')"])
        #expect(try await categories(test) == before && taken.outcomes["conflict"] == nil)
        await test.library.close()
    }

    /// A name counts before an id, and an id only with the moment in which the category was made.
    @Test func aCategoryOfTheSameNameOrIDAloneIsNotTheRenamedOne() async throws {
        let test = try await TestLibrary.livedIn()
        let (path, _) = try await test.backUp()
        let (sea, wheels) = (
            try await test.mesh.send(GetCategory(displayName: "Sea")),
            try await test.mesh.send(GetCategory(displayName: "Wheels"))
        )
        // Two exchange their names by way of a third: each is found by its name.
        for (id, name) in [(sea.id, "Third"), (wheels.id, "Sea"), (sea.id, "Wheels")] {
            _ = try await test.mesh.send(EditCategory(id: id, displayName: name))
        }
        let before = try await categories(test)
        #expect(try await test.run(RestoreBackup(path: path, dryRun: true)).receipt?["categoriesAdded"] == 0)
        // One takes the name of another, which is away under a new one: that one is not what the backup means.
        _ = try await test.mesh.send(EditCategory(id: wheels.id, displayName: "Third"))
        _ = try await test.mesh.send(EditCategory(id: sea.id, displayName: "Sea"))
        _ = try await test.mesh.send(AddCategory(displayName: "Wheels"))
        #expect(try await test.run(RestoreBackup(path: path, dryRun: true)).receipt?["categoriesAdded"] == 0)
        #expect(before.count + 1 == (try await categories(test).count))
        // Another library's category of the same id is another one.
        let other = try await TestLibrary("other")
        _ = try await other.mesh.send(AddCategory(displayName: "Hills"))
        #expect(try await other.mesh.send(GetCategory(displayName: "Hills")).id == sea.id)
        let merged = try await other.run(RestoreBackup(path: path))
        let names = try await categories(other)
        #expect(merged.state == .finished && names.contains("Hills") && names.contains("Sea"))
        await other.library.close()
        await test.library.close()
    }

    @Test func theOrderOfAllOfTheBackupsCategoriesIsTaken() async throws {
        let old = try await TestLibrary.livedIn()
        let first = try await old.mesh.send(AddCategory(displayName: "First"))
        let others = try await old.mesh.send(ListCategories()).categories.map(\.id).filter { $0 != first.id }
        _ = try await old.mesh.send(ReorderCategories(ids: [others[0], first.id] + others.dropFirst()))
        let (path, _) = try await old.backUp()
        let wanted = try await categories(old)
        for prefersBackup in [false, true] {
            let test = try await TestLibrary("other")
            // Those that both have are in the backup's order.
            for name in wanted where !["First", "Sea"].contains(name) {
                if try await !categories(test).contains(name) {
                    _ = try await test.mesh.send(AddCategory(displayName: name))
                }
            }
            let ids = try await test.mesh.send(ListCategories()).categories.sorted {
                (wanted.firstIndex(of: $0.displayName) ?? -1) < (wanted.firstIndex(of: $1.displayName) ?? -1)
            }.map(\.id)
            _ = try await test.mesh.send(ReorderCategories(ids: ids))
            let own = try await categories(test).filter { !wanted.contains($0) }
            #expect(!own.isEmpty)
            let dry = try await test.run(RestoreBackup(path: path, dryRun: true, prefersBackup: prefersBackup))
            let job = try await test.run(RestoreBackup(path: path, prefersBackup: prefersBackup))
            #expect(job.outcomes == dry.outcomes)
            let said = try await test.details(job, prefersBackup ? "updated" : "conflict")["categories"]
            #expect(said == (prefersBackup ? "gets the backup's order" : "the library's order stays"))
            if prefersBackup {
                #expect(try await categories(test) == wanted + own)
                let again = try await test.run(RestoreBackup(path: path, prefersBackup: true))
                #expect(again.outcomes["updated"] == nil, "\(again)")
            } else {
                #expect(try await categories(test).suffix(2).sorted() == ["First", "Sea"])
            }
            await test.library.close()
        }
        await old.library.close()
    }

    // MARK: Reviews

    private func record(_ test: TestLibrary, _ photo: Photo, _ session: String, _ action: SwipeAction) async throws {
        _ = try await test.mesh.send(
            RecordSwipe(
                sessionID: session, photoIdentifier: photo.uuid, contentDigest: photo.contentDigest, action: action))
    }

    @Test func aDecisionThatWasMadeOtherwiseIsADifferenceThatStays() async throws {
        let test = try await TestLibrary.livedIn()
        let (path, _) = try await test.backUp()
        let photo = try await test.allPhotos()[0]
        let session = try #require(try await test.mesh.send(ListSwipeSessions()).sessions.first).sessionID
        #expect(try await test.run(RestoreBackup(path: path)).outcomes.isEmpty)
        _ = try await test.mesh.send(UndoSwipes(sessionID: session, count: 1))
        try await record(test, photo, session, .trash)
        for prefersBackup in [false, true] {
            let job = try await test.run(RestoreBackup(path: path, prefersBackup: prefersBackup))
            #expect(
                try await test.details(job, "conflict") == [
                    "review \(session.prefix(8))": "the library's decisions stay"
                ])
            #expect(job.outcomes["updated"] == nil && job.receipt?["takeableDifferences"] == nil, "\(job)")
        }
        #expect(try await test.mesh.send(ListPendingSwipes()).actions.map(\.action) == [.trash])
        // The same decision, made once more, is the same.
        _ = try await test.mesh.send(UndoSwipes(sessionID: session, count: 1))
        try await record(test, photo, session, .keep)
        #expect(try await test.run(RestoreBackup(path: path)).outcomes.isEmpty)
        await test.library.close()
    }

    @Test func theReceiptSaysWhatCouldBeTaken() async throws {
        let test = try await TestLibrary.livedIn()
        let (path, _) = try await test.backUp()
        let photo = try await test.allPhotos()[0]
        let session = try #require(try await test.mesh.send(ListSwipeSessions()).sessions.first).sessionID
        _ = try await test.mesh.send(FinishSwipeSession(sessionID: session))
        _ = try await test.mesh.send(SetCaption(id: photo.id, caption: "since"))
        for dryRun in [true, false] {
            let job = try await test.run(RestoreBackup(path: path, dryRun: dryRun))
            #expect(job.outcomes["conflict"] == 2 && job.receipt?["takeableDifferences"] == 1, "\(job)")
        }
        let taken = try await test.run(RestoreBackup(path: path, prefersBackup: true))
        #expect(taken.outcomes == ["conflict": 1, "updated": 1] && taken.receipt?["takeableDifferences"] == nil)
        await test.library.close()
    }

    /// Which of two decisions about a photo is the last one is said by when they were made, and not by which came first.
    @Test func theLaterDecisionIsTheLastOneWhicheverIsRestored() async throws {
        let old = try await TestLibrary.livedIn()
        let photos = try await old.allPhotos()
        let before = old.folder.file("before.zip")
        _ = try await old.run(CreateBackup(path: before))
        let session = try await old.mesh.send(StartSwipeSession()).sessionID
        for photo in photos.prefix(2) { try await record(old, photo, session, .favorite) }
        _ = try await old.mesh.send(FinishSwipeSession(sessionID: session))
        let (path, _) = try await old.backUp()
        let new = try await TestLibrary("new")
        _ = try await new.run(RestoreBackup(path: before))
        #expect(try await new.mesh.send(GetPhoto(uuid: photos[0].uuid)).lastDecision == .keep)
        let later = try await new.mesh.send(StartSwipeSession()).sessionID
        try await record(new, photos[1], later, .trash)
        _ = try await new.run(RestoreBackup(path: path))
        #expect(try await new.mesh.send(GetPhoto(uuid: photos[0].uuid)).lastDecision == .favorite)
        #expect(try await new.mesh.send(GetPhoto(uuid: photos[1].uuid)).lastDecision == .trash)
        await old.library.close()
        await new.library.close()
    }

    /// What was decided later and deleted is in no backup; when it was decided nobody knows there.
    @Test func aDecisionThatCameWithItsPhotoAloneStays() async throws {
        let old = try await TestLibrary.livedIn()
        let photo = try await old.allPhotos()[0]
        let session = try await old.mesh.send(StartSwipeSession()).sessionID
        try await record(old, photo, session, .favorite)
        _ = try await old.mesh.send(FinishSwipeSession(sessionID: session))
        _ = try await old.mesh.send(ProcessSwipes())
        let later = Timestamp(milliseconds: Timestamp.now().milliseconds + 60_000)
        #expect(try await old.mesh.send(DeleteProcessedSwipes(before: later)).count >= 1)
        let (path, _) = try await old.backUp()
        for mode in [RestoreMode.merge, .replace] {
            let new = try await TestLibrary("new")
            _ = try await new.mesh.send(AddCategory(displayName: "Used"))
            _ = try await new.run(RestoreBackup(path: path, mode: mode))
            #expect(try await new.mesh.send(GetPhoto(uuid: photo.uuid)).lastDecision == .favorite)
            await new.library.close()
        }
        await old.library.close()
    }
}
