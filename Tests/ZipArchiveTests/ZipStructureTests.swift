import Foundation
import TestSupport
import Testing

@testable import ZipArchive

/// Each rule about the archive as a whole, broken alone.
struct ZipStructureTests {
    private let folder: TemporaryFolder
    private let file: TestFile

    init() throws {
        folder = try TemporaryFolder("structure")
        file = try TestFile(creating: folder.file("a.zip"))
    }

    private func problem(_ archive: RawArchive, _ limits: ZipLimits = ZipLimits()) throws -> ArchiveProblem? {
        try file.replace(with: archive.bytes)
        do throws(ZipError) {
            _ = try ZipReader(descriptor: file.descriptor, limits: limits)
            return nil
        } catch {
            guard let problem = error.archiveProblem else { throw error }
            return problem
        }
    }

    @Test func aSoundArchiveOpens() throws {
        #expect(try problem(RawArchive(.init("a"), .init("b"))) == nil)
        #expect(try problem(RawArchive()) == nil)
    }

    @Test func theEndRecord() throws {
        var archive = RawArchive(.init("a"))
        archive.comment = noise(0xFFFF, seed: 1)
        #expect(try problem(archive) == nil)
        try file.replace(with: archive.bytes.dropLast())
        #expect(throws: ZipError.unusableArchive(.endNotFound)) { try ZipReader(descriptor: file.descriptor) }
        archive.comment = RawArchive().bytes
        #expect(try problem(archive) == .endAmbiguous)
        // Who looks for the last signature finds this one.
        archive.comment = Array("PK\u{5}\u{6}".utf8)
        #expect(try problem(archive) == .endAmbiguous)
        archive.comment = []
        archive.disk = 1
        #expect(try problem(archive) == .severalDisks)
        archive.disk = 0
        archive.entries[0].disk = 1
        #expect(try problem(archive) == .severalDisks)
    }

    @Test func countsThatDisagree() throws {
        var archive = RawArchive(.init("a"), .init("b"))
        archive.count = 1
        #expect(try problem(archive) == .countDisagrees(declared: 1, found: 2))
        archive.count = 3
        #expect(try problem(archive) == .countDisagrees(declared: 3, found: 2))
        archive.count = 0xFFFF
        #expect(try problem(archive) == .countDisagrees(declared: 0xFFFF, found: 2))
    }

    @Test func aDirectoryThatIsElsewhere() throws {
        var archive = RawArchive(.init("a"))
        archive.directoryOffset = 500
        #expect(try problem(archive) == .directoryMisplaced)
        archive.directoryOffset = nil
        archive.directorySize = 1
        #expect(try problem(archive) == .directoryMisplaced)
        archive.directorySize = nil
        archive.beforeEnd = [0]
        #expect(try problem(archive) == .directoryMisplaced)
        archive.beforeEnd = []
        archive.entries[0].extra = RawArchive.extra(1, [1, 2, 3])
        archive.entries[0].size = .max
        #expect(try problem(archive) == .directoryDamaged(index: 0))
        archive.entries[0].extra = RawArchive.extra(1, noise(8, seed: 1)) + RawArchive.extra(1, noise(8, seed: 2))
        #expect(try problem(archive) == .directoryDamaged(index: 0))
    }

    @Test func bytesInFrontMoveEverything() throws {
        var archive = RawArchive(.init("a", noise(100, seed: 5)), .init("b"))
        archive.prefix = noise(3000, seed: 4)
        #expect(try problem(archive) == nil)
        let reader = try ZipReader(descriptor: file.descriptor)
        #expect(reader.refusals.isEmpty)
        #expect(reader.bytesInFront == 3000)
        #expect(try reader.read(0, limit: 100) == Data(noise(100, seed: 5)))
    }

    @Test func bytesInFrontOfZIP64() throws {
        let sample = try SampleArchive.manyEntries.write(in: folder)
        let moved = try TestFile(
            creating: folder.file("moved.zip"), bytes: [UInt8](repeating: 7, count: 777) + sample.bytes())
        let reader = try ZipReader(descriptor: moved.descriptor)
        #expect(reader.refusals.isEmpty && reader.entries.count == 70_000)
        #expect(try reader.read(69_999, limit: 100) == Data("photo 69999".utf8))
    }

    @Test func zip64RecordsMustAgree() throws {
        let good = try SampleArchive.manyEntries.write(in: folder).bytes()
        let record = good.count - 22 - 20 - 56
        // Of the 64-bit record: signature, size, both disks, both counts, size, offset. Of the locator: disk,
        // offset, disks. Of the short record: both disks, both counts, size, offset.
        for field in [0, 4, 16, 20, 24, 32, 40, 48, 60, 64, 72, 80, 82, 84, 86, 88, 92] {
            var bytes = good
            bytes[record + field] ^= 2
            try file.replace(with: bytes)
            #expect(throws: ZipError.self, "\(field)") { try ZipReader(descriptor: file.descriptor) }
        }
        // No disk at all, and one count left to the long record, the other not.
        for (field, change) in [(72, 1), (84, 0x8E), (86, 0x8E)] as [(Int, UInt8)] {
            var bytes = good
            bytes[record + field] ^= change
            try file.replace(with: bytes)
            #expect(throws: ZipError.unusableArchive(field == 72 ? .severalDisks : .zip64Disagrees), "\(field)") {
                try ZipReader(descriptor: file.descriptor)
            }
        }
        // More data in the record, as the format allows and hardly a reader knows.
        var longer = good
        longer.insert(contentsOf: [1, 2, 3, 4, 5, 6], at: record + 56)
        longer[record + 4] += 6
        try file.replace(with: longer)
        #expect(throws: ZipError.unusableArchive(.zip64Disagrees)) { try ZipReader(descriptor: file.descriptor) }
        try file.replace(with: good)
        #expect(try ZipReader(descriptor: file.descriptor).entries.count == 70_000)
    }

    @Test func entriesThatShareBytes() throws {
        var archive = RawArchive(.init("a", noise(200, seed: 1)), .init("b"))
        archive.entries[1].offset = 0
        archive.entries[1].name = Array("a".utf8)
        #expect(try problem(archive) == .overlap(entry: "a", other: "a"))
        // An entry inside another's data.
        let inner = RawArchive(.init("inner")).bytes
        archive = RawArchive(.init("outer", inner), .init("inner"))
        archive.entries[1].offset = UInt32(30 + 5)
        #expect(try problem(archive) == .overlap(entry: "inner", other: "outer"))
    }

    @Test func limits() throws {
        let archive = RawArchive(.init("a", noise(600, seed: 1)), .init("b", noise(500, seed: 1)))
        #expect(try problem(archive, ZipLimits(maximumEntries: 2, maximumTotalBytes: 1100)) == nil)
        #expect(
            try problem(archive, ZipLimits(maximumEntries: 1)) == .tooManyEntries(count: 2, limit: 1))
        #expect(try problem(archive, ZipLimits(maximumTotalBytes: 1099)) == .tooManyBytes(limit: 1099))
        #expect(
            try problem(archive, ZipLimits(maximumDirectoryBytes: 93)) == .directoryTooLarge(size: 94, limit: 93))
    }

    @Test func compressionThatGrowsTooMuch() throws {
        let zeros = RawArchive.Entry.zeros("zeros", matches: 400)
        let archive = RawArchive(zeros, .init("plain", noise(100, seed: 1)))
        #expect(try problem(archive) == nil)
        #expect(try ZipReader(descriptor: file.descriptor).refusals.isEmpty)
        let strict = ZipLimits(ratioFreeBytes: 1000)
        let reader = try ZipReader(descriptor: file.descriptor, limits: strict)
        #expect(reader.problems(of: 0) == [.inflatesTooMuch(ratio: 100)])
        #expect(throws: ZipError.unusableEntry(name: "zeros", .inflatesTooMuch(ratio: 100))) {
            try reader.read(0, limit: 1 << 20)
        }
        #expect(try reader.read(1, limit: 100) == Data(noise(100, seed: 1)))
        // Many entries, each just small enough.
        let many = RawArchive((0..<10).map { .zeros("zeros \($0)", matches: 400) })
        let free = Int64(zeros.size)
        #expect(try problem(many, ZipLimits(ratioFreeBytes: free)) == .inflatesTooMuch(ratio: 100))
        #expect(try problem(many, ZipLimits(maximumRatio: 200, ratioFreeBytes: free)) == nil)
    }
}
