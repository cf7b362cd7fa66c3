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

    private func open(_ entries: Entry...) throws -> ZipReader {
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
        if let obstacle = problems.first(where: { !$0.concernsName }) {
            #expect(
                throws: ZipError.unusableEntry(name: reader.entries[0].name, obstacle), sourceLocation: sourceLocation
            ) {
                try reader.verify(0)
            }
        } else {
            // Only the name is bad: the content can be had under another one.
            #expect(try reader.read(0, limit: 10) == Data("content".utf8), sourceLocation: sourceLocation)
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
        #expect(reader.entries.map(\.name) == ["gün", "müde"])
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
        #expect(stale.refusals.isEmpty && stale.entries[0].name == "safe.jpg")
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
        #expect(folders.refusals.isEmpty && folders.entries[0].isFolder)
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

    @Test func dataDescriptorsMayLeaveLocalFieldsEmpty() throws {
        try expect {
            $0.flags |= 1 << 3
            ($0.localSize, $0.localCompressedSize, $0.localCRC32) = (0, 0, 0)
        }
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
