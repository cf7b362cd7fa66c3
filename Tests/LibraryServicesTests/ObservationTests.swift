import Foundation
import LibraryModel
import LibraryTestSupport
import SampleAlbum
import ServiceMesh
import SmilePile
import Synchronization
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(4))) struct ObservationTests {
    private static let small = SampleAlbum(width: 64, height: 48)

    @Test func everyWritingMessageReachesEveryObservation() async throws {
        let test = try await TestLibrary("observing")
        let mesh = test.mesh
        let (family, cars, games) = (Int64(1), Int64(2), Int64(3))
        let categories = Watched.follow(ObserveCategories(), on: mesh)
        let sea = Watched.follow(ObserveCategory(displayName: "SEA"), on: mesh)
        let all = Watched.follow(ObservePhotos(), on: mesh)
        let firstTwo = Watched.follow(ObservePhotos(limit: 2), on: mesh)
        let inCars = Watched.follow(ObservePhotos(PhotoFilter(categoryId: cars)), on: mesh)
        let favorites = Watched.follow(ObservePhotos(PhotoFilter(favoritesOnly: true)), on: mesh)
        let captioned = Watched.follow(ObservePhotos(PhotoFilter(text: "SEA")), on: mesh)
        let one = Watched.follow(ObservePhoto(id: 1), on: mesh)
        let settings = Watched.follow(ObserveSettings(), on: mesh)
        let pending = Watched.follow(ObservePendingSwipes(), on: mesh)
        let trash = Watched.follow(ObserveTrash(), on: mesh)
        let events = Watched.follow(SubscribeToEvents(), on: mesh, mayRepeat: true)

        func fresh(_ message: ObservePhotos) async throws -> ObservedPhotos {
            let page = try await mesh.send(message.search)
            let whole = SearchPhotos(message.filter, limit: 1000)
            return ObservedPhotos(
                photos: page.photos, next: page.next, total: try await mesh.send(whole).photos.count)
        }
        func settle() async throws {
            await categories.becomes(try await mesh.send(ListCategories()))
            await sea.becomes(ObservedCategory(category: try? await mesh.send(GetCategory(displayName: "sea"))))
            await all.becomes(try await fresh(ObservePhotos()))
            await firstTwo.becomes(try await fresh(ObservePhotos(limit: 2)))
            await inCars.becomes(try await fresh(ObservePhotos(PhotoFilter(categoryId: cars))))
            await favorites.becomes(try await fresh(ObservePhotos(PhotoFilter(favoritesOnly: true))))
            await captioned.becomes(try await fresh(ObservePhotos(PhotoFilter(text: "SEA"))))
            await one.becomes(ObservedPhoto(photo: try? await mesh.send(GetPhoto(id: 1))))
            await settings.becomes(try await mesh.send(GetSettings()))
            await pending.becomes(try await mesh.send(ListPendingSwipes()))
            let page = try await mesh.send(ListTrash())
            await trash.becomes(ObservedTrash(photos: page.photos, next: page.next, total: page.photos.count))
            let totals = LibraryTotals(
                photos: try await mesh.send(SearchPhotos(limit: 1000)).photos.count,
                categories: try await mesh.send(ListCategories()).categories.count, trashed: page.photos.count,
                pendingSwipes: try await mesh.send(ListPendingSwipes()).actions.count)
            await events.value { $0.totals == totals }
        }
        var sent: Set<String> = []
        /// Sends a message and waits until every observation says what a new query says.
        @discardableResult
        func after<M: HandledMessage>(_ message: M) async throws -> M.Reply {
            sent.insert(M.method)
            let reply = try await mesh.send(message)
            try await settle()
            return reply
        }
        func afterJob<M: HandledJob>(_ message: M) async throws {
            sent.insert(M.method)
            #expect(try await test.run(message).state == .finished)
            try await settle()
        }

        try await settle()
        let album = test.folder.file("album")
        try Self.small.write(count: 6, to: album)
        try await afterJob(ImportPhotos(paths: [album], categoryId: family))
        #expect(all.newest?.value.total == 6)
        let added = try await after(AddCategory(displayName: "Sea"))
        try await after(EditCategory(id: added.id, displayName: "Mountains"))
        try await after(ReorderCategories(ids: [added.id, 4, games, cars, family]))
        try await after(
            AddCategories(categories: [NewCategory(displayName: "Lakes"), NewCategory(displayName: "Sea")]))
        try await after(DeleteCategory(id: added.id + 2))
        try await after(DeleteCategory(id: added.id + 1))
        try await after(EditPhoto(id: 6, name: "New name", caption: "Not the sea", isFavorite: true))
        try await after(EditPhoto(id: 6, name: "Old name", caption: "", isFavorite: false))
        try await after(EditPhotos(ids: [6, 3], caption: "The same words"))
        try await after(EditPhotos(ids: [6, 3], caption: ""))
        try await after(RotatePhotos(turns: [PhotoTurn(id: 6, to: 90), PhotoTurn(id: 3, to: 180)]))
        try await after(RotatePhotos(turns: [PhotoTurn(id: 6, to: 0, from: 90), PhotoTurn(id: 3, to: 0)]))
        try await after(SetFavorite(ids: [1, 2], isFavorite: true))
        try await after(MovePhotos(ids: [2, 3], categoryId: cars))
        try await after(SetCaption(id: 3, caption: "By the sea"))
        try await after(SetCaption(id: 3, caption: nil))
        try await after(SetCaption(id: 3, caption: "Sea again"))
        try await after(SetPhotoDetail(id: 3, notes: "sealed"))
        let passphrase = "a passphrase for tests"
        let exported = try await after(ExportKeys(passphrase: passphrase))
        try await after(ImportKeys(text: exported.text, passphrase: passphrase))
        try await afterJob(RotateKeys())
        try await afterJob(ErasePhotoDetails(ids: [3]))
        try await after(DeletePhotos(ids: [1]))
        #expect(one.newest?.value.photo == nil)
        try await after(RestorePhotos(ids: [1]))
        #expect(one.newest?.value.photo?.id == 1)
        try await after(DeleteCategory(id: cars, moveTo: games))
        try await after(DeleteCategory(id: games, deletePhotos: true))
        try await after(ForgetPhotos(ids: [4]))
        try await after(ChangeSettings(swipeThreshold: 0.5))
        try await after(SetPIN(pin: PIN("1234")))
        #expect(settings.newest?.value.parentalLockEnabled == true)
        try await after(ChangePIN(pin: PIN("1234"), newPIN: PIN("2345")))
        try await after(Unlock(pin: PIN("2345")))
        try await after(Lock(everywhere: true))
        try await after(SetMode(mode: .kids))
        #expect(settings.newest?.value.currentAppMode == .kids)
        try await after(SetMode(mode: .parent))
        try await after(ClearPIN(pin: PIN("2345")))
        let session = try await after(StartSwipeSession()).sessionID
        let photo = try await mesh.send(GetPhoto(id: 5))
        for action in [SwipeAction.keep, .favorite, .trash] {
            try await after(
                RecordSwipe(
                    sessionID: session, photoIdentifier: photo.uuid, contentDigest: photo.contentDigest, action: action)
            )
        }
        try await after(UndoSwipes(sessionID: session))
        try await after(FinishSwipeSession(sessionID: session))
        try await after(ProcessSwipes())
        try await after(MarkSwipesProcessed())
        try await after(DeleteProcessedSwipes(before: Timestamp(milliseconds: Timestamp.now().milliseconds + 60_000)))
        #expect(favorites.newest?.value.photos.map(\.id).contains(5) == true)
        let backup = test.folder.file("b.zip")
        // Which photos are left of those that say where they were taken is chance.
        try await after(SetPhotoDetail(id: 5, notes: "in the backup"))
        let key = try await after(MakeBackupKey(passphrase: passphrase))
        try await afterJob(CreateBackup(path: backup, key: key))
        try await after(OpenBackupKey(path: backup, passphrase: passphrase))
        #expect(settings.newest?.value.lastBackupDate != nil)
        try await after(ScheduleBackups(folder: test.folder.path, everyHours: 24, keep: 2, zip: true))
        try await after(ScheduleBackups(off: true))
        try await after(PruneBackups(folder: test.folder.path, keep: 2))
        try await after(PurgeTrash(all: true))
        try await after(DeletePhotos(ids: [5]))
        try await after(SetFavorite(ids: [1], isFavorite: false))
        try await afterJob(RestoreBackup(path: backup, mode: .merge))
        try await afterJob(RestoreBackup(path: backup, mode: .replace))
        try await after(SetCaption(id: 1, caption: "other words"))
        let overwriting = try await test.run(RestoreBackup(path: backup, prefersBackup: true))
        try await settle()
        try await afterJob(UndoRestore(job: overwriting.id))
        try await afterJob(VerifyBackup(path: backup))
        let phone = test.folder.file("phone")
        try SampleAlbum(width: 80, height: 60).write(count: 1, to: phone)
        try RoomDatabase.make(
            at: phone + "/smilepile_database", version: 8,
            OldPhone.category("1", "'The sea'")
                + OldPhone.photo(OldPhone.uuid(1), "/DCIM/sample-0000.jpg", category: "1"))
        let known = try await test.allPhotos().count
        try await afterJob(MigrateLibrary(database: phone + "/smilepile_database", photos: phone))
        #expect(all.newest?.value.total == known + 1)
        try await afterJob(RescanLibrary())
        try await afterJob(RedatePhotos())
        try await afterJob(RebuildThumbnails(all: true))
        try await after(CleanStorage())
        let code = try await after(InviteDevice()).code
        let device = try await after(PairDevice(code: code, name: "phone")).device
        let program = try await after(MakeDevicePassword(id: device.id)).password
        try await after(MakeSentFolder(password: program, path: ["From a phone"]))
        let begunFile = try await after(BeginSentFile(password: program, path: ["a.jpg"], size: 1)).upload
        try await after(DiscardSentFile(password: program, upload: begunFile))
        #expect(
            await status { try await after(FinishSentFile(password: program, upload: begunFile)) } == .notFound)
        #expect(
            await status {
                try await after(MoveSentFile(password: program, from: ["a.jpg"], to: ["b.jpg"], replaces: true))
            } == .notFound)
        try await after(EndDevicePassword(id: device.id))
        try await after(SetDeviceRole(id: device.id, role: .looker))
        try await after(ForgetDevice(id: device.id))
        let link = try await after(CreateLink(photoIds: [1]))
        try await after(OpenLink(token: link.token))
        try await after(RevokeLink(id: link.link.id))
        let upload = try await after(BeginUpload(name: "a.jpg")).upload
        try await after(ResumeUpload(upload: upload))
        try await after(DiscardUpload(upload: upload))
        let uploads = UUID().uuidString.lowercased()
        let importing = try await after(ImportUploads(session: uploads)).job
        try await after(AnnounceUploads(session: uploads, files: [AnnouncedFile(name: "b.jpg", size: 1)]))
        try await after(EndUploadSession(session: uploads))
        _ = try await mesh.send(WaitForJob(job: importing))
        let group = try await after(CreateGroup(name: "Cousins", firstName: "Ada")).id
        try await after(RenameGroup(id: group, name: "All cousins"))
        let anyPhoto = try #require(try await test.allPhotos().last)
        let sentPhoto = try await after(SendGroupPhoto(groupId: group, id: anyPhoto.id)).id
        let keeping = try await after(KeepGroupPhoto(photoId: sentPhoto)).job
        _ = try await mesh.send(WaitForJob(job: keeping))
        let invited = try await after(InviteGroupMember(groupId: group, firstName: "Ben"))
        let token = try #require(invited.token)
        let opened = try await after(ReceiveHubPhoto(token: token, groupId: group, size: 1))
        // An empty file is no picture; and nobody answers as another machine.
        let sending = SendHubPhoto(token: token, groupId: group, upload: opened.upload)
        #expect(await status { try await after(sending) } == .invalidArgument)
        let joining = JoinGroups(address: "http://127.0.0.1:1", token: token)
        #expect(await status { try await after(joining) } == .unavailable)
        #expect(await status { try await after(ForgetGroupHub(id: "none")) } == .notFound)
        try await afterJob(SyncGroups())
        try await after(LeaveHubGroup(token: token, groupId: group))
        let again = try await mesh.send(InviteGroupMember(groupId: group, firstName: "Cleo"))
        try await after(RemoveGroupMember(groupId: group, userId: again.member.userId))
        try await after(LeaveGroup(id: group))
        try await after(DeleteGroup(id: mesh.send(CreateGroup(name: "Short", firstName: "Ada")).id))
        let shared = try await after(ShareReviews(name: "laptop"))
        let decided = ReviewChanges.Decision(
            session: session, photo: anyPhoto.uuid, digest: anyPhoto.contentDigest, action: .trash,
            decidedAt: .now())
        try await after(
            TakeHubReviews(
                token: shared.token,
                changes: ReviewChanges(sessions: [], decisions: [decided], undone: [], next: "", more: false)))
        #expect(try await mesh.send(GetPhoto(id: anyPhoto.id)).lastDecision == .trash)
        let joiningReviews = JoinReviews(address: "http://127.0.0.1:1", token: token)
        #expect(await status { try await after(joiningReviews) } == .unavailable)
        #expect(await status { try await after(LeaveReviews(id: "none")) } == .notFound)
        try await afterJob(SyncReviews())
        try await after(UnshareReviews(id: shared.machine.id))
        let watched = test.folder.file("watched")
        try FileManager.default.createDirectory(atPath: watched, withIntermediateDirectories: false)
        try await after(WatchFolder(path: watched))
        try await after(UnwatchFolder(path: watched))
        // This library was opened without a place for a monitor's token.
        #expect(await status { try await after(MakeMetricsToken()) } == .failedPrecondition)
        #expect(await status { try await after(ForgetMetricsToken()) } == .failedPrecondition)

        // A message that writes and is not above has to be added there.
        let writing = mesh.descriptions.filter { [.write, .job].contains($0.kind) && !$0.name.hasPrefix("job.") }
        #expect(Set(writing.map(\.name)).subtracting(sent).isEmpty)
        await test.library.close()
        await all.ended()
        #expect(all.failure?.status == .unavailable)
    }

    @Test func nothingIsSaidWhereOtherRowsChange() async throws {
        let test = try await TestLibrary("unchanged")
        let mesh = test.mesh
        _ = try await test.importSamples(4, album: Self.small)
        let inCars = Watched.follow(ObservePhotos(PhotoFilter(categoryId: 2)), on: mesh)
        let first = Watched.follow(ObservePhoto(id: 1), on: mesh)
        let settings = Watched.follow(ObserveSettings(), on: mesh)
        let sea = Watched.follow(ObservePhotos(PhotoFilter(text: "sea")), on: mesh)
        let witness = Watched.follow(ObservePhotos(), on: mesh)
        await inCars.value { $0.total == 0 }
        await first.value { $0.photo?.caption == nil }
        await settings.value { _ in true }
        await sea.value { $0.total == 0 }
        for number in 0..<5 {
            _ = try await mesh.send(SetCaption(id: 2, caption: "number \(number)"))
            _ = try await mesh.send(AddCategory(displayName: "category \(number)"))
            await witness.value { page in page.photos.contains { $0.caption == "number \(number)" } }
        }
        _ = try await mesh.send(SetCaption(id: 1, caption: "by the sea"))
        _ = try await mesh.send(MovePhotos(ids: [1], categoryId: 2))
        _ = try await mesh.send(ChangeSettings(swipeThreshold: 0.9))
        await inCars.value { $0.total == 1 }
        await first.value { $0.photo?.caption == "by the sea" && $0.photo?.categoryId == 2 }
        await settings.value { $0.swipeThreshold == 0.9 }
        await sea.value { $0.total == 1 && $0.photos[0].categoryId == 2 }
        // Numbered from 1, one for the first value: whatever was read in between was found the same.
        #expect(inCars.newest?.sequence == 2)
        #expect(settings.newest?.sequence == 2)
        #expect((first.newest?.sequence ?? 9) <= 3)
        #expect((sea.newest?.sequence ?? 9) <= 3)
        await test.library.close()
    }

    @Test func writersThatRaceLeaveAllOnTheSameState() async throws {
        let test = try await TestLibrary("racing")
        let mesh = test.mesh
        _ = try await test.importSamples(8, album: Self.small)
        let (slow, never) = (Gate(), Gate())
        let fast = (0..<4).map { _ in Watched.follow(ObservePhotos(), on: mesh) }
        let page = Watched.follow(ObservePhotos(limit: 3), on: mesh)
        let categories = Watched.follow(ObserveCategories(), on: mesh)
        let slowOne = Watched.follow(ObservePhotos(), on: mesh) { await slow.pass() }
        let sleeper = Watched.follow(ObservePhotos(), on: mesh) { await never.pass() }
        await slow.arrivals(1)
        await never.arrivals(1)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for writer in 0..<64 {
                group.addTask {
                    let id = Int64(writer % 8 + 1)
                    for round in 0..<6 {
                        switch (writer + round) % 4 {
                        case 0: _ = try await mesh.send(SetCaption(id: id, caption: "\(writer) \(round)"))
                        case 1: _ = try await mesh.send(SetFavorite(ids: [id], isFavorite: round % 2 == 0))
                        case 2: _ = try await mesh.send(MovePhotos(ids: [id], categoryId: Int64(round % 4 + 1)))
                        default: _ = try await mesh.send(AddCategory(displayName: "\(writer) \(round)"))
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        let photos = try await mesh.send(SearchPhotos())
        let final = ObservedPhotos(photos: photos.photos, next: photos.next, total: 8)
        for watched in fast { await watched.becomes(final) }
        await categories.becomes(try await mesh.send(ListCategories()))
        let three = try await mesh.send(SearchPhotos(limit: 3))
        await page.becomes(ObservedPhotos(photos: three.photos, next: three.next, total: 8))
        #expect(slowOne.changes == 1 && sleeper.changes == 1)
        slow.open()
        await slowOne.becomes(final)
        #expect(slowOne.changes == 2)
        never.open()
        await test.library.close()
    }

    @Test func eventsLeaveOutNoKindForASlowSubscriber() async throws {
        let test = try await TestLibrary("events")
        let mesh = test.mesh
        _ = try await test.importSamples(2, album: Self.small)
        let gate = Gate()
        let slow = Watched.follow(SubscribeToEvents(), on: mesh, mayRepeat: true) { await gate.pass() }
        let fast = Watched.follow(SubscribeToEvents(), on: mesh, mayRepeat: true)
        await gate.arrivals(1)
        #expect(slow.newest?.value.changed == [])
        // A change before its first value would be part of that.
        await fast.value { $0.changed.isEmpty }
        _ = try await mesh.send(AddCategory(displayName: "new"))
        await fast.value { $0.changed == [.categories] }
        _ = try await mesh.send(ChangeSettings(swipeThreshold: 0.2))
        await fast.value { $0.changed == [.settings] }
        _ = try await mesh.send(DeletePhotos(ids: [1]))
        await fast.value { $0.changed == [.photos, .trash] }
        gate.open()
        await slow.value { $0.totals.trashed == 1 && $0.changed.contains(.trash) }
        // In one event or in two: the last change may reach one subscriber's buffer before the other's.
        #expect(slow.values.count <= 3)
        #expect(Set(slow.values.flatMap(\.changed)) == [.categories, .photos, .settings, .trash])
        await test.library.close()
    }

    @Test func aPageFurtherDownCanBeObserved() async throws {
        let test = try await TestLibrary("pages")
        let mesh = test.mesh
        _ = try await test.importSamples(5, album: Self.small)
        let first = try await mesh.send(SearchPhotos(limit: 2))
        let second = Watched.follow(ObservePhotos(limit: 2, after: first.next), on: mesh)
        await second.value { $0.photos.count == 2 && $0.total == 5 && $0.next != nil }
        let id = try #require(second.newest?.value.photos.first?.id)
        _ = try await mesh.send(DeletePhotos(ids: [id]))
        await second.value { page in page.total == 4 && !page.photos.contains { $0.id == id } }
        await test.library.close()
    }

    @Test func roleAndParametersAreChecked() async throws {
        let test = try await TestLibrary("roles")
        let mesh = test.mesh
        func observing<M: HandledObservation>(_ message: M, as role: Role) async -> MeshStatus? {
            await status {
                _ = try await mesh.observe(message, in: .root(mesh: mesh, role: role)) { _ in throw CancellationError()
                }
            }
        }
        #expect(await observing(ObservePhotos(), as: .kid) == .cancelled)
        #expect(await observing(ObserveCategories(), as: .kid) == .cancelled)
        #expect(await observing(ObservePhoto(id: 1), as: .kid) == .cancelled)
        #expect(await observing(ObserveCategory(id: 1), as: .kid) == .cancelled)
        #expect(await observing(ObserveSettings(), as: .kid) == .permissionDenied)
        #expect(await observing(ObservePendingSwipes(), as: .kid) == .permissionDenied)
        #expect(await observing(ObserveTrash(), as: .kid) == .permissionDenied)
        #expect(await observing(SubscribeToEvents(), as: .kid) == .permissionDenied)
        #expect(await observing(ObservePhotos(limit: 0), as: .parent) == .invalidArgument)
        #expect(await observing(ObservePhotos(after: "x"), as: .parent) == .invalidArgument)
        #expect(await observing(ObservePendingSwipes(limit: 1001), as: .parent) == .invalidArgument)
        await test.library.close()
    }
}
