import ControlSocket
import EndToEndSupport
import Foundation
import LibraryModel
import SampleAlbum
import ServiceMesh
import TestSupport
import Testing

/// The real programs take over old databases of the oldest and the newest version.
@Suite(.serialized) struct MigrationTests {
    private func sql(_ version: Int) -> String {
        let favorite = version == 4 ? ", is_favorite" : ""
        let mark = version == 4 ? ", 1" : ""
        let ids = version == 4 ? ["'1'", "'summer'", "'12abc'"] : ["1", "2", "12"]
        let join =
            version == 4
            ? "" : "INSERT INTO photo_category_join VALUES ('local', \(ids[1]), 0, 1), ('local', \(ids[2]), 0, 0);"
        return """
            INSERT INTO category_entities (id, display_name, color_hex, position, is_default, created_at) VALUES
                (\(ids[0]), 'family', '#FF0000', 0, 1, 0), (\(ids[1]), 'Sommer', 'blau', 1, 0, 1600000000000),
                (\(ids[2]), '\(String(repeating: "lang", count: 100))', '#00FF00', 2, 0, 1600000000000);
            INSERT INTO photo_entities (id, uri, category_id, timestamp, encrypted_child_name\(favorite)) VALUES
                ('0B1C2D3E-0000-4000-8000-000000000001', '/sdcard/sample-0000.jpg', \(ids[0]), 1700000000000, 'x'\(mark)),
                ('local', 'content://media/sample-0001.jpg', \(ids[1]), 9223372036854775807, NULL\(mark)),
                ('gone', 'file:///sdcard/gone.jpg', \(ids[2]), 1700000000000, NULL\(mark));
            \(join)
            """
    }

    @Test(arguments: [4, 8]) func anOldLibraryIsTakenOverOnce(version: Int) async throws {
        let place = try Installation("e2e-migrate")
        let phone = place.folder.file("phone")
        try FileManager.default.createDirectory(atPath: phone, withIntermediateDirectories: true)
        let database = phone + "/smilepile_database"
        try RoomDatabase.make(at: database, version: version, sql(version))
        let photos = place.folder.file("DCIM/Camera")
        try SampleAlbum(width: 640, height: 480).write(count: 2, to: photos)
        let before = try RoomDatabase.state(of: phone)
        try await place.up()

        let preview = try await place.smilepile("migrate", database, "--photos", place.folder.file("DCIM"), "--dry-run")
        #expect(preview.status == 5, "\(preview.errors)")
        #expect(
            preview.output.contains("Would take over 2 photos and 2 categories from \(database) (version \(version))"))
        let client = try place.client()
        #expect(try await place.allPhotos(client).isEmpty)

        let done = try await place.smilepile("migrate", database, "--photos", place.folder.file("DCIM"))
        #expect(done.status == 5, "\(done.errors)")
        for text in [
            "Took over 2 photos and 2 categories", "family: it is 'Family', which is here",
            "Sommer: its colour is not valid", "was longer than 200 characters",
            "/sdcard/gone.jpg: no file of that name",
            "is out of range and becomes 2099-12-31T23:59:59.999Z", "encrypted_child_name: 1 encrypted value",
        ] { #expect(done.output.contains(text), "\(text) in \(done.output)") }
        #expect(done.output.contains("it was also in") == (version == 8))
        let taken = try await place.allPhotos(client)
        #expect(taken.count == 2 && taken.allSatisfy { $0.isFavorite == (version == 4) })
        #expect(taken.contains { $0.uuid == "0b1c2d3e-0000-4000-8000-000000000001" })
        #expect(try await place.isConsistent(client))
        let categories = try await client.call(ListCategories())

        let again = try await place.smilepile("migrate", database, "--photos", place.folder.file("DCIM"), "--json")
        #expect(again.status == 5)
        #expect(again.output.contains("\"duplicate\":2") && again.output.contains("\"merged\":3"), "\(again.output)")
        #expect(try await place.allPhotos(client) == taken)
        #expect(try await client.call(ListCategories()) == categories)
        #expect(try RoomDatabase.state(of: phone) == before)

        let kept = try await place.smilepile("migrate", database, "--photos", photos, "--keep-missing")
        #expect(kept.output.contains("without its file"), "\(kept.output)")
        #expect(try await place.allPhotos(client).count == 3)
        // What a restart reconciles leaves the row without a file alone.
        try await place.killDaemon()
        try await place.up()
        let restarted = try place.client()
        #expect(try await place.allPhotos(restarted).count == 3)

        let wrong = try await place.smilepile("migrate", photos + "/sample-0000.jpg")
        #expect(wrong.status == 1 && wrong.errors.contains("not an SQLite database"), "\(wrong.errors)")
        #expect(try await place.smilepile("down").status == 0)
    }
}
