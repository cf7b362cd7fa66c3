import Foundation
import LibraryModel
import LibraryTestSupport
import SampleAlbum
import ServiceMesh
import SmilePile
import TestSupport
import Testing

/// The files of groups' photos: what of them stays, and what goes first.
@Suite(.timeLimit(.minutes(4))) struct GroupPhotoFileTests {
    @Test func whatAKillLeftIsSwept() async throws {
        var stage = try await GroupStage()
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
        var stage = try await GroupStage()
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
        var stage = try await GroupStage()
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
        var stage = try await GroupStage()
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
}
