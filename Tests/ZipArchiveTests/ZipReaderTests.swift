import Foundation
import TestSupport
import Testing

@testable import ZipArchive

/// Reading the bytes of entries.
struct ZipReaderTests {
    private let folder: TemporaryFolder
    private let file: TestFile

    init() throws {
        folder = try TemporaryFolder("reader")
        file = try TestFile(creating: folder.file("a.zip"))
    }

    private func open(_ entries: RawArchive.Entry...) throws -> ZipReader {
        try file.replace(with: RawArchive(entries).bytes)
        return try ZipReader(descriptor: file.descriptor)
    }

    @Test(arguments: [0, 1, 65_535, 65_536, 262_144, 1_000_001])
    func storedAndDeflatedEntriesAreExtracted(_ size: Int) throws {
        let content = noise(size, seed: UInt64(size))
        let reader = try open(.init("stored", content), RawArchive.Entry("deflated", content).deflatedAsIs())
        #expect(reader.refusals.isEmpty)
        for index in 0...1 {
            let output = try TestFile(creating: folder.file("out"))
            var seen = 0
            let digest = try reader.extract(index, to: output.descriptor, progress: { seen += $0 })
            #expect(digest == ContentDigest(of: content))
            #expect(seen == size)
            #expect(try output.bytes() == content)
            #expect(try reader.read(index, limit: size) == Data(content))
        }
    }

    @Test(
        .enabled(if: Tool.zip.isPresent && Tool.sevenZip.isPresent, "zip or 7z is not installed"),
        arguments: ["zip -9", "zip -fd", "7z deflate", "7z bzip2"])
    func whatOtherPeoplesWritersMakeIsRead(_ writer: String) throws {
        let contents = SampleArchive.varied.contents
        let root = folder.file("in")
        try FileManager.default.createDirectory(atPath: root + "/photos", withIntermediateDirectories: true)
        for (name, bytes) in contents {
            // Half of it is text, so that compressing it pays.
            let text = Array(String(repeating: name, count: 5000).utf8)
            _ = try TestFile(creating: root + "/" + name, bytes: (bytes ?? []) + (bytes?.isEmpty == true ? [] : text))
        }
        let path = folder.file("other.zip")
        switch writer {
        case "zip -9": try Tool.zip.run(["-9", "-q", "-r", path, "."], in: root)
        case "zip -fd": try Tool.zip.run(["-fd", "-q", "-r", path, "."], in: root)
        case "7z deflate": try Tool.sevenZip.run(["a", "-tzip", path, "."], in: root)
        default: try Tool.sevenZip.run(["a", "-tzip", "-mm=BZip2", path, "."], in: root)
        }
        let archive = try TestFile(reading: path)
        let reader = try ZipReader(descriptor: archive.descriptor)
        #expect(reader.refusals.isEmpty)
        #expect(try reader.entries.map(\.method).contains(writer == "7z bzip2" ? 12 : 8))
        let verification = try ZipVerification(reader)
        let failures = concurrently(4) { _ in try verification.work() }
        #expect(failures.isEmpty && verification.failures.isEmpty)
        var digests: [String: String] = [:]
        for (index, digest) in try verification.digests where try !reader.entries[index].isFolder {
            digests[try reader.entries[index].name] = digest.sha256.hex
        }
        #expect(try digests == Tool.digests(below: root))
    }

    @Test func deflatedDataThatLiesIsStopped() throws {
        let honest = RawArchive.Entry.zeros("zeros", matches: 4000)
        var more = honest
        more.size = 1000
        var less = honest
        less.size += 1
        var checksum = honest
        checksum.crc32 ^= 1
        var cut = honest
        cut.data.removeLast(2000)
        var broken = honest
        broken.data[0] |= 6
        for (entry, problem) in [
            (more, EntryProblem.lengthDiffers), (less, .damaged), (checksum, .checksumDiffers), (cut, .damaged),
            (broken, .damaged),
        ] {
            let reader = try open(entry, .init("good"))
            let output = try TestFile(creating: folder.file("out"))
            #expect(throws: ZipError.unusableEntry(name: "zeros", problem)) {
                try reader.extract(0, to: output.descriptor)
            }
            #expect(try DescriptorIO.size(output.descriptor) <= Int64(entry.size))
            let verification = try ZipVerification(reader)
            try verification.work()
            #expect(verification.failures == [ZipRefusal(entry: 0, name: "zeros", problem: problem)])
            #expect(try Array(verification.digests.keys) == [1])
        }
        #expect(try open(honest).verify(0).size == Int64(honest.size))
    }

    /// All of the content is there, so it can be had; others refuse such an entry, so it is not called sound.
    @Test func compressedDataThatEndsElsewhere() throws {
        var longer = RawArchive.Entry.zeros("longer", matches: 10)
        longer.data.append(0)
        let content = Array("content".utf8)
        // A block that is not marked as the last, and no other behind it.
        var unfinished = RawArchive.Entry("unfinished", content)
        unfinished.data = [0] + RawArchive.little(UInt16(content.count)) + RawArchive.little(~UInt16(content.count))
        unfinished.data += content
        unfinished.method = 8
        let reader = try open(longer, unfinished, .init("good"))
        #expect(reader.refusals.isEmpty)
        let verification = try ZipVerification(reader)
        try verification.work()
        #expect(try verification.failures.isEmpty && verification.digests.count == 3)
        let strict = try ZipVerification(reader, forOthers: true)
        try strict.work()
        #expect(strict.failures.map(\.problem) == [.dataEndsElsewhere, .dataEndsElsewhere])
        #expect(try Array(strict.digests.keys) == [2])
    }

    @Test func aStoredEntryWithAnotherChecksumIsRefused() throws {
        var entry = RawArchive.Entry("a")
        entry.crc32 ^= 0x8000_0000
        let reader = try open(entry)
        #expect(throws: ZipError.unusableEntry(name: "a", .checksumDiffers)) { try reader.read(0, limit: 10) }
    }

    @Test func anArchiveCutAfterOpeningIsNoticed() throws {
        let reader = try open(
            .init("a", noise(5000, seed: 1)), RawArchive.Entry("b", noise(5000, seed: 2)).deflatedAsIs())
        ftruncate(file.descriptor, 1000)
        #expect(throws: ZipError.unusableEntry(name: "a", .lengthDiffers)) { try reader.verify(0) }
        #expect(throws: ZipError.unusableEntry(name: "b", .damaged)) { try reader.verify(1) }
    }

    /// Whether they are known again by their fingerprints or by their digests.
    @Test(arguments: [true, false]) func otherBytesThanThoseVerifiedAreNotTaken(hasFingerprints: Bool) throws {
        let content = noise(300_000, seed: 1)
        let reader = try open(.init("a", content), RawArchive.Entry("b", content).deflatedAsIs())
        let verification = try ZipVerification(reader, forOthers: true, forAgain: hasFingerprints)
        try verification.work()
        let output = try TestFile(creating: folder.file("out"))
        func extract(_ index: Int) throws -> ContentDigest {
            let verified = try #require(verification.read[index])
            #expect((verified.fingerprint != nil) == hasFingerprints)
            return try reader.extract(
                index, to: output.descriptor, verified: verified, cancelled: { false }, progress: { _ in })
        }
        for index in 0...1 { #expect(try extract(index) == ContentDigest(of: content)) }
        // Somebody writes to the file meanwhile, and gives both headers the checksum of that.
        let other = noise(300_000, seed: 2)
        try file.replace(with: RawArchive([.init("a", other), RawArchive.Entry("b", other).deflatedAsIs()]).bytes)
        #expect(throws: ZipError.changedSinceVerified(entry: "a")) { try extract(0) }
        #expect(throws: ZipError.changedSinceVerified(entry: "b")) { try extract(1) }
    }

    @Test func largerThanTheCallerTakes() throws {
        let reader = try open(.init("a", noise(100, seed: 1)))
        #expect(throws: ZipError.entryTooLarge(name: "a", size: 100, limit: 99)) { try reader.read(0, limit: 99) }
    }

    @Test func cancellingStopsBetweenParts() throws {
        let content = noise(1_000_000, seed: 1)
        let reader = try open(.init("stored", content), RawArchive.Entry("deflated", content).deflatedAsIs())
        for index in 0...1 {
            var seen = 0
            #expect(throws: ZipError.cancelled) {
                try reader.verify(index, cancelled: { seen > 0 }, progress: { seen += $0 })
            }
            #expect(0 < seen && seen <= 256 << 10)
            #expect(throws: ZipError.cancelled) { try ZipVerification(reader).work(cancelled: { true }) }
        }
    }

    @Test func severalThreadsReadOneArchive() throws {
        let contents = (0..<40).map { noise($0 * 9973, seed: UInt64($0)) }
        let entries = contents.enumerated().map { index, bytes in
            let entry = RawArchive.Entry("photos/\(index)", bytes)
            return index.isMultiple(of: 2) ? entry : entry.deflatedAsIs()
        }
        try file.replace(with: RawArchive(entries).bytes)
        let reader = try ZipReader(descriptor: file.descriptor)
        let folder = folder
        let failures = concurrently(160) { turn in
            let index = turn % contents.count
            let output = try TestFile(creating: folder.file("out\(turn)"))
            let digest = try reader.extract(index, to: output.descriptor)
            let written = try output.bytes()
            if digest != ContentDigest(of: contents[index]) || written != contents[index] { throw ZipError.cancelled }
        }
        #expect(failures.isEmpty)
    }
}
