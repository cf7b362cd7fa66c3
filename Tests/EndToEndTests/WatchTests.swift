import ControlSocket
import EndToEndSupport
import Foundation
import LibraryModel
import SampleAlbum
import ServiceMesh
import TestSupport
import Testing

/// `smilepile watch` beside an import, with the real programs.
@Suite(.serialized, .timeLimit(.minutes(4))) struct WatchTests {
    /// One line of `smilepile watch photos --json`.
    private struct Line: Decodable {
        let sequence: UInt64
        let overflowed: Bool
        let value: ObservedPhotos
    }

    private func lines(_ program: ReadProgram) -> AsyncThrowingMapSequence<AsyncStream<String>, Line> {
        program.lines.map { try JSONDecoder().decode(Line.self, from: Data($0.utf8)) }
    }

    @Test func threeWatchersEndOnTheSameStateAndOneWasStoppedMeanwhile() async throws {
        let place = try Installation("watching")
        let photos = 40
        let album = place.folder.file("album")
        try SampleAlbum(width: 320, height: 240).write(count: photos, to: album)
        try await place.up()
        let client = try place.client()
        let watchers = try (0..<3).map { _ in
            try ReadProgram("smilepile", ["watch", "photos", "--json"], environment: place.environment)
        }
        var iterators = watchers.map { lines($0).makeAsyncIterator() }
        // Each is there and has the state before the import.
        for index in iterators.indices { #expect(try await iterators[index].next()?.value.total == 0) }
        kill(watchers[2].pid, SIGSTOP)
        let imported = try await place.smilepile("import", album)
        #expect(imported.status == 0, "\(imported.errors)")
        _ = try await client.call(SetFavorite(ids: [1, 2, 3], isFavorite: true))
        kill(watchers[2].pid, SIGCONT)

        let page = try await client.call(SearchPhotos())
        let final = ObservedPhotos(photos: page.photos, next: page.next, total: photos)
        for index in iterators.indices {
            var last: Line?
            while last?.value != final {
                let line = try #require(try await iterators[index].next())
                if let last { #expect(line.sequence > last.sequence) }
                last = line
            }
        }
        // The first leaves by Ctrl-C, the others when the daemon goes.
        kill(watchers[0].pid, SIGINT)
        #expect(await watchers[0].status() == 130)
        #expect(try await place.smilepile("down").status == 0)
        for watcher in watchers.dropFirst() { #expect(await watcher.status() == 3) }
    }

    @Test func aWatcherWhoseDaemonIsKilledSaysSo() async throws {
        let place = try Installation("watching-kill")
        try await place.up()
        let watcher = try ReadProgram("smilepile", ["watch"], environment: place.environment)
        var lines = watcher.lines.makeAsyncIterator()
        #expect(await lines.next()?.contains("photos: 0") == true)
        try await place.killDaemon()
        #expect(await lines.next() == nil)
        #expect(await watcher.status() == 3)
        #expect(watcher.errors.contains("smilepile up"))
    }
}
