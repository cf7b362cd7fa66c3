import Foundation
import Imaging
import LibraryModel
import LibraryStorage
import SampleAlbum
import ServiceMesh
import SmilePile
import TestSupport
import Testing

/// Groups and their photos of the day, through the mesh.
@Suite(.timeLimit(.minutes(4))) struct GroupTests {
    private static let hour: Int64 = 3_600_000

    /// A library with some photos, and clocks that the test sets.
    private struct Stage {
        let folder: TemporaryFolder
        let wall = SetWallClock("2026-11-22T12:00:00Z")
        let boot = SetBootClock()
        var library: PhotoLibrary
        var mesh: Mesh { library.mesh }

        /// - Parameter worker: a program that stands in for the image worker once the photos are imported.
        init(photos: Int = 2, worker: ((TemporaryFolder) throws -> String)? = nil) async throws {
            folder = try TemporaryFolder("groups")
            library = try await Self.open(folder, wall, boot)
            let album = folder.file("album")
            try SampleAlbum(width: 320, height: 240).write(count: photos, to: album)
            let started = try await library.mesh.send(ImportPhotos(paths: [album]))
            _ = try await library.mesh.send(WaitForJob(job: started.job))
            if let worker { try await reopen(worker: worker(folder)) }
        }

        private static func open(
            _ folder: TemporaryFolder, _ wall: SetWallClock, _ boot: SetBootClock, worker: String? = nil
        ) async throws -> PhotoLibrary {
            var options = PhotoLibrary.Options(imageWorker: worker, workers: 2)
            (options.bootClock, options.wallClock) = (boot.clock, wall.clock)
            options.keyFile = folder.file("config/sealing.key")
            return try await PhotoLibrary.open(at: folder.file("library"), options: options)
        }

        mutating func reopen(worker: String? = nil) async throws {
            await library.close()
            library = try await Self.open(folder, wall, boot, worker: worker)
        }

        /// Both clocks go on.
        func pass(hours: Int64, milliseconds: Int64 = 0) {
            wall.pass(milliseconds: hours * hour + milliseconds)
            boot.pass(milliseconds: hours * hour + milliseconds)
        }

        func group(_ name: String = "Cousins") async throws -> Group {
            try await mesh.send(CreateGroup(name: name, firstName: "Ada"))
        }

        @discardableResult
        func send(_ id: Int64 = 1, to group: Group, offset: Int = 0) async throws -> GroupPhoto {
            try await mesh.send(SendGroupPhoto(groupId: group.id, id: id, utcOffset: offset))
        }

        func photos(_ group: Group? = nil) async throws -> [GroupPhoto] {
            try await mesh.send(ListGroupPhotos(groupId: group?.id)).photos
        }

        func write(_ body: @escaping @Sendable (any CatalogueTransaction) throws -> Void) async throws {
            try await library.catalogue.write(body)
        }

        func execute(_ sql: String) async throws {
            _ = try await library.catalogue.database.write { try $0.execute(sql) }
        }

        /// Names in `group-photos/`.
        func files() throws -> [String] {
            let path = library.path + "/group-photos"
            guard FileManager.default.fileExists(atPath: path) else { return [] }
            return try FileManager.default.contentsOfDirectory(atPath: path).sorted()
        }
    }

    // MARK: Groups

    @Test func groupsAreMadeRenamedLeftAndDeleted() async throws {
        var stage = try await Stage(photos: 0)
        let first = try await stage.mesh.send(CreateGroup(name: "  Cousins 👨‍👩‍👧 ", firstName: " Ada "))
        #expect(first.name == "Cousins 👨‍👩‍👧" && first.createdAt == stage.wall.now && first.lastPhotoDate == nil)
        #expect(!first.hasSentToday && first.photoCount == 0)
        #expect(first.members.map(\.firstName) == ["Ada"] && first.members.allSatisfy(\.isSelf))
        stage.pass(hours: 1)
        let second = try await stage.mesh.send(CreateGroup(name: "Cousins", firstName: "Aunt Ada"))
        // One person, by whatever name.
        #expect(second.members[0].userId == first.members[0].userId && second.members[0].firstName == "Aunt Ada")
        let renamed = try await stage.mesh.send(RenameGroup(id: second.id.uppercased(), name: "Neighbours"))
        #expect(renamed.name == "Neighbours" && renamed.id == second.id)
        try await stage.reopen()
        #expect(try await stage.mesh.send(ListGroups()).groups == [first, renamed])
        #expect(try await stage.mesh.send(GetGroup(id: first.id)) == first)
        #expect(try await stage.mesh.send(ListGroupMembers(id: first.id)).members == first.members)
        #expect(try await stage.mesh.send(LeaveGroup(id: first.id)) == first)
        #expect(try await stage.mesh.send(DeleteGroup(id: second.id)) == renamed)
        #expect(try await stage.mesh.send(ListGroups()).groups.isEmpty)
        await stage.library.close()
    }

    @Test func whoKeepsAGroupForOthersDoesNotLeaveIt() async throws {
        let stage = try await Stage(photos: 1)
        let group = try await stage.group()
        let ben = try await stage.mesh.send(InviteGroupMember(groupId: group.id, firstName: "Ben")).member
        try await stage.send(to: group)
        let refused = await refusal { _ = try await stage.mesh.send(LeaveGroup(id: group.id)) }
        #expect(refused?.status == .failedPrecondition)
        #expect(
            refused?.message
                == "You keep this group for 1 other; it would end for all of them: smilepile groups delete")
        #expect(try await stage.photos().count == 1 && stage.files().count == 1)
        #expect(try await stage.mesh.send(ListGroupMembers(id: group.id)).members.count == 2)
        _ = try await stage.mesh.send(RemoveGroupMember(groupId: group.id, userId: ben.userId))
        _ = try await stage.mesh.send(LeaveGroup(id: group.id))
        #expect(try await stage.mesh.send(ListGroups()).groups.isEmpty && stage.files().isEmpty)
        await stage.library.close()
    }

    @Test func badNamesIDsAndOffsetsAreRefused() async throws {
        let stage = try await Stage(photos: 1)
        let mesh = stage.mesh
        for name in [
            "", "  \n", "\u{200B}\u{200D}", "a\nb", "a\u{7}", "a\u{202E}b", "\u{2067}x", "a\u{2028}b",
            String(repeating: "x", count: 101), "a" + String(repeating: "\u{301}", count: 4000),
        ] {
            #expect(
                await status { _ = try await mesh.send(CreateGroup(name: name, firstName: "Ada")) } == .invalidArgument)
            #expect(
                await status { _ = try await mesh.send(CreateGroup(name: "x", firstName: name)) } == .invalidArgument)
        }
        let group = try await stage.group()
        for name in ["", "a\u{202E}b"] {
            #expect(await status { _ = try await mesh.send(RenameGroup(id: group.id, name: name)) } == .invalidArgument)
        }
        for id in ["", "..", "../../etc/passwd", "/", group.id + "/..", group.id + "\0", "'; DROP TABLE groups; --"] {
            #expect(await status { _ = try await mesh.send(GetGroup(id: id)) } == .notFound)
            #expect(await status { _ = try await mesh.send(RenameGroup(id: id, name: "x")) } == .notFound)
            #expect(await status { _ = try await mesh.send(DeleteGroup(id: id)) } == .notFound)
            #expect(await status { _ = try await mesh.send(LeaveGroup(id: id)) } == .notFound)
            #expect(await status { _ = try await mesh.send(SendGroupPhoto(groupId: id, id: 1)) } == .notFound)
            #expect(await status { _ = try await mesh.send(ListGroupPhotos(groupId: id)) } == .notFound)
            #expect(await status { _ = try await mesh.send(ListTodaysGroupPhotos(groupId: id)) } == .notFound)
            #expect(await status { _ = try await mesh.send(OpenGroupPhoto(photoId: id)) } == .notFound)
            #expect(await status { _ = try await mesh.send(KeepGroupPhoto(photoId: id)) } == .notFound)
        }
        #expect(await status { _ = try await mesh.send(ListGroups(utcOffset: 841)) } == .invalidArgument)
        #expect(await status { try await stage.send(to: group, offset: -721) } == .invalidArgument)
        #expect(try await mesh.send(ListGroups()).groups == [group])
        await stage.library.close()
    }

    @Test func groupsAndMembersHaveALimit() async throws {
        let stage = try await Stage(photos: 0)
        let group = try await stage.group()
        @Sendable func members(_ numbers: ClosedRange<Int>) -> [GroupMember] {
            numbers.map { number in
                GroupMember(
                    userId: "00000000-0000-4000-8000-\(100_000_000_000 + number)", firstName: "Member \(number)",
                    joinedAt: Timestamp(milliseconds: Int64(number)), isSelf: false)
            }
        }
        // Twelve at once would be thirteen.
        #expect(
            await status { try await stage.write { try $0.groups.insert(members(1...12), into: group.id) } }
                == .resourceExhausted)
        try await stage.write { try $0.groups.insert(members(1...11), into: group.id) }
        #expect(
            await status { try await stage.write { try $0.groups.insert(members(12...12), into: group.id) } }
                == .resourceExhausted)
        #expect(try await stage.mesh.send(GetGroup(id: group.id)).members.count == 12)
        for number in 2...Group.maximumCount { _ = try await stage.group("group \(number)") }
        #expect(await status { _ = try await stage.group("one more") } == .resourceExhausted)
        #expect(try await stage.mesh.send(ListGroups()).groups.count == Group.maximumCount)
        await stage.library.close()
    }

    @Test func aChildSeesNothingOfGroups() async throws {
        let stage = try await Stage(photos: 0)
        let ofGroups = stage.mesh.descriptions.filter { $0.name.hasPrefix("group.") }
        #expect(ofGroups.count == 20 && ofGroups.allSatisfy { $0.role == "parent" })
        let kid = CallContext.root(mesh: stage.mesh, role: .kid)
        #expect(await status { _ = try await stage.mesh.send(ListGroups(), in: kid) } == .permissionDenied)
        await stage.library.close()
    }

    // MARK: The photo of the day

    @Test func aPhotoIsSentAndGoneAfterTwoDays() async throws {
        var stage = try await Stage()
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

    @Test func of200SendsThatRaceExactlyOneWins() async throws {
        let stage = try await Stage(photos: 5)
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
        let stage = try await Stage()
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
        let stage = try await Stage(photos: 4)
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

    /// A worker that stands in front of a door, so that a test can act while a photo is under way.
    private static func waitingWorker(_ folder: TemporaryFolder) throws -> String {
        let real = try #require(ImageWorkerPool.defaultExecutable())
        let (begun, door) = (folder.file("begun"), folder.file("door"))
        try #require(mkfifo(begun, 0o600) == 0 && mkfifo(door, 0o600) == 0)
        let worker = folder.file("worker")
        try Data("#!/bin/sh\n: > '\(begun)'\n: < '\(door)'\nexec '\(real)'\n".utf8)
            .write(to: URL(fileURLWithPath: worker))
        try #require(chmod(worker, 0o700) == 0)
        return worker
    }

    /// Opening one end of a pipe waits for the other.
    private static func untilBegun(_ stage: Stage) async {
        let begun = stage.folder.file("begun")
        await offPool { close(open(begun, O_RDONLY)) }
    }

    private static func openDoor(_ stage: Stage) async {
        let door = stage.folder.file("door")
        await offPool { close(open(door, O_WRONLY)) }
    }

    @Test func aGroupThatIsDeletedMeanwhileGetsNothing() async throws {
        let stage = try await Stage(worker: Self.waitingWorker)
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
        let stage = try await Stage(worker: Self.waitingWorker)
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

    // MARK: Clocks

    @Test func whatHasExpiredDoesNotComeBackWithTheClock() async throws {
        var stage = try await Stage()
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
        var stage = try await Stage()
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
        let stage = try await Stage()
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

    // MARK: Files

    @Test func whatAKillLeftIsSwept() async throws {
        var stage = try await Stage()
        let (one, other) = (try await stage.group("one"), try await stage.group("other"))
        let (kept, lost) = (try await stage.send(to: one), try await stage.send(to: other))
        let folder = stage.library.path + "/group-photos/"
        let stray = UUID().uuidString.lowercased()
        for name in [stray + ".jpg", UUID().uuidString.lowercased() + ".part", "notes.txt", "x.jpg"] {
            try Data("stray".utf8).write(to: URL(fileURLWithPath: folder + name))
        }
        try FileManager.default.removeItem(atPath: folder + lost.id + ".jpg")
        try await stage.reopen()
        // What is not called as we call things is nobody's here.
        #expect(try stage.files() == [kept.id + ".jpg", "notes.txt", "x.jpg"].sorted())
        let photos = try await stage.photos()
        #expect(photos.first { $0.id == kept.id } == kept)
        let without = try #require(photos.first { $0.id == lost.id })
        #expect(without.localPath == nil)
        #expect(await status { _ = try await stage.mesh.send(OpenGroupPhoto(photoId: lost.id)) } == .notFound)
        // Who has sent today has.
        #expect(await status { try await stage.send(2, to: other) } == .alreadyExists)
        await stage.library.close()
    }

    @Test func thoseThatNobodyLooksAtGoFirstWhenThereAreTooMany() async throws {
        var stage = try await Stage()
        var photos: [GroupPhoto] = []
        for number in 1...3 {
            photos.append(try await stage.send(to: stage.group("group \(number)")))
            stage.pass(hours: 1)
        }
        // The oldest was looked at last.
        _ = try await stage.mesh.send(OpenGroupPhoto(photoId: photos[0].id))
        try await stage.execute("UPDATE group_photos SET file_size = 200000000")
        let last = try await stage.send(to: stage.group("last"))
        #expect(try stage.files() == [photos[0].id, photos[2].id, last.id].map { $0 + ".jpg" }.sorted())
        let listed = try await stage.photos()
        #expect(listed.count == 4 && listed.first { $0.localPath == nil }?.id == photos[1].id)
        // Two of them are 400 MB, and the last a few KB.
        for megabytes in [9, 100_001, Double.nan] {
            #expect(
                await status { _ = try await stage.mesh.send(ChangeSettings(groupPhotoMegabytes: megabytes)) }
                    == .invalidArgument)
        }
        _ = try await stage.mesh.send(ChangeSettings(groupPhotoMegabytes: 250))
        try await stage.reopen()
        #expect(try stage.files() == [photos[0].id, last.id].map { $0 + ".jpg" }.sorted())
        // What waits to go out is nowhere else.
        try await stage.execute("UPDATE group_photos SET transfer = 1, last_used_at = 0 WHERE id = '\(photos[0].id)'")
        _ = try await stage.mesh.send(ChangeSettings(groupPhotoMegabytes: 10))
        try await stage.reopen()
        #expect(try stage.files() == [photos[0].id + ".jpg"])
        await stage.library.close()
    }

    /// Members' machines fetch from here for two days; from a hub a file can be had once more, or was seen.
    @Test func whatIsKeptForOthersGoesLast() async throws {
        var stage = try await Stage()
        let kept = try await stage.group()
        let sent = try await stage.send(to: kept)
        stage.pass(hours: 1)
        let elsewhere = try await stage.group("elsewhere")
        let copy = try await stage.send(to: elsewhere)
        try await stage.execute(
            "INSERT INTO group_hubs (id, address, token, added_at) VALUES ('h', 'http://127.0.0.1:9', 't', 0)")
        try await stage.execute("UPDATE groups SET hub_id = 'h' WHERE id = '\(elsewhere.id)'")
        try await stage.execute("UPDATE group_photos SET file_size = 200000000")
        _ = try await stage.mesh.send(ChangeSettings(groupPhotoMegabytes: 250))
        try await stage.reopen()
        #expect(try stage.files() == [sent.id + ".jpg"])
        #expect(try await stage.photos().first { $0.id == copy.id }?.localPath == nil)
        await stage.library.close()
    }

    @Test func aCatalogueFromElsewhereLeadsNowhere() async throws {
        var stage = try await Stage()
        let group = try await stage.group()
        let sent = try await stage.send(to: group)
        let target = stage.folder.file("precious.jpg")
        try Data("precious".utf8).write(to: URL(fileURLWithPath: target))
        try await stage.execute(
            "UPDATE group_photos SET id = '../../precious', width = -5, file_size = 9223372036854775807, created_at = 5"
        )
        let photos = try await stage.photos()
        #expect(photos.count == 1)
        #expect(await status { _ = try await stage.mesh.send(OpenGroupPhoto(photoId: "../../precious")) } == .dataLoss)
        #expect(await status { _ = try await stage.mesh.send(KeepGroupPhoto(photoId: "../../precious")) } == .dataLoss)
        try await stage.reopen()
        // Its file had no row any more.
        #expect(try stage.files().isEmpty)
        _ = try await stage.mesh.send(DeleteGroup(id: group.id))
        #expect(try Data(contentsOf: URL(fileURLWithPath: target)) == Data("precious".utf8))
        #expect(sent.id.count == 36)
        await stage.library.close()
    }

    @Test func aPhotoThatIsKeptStaysInTheLibrary() async throws {
        var stage = try await Stage()
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
        let photos = try await stage.mesh.send(SearchPhotos(categoryId: 2)).photos
        #expect(photos.count == 1 && photos[0].displayName == "Ada" && photos[0].width == 320)
        #expect(photos[0].takenAt == LocalDateTime(here: sent.createdAt))
        // Nothing is left of the way that it took.
        let uploads = stage.library.path + "/uploads"
        #expect(try FileManager.default.contentsOfDirectory(atPath: uploads).isEmpty)
        await stage.library.close()
    }

    // MARK: Watching

    @Test func whoObservesSeesWhatHappens() async throws {
        let stage = try await Stage()
        let groups = Watched.follow(ObserveGroups(), on: stage.mesh)
        await groups.value { $0.groups.isEmpty }
        let group = try await stage.group()
        await groups.value { $0.groups.map(\.name) == ["Cousins"] }
        try await stage.send(to: group)
        await groups.value { $0.groups.map(\.photoCount) == [1] }
        stage.pass(hours: 49)
        _ = try await stage.photos()
        await groups.value { $0.groups.map(\.photoCount) == [0] }
        _ = try await stage.mesh.send(LeaveGroup(id: group.id))
        await groups.value { $0.groups.isEmpty }
        await stage.library.close()
        await groups.ended()
    }
}
