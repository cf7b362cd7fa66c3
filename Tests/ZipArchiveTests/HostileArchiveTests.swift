import Foundation
import TestSupport
import Testing

@testable import ZipArchive

/// Hostile archives that are made here and read to their end, each with a good entry beside the bad one: what the corpus
/// has more of, for those who have no corpus.
struct HostileArchiveTests {
    private typealias Entry = RawArchive.Entry

    /// More than any honest archive here inflates to, less than any bomb.
    private static let mostBytes: Int64 = 4 << 20

    private let folder: TemporaryFolder
    private let file: TestFile

    init() throws {
        folder = try TemporaryFolder("hostile")
        file = try TestFile(creating: folder.file("archive.zip"))
    }

    private func read(_ archive: RawArchive) throws -> HostileOutcome {
        try file.replace(with: archive.bytes)
        return try HostileOutcome(of: file, mostBytes: Self.mostBytes)
    }

    private static func entry(_ change: (inout Entry) -> Void) -> Entry {
        var entry = Entry("photos/bad.jpg", noise(300, seed: 2))
        change(&entry)
        return entry
    }

    @Test func entriesThatEscapeAreNeverTaken() throws {
        let names = [
            "../evil.jpg", "photos/../../evil.jpg", "/etc/evil.jpg", "C:/evil.jpg", "c:evil.jpg", "..\\evil.jpg",
            "photos\\..\\x",
            "..", ".", "photos/./x.jpg", "photos//x.jpg", "photos/evil.jpg\0.txt", "photos/\u{1B}[2J.jpg", "",
        ]
        let entries =
            names.map { Entry($0, noise(50, seed: 3)) } + [
                Self.entry { $0.mode = 0o120777 },
                Self.entry { ($0.name, $0.mode) = (Array("photos/pipe".utf8), 0o010644) },
            ]
        for bad in entries {
            let outcome = try read(RawArchive(Entry("photos/good.jpg", noise(200, seed: 1)), bad))
            let name = String(decoding: bad.name, as: UTF8.self)
            #expect(outcome.refused == nil, "\(name)")
            #expect(try outcome.taken(in: "/library/import").map(\.name) == ["photos/good.jpg"], "\(name)")
            for (_, path) in try outcome.taken(in: "/library/import") { #expect(path.hasPrefix("/library/import/")) }
        }
    }

    @Test func bombsStayWithinTheLimit() throws {
        let bomb = Entry.zeros("bomb", matches: 40_000)
        #expect(bomb.size > 2 * Self.mostBytes && bomb.data.count < 70_000)
        // It says how large it is.
        let honest = try read(RawArchive(bomb))
        #expect(honest.reader?.problems(of: 0) == [.inflatesTooMuch(ratio: 100)] && honest.bytesRead == 0)
        // Too small for that rule, and too large for the place.
        let smaller = try read(RawArchive(.zeros("bomb", matches: 25_000)))
        #expect(smaller.refused == .tooManyBytes(limit: Self.mostBytes) && smaller.bytesRead == 0)
        // It says that it is small, in both of its headers.
        var lying = bomb
        lying.size = 1000
        let stopped = try read(RawArchive(Entry("photos/good.jpg", noise(200, seed: 1)), lying))
        #expect(stopped.lost == [1] && stopped.bytesRead <= 200 + 1000 + 256 << 10, "\(stopped.bytesRead) bytes read")
        // Many that are small alone.
        let many = try read(RawArchive((0..<60).map { Entry.zeros("bomb \($0)", matches: 400) }))
        #expect(many.refused == .tooManyBytes(limit: Self.mostBytes) && many.bytesRead == 0)
        // One that all entries share.
        var shared = RawArchive((0..<20).map { Entry.zeros("bomb \($0)", matches: 100) })
        for index in shared.entries.indices { shared.entries[index].offset = 0 }
        guard case .overlap = try read(shared).refused else {
            Issue.record("entries that share their bytes were read")
            return
        }
    }

    /// An archive in an archive is bytes, and nobody looks inside.
    @Test func archivesInArchivesStayClosed() throws {
        let inner = RawArchive(.zeros("bomb", matches: 40_000)).bytes
        let outcome = try read(RawArchive(Entry("photos/inner.zip", inner)))
        #expect(outcome.refused == nil && outcome.lost.isEmpty && outcome.bytesRead == Int64(inner.count))
    }

    @Test func damagedEntriesAreNamedAndTheOthersTaken() throws {
        let deflated = Self.entry { $0 = $0.deflatedAsIs() }
        let damaged: [(String, Entry)] = [
            ("another checksum", Self.entry { $0.crc32 ^= 1 }), ("another byte", Self.entry { $0.data[7] ^= 1 }),
            ("encrypted", Self.entry { $0.flags |= 1 }), ("a method that nobody has", Self.entry { $0.method = 95 }),
            ("a local name that differs", Self.entry { $0.localName = Array("photos/bat.jpg".utf8) }),
            ("a local size that differs", Self.entry { $0.localSize = 299 }),
            ("deflated, and cut", Self.entry { ($0.data, $0.method) = (Array(deflated.data.dropLast(9)), 8) }),
            ("deflated noise", Self.entry { ($0.data, $0.method) = (noise(300, seed: 9), 8) }),
        ]
        for (what, bad) in damaged {
            let outcome = try read(RawArchive(Entry("photos/good.jpg", noise(200, seed: 1)), bad))
            #expect(outcome.refused == nil, "\(what)")
            #expect(outcome.lost == [1], "\(what): \(outcome.lost)")
        }
        let sound = try read(RawArchive(Entry("photos/good.jpg", noise(200, seed: 1)), deflated))
        #expect(sound.refused == nil && sound.lost.isEmpty && sound.bytesRead == 500)
    }
}
