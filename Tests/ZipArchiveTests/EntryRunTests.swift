import CLinux
import Files
import Foundation
import TestSupport
import Testing

@testable import ZipArchive

struct EntryRunTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder("runs") }

    /// An archive in the making, and what belongs into it.
    private struct Work {
        let contents: [[UInt8]]
        let sources: [TestFile]
        let file: TestFile
        let writer: ZipWriter

        var layout: ZipLayout { writer.layout }
        var runs: [Range<Int>] { get throws { Array(try layout.runs(of: contents.indices)) } }

        func copy(_ run: Range<Int>, cancelled: () -> Bool = { false }) throws -> (isProven: Bool, [Int: ContentDigest])
        {
            let copy = try EntryRun(run, of: writer)
            var digests: [Int: ContentDigest] = [:]
            for index in run {
                digests[index] = try copy.copy(
                    index, reading: OpenFile(sources[index].descriptor), cancelled: cancelled)
            }
            return (try copy.finish(cancelled: cancelled), digests)
        }

        /// Copies everything, and sees to it that it is durable.
        func complete() throws -> (isProven: Bool, digests: [Int: ContentDigest], proven: EntryTable<ContentDigest>) {
            var (isProven, digests) = (true, [Int: ContentDigest]())
            for run in try runs.reversed() {
                let copied = try copy(run)
                isProven = isProven && copied.isProven
                digests.merge(copied.1) { $1 }
            }
            try writer.finish()
            try #require(fsync(file.descriptor) == 0)
            return (isProven, digests, try Self.table(digests))
        }

        static func table(_ digests: [Int: ContentDigest]) throws -> EntryTable<ContentDigest> {
            let table = EntryTable<ContentDigest>()
            for (index, digest) in digests { try table.put(digest, at: index) }
            return table
        }

        /// Changes one byte of the file, behind the writer's back.
        func flip(_ position: Int64) {
            var byte: UInt8 = 0
            guard pread(file.descriptor, &byte, 1, off_t(position)) == 1 else { return }
            byte ^= 1
            #expect(pwrite(file.descriptor, &byte, 1, off_t(position)) == 1)
        }

        func reader(_ proven: ProvenEntries?) throws -> ZipReader {
            try ZipReader(descriptor: file.descriptor, limits: ZipLimits(), proven: proven)
        }
    }

    private func work(_ sizes: [Int], isDirect: Bool = true) throws -> Work {
        let contents = sizes.enumerated().map { noise($0.element, seed: UInt64($0.offset)) }
        let entries = sizes.enumerated().map {
            ZipLayout.Entry(name: "photos/\($0.offset)", size: Int64($0.element), modified: 1_700_000_000_000)
        }
        let file = try TestFile(creating: folder.file("a.zip"))
        return Work(
            contents: contents,
            sources: try contents.enumerated().map {
                try TestFile(creating: folder.file("source\($0.offset)"), bytes: $0.element)
            }, file: file,
            writer: ZipWriter(
                descriptor: file.descriptor, layout: try ZipLayout(entries: entries), isDirect: isDirect))
    }

    /// Small ones, of no bytes too; aligned ones; those that fit into one buffer just so, or not any more.
    private static let sizes = [
        100_000, 0, 300, 65_536, 5_000_000, 1, 70_001, 2_000_000, 4096, RunBuffer.capacity - 4097, RunBuffer.capacity,
        3 * RunBuffer.capacity, 80_000, 17,
    ]

    @Test func whatFitsTogetherIsOneRun() throws {
        let work = try work([600_000, 600_000, 600_000, 600_000, 3_000_000, 10, 10, 10])
        #expect(try Array(work.layout.runs(of: 0..<8)) == [0..<3, 3..<4, 4..<5, 5..<8])
        #expect(try Array(work.layout.runs(of: [0, 2, 5, 7])) == [0..<1, 2..<3, 5..<6, 7..<8])
        #expect(try work.layout.runs(of: []).isEmpty)
    }

    @Test(arguments: [true, false]) func anArchiveOfRunsIsWhatItWouldBeOfEntries(isDirect: Bool) throws {
        let work = try work(Self.sizes, isDirect: isDirect)
        let copied = try work.complete()
        #expect(copied.isProven == isDirect)
        for (index, bytes) in work.contents.enumerated() { #expect(copied.digests[index] == ContentDigest(of: bytes)) }
        let other = try TestFile(creating: folder.file("b.zip"))
        let writer = ZipWriter(descriptor: other.descriptor, layout: work.layout)
        for (index, bytes) in work.contents.enumerated() { try writer.writeEntry(index, bytes: bytes) }
        try writer.finish()
        #expect(try work.file.bytes() == other.bytes())
    }

    @Test func whatTheDiskHasIsNotReadAgain() throws {
        let work = try work(Self.sizes)
        let copied = try work.complete()
        try #require(copied.isProven)
        #expect(try work.writer.proveSeams())
        let proven = try work.writer.proven(copied.proven)
        let verification = try ZipVerification(try work.reader(proven))
        #expect(verification.bytes == 0)
        try verification.work(progress: { _ in Issue.record("It was read.") })
        #expect(try verification.digests == copied.digests)
        #expect(try ZipVerification(try work.reader(nil)).bytes == Self.sizes.reduce(0) { $0 + Int64($1) })
        // What is proven of a file is so of no other.
        let copy = try TestFile(creating: folder.file("copy.zip"), bytes: work.file.bytes())
        let reader = try ZipReader(descriptor: copy.descriptor, limits: ZipLimits(), proven: proven)
        #expect(try ZipVerification(reader).bytes > 0)
    }

    /// As long as the directory says the same of it.
    @Test func whatTheDirectorySaysOtherwiseIsRead() throws {
        let work = try work([100_000, 300])
        let copied = try work.complete()
        let digest = ContentDigest(of: work.contents[0])
        for wrong in [
            ContentDigest(size: digest.size - 1, sha256: digest.sha256, crc32: digest.crc32),
            ContentDigest(size: digest.size, sha256: digest.sha256, crc32: digest.crc32 ^ 1),
        ] {
            let proven = try work.writer.proven(Work.table([0: wrong, 1: copied.digests[1]!, 7: digest]))
            let verification = try ZipVerification(try work.reader(proven))
            #expect(verification.bytes == digest.size)
            try verification.work()
            #expect(try verification.digests == copied.digests)
        }
    }

    /// Of an entry in the middle of others, and of one that passes in parts.
    @Test(arguments: [(1, 0), (1, 99_999), (2, 5), (3, 0), (3, 4_990_000)])
    func whatTheDiskGivesBackIsCompared(_ entry: Int, _ byte: Int64) throws {
        let work = try work([100_000, 100_000, 100_000, 5_000_000])
        let place = try work.layout.dataOffset(of: entry) + byte
        let run = try #require(try work.runs.first { $0.contains(entry) })
        // Asked between writing and reading, too.
        let tamper = {
            work.flip(place)
            return false
        }
        #expect(throws: ZipError.readBackDiffers(entry: "photos/\(entry)")) { try work.copy(run, cancelled: tamper) }
        // It may be written again.
        #expect(try work.copy(run).isProven)
    }

    @Test func whatSharesPagesWithNeighboursIsComparedAtTheEnd() throws {
        let work = try work([3_000_001, 3_000_001, 20, 30])
        #expect(try work.complete().isProven)
        let ends = try (0..<work.layout.count).map { try work.layout.placed(at: $0).extent }
        for (entry, place) in [(0, ends[0].upperBound - 1), (1, ends[1].lowerBound), (2, ends[2].lowerBound)] {
            let again = try self.work([3_000_001, 3_000_001, 20, 30])
            _ = try again.complete()
            again.flip(place)
            try #require(fsync(again.file.descriptor) == 0)
            #expect(throws: ZipError.readBackDiffers(entry: "photos/\(entry)")) { try again.writer.proveSeams() }
        }
        #expect(throws: ZipError.cancelled) { try work.writer.proveSeams(cancelled: { true }) }
    }

    @Test func anEntryThatFailsIsLeftOutAndWrittenLater() throws {
        for damaged in [0, 1, 2, 3] {
            let work = try work([50_000, 300_000, 20, 4_000_000])
            let run = try #require(try work.runs.first { $0.contains(damaged) })
            let other = try TestFile(
                creating: folder.file("other"), bytes: noise(work.contents[damaged].count + 1, seed: 9))
            let copy = try EntryRun(run, of: work.writer)
            for index in run {
                guard index == damaged else {
                    _ = try copy.copy(index, reading: OpenFile(work.sources[index].descriptor))
                    continue
                }
                let size = Int64(work.contents[index].count)
                #expect(throws: ZipError.sourceSizeDiffers(entry: "photos/\(index)", expected: size)) {
                    try copy.copy(index, reading: OpenFile(other.descriptor))
                }
            }
            #expect(try copy.finish())
            for index in work.contents.indices where index == damaged || !run.contains(index) {
                _ = try work.copy(index..<index + 1)
            }
            try work.writer.finish()
            let reader = try work.reader(nil)
            for (index, bytes) in work.contents.enumerated() {
                #expect(try reader.read(index, limit: 1 << 23) == Data(bytes))
            }
        }
    }

    @Test func whatIsNotFinishedMayBeWrittenByAnother() throws {
        let work = try work([1000, 1000])
        do {
            let run = try EntryRun(0..<2, of: work.writer)
            _ = try run.copy(0, reading: OpenFile(work.sources[0].descriptor))
            #expect(throws: ZipError.writtenTwice(entry: "photos/0")) { try work.copy(0..<1) }
        }
        #expect(try work.complete().digests.count == 2)
    }
}
