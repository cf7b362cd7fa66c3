import EndToEndSupport
import Foundation
import LibraryModel
import SampleAlbum
import ServiceMesh
import TestSupport
import Testing

/// A watched folder with the real programs: several write into it at once, some of them slowly, and the daemon is killed.
@Suite(.serialized, .timeLimit(.minutes(4))) struct WatchedFolderStories {
    @Test func eachFileIsImportedOnceAndNoneIsTorn() async throws {
        let place = try Installation("watched")
        let (album, watched) = (place.folder.file("album"), place.folder.file("phone"))
        let count = 90
        try SampleAlbum(width: 64, height: 48).write(count: count + 1, to: album)
        try FileManager.default.createDirectory(atPath: watched, withIntermediateDirectories: false)
        let all = try FileManager.default.contentsOfDirectory(atPath: album).filter { $0.hasSuffix(".jpg") }.sorted()
        try #require(all.count == count + 1)
        let (names, unfinished) = (Array(all.prefix(count)), all[count])
        try await place.up()
        #expect(try await place.smilepile("watch-folder", "add", watched, "--category", "Cars").status == 0)

        // One copies, one renames what it has written, one writes in small pieces and waits for the others in between.
        let writers = [
            #"for f in "$@"; do cp "$f" "$0/"; done"#,
            #"for f in "$@"; do cp "$f" "$0/x.part" && mv "$0/x.part" "$0/$(basename "$f")"; done"#,
            #"for f in "$@"; do (dd bs=200 count=1; sleep 0.05; cat) <"$f" >"$0/$(basename "$f")" 2>/dev/null; done"#,
        ]
        let running = try writers.enumerated().map { number, script in
            let own = names.enumerated().filter { $0.offset % writers.count == number }.map { album + "/" + $0.element }
            return try place.start("/bin/sh", ["-c", script, watched] + own)
        }
        let client = try place.client()
        try await poll(for: "the first photos") { try await client.call(CountPhotos()).count > 0 }
        try await place.killDaemon()
        try await place.up()
        for writer in running { #expect(try await writer.outcome().status == 0) }
        // The next look at everything comes upon one that is half there.
        let bytes = Array(try Data(contentsOf: URL(fileURLWithPath: album + "/" + unfinished)))
        let half = open(watched + "/" + unfinished, O_WRONLY | O_CREAT, 0o644)
        #expect(write(half, bytes, bytes.count / 2) == bytes.count / 2)
        let before = try await place.client().call(ListWatchedFolders()).folders.first?.job
        try await place.killDaemon()
        try await place.up()
        let last = try place.client()
        try await poll(for: "that look") { try await last.call(ListWatchedFolders()).folders.first?.job != before }
        let look = try #require(try await last.call(ListWatchedFolders()).folders.first?.job)
        _ = try await last.call(WaitForJob(job: look))
        try await poll(for: "all photos that are whole") { try await last.call(CountPhotos()).count >= count }
        let rest = Array(bytes[(bytes.count / 2)...])
        #expect(write(half, rest, rest.count) == rest.count)
        close(half)
        try await poll(for: "the last photo") { try await last.call(CountPhotos()).count > count }
        let photos = try await place.allPhotos(last)
        #expect(Set(photos.compactMap(\.sourceName)) == Set(names + [unfinished]))
        #expect(photos.count == count + 1 && Set(photos.map(\.contentDigest)).count == count + 1)
        #expect(try await !place.smilepile("jobs", "list", "--all", "--json").output.contains("damaged"))
        for photo in photos {
            let source = album + "/" + (photo.sourceName ?? "")
            #expect(
                FileManager.default.contentsEqual(atPath: place.library + "/" + photo.path, andPath: source),
                "\(photo.path)")
        }
        let listed = try await place.smilepile("watch-folder")
        #expect(listed.output.contains(watched) && listed.output.contains("watched"), "\(listed.output)")
        #expect(try await place.smilepile("watch-folder", "remove", watched).status == 0)
        #expect(try await place.smilepile("storage", "check").status == 0)
    }
}
