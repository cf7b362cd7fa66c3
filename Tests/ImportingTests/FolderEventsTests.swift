import Files
import Foundation
import TestSupport
import Testing

@testable import Importing

@Suite("What changes in a folder") struct FolderEventsTests {
    private let folder: TemporaryFolder
    private let root: String

    init() throws {
        folder = try TemporaryFolder("events")
        root = folder.file("watched")
        try FileManager.default.createDirectory(atPath: root + "/old", withIntermediateDirectories: true)
    }

    private func watch() throws -> FolderEvents {
        try FolderEvents(FilePath(text: root), SourceSelection(excluding: ["*.part"]))
    }

    /// Changes until one is that of `name`, without the part of their paths that all have.
    private func changes(_ events: FolderEvents, until name: String) async throws -> Set<String> {
        var names: Set<String> = []
        while !names.contains(name) {
            await events.arrival()
            let changes = events.take()
            try #require(!changes.isUnknown && !changes.isGone)
            names.formUnion(changes.paths.map { String($0.text.dropFirst(root.count + 1)) })
        }
        return names
    }

    private func write(_ name: String, _ text: String = "x") throws {
        try Data(text.utf8).write(to: URL(fileURLWithPath: root + "/" + name))
    }

    @Test(
        "Files that are closed, renamed or linked, also in folders that came later; hidden and unfinished ones are not told"
    )
    func files() async throws {
        let events = try watch()
        let before = folder.file("before.jpg")
        try Data("1".utf8).write(to: URL(fileURLWithPath: before))
        try write(".hidden.jpg")
        try write("film.jpg.part")
        try FileManager.default.moveItem(atPath: root + "/film.jpg.part", toPath: root + "/film.jpg")
        try FileManager.default.linkItem(atPath: before, toPath: root + "/old/linked.jpg")
        try FileManager.default.createDirectory(atPath: root + "/new/deep", withIntermediateDirectories: true)
        try write("last.jpg")
        let told = try await changes(events, until: "last.jpg")
        #expect(told.isSuperset(of: ["film.jpg", "old/linked.jpg", "new", "last.jpg"]))
        #expect(told.isDisjoint(with: [".hidden.jpg", "film.jpg.part"]))
        // What is in a folder that came is told by the folder, or by its own name.
        try write("new/deep/inner.jpg")
        #expect(try await changes(events, until: "new/deep/inner.jpg").contains("new/deep/inner.jpg"))
    }

    @Test("A folder that was moved out tells no more, and one that was moved in does")
    func moves() async throws {
        let events = try watch()
        try FileManager.default.moveItem(atPath: root + "/old", toPath: folder.file("out"))
        try Data("1".utf8).write(to: URL(fileURLWithPath: folder.file("out/elsewhere.jpg")))
        try FileManager.default.createDirectory(atPath: folder.file("in"), withIntermediateDirectories: false)
        try FileManager.default.moveItem(atPath: folder.file("in"), toPath: root + "/in")
        let told = try await changes(events, until: "in")
        try write("in/there.jpg")
        let later = try await changes(events, until: "in/there.jpg")
        #expect(told.union(later).allSatisfy { $0 == "in" || $0 == "in/there.jpg" })
    }

    @Test("Of very many the names are not kept, and it is told that more have changed")
    func many() async throws {
        let events = try watch()
        for number in 0...FolderEvents.most { try write("\(number).jpg") }
        var all = FolderEvents.Changes()
        while !all.isUnknown {
            await events.arrival()
            let more = events.take()
            all.paths.formUnion(more.paths)
            all.isUnknown = more.isUnknown || all.paths.count > FolderEvents.most
        }
        #expect(all.isUnknown && !all.isGone)
    }

    @Test("A folder that goes is told, and one that is not there is refused")
    func gone() async throws {
        let events = try watch()
        try FileManager.default.moveItem(atPath: root, toPath: root + " elsewhere")
        await events.arrival()
        #expect(events.take().isGone)
        #expect(throws: FolderEvents.Refusal.missing) { try watch() }
        try Data().write(to: URL(fileURLWithPath: root))
        #expect(throws: FolderEvents.Refusal.missing) { try watch() }
    }

    @Test("Who waits for changes ends when it is cancelled, and others can wait after it")
    func cancelling() async throws {
        let events = try watch()
        let waiting = Task { await events.arrival() }
        waiting.cancel()
        await waiting.value
        #expect(events.take().isEmpty)
        try write("later.jpg")
        await events.arrival()
        #expect(!events.take().isEmpty)
    }

    @Test("A folder's signature is another one when a file in it is, and the same when nothing is")
    func signatures() throws {
        try write("old/a.jpg")
        let first = try FolderSignature.of(FilePath(text: root))
        #expect(try FolderSignature.of(FilePath(text: root)) == first)
        try write("old/a.jpg", "longer")
        let second = try FolderSignature.of(FilePath(text: root))
        #expect(second != first)
        try FileManager.default.moveItem(atPath: root + "/old/a.jpg", toPath: root + "/a.jpg")
        #expect(try FolderSignature.of(FilePath(text: root)) != second)
        #expect(throws: FileSystem.Failure.self) { try FolderSignature.of(FilePath(text: root + "/nothing")) }
    }
}
