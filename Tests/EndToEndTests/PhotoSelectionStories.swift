import EndToEndSupport
import Foundation
import LibraryModel
import SampleAlbum
import ServiceMesh
import TestSupport
import Testing

/// Photos chosen by the dozen, with the real programs.
@Suite(.timeLimit(.minutes(3))) struct PhotoSelectionStories {
    private static let program = "'\(Installation.programs)/smilepile'"

    /// Six photos, 1 to 6, in Family.
    private func home() async throws -> Installation {
        let place = try Installation("select")
        try await place.up()
        let album = place.folder.file("album")
        try SampleAlbum(width: 64, height: 48).write(count: 6, to: album)
        #expect(try await place.smilepile("import", album, "--category", "Family").status == 0)
        return place
    }

    private func shell(_ place: Installation, _ line: String) async throws -> Outcome {
        try await place.run("/bin/sh", ["-c", line.replacing("smilepile", with: Self.program)])
    }

    private func ids(_ place: Installation, _ filters: String...) async throws -> [Int] {
        let found = try await place.run("smilepile", ["photos", "list", "--all", "--ids"] + filters)
        #expect(found.status == 0, "\(found.errors)")
        return found.output.split(separator: "\n").compactMap { Int($0) }.sorted()
    }

    @Test func oneCommandFeedsAnother() async throws {
        let place = try await home()
        #expect(try await ids(place) == [1, 2, 3, 4, 5, 6])
        #expect(
            try await place.smilepile("photos", "move", "2-4", "6", "--to", "Cars").output
                == "4 photos moved to Cars.\n")
        let piped = try await shell(
            place, "smilepile photos list --category Cars --all --ids | smilepile photos favorite -")
        #expect(piped.status == 0 && piped.output == "4 photos changed.\n", "\(piped.errors)")
        #expect(try await ids(place, "--favorites") == [2, 3, 4, 6])
        let deleted = try await place.smilepile("photos", "delete", "1-3", "6")
        #expect(deleted.output == "4 photos went to the trash.\n")
        #expect(deleted.errors == "Undo it with: smilepile trash restore 1-3 6\n")
        // A range has gaps now.
        #expect(try await place.smilepile("photos", "unfavorite", "1-6").output == "1 photo changed.\n")
        #expect(try await place.smilepile("photos", "favorite", "1-3").status == 1)
        #expect(try await place.smilepile("trash", "restore", "1-3", "6").output == "4 photos restored.\n")
        #expect(try await ids(place) == [1, 2, 3, 4, 5, 6])
        // Nothing comes, nothing is done.
        for line in ["smilepile photos delete - </dev/null", "smilepile photos delete - <&-"] {
            let nothing = try await shell(place, line)
            #expect(nothing.output.isEmpty && !nothing.errors.contains("went to"), "\(line): \(nothing.errors)")
        }
        #expect(try await ids(place) == [1, 2, 3, 4, 5, 6])
        #expect(try await place.smilepile("down").status == 0)
    }

    @Test func filtersAskAPersonOrAreToldThatTheyMay() async throws {
        let place = try await home()
        _ = try await place.smilepile("photos", "move", "1-2", "--to", "Cars")
        let wheres = ["--where", "category=cars", "--where", "text=sample"]
        let refused = try await place.run("smilepile", ["photos", "delete"] + wheres)
        #expect(refused.status == 2 && refused.errors.contains("--yes"))
        var environment = place.environment
        environment["TERM"] = "dumb"
        let program = Installation.programs + "/smilepile"
        for (answer, status) in [("n\n", Int32(1)), ("y\n", 0)] {
            let terminal = try PseudoTerminal(
                program, ["photos", "delete"] + wheres, environment: environment, columns: 20)
            #expect(await terminal.shows("Put 2 photos into the trash? [y/N] "))
            terminal.press(answer)
            #expect(await terminal.change() == status << 8)
            #expect(try await ids(place, "--category", "Cars").count == (status == 0 ? 0 : 2))
        }
        let folder = place.folder.file("out")
        let exported = try await place.smilepile(
            "photos", "export", "--where", "category=Family", "--yes", "--to", folder)
        let pictures = exported.output.split(separator: "\n").filter { !$0.hasSuffix(".xmp") }
        #expect(exported.status == 0 && pictures.count == 4, "\(exported.errors)")
        let searched = try await place.smilepile("photos", "search", "JPG", "sample", "--ids")
        #expect(searched.output.split(separator: "\n").count == 4)
        #expect(try await place.smilepile("photos", "search", "sample", "nowhere", "--ids").output.isEmpty)
        #expect(try await place.smilepile("down").status == 0)
    }
}
