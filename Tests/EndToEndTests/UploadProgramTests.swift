import EndToEndSupport
import Foundation
import LibraryModel
import SampleAlbum
import ServiceMesh
import TestSupport
import Testing

/// Programs that upload by themselves, over WebDAV: the real rclone and cadaver.
extension WebTests {
    private struct Made: Decodable {
        let user: String
        let password: String
    }

    /// The password of a device's programs, from the command line.
    private func password(_ place: Installation, of device: String) async throws -> String {
        let outcome = try await place.run("smilepile", ["web", "password", device, "--json"])
        try #require(outcome.status == 0, "\(outcome.errors)")
        return try JSONDecoder().decode(Made.self, from: Data(outcome.output.utf8)).password
    }

    private func path(_ program: String) throws -> String {
        try #require(
            (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").map { "\($0)/\(program)" }
                .first { FileManager.default.isExecutableFile(atPath: $0) })
    }

    private struct Remote {
        let place: Installation
        let program: String
        let environment: [String: String]

        /// - Returns: what it said, its log too.
        func run(_ arguments: String...) async throws -> Outcome { try await start(arguments).outcome() }

        func start(_ arguments: [String]) throws -> RunningProgram {
            try place.start(
                program, arguments + ["--retries", "1", "--low-level-retries", "2", "--stats", "0", "-v"],
                with: environment)
        }
    }

    private func rclone(_ place: Installation, _ address: String, _ password: String) async throws -> Remote {
        let program = try path("rclone")
        let obscured = try await place.run(program, ["obscure", password])
        return Remote(
            place: place, program: program,
            environment: [
                "RCLONE_CONFIG": place.folder.file("rclone.conf"), "RCLONE_CONFIG_HOME_TYPE": "webdav",
                "RCLONE_CONFIG_HOME_URL": address + "/dav/", "RCLONE_CONFIG_HOME_VENDOR": "other",
                "RCLONE_CONFIG_HOME_USER": "smilepile",
                "RCLONE_CONFIG_HOME_PASS": obscured.output.trimmingCharacters(in: .whitespacesAndNewlines),
            ])
    }

    @Test(.enabled(if: Tool.rclone.isPresent, "needs rclone: Scripts/setup --tests"))
    func rcloneSendsThirtyFilesOnceAndGoesOnAfterAKill() async throws {
        try await withPage { place, started in
            _ = try await pair(place, started, as: "phone")
            let album = place.folder.file("phone-album")
            try SampleAlbum(width: 160, height: 120, seed: 99).write(count: 30, to: album)
            let files = try FileManager.default.contentsOfDirectory(atPath: album).count
            let remote = try await rclone(place, started.address, try await password(place, of: "phone"))
            let first = try await remote.run("copy", album, "home:Phone/2026")
            #expect(first.status == 0, "\(first.errors)")
            let listed = try await remote.run("lsf", "home:Phone/2026")
            #expect(listed.output.split(separator: "\n").count == files)
            let client = try place.client()
            let before = try await place.allPhotos(client)
            let phone = try await client.call(GetCategory(displayName: "Phone"))
            #expect(before.filter { $0.categoryId == phone.id }.count == 30 && before.count == 33)
            // Byte for byte what was sent.
            let compared = try await remote.run("check", album, "home:Phone/2026", "--download")
            #expect(compared.status == 0, "\(compared.errors)")

            let second = try await remote.run("copy", album, "home:Phone/2026")
            #expect(second.status == 0 && !second.errors.contains("Copied"), "\(second.errors)")
            _ = try await client.call(DeletePhotos(ids: before.prefix(3).map(\.id)))
            client.close()
            try await place.killDaemon()
            try SampleAlbum(width: 160, height: 120, seed: 7).write(count: 2, to: album + "/new")
            let away = try await remote.run("copy", album, "home:Phone/2026")
            #expect(away.status != 0)
            try await place.up()
            let third = try await remote.run("copy", album, "home:Phone/2026")
            #expect(third.status == 0, "\(third.errors)")
            #expect(third.errors.components(separatedBy: "Copied (new)").count - 1 <= 2, "\(third.errors)")
            let again = try place.client()
            #expect(try await place.allPhotos(again).count == 33 - 3 + 2)
            again.close()

            // Nothing is deleted from here, and a password that ends ends all.
            #expect(try await remote.run("purge", "home:Phone").status != 0)
            #expect(try await remote.run("lsf", "home:Phone/2026").output.split(separator: "\n").count >= files)
            #expect(try await place.smilepile("web", "password", "phone", "--revoke").status == 0)
            let refused = try await remote.run("lsf", "home:")
            #expect(refused.status != 0 && refused.errors.contains("401"), "\(refused.errors)")
        }
    }

    @Test(.enabled(if: Tool.rclone.isPresent, "needs rclone: Scripts/setup --tests"))
    func aDaemonThatIsKilledWhileFilesComeHasEachOnceInTheEnd() async throws {
        try await withPage { place, started in
            _ = try await pair(place, started, as: "phone")
            let album = place.folder.file("phone-album")
            try SampleAlbum(width: 640, height: 480, seed: 97).write(count: 20, to: album)
            let remote = try await rclone(place, started.address, try await password(place, of: "phone"))
            let before = try place.client()
            let first = try remote.start(["copy", album, "home:Phone", "--bwlimit", "200k"])
            try await poll(for: "some of the photos") { try await before.call(CountPhotos()).count >= 5 }
            before.close()
            try await place.killDaemon()
            try await place.up()
            _ = try await first.outcome()
            let second = try await remote.run("copy", album, "home:Phone")
            #expect(second.status == 0, "\(second.errors)")
            let third = try await remote.run("copy", album, "home:Phone")
            #expect(third.status == 0 && !third.errors.contains("Copied"), "\(third.errors)")
            let client = try place.client()
            #expect(try await place.allPhotos(client).count == 23)
            #expect(try await place.isConsistent(client))
            client.close()
        }
    }

    @Test(.enabled(if: Tool.cadaver.isPresent, "needs cadaver: Scripts/setup --tests"))
    func cadaverListsSendsAndIsRefused() async throws {
        try await withPage { place, started in
            _ = try await pair(place, started, as: "phone")
            let password = try await password(place, of: "phone")
            let album = place.folder.file("phone-album")
            try SampleAlbum(width: 160, height: 120, seed: 98).write(count: 1, to: album)
            let name = try #require(try FileManager.default.contentsOfDirectory(atPath: album).first)
            let host = try #require(URL(string: started.address)?.host())
            try "machine \(host)\nlogin smilepile\npassword \(password)\n".write(
                toFile: place.folder.file("home") + "/.netrc", atomically: true, encoding: .utf8)
            let note = place.folder.file("note.txt")
            try "no photo".write(toFile: note, atomically: true, encoding: .utf8)
            let commands = [
                "mkcol Walks", "cd Walks", "put \(album)/\(name) temporary.part", "move temporary.part walk.jpg", "ls",
                "put \(note)", "lock walk.jpg", "delete walk.jpg", "get walk.jpg \(place.folder.file("back.jpg"))",
                "quit",
            ]
            let script = place.folder.file("commands")
            try (commands.joined(separator: "\n") + "\n").write(toFile: script, atomically: true, encoding: .utf8)
            let outcome = try await place.run(
                "/bin/sh", ["-c", "exec '\(try path("cadaver"))' '\(started.address)/dav/' <'\(script)'"])
            let said = outcome.output + outcome.errors
            #expect(said.contains("walk.jpg"), "\(said)")
            for status in ["415", "403"] { #expect(said.contains(status), "\(said)") }
            let sent = try Data(contentsOf: URL(fileURLWithPath: album + "/" + name))
            #expect(try Data(contentsOf: URL(fileURLWithPath: place.folder.file("back.jpg"))) == sent)
            let client = try place.client()
            let walks = try await client.call(GetCategory(displayName: "Walks"))
            let photos = try await place.allPhotos(client).filter { $0.categoryId == walks.id }
            #expect(photos.map(\.sourceName) == ["temporary"])
            client.close()
        }
    }
}
