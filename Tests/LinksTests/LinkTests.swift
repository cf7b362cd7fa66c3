import Foundation
import LibraryModel
import LibraryTestSupport
import SampleAlbum
import ServiceMesh
import SmilePile
import TestSupport
import Testing

@testable import Links

/// Links: made, opened, ended, and what becomes of them when what they show changes.
@Suite(.timeLimit(.minutes(4))) struct LinkTests {
    @Test func aLinkShowsItsPhotosInTheirOrderUntilItIsRevoked() async throws {
        let stage = try await LinkStage()
        let ids = try await stage.ids(2, 0)
        let made = try await stage.mesh.send(CreateLink(photoIds: ids, title: "  For Grandma "))
        #expect(made.token.utf8.count == 32 && made.link.title == "For Grandma")
        #expect(made.link.photoCount == 2 && made.link.state == .open && made.link.openings == 0)
        #expect(made.link.expiresAt.milliseconds - made.link.createdAt.milliseconds == 30 * 86_400_000)
        let opened = try await stage.open(made.token)
        #expect(opened.id == made.link.id && opened.photoCount == 2 && opened.title == "For Grandma")
        let wanted = try await stage.mesh.send(GetPhoto(id: ids[0])).uuid
        let shown = try await stage.photos(made.token)
        #expect(shown.count == 2 && shown[0].uuid == wanted)
        // The rest of the library is not there.
        let other = try await stage.mesh.send(GetPhoto(id: stage.ids(1)[0])).uuid
        #expect(await stage.reason { _ = try await stage.picture(made.token, other, .thumbnail) } == "not_found")

        let revoked = try await stage.mesh.send(RevokeLink(id: made.link.id.uppercased()))
        #expect(revoked.state == .revoked && revoked.openings == 1)
        #expect(await stage.reason { _ = try await stage.open(made.token, visit: opened.visit) } == "revoked")
        #expect(await stage.reason { _ = try await stage.photos(made.token) } == "revoked")
        #expect(await stage.reason { _ = try await stage.picture(made.token, wanted, .thumbnail) } == "revoked")
        // Once more changes nothing.
        stage.pass(days: 1)
        #expect(try await stage.mesh.send(RevokeLink(id: made.link.id)).revokedAt == revoked.revokedAt)
        #expect(await status { _ = try await stage.mesh.send(RevokeLink(id: "none")) } == .notFound)
        await stage.library.close()
    }

    @Test func itEndsWithItsDaysAndSettingTheClockBackRevivesNothing() async throws {
        var stage = try await LinkStage(photos: 1)
        let made = try await stage.mesh.send(CreateLink(photoIds: stage.ids(0), days: 7))
        stage.pass(days: 7, seconds: -1)
        _ = try await stage.open(made.token)
        stage.pass(seconds: 1)
        #expect(await stage.reason { _ = try await stage.open(made.token) } == "expired")
        #expect(try await stage.mesh.send(ListLinks()).links.map(\.state) == [.expired])
        stage.wall.pass(milliseconds: -400 * 86_400_000)
        #expect(await stage.reason { _ = try await stage.photos(made.token) } == "expired")
        try await stage.reopen()
        #expect(await stage.reason { _ = try await stage.photos(made.token) } == "expired")
        // Remembered for a while, and then forgotten.
        stage.wall.pass(milliseconds: 400 * 86_400_000)
        stage.pass(days: 29)
        try await stage.reopen()
        #expect(try await stage.mesh.send(ListLinks()).links.count == 1)
        await stage.library.close()
    }

    @Test func anEndedLinkIsForgottenAfterAMonth() async throws {
        let stage = try await LinkStage(photos: 1)
        let made = try await stage.mesh.send(CreateLink(photoIds: stage.ids(0), days: 1))
        for _ in 0..<31 { stage.pass(days: 1) }
        #expect(try await stage.mesh.send(ListLinks()).links.isEmpty)
        #expect(await stage.reason { _ = try await stage.open(made.token) } == "expired")
        _ = try await stage.mesh.send(CreateLink(photoIds: stage.ids(0)))
        #expect(await stage.reason { _ = try await stage.open(made.token) } == "unknown")
        await stage.library.close()
    }

    @Test func openingsAreCountedOncePerVisit() async throws {
        var stage = try await LinkStage(photos: 1)
        let made = try await stage.mesh.send(CreateLink(photoIds: stage.ids(0)))
        func openings() async throws -> Int { try await stage.mesh.send(ListLinks()).links[0].openings }
        let first = try await stage.open(made.token)
        #expect(try await stage.open(made.token, visit: first.visit).visit == first.visit)
        #expect(try await openings() == 1)
        let second = try await stage.open(made.token, visit: "AAAAAAAAAAAAAAAAAAAAAA")
        #expect(second.visit != first.visit)
        #expect(try await openings() == 2)
        stage.pass(days: 1)
        _ = try await stage.open(made.token, visit: first.visit)
        #expect(try await openings() == 3)
        let list = try await stage.mesh.send(ListLinks()).links
        #expect(list[0].lastOpenedAt == stage.wall.now)
        try await stage.reopen()
        #expect(try await stage.mesh.send(ListLinks()).links == list)
        await stage.library.close()
    }

    @Test func tokensThatAreNoneAreUnknown() async throws {
        let stage = try await LinkStage(photos: 1)
        let made = try await stage.mesh.send(CreateLink(photoIds: stage.ids(0)))
        for token in ["", "x", made.token + "A", String(made.token.dropLast()), String(repeating: "A", count: 32), "é"]
        {
            #expect(await stage.reason { _ = try await stage.open(token) } == "unknown")
            #expect(await stage.reason { _ = try await stage.photos(token) } == "unknown")
        }
        // Another link's visit says nothing here.
        let locked = try await stage.mesh.send(CreateLink(photoIds: stage.ids(0), password: LinkPassword("sesame")))
        let visit = try await stage.open(made.token).visit
        #expect(await stage.reason { _ = try await stage.photos(locked.token, visit: visit) } == "password")
        // The catalogue has neither token nor password.
        let catalogue = try Data(contentsOf: URL(fileURLWithPath: stage.library.path + "/catalogue.sqlite"))
        let log = try Data(contentsOf: URL(fileURLWithPath: stage.library.path + "/catalogue.sqlite-wal"))
        for text in [made.token, locked.token, "sesame"] {
            #expect(catalogue.range(of: Data(text.utf8)) == nil && log.range(of: Data(text.utf8)) == nil)
        }
        await stage.library.close()
    }

    @Test func aPasswordIsAskedForAndWrongOnesWait() async throws {
        var stage = try await LinkStage(photos: 1)
        let made = try await stage.mesh.send(CreateLink(photoIds: stage.ids(0), password: LinkPassword("Schlüssel")))
        let uuid = try await stage.allPhotos()[0].uuid
        #expect(made.link.hasPassword)
        #expect(await stage.reason { _ = try await stage.open(made.token) } == "password")
        #expect(await stage.reason { _ = try await stage.photos(made.token) } == "password")
        #expect(await stage.reason { _ = try await stage.picture(made.token, uuid, .thumbnail) } == "password")
        // However the accent is typed.
        let visit = try await stage.open(made.token, password: "Schlu\u{308}ssel").visit
        #expect(try await stage.photos(made.token, visit: visit).count == 1)
        for _ in 1...5 {
            #expect(await stage.reason { _ = try await stage.open(made.token, password: "wrong") } == "wrong")
        }
        let early = await refusal { _ = try await stage.open(made.token, password: "Schlüssel") }
        #expect(early?.details["link"] == "wait" && early?.details["retryAfterMs"] == 30_000)
        // Over a restart too; and who is in already stays so until then.
        #expect(try await stage.photos(made.token, visit: visit).count == 1)
        try await stage.reopen()
        #expect(await stage.reason { _ = try await stage.open(made.token, password: "Schlüssel") } == "wait")
        #expect(await stage.reason { _ = try await stage.photos(made.token, visit: visit) } == "password")
        stage.pass(seconds: 30)
        let again = try await stage.open(made.token, password: "Schlüssel").visit
        #expect(try await stage.photos(made.token, visit: again).count == 1)
        #expect(await stage.reason { _ = try await stage.open(made.token, password: "wrong") } == "wrong")
        #expect(try await stage.mesh.send(ListLinks()).links[0].openings == 2)
        await stage.library.close()
    }

    @Test func theTrashIsInNoLinkAndWhatComesOutOfItIsThereAgain() async throws {
        let stage = try await LinkStage()
        let ids = try await stage.ids(0, 1)
        let made = try await stage.mesh.send(CreateLink(photoIds: ids))
        let uuid = try await stage.mesh.send(GetPhoto(id: ids[0])).uuid
        _ = try await stage.mesh.send(DeletePhotos(ids: [ids[0]]))
        #expect(try await stage.photos(made.token).count == 1)
        #expect(try await stage.open(made.token).photoCount == 1)
        for file in PhotoFileKind.allCases {
            #expect(await status { _ = try await stage.picture(made.token, uuid, file) } == .notFound)
        }
        _ = try await stage.mesh.send(RestorePhotos(ids: [ids[0]]))
        #expect(try await stage.photos(made.token).map(\.uuid).contains(uuid))
        await stage.library.close()
    }

    @Test func aLinkToCategoriesShowsWhatTheyHaveNow() async throws {
        let stage = try await LinkStage(photos: 4)
        let ids = try await stage.ids(0, 1, 2, 3)
        let sea = try await stage.mesh.send(AddCategory(displayName: "Sea")).id
        let hills = try await stage.mesh.send(AddCategory(displayName: "Hills")).id
        _ = try await stage.mesh.send(MovePhotos(ids: [ids[0]], categoryId: sea))
        _ = try await stage.mesh.send(MovePhotos(ids: [ids[1], ids[2]], categoryId: hills))
        let made = try await stage.mesh.send(CreateLink(categoryIds: [hills, sea]))
        #expect(made.link.categoryIds == [hills, sea] && made.link.photoCount == 3)
        func shown() async throws -> [Int64] {
            let photos = try await stage.allPhotos()
            return try await stage.photos(made.token).compactMap { one in photos.first { $0.uuid == one.uuid }?.id }
        }
        #expect(try await Set(shown().prefix(2)) == [ids[1], ids[2]])
        _ = try await stage.mesh.send(MovePhotos(ids: [ids[3]], categoryId: sea))
        #expect(try await shown().contains(ids[3]))
        _ = try await stage.mesh.send(MovePhotos(ids: [ids[0]], categoryId: hills))
        _ = try await stage.mesh.send(DeleteCategory(id: hills, deletePhotos: true))
        #expect(try await shown() == [ids[3]])
        await stage.library.close()
    }

    @Test func manyPhotosComePageByPageEachOnce() async throws {
        let stage = try await LinkStage(photos: 0)
        let album = stage.folder.file("album")
        try SampleAlbum(width: 16, height: 16, texture: 0).write(count: 230, to: album)
        try await stage.importing(album)
        let all = try await stage.allPhotos()
        #expect(all.count == 230)
        let chosen = try await stage.mesh.send(CreateLink(photoIds: all.map(\.id))).token
        #expect(try await stage.photos(chosen).map(\.uuid) == all.map(\.uuid))
        let category = try await stage.mesh.send(CreateLink(categoryIds: [all[0].categoryId])).token
        #expect(try await stage.photos(category).map(\.uuid) == all.map(\.uuid))
        for place in ["x", "-2", "99999", "1.2", ".", "\(all[0].categoryId).x", ""] {
            for token in [chosen, category]
            where !(token == chosen && Int(place) != nil && place != "-2" && place != "99999") {
                let error = await refusal {
                    _ = try await stage.mesh.send(ListLinkPhotos(token: token, after: place), in: stage.nobody)
                }
                #expect(error?.status == .invalidArgument, "\(place)")
            }
        }
        await stage.library.close()
    }

    @Test func kidsAndVisitorsMakeAndListNone() async throws {
        let stage = try await LinkStage(photos: 1)
        let ids = try await stage.ids(0)
        let made = try await stage.mesh.send(CreateLink(photoIds: ids))
        for role in [Role.nobody, .kid] {
            let context = CallContext.root(mesh: stage.mesh, role: role)
            #expect(
                await status { _ = try await stage.mesh.send(CreateLink(photoIds: ids), in: context) }
                    == .permissionDenied)
            #expect(await status { _ = try await stage.mesh.send(ListLinks(), in: context) } == .permissionDenied)
            #expect(
                await status { _ = try await stage.mesh.send(RevokeLink(id: made.link.id), in: context) }
                    == .permissionDenied)
        }
        await stage.library.close()
    }

    @Test func whatCanBeNoLinkIsRefused() async throws {
        let stage = try await LinkStage(photos: 1)
        let ids = try await stage.ids(0)
        let category = try await stage.allPhotos()[0].categoryId
        let wrong = [
            CreateLink(), CreateLink(photoIds: []), CreateLink(photoIds: ids, categoryIds: [category]),
            CreateLink(photoIds: ids + ids), CreateLink(photoIds: ids, days: 0), CreateLink(photoIds: ids, days: 367),
            CreateLink(photoIds: ids, title: "a\u{202E}b"),
            CreateLink(photoIds: ids, title: String(repeating: "x", count: 101)),
            CreateLink(photoIds: ids, password: LinkPassword("abc")), CreateLink(photoIds: Array(1...2_001)),
            CreateLink(categoryIds: Array(1...17)),
        ]
        for request in wrong {
            #expect(await status { _ = try await stage.mesh.send(request) } == .invalidArgument, "\(request)")
        }
        #expect(await status { _ = try await stage.mesh.send(CreateLink(photoIds: [99_999])) } == .notFound)
        #expect(await status { _ = try await stage.mesh.send(CreateLink(categoryIds: [99_999])) } == .notFound)
        #expect(try await stage.mesh.send(ListLinks()).links.isEmpty)
        #expect(!String(describing: wrong[8]).contains("abc"))
        await stage.library.close()
    }

    @Test func theOpenOnesAreObserved() async throws {
        let stage = try await LinkStage(photos: 1)
        let (changes, told) = AsyncStream.makeStream(of: [String].self)
        let (mesh, nobody) = (stage.mesh, stage.nobody)
        let watching = Task {
            _ = try? await mesh.observe(ObserveLinks(), in: nobody) { told.yield($0.value.ids) }
            told.finish()
        }
        var iterator = changes.makeAsyncIterator()
        #expect(await iterator.next() == [])
        let made = try await mesh.send(CreateLink(photoIds: stage.ids(0)))
        #expect(await iterator.next() == [made.link.id])
        _ = try await mesh.send(RevokeLink(id: made.link.id))
        #expect(await iterator.next() == [])
        watching.cancel()
        await watching.value
        await stage.library.close()
    }

    @Test func visitsAreBoundedAndOneLinksEndNoOthers() {
        let visits = LinkVisits()
        let other = visits.begin(of: "b", at: 0)
        let first = visits.begin(of: "a", at: 0)
        for number in 1...Int64(LinkVisits.most) { _ = visits.begin(of: "a", at: number) }
        #expect(visits.count(of: "a") == LinkVisits.most)
        #expect(!visits.isGood(first, for: "a", at: 1) && visits.isGood(other, for: "b", at: 1))
        let last = visits.begin(of: "a", at: 9)
        #expect(visits.isGood(last, for: "a", at: 9) && !visits.isGood(last, for: "b", at: 9))
        #expect(!visits.isGood(last, for: "a", at: 9 + 86_400_000))
        visits.end(link: "a")
        #expect(visits.count(of: "a") == 0 && !visits.isGood(last, for: "a", at: 9))
    }
}
