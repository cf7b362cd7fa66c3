import Foundation
import TestSupport
import Testing

@testable import ZipArchive

/// Each rule about single entries, broken alone; the good entry beside it can still be read.
struct EntryProblemTests {
    typealias Entry = RawArchive.Entry

    private let folder: TemporaryFolder
    private let file: TestFile

    init() throws {
        folder = try TemporaryFolder("entries")
        file = try TestFile(creating: folder.file("a.zip"))
    }

    private func open(_ entries: Entry...) throws -> ZipReader { try open(entries) }

    private func open(_ entries: [Entry]) throws -> ZipReader {
        try file.replace(with: RawArchive(entries).bytes)
        return try ZipReader(descriptor: file.descriptor)
    }

    private func changed(_ change: (inout Entry) -> Void) -> Entry {
        var entry = Entry("bad")
        change(&entry)
        return entry
    }

    private func expect(
        _ problems: EntryProblem..., of change: (inout Entry) -> Void,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let reader = try open(changed(change), .init("good"))
        #expect(reader.problems(of: 0) == problems, sourceLocation: sourceLocation)
        #expect(reader.problems(of: 1).isEmpty, sourceLocation: sourceLocation)
        #expect(try reader.read(1, limit: 10) == Data("content".utf8), sourceLocation: sourceLocation)
        if let obstacle = problems.first(where: { !$0.concernsName && !$0.concernsOtherReaders }) {
            let name = try reader.entries[0].name
            #expect(
                throws: ZipError.unusableEntry(name: name, obstacle), sourceLocation: sourceLocation
            ) {
                try reader.verify(0)
            }
        } else {
            // Only the name is bad, or others refuse it: the content can be had all the same.
            #expect(try reader.read(0, limit: 10) == Data("content".utf8), sourceLocation: sourceLocation)
        }
    }

    /// In whatever order they are asked for, with names that are there twice or that nobody may have.
    @Test func entriesAreFoundOneAfterTheOtherAsByTheirNames() throws {
        let names =
            (0..<300).map { "photos/\($0).jpg" } + [
                "photos/7.jpg", "PHOTOS/8.JPG", "../x", "a/./b", "a//b", "c:x", ".x",
            ]
        let reader = try open(names.map { .init($0) })
        for order in [names, names.reversed(), names.shuffled(), ["no"] + names + ["no", "photos/0.jpg"]] {
            var finder = ZipEntryFinder(reader)
            for name in order { #expect(try finder.find(name)?.index == reader.index(of: name), "\(name)") }
        }
    }

    @Test func names() throws {
        try expect(.nameEmpty) { $0.name = [] }
        try expect(.nameAbsolute) { $0.name = Array("/etc/passwd".utf8) }
        try expect(.nameClimbs) { $0.name = Array("photos/../../x".utf8) }
        try expect(.nameHasDriveLetter) { $0.name = Array("c:x".utf8) }
        try expect(.nameHoldsBackslash) { $0.name = Array("..\\x".utf8) }
        try expect(.nameHoldsNUL) { $0.name = Array("a.jpg\0.exe".utf8) }
        try expect(.nameHoldsControlCharacter) { $0.name = Array("\u{1B}[2J".utf8) }
        try expect(.nameNotUTF8) { $0.name = [0x61, 0xFF] }
        try expect(.nameNotUTF8) { $0.name = [0xC0, 0xAE, 0xC0, 0xAE] }
        try expect(.nameNotPlain) { $0.name = Array(".".utf8) }
        try expect(.nameTooLong) { $0.name = [UInt8](repeating: 0x61, count: 1025) }
    }

    @Test func oldEncodings() throws {
        // 0x81 is ü in code page 437; valid UTF-8 without the flag is taken as such.
        var unflagged = Entry(name: [0x67, 0x81, 0x6E])
        unflagged.flags = 0
        var utf8 = Entry("müde")
        utf8.flags = 0
        let reader = try open(unflagged, utf8)
        #expect(reader.refusals.isEmpty)
        #expect(try reader.entries.map(\.name) == ["gün", "müde"])
    }

    @Test func theUnicodePathFieldCountsWhileItsChecksumFits() throws {
        func entry(_ path: String, checksumOf name: String) -> Entry {
            var entry = Entry("safe.jpg")
            let checksum = ContentDigest(of: Array(name.utf8)).crc32
            entry.extra = RawArchive.extra(0x7075, [1] + RawArchive.little(checksum) + Array(path.utf8))
            return entry
        }
        let evil = try open(entry("../../evil.jpg", checksumOf: "safe.jpg"))
        #expect(evil.problems(of: 0) == [.nameClimbs])
        let stale = try open(entry("../../evil.jpg", checksumOf: "another.jpg"))
        #expect(try stale.refusals.isEmpty && stale.entries[0].name == "safe.jpg")
    }

    @Test func namesTakenTwice() throws {
        for (first, second) in [("a", "a"), ("a.jpg", "A.JPG"), ("\u{E9}", "e\u{301}"), ("ß", "SS"), ("x/", "X")] {
            let reader = try open(Entry(first, []), .init(second, []), .init("good"))
            #expect(reader.problems(of: 0).isEmpty)
            #expect(reader.problems(of: 1) == [.nameTaken(by: first)])
            #expect(reader.problems(of: 2).isEmpty)
        }
    }

    @Test func kinds() throws {
        try expect(.symbolicLink) { $0.mode = 0o120777 }
        try expect(.symbolicLink) { ($0.mode, $0.madeBy) = (0o120777, 0) }
        for kind: UInt32 in [0o010000, 0o020000, 0o060000, 0o140000, 0o070000] {
            try expect(.specialFile) { $0.mode = kind | 0o644 }
        }
        try expect(.folderWithContents) { $0.mode = 0o040755 }
        try expect(.folderWithContents) { $0.name = Array("folder/".utf8) }
        let folders = try open(Entry("folder/", []))
        #expect(try folders.refusals.isEmpty && folders.entries[0].isFolder)
    }

    @Test func encryptionAndMethods() throws {
        try expect(.encrypted) { $0.flags |= 1 }
        try expect(.encrypted) { $0.flags |= 1 << 6 }
        try expect(.encrypted) { $0.flags |= 1 << 13 }
        try expect(.encrypted) { $0.method = 99 }
        try expect(.encrypted) { $0.extra = RawArchive.extra(0x9901, noise(7, seed: 1)) }
        for method: UInt16 in [1, 6, 9, 14, 93, 95, 98, 200] {
            try expect(.methodUnsupported(method)) { $0.method = method }
        }
    }

    @Test func localHeadersThatDisagree() throws {
        try expect(.localHeaderDisagrees(.name)) { $0.localName = Array("BAD".utf8) }
        try expect(.localHeaderDisagrees(.name)) { $0.localName = Array("other name".utf8) }
        try expect(.localHeaderDisagrees(.method)) { $0.localMethod = 8 }
        try expect(.localHeaderDisagrees(.flags)) { $0.localFlags = $0.flags | 1 }
        try expect(.localHeaderDisagrees(.flags)) { $0.localFlags = 0 }
        try expect(.localHeaderDisagrees(.checksum)) { $0.localCRC32 = 1 }
        try expect(.localHeaderDisagrees(.checksum)) { $0.localCRC32 = 0 }
        try expect(.localHeaderDisagrees(.size)) { $0.localSize = 6 }
        try expect(.localHeaderDisagrees(.compressedSize)) { $0.localCompressedSize = 0 }
        try expect(.localHeaderDisagrees(.size)) {
            $0.localSize = .max
            $0.localExtra = RawArchive.extra(1, RawArchive.little(UInt64(1) << 40))
        }
        try expect(.localHeaderMissing) { $0.offset = 3 }
        try expect(.localHeaderMissing) { $0.offset = 0x7FFF_0000 }
        try expect(.localHeaderMissing) { $0.offset = .max }
    }

    @Test func whatTheUnicodePathOfTheLocalHeaderSays() throws {
        let checksum = RawArchive.little(ContentDigest(of: Array("bad".utf8)).crc32)
        func path(_ text: [UInt8]) -> [UInt8] { RawArchive.extra(0x7075, [1] + checksum + text) }
        try expect(.nameNotUTF8) { ($0.extra, $0.localExtra) = (path([0x61, 0xFF]), []) }
        try expect(.localHeaderDisagrees(.name)) { $0.localExtra = path([0x61, 0xFF]) }
        try expect(.localHeaderDisagrees(.name)) { $0.localExtra = path([]) }
        try expect(.localHeaderDisagrees(.name)) { $0.localExtra = path(Array("another".utf8)) }
        let both = try open(changed { $0.extra = path(Array("été".utf8)) }, .init("good"))
        #expect(try both.refusals.isEmpty && both.entries[0].name == "été")
    }

    @Test func versions() throws {
        for version: UInt16 in [0, 10, 20, 45, 46, 3 << 8 | 20] { try expect { $0.version = version } }
        for version: UInt16 in [47, 50, 63, 64, 255] {
            try expect(.versionUnsupported(version)) { $0.version = version }
            try expect(.versionUnsupported(version)) { $0.localVersion = version }
        }
    }

    @Test func flagsThatChangeTheData() throws { try expect(.flagUnsupported(bit: 5)) { $0.flags |= 1 << 5 } }

    @Test func extraFieldsReachToTheirEnd() throws {
        for count in 0...9 { try expect { $0.extra = [UInt8](repeating: 0, count: count) } }
        let time = RawArchive.extra(0x5455, [1, 0, 0, 0, 1])
        try expect { $0.extra = time + [0, 0, 0] }
        try expect { $0.extra = RawArchive.extra(0x7777, []) + time }
        let cases: [([UInt8], UInt16?)] = [
            ([1], nil), ([0, 0, 1], nil), (time + [7], nil), (time.dropLast(), 0x5455),
            (time + [0xFE, 0xCA, 1, 0], 0xCAFE),
            (RawArchive.extra(0x5455, []), 0x5455), (RawArchive.extra(0x7075, [1, 0, 0, 0]), 0x7075),
            (RawArchive.extra(0x6375, [1, 0, 0, 0]), 0x6375), (RawArchive.extra(0x9901, [2, 0]), 0x9901),
        ]
        for (extra, id) in cases {
            try expect(.extraFieldDamaged(id: id)) { ($0.extra, $0.localExtra) = (extra, []) }
            try expect(.extraFieldDamaged(id: id)) { $0.localExtra = extra }
            try expect(.extraFieldDamaged(id: id)) { $0.extra = extra }
        }
        try expect(.encrypted) { $0.localExtra = RawArchive.extra(0x9901, noise(7, seed: 1)) }
        try expect(.extraFieldUnsupported(id: 0x6C78)) { $0.localExtra = RawArchive.extra(0x6C78, [0]) }
    }

    @Test func attributesOfDOS() throws {
        for system: UInt16 in [0, 6, 10, 11, 14] {
            for mode: UInt32 in [0, 0o100644] {
                try expect(.specialFile) { ($0.madeBy, $0.mode, $0.dosAttributes) = (system << 8, mode, 0x08) }
                try expect(.folderWithContents) { ($0.madeBy, $0.mode, $0.dosAttributes) = (system << 8, mode, 0x10) }
                try expect { ($0.madeBy, $0.mode, $0.dosAttributes) = (system << 8, mode, 0x27) }
            }
        }
        // A Unix copies them from its own mode, and nobody there goes by them.
        try expect { $0.dosAttributes = 0x18 }
        try expect { ($0.madeBy, $0.dosAttributes) = (19 << 8, 0x18) }
        try expect(.folderWithContents) { ($0.madeBy, $0.mode) = (1 << 8, 0o004755) }
    }

    /// Each of the four forms of what stands behind the data.
    @Test(arguments: [[], Array("content".utf8)])
    func dataDescriptors(_ content: [UInt8]) throws {
        let checksum = RawArchive.little(ContentDigest(of: content).crc32)
        let sizes = [RawArchive.little(UInt32(content.count)), RawArchive.little(UInt64(content.count))].map { $0 + $0 }
        func entry(_ behind: [UInt8]) -> Entry {
            var entry = Entry("a", content)
            entry.flags |= 1 << 3
            (entry.localSize, entry.localCompressedSize, entry.localCRC32) = (0, 0, 0)
            entry.behind = behind
            return entry
        }
        func problems(_ entry: Entry) throws -> [EntryProblem] {
            let reader = try open(entry, .init("good"))
            #expect(try reader.read(0, limit: 10) == Data(content))
            return reader.problems(of: 0)
        }
        for signature: [UInt8] in [[], [0x50, 0x4B, 7, 8]] {
            for size in sizes {
                #expect(try problems(entry(signature + checksum + size)).isEmpty)
                var given = entry(signature + checksum + size)
                (given.localSize, given.localCompressedSize, given.localCRC32) = (nil, nil, nil)
                #expect(try problems(given).isEmpty)
                for index in checksum.indices {
                    var other = checksum
                    other[index] ^= 1
                    #expect(try problems(entry(signature + other + size)) == [.dataDescriptorWrong])
                }
            }
            // Of no content, half of the long form is the short one.
            let shorter = signature + checksum + sizes[0].dropLast()
            #expect(try problems(entry(shorter)) == [.dataDescriptorWrong])
        }
        #expect(try problems(entry([])) == [.dataDescriptorWrong])
        var unannounced = entry([0x50, 0x4B, 7, 8] + checksum + sizes[0])
        unannounced.localFlags = 1 << 11
        (unannounced.localSize, unannounced.localCompressedSize, unannounced.localCRC32) = (nil, nil, nil)
        #expect(try problems(unannounced) == [.dataDescriptorWrong])
    }

    @Test func withADescriptorLocalFieldsMayBeEmptyAndNothingElse() throws {
        try expect(.localHeaderDisagrees(.size)) {
            $0.flags |= 1 << 3
            ($0.localSize, $0.localCompressedSize, $0.localCRC32) = (6, 0, 0)
        }
    }

    @Test func bytesPastTheEnd() throws {
        try expect(.pastTheEnd) {
            $0.compressedSize = 500
            $0.size = 500
        }
        let huge = RawArchive.extra(1, RawArchive.little(UInt64.max) + RawArchive.little(UInt64.max))
        try expect(.pastTheEnd) {
            $0.compressedSize = .max
            $0.size = .max
            $0.extra = huge
            $0.localExtra = RawArchive.extra(1, RawArchive.little(Int64.max) + RawArchive.little(Int64.max))
        }
        // From byte 33 on there are 48 bytes to the directory: its own 7 and the good entry's 41.
        try expect(.pastTheEnd) { ($0.compressedSize, $0.size) = (49, 49) }
        #expect(throws: ZipError.unusableArchive(.overlap(entry: "good", other: "bad"))) {
            try open(changed { ($0.compressedSize, $0.size) = (48, 48) }, .init("good"))
        }
        try expect(.sizesDisagree) { $0.size = 8 }
    }
}
