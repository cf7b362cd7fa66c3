import Foundation
import Imaging
import LibraryModel
import LibraryTestSupport
import SampleAlbum
import ServiceMesh
import SmilePile
import TestSupport
import Testing

/// The photo of the day, through the mesh: how it is sent, how long it lives by whatever clock, and how it is kept.
@Suite(.timeLimit(.minutes(4))) struct GroupPhotoTests {
    private static let hour: Int64 = 3_600_000

    @Test func aPhotoIsSentAndGoneAfterTwoDays() async throws {
        var stage = try await GroupStage()
        let group = try await stage.group()
        let usage = try await stage.mesh.send(GetStorageUsage())
        let sent = try await stage.send(to: group)
        #expect(sent.senderName == "Ada" && sent.senderId == group.members[0].userId && sent.groupId == group.id)
        #expect(sent.width == 320 && sent.height == 240 && sent.createdAt == stage.wall.now)
        #expect(sent.expiresAt.milliseconds == stage.wall.now.milliseconds + 48 * Self.hour)
        #expect(sent.localPath == "group-photos/\(sent.id).jpg")
        let bytes = try Data(contentsOf: URL(fileURLWithPath: stage.library.path + "/group-photos/\(sent.id).jpg"))
        #expect(Int64(bytes.count) == sent.fileSize && bytes.prefix(2) == Data([0xFF, 0xD8]))
        #expect(try await stage.photos(group) == [sent])
        #expect(try await stage.mesh.send(ListTodaysGroupPhotos(utcOffset: 0)).photos == [sent])
        let now = try await stage.mesh.send(GetGroup(id: group.id, utcOffset: 0))
        #expect(now.hasSentToday && now.photoCount == 1 && now.lastPhotoDate == sent.createdAt)
        // None of the library's.
        #expect(try await stage.mesh.send(CountPhotos()).count == 2)
        let after = try await stage.mesh.send(GetStorageUsage())
        #expect(after.photoBytes == usage.photoBytes && after.totalBytes == usage.totalBytes)
        #expect(await status { try await stage.send(2, to: group) } == .alreadyExists)

        try await stage.reopen()
        #expect(try await stage.photos(group) == [sent])
        stage.pass(hours: 48, milliseconds: -1)
        #expect(try await stage.photos(group) == [sent])
        #expect(try await stage.mesh.send(ListTodaysGroupPhotos(utcOffset: 0)).photos.isEmpty)
        stage.pass(hours: 0, milliseconds: 1)
        #expect(try await stage.photos(group).isEmpty)
        #expect(try stage.files().isEmpty)
        #expect(await status { _ = try await stage.mesh.send(OpenGroupPhoto(photoId: sent.id)) } == .notFound)
        let then = try await stage.mesh.send(GetGroup(id: group.id, utcOffset: 0))
        #expect(!then.hasSentToday && then.photoCount == 0 && then.lastPhotoDate == sent.createdAt)
        await stage.library.close()
    }

    @Test func aPhotoThatIsTurnedIsSentTurned() async throws {
        let stage = try await GroupStage()
        _ = try await stage.mesh.send(RotatePhotos(turns: [PhotoTurn(id: 1, to: 90)]))
        let sent = try await stage.send(to: try await stage.group())
        #expect(sent.width == 240 && sent.height == 320)
        await stage.library.close()
    }

    @Test func of200SendsThatRaceExactlyOneWins() async throws {
        let stage = try await GroupStage(photos: 5)
        let (one, other) = (try await stage.group("one"), try await stage.group("other"))
        let mesh = stage.mesh
        let outcomes = await withTaskGroup(of: (String, MeshStatus?).self) { tasks in
            for number in 0..<200 {
                let group = number % 2 == 0 ? one.id : other.id
                tasks.addTask {
                    let message = SendGroupPhoto(groupId: group, id: Int64(number % 5 + 1), utcOffset: 0)
                    return (group, await status { _ = try await mesh.send(message) })
                }
            }
            return await tasks.reduce(into: []) { $0.append($1) }
        }
        #expect(outcomes.count == 200)
        for group in [one.id, other.id] {
            #expect(outcomes.count { $0.0 == group && $0.1 == nil } == 1)
            #expect(outcomes.count { $0.0 == group && $0.1 == .alreadyExists } == 99)
        }
        #expect(try await stage.photos().count == 2)
        #expect(try stage.files().count == 2)
        await stage.library.close()
    }

    @Test func aDayIsTheSendersOwn() async throws {
        let stage = try await GroupStage()
        let group = try await stage.group()
        stage.pass(hours: 11, milliseconds: 30 * 60_000)
        // 23:30 in Greenwich, and the next day in Berlin.
        try await stage.send(to: group, offset: 0)
        #expect(try await stage.mesh.send(GetGroup(id: group.id, utcOffset: 0)).hasSentToday)
        #expect(try await !stage.mesh.send(GetGroup(id: group.id, utcOffset: 60)).hasSentToday)
        try await stage.send(2, to: group, offset: 60)
        // Back in Greenwich it is a day that is over.
        #expect(await status { try await stage.send(to: group, offset: 0) } == .alreadyExists)
        #expect(await status { try await stage.send(to: group, offset: -720) } == .alreadyExists)
        stage.pass(hours: 24)
        #expect(try await stage.mesh.send(ListTodaysGroupPhotos(utcOffset: 0)).photos.isEmpty)
        #expect(try await stage.mesh.send(ListTodaysGroupPhotos(utcOffset: -60)).photos.isEmpty)
        try await stage.send(to: group, offset: 60)
        #expect(try await stage.photos(group).count == 3)
        await stage.library.close()
    }

    @Test func whatCannotBeShownIsNotSent() async throws {
        let stage = try await GroupStage(photos: 4)
        let group = try await stage.group()
        let photos = try await stage.mesh.send(SearchPhotos(limit: 10)).photos.sorted { $0.id < $1.id }
        func file(_ photo: Photo) -> URL { URL(fileURLWithPath: stage.library.path + "/" + photo.path) }
        #expect(await status { try await stage.send(99, to: group) } == .notFound)
        _ = try await stage.mesh.send(DeletePhotos(ids: [1]))
        #expect(await status { try await stage.send(1, to: group) } == .notFound)
        try FileManager.default.removeItem(at: file(photos[1]))
        #expect(await status { try await stage.send(2, to: group) } == .notFound)
        try Data("no picture".utf8).write(to: file(photos[2]))
        #expect(await status { try await stage.send(3, to: group) } == .dataLoss)
        try await stage.execute("UPDATE photos SET unseen_by = '\(Release.version)' WHERE id = 4")
        #expect(await status { try await stage.send(4, to: group) } == .failedPrecondition)
        #expect(await status { _ = try await stage.mesh.send(try Self.unnamed(group)) } == .invalidArgument)
        // Nothing is left of any of them, and the day is still to be had.
        #expect(try stage.files().isEmpty)
        try await stage.execute("UPDATE photos SET unseen_by = NULL WHERE id = 4")
        _ = try await stage.mesh.send(SendGroupPhoto(groupId: group.id, uuid: photos[3].uuid, utcOffset: 0))
        #expect(try stage.files().count == 1)
        await stage.library.close()
    }

    private static func unnamed(_ group: Group) throws -> SendGroupPhoto {
        try JSONDecoder().decode(SendGroupPhoto.self, from: Data("{\"groupId\":\"\(group.id)\"}".utf8))
    }

    /// A worker that stands in front of a door, so that a test can act while a photo is under way. Later ones find no door:
    /// under a sanitizer each worker is the program started anew.
    private static func waitingWorker(_ folder: TemporaryFolder) throws -> String {
        let real = try #require(ImageWorkerPool.defaultExecutable())
        let (begun, door) = (folder.file("begun"), folder.file("door"))
        try #require(mkfifo(begun, 0o600) == 0 && mkfifo(door, 0o600) == 0)
        let worker = folder.file("worker")
        try Data(
            """
            #!/bin/sh
            if [ -p '\(begun)' ]; then
                : > '\(begun)'
                : < '\(door)'
                rm '\(begun)' '\(door)'
            fi
            exec '\(real)'

            """.utf8
        )
        .write(to: URL(fileURLWithPath: worker))
        try #require(chmod(worker, 0o700) == 0)
        return worker
    }

    /// Opening one end of a pipe waits for the other.
    private static func untilBegun(_ stage: GroupStage) async {
        let begun = stage.folder.file("begun")
        await offPool { close(open(begun, O_RDONLY)) }
    }

    private static func openDoor(_ stage: GroupStage) async {
        let door = stage.folder.file("door")
        await offPool { close(open(door, O_WRONLY)) }
    }

    @Test func aGroupThatIsDeletedMeanwhileGetsNothing() async throws {
        let stage = try await GroupStage(worker: Self.waitingWorker)
        let group = try await stage.group()
        let sending = Task { await status { try await stage.send(to: group) } }
        await Self.untilBegun(stage)
        #expect(try stage.files().map { $0.hasSuffix(".part") } == [true])
        _ = try await stage.mesh.send(DeleteGroup(id: group.id))
        await Self.openDoor(stage)
        #expect(await sending.value == .notFound)
        #expect(try stage.files().isEmpty)
        await stage.library.close()
    }

    @Test(.enabled(if: SmallDisk.isPossible, "mounting a small tmpfs takes root"))
    func aDiskThatFillsMeanwhileLeavesNothing() async throws {
        let stage = try await GroupStage(worker: Self.waitingWorker)
        let group = try await stage.group()
        let folder = stage.library.path + "/group-photos"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try #require(mount("tmpfs", folder, "tmpfs", 0, "size=66m") == 0)
        defer { umount2(folder, Int32(MNT_DETACH)) }
        let sending = Task { await status { try await stage.send(to: group) } }
        await Self.untilBegun(stage)
        let ballast = folder + "/ballast"
        let descriptor = open(ballast, O_WRONLY | O_CREAT, 0o600)
        let block = [UInt8](repeating: 1, count: 4096)
        while write(descriptor, block, block.count) > 0 {}
        close(descriptor)
        await Self.openDoor(stage)
        #expect(await sending.value == .resourceExhausted)
        #expect(try stage.files() == ["ballast"])
        // Before anything is made.
        #expect(await status { try await stage.send(to: group) } == .resourceExhausted)
        unlink(ballast)
        try await stage.send(to: group)
        #expect(try stage.files().count == 1)
        await stage.library.close()
    }

    /// For what waits.
    private static func offPool(_ body: @escaping @Sendable () -> Void) async {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                body()
                continuation.resume()
            }
        }
    }

    @Test func aPhotoThatIsKeptStaysInTheLibrary() async throws {
        var stage = try await GroupStage()
        let group = try await stage.group()
        let sent = try await stage.send(to: group)
        let opened = try await stage.mesh.send(OpenGroupPhoto(photoId: sent.id))
        #expect(opened.photo == sent && opened.content != nil)
        let started = try await stage.mesh.send(KeepGroupPhoto(photoId: sent.id, categoryId: 2))
        let job = try await stage.mesh.send(WaitForJob(job: started.job))
        #expect(job.outcomes == ["imported": 1])
        #expect(
            await status { _ = try await stage.mesh.send(KeepGroupPhoto(photoId: sent.id, categoryId: 99)) }
                == .notFound)
        stage.pass(hours: 48)
        try await stage.reopen()
        #expect(try await stage.photos().isEmpty)
        let photos = try await stage.mesh.send(SearchPhotos(PhotoFilter(categoryId: 2))).photos
        #expect(photos.count == 1 && photos[0].displayName == "Ada" && photos[0].width == 320)
        #expect(photos[0].takenAt == LocalDateTime(here: sent.createdAt))
        // Nothing is left of the way that it took.
        let uploads = stage.library.path + "/uploads"
        #expect(try FileManager.default.contentsOfDirectory(atPath: uploads).isEmpty)
        await stage.library.close()
    }

    // MARK: Clocks

    @Test func whatHasExpiredDoesNotComeBackWithTheClock() async throws {
        var stage = try await GroupStage()
        let group = try await stage.group()
        try await stage.send(to: group)
        stage.pass(hours: 48)
        #expect(try await stage.photos(group).isEmpty)
        stage.wall.pass(milliseconds: -47 * Self.hour)
        #expect(try await stage.photos(group).isEmpty)
        // The day that was had is over, or not: one photo was sent for it, and it is gone.
        try await stage.reopen()
        #expect(try await stage.photos(group).isEmpty && stage.files().isEmpty)
        await stage.library.close()
    }

    @Test func aClockThatIsSetBackGivesNoLongerLife() async throws {
        var stage = try await GroupStage()
        let group = try await stage.group()
        let sent = try await stage.send(to: group)
        stage.pass(hours: 40)
        stage.wall.pass(milliseconds: -1_000 * Self.hour)
        let later = try await stage.photos(group)
        #expect(later.map(\.id) == [sent.id])
        #expect(later[0].expiresAt.milliseconds == stage.wall.now.milliseconds + 8 * Self.hour)
        #expect(await status { try await stage.send(2, to: group) } == .alreadyExists)
        // Also over a restart of the machine.
        try await stage.reopen()
        stage.boot.restart(as: "second", milliseconds: 5)
        try await stage.reopen()
        stage.pass(hours: 8, milliseconds: -1)
        #expect(try await stage.photos(group).count == 1)
        stage.pass(hours: 0, milliseconds: 1)
        #expect(try await stage.photos(group).isEmpty && stage.files().isEmpty)
        // With nothing left that was reckoned by it, the time is the wall's again.
        let next = try await stage.send(to: group)
        #expect(next.createdAt == stage.wall.now)
        #expect(next.expiresAt.milliseconds == stage.wall.now.milliseconds + 48 * Self.hour)
        await stage.library.close()
    }

    @Test func aYearThatWasSetByMistakeIsForgotten() async throws {
        let stage = try await GroupStage()
        let group = try await stage.group()
        try await stage.send(to: group)
        stage.wall.pass(milliseconds: 4 * 365 * 24 * Self.hour)
        #expect(try await stage.photos(group).isEmpty)
        stage.wall.pass(milliseconds: -4 * 365 * 24 * Self.hour)
        let next = try await stage.send(2, to: group)
        #expect(next.createdAt == stage.wall.now)
        stage.pass(hours: 47)
        #expect(try await stage.photos(group) == [next])
        await stage.library.close()
    }
}
