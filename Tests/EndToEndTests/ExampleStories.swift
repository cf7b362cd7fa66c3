import EndToEndSupport
import Foundation
import LibraryModel
import SampleAlbum
import Synchronization
import TestSupport
import Testing

/// What stands in Scripts/examples does what its first lines say.
@Suite(.enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/python3"), "needs python3"))
struct ExampleStories {
    private static let folder = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent("Scripts/examples").path

    private func example(_ place: Installation, _ name: String, _ arguments: String...) async throws -> (
        lines: [String], status: Int32
    ) {
        var environment = place.environment
        environment["PATH"] = Installation.programs + ":/usr/bin:/bin"
        // Beside the scripts it would be a file of the repository.
        environment["PYTHONDONTWRITEBYTECODE"] = "1"
        let program = try ReadProgram(Self.folder + "/" + name, arguments, environment: environment)
        var lines: [String] = []
        for await line in program.lines { lines.append(line) }
        return (lines, await program.status())
    }

    private func album(_ count: Int) async throws -> Installation {
        let place = try Installation("examples")
        try await place.up()
        try SampleAlbum(width: 320, height: 240).write(count: count, to: place.folder.file("album"))
        _ = try await place.smilepile("import", place.folder.file("album"))
        return place
    }

    @Test func favouritesOfAYearAreCopiedOnce() async throws {
        let place = try await album(4)
        let client = try place.client()
        defer { client.close() }
        let photos = try await place.allPhotos(client)
        let marked = photos[0]
        _ = try await place.smilepile("photos", "favorite", String(marked.id))
        let year = String(try #require(marked.takenAt).description.prefix(4))
        let folder = place.folder.file("calendar")
        #expect(try await example(place, "favourites-to-folder", year, folder).lines == ["1 copied, 0 there already"])
        #expect(try await example(place, "favourites-to-folder", year, folder).lines == ["0 copied, 1 there already"])
        let copies = try FileManager.default.contentsOfDirectory(atPath: folder)
        #expect(copies.count == 1)
        let copy = try Data(contentsOf: URL(fileURLWithPath: folder + "/" + (copies.first ?? "")))
        #expect(try copy == Data(contentsOf: URL(fileURLWithPath: place.library + "/photos/" + marked.fileName)))
        #expect(try await example(place, "favourites-to-folder").status == 1)
    }

    @Test func captionsOfATableAreWritten() async throws {
        let place = try await album(2)
        let client = try place.client()
        defer { client.close() }
        let photo = try await place.allPhotos(client)[1]
        let table = place.folder.file("captions.csv")
        try "\(photo.name).jpg,\"Oma, im Garten\"\nnobody.jpg,x\n".write(
            toFile: table, atomically: true, encoding: .utf8)
        let done = try await example(place, "captions-from-table", table)
        #expect(done.lines == ["1 captions written, 1 left out"])
        #expect(done.status == 5)
        #expect(try await client.call(GetPhoto(id: photo.id)).caption == "Oma, im Garten")
    }

    @Test func anEndOfAJobIsSaidAndABackupIsMadeWhereItsDiskIs() async throws {
        let place = try await album(2)
        let stick = place.folder.file("stick")
        #expect(try await example(place, "backup-when-mounted", stick).lines.isEmpty)
        try FileManager.default.createDirectory(atPath: stick, withIntermediateDirectories: false)
        let isTold = Atomic(false)
        async let told = {
            defer { isTold.store(true, ordering: .relaxed) }
            return try await example(place, "jobs-as-they-end", "--once")
        }()
        // It tells of what ends after it has begun to look, and it may begin late.
        for _ in 0..<20 where !isTold.load(ordering: .relaxed) {
            let backup = try await example(place, "backup-when-mounted", stick)
            #expect(backup.status == 0, "\(backup.lines)")
        }
        let said = try await told.lines
        #expect(said == ["backup.create: finished"] || said == ["backup.verify: finished"])
    }
}
