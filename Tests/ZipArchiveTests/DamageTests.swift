import Foundation
import Randomness
import TestSupport
import Testing

@testable import ZipArchive

/// What happens to a good archive must be seen, or must not matter.
struct DamageTests {
    private let folder: TemporaryFolder
    private let file: TestFile
    private let good: [UInt8]
    private let contents: [String: ContentDigest]

    init() throws {
        folder = try TemporaryFolder("damage")
        file = try TestFile(creating: folder.file("a.zip"))
        let entries: [RawArchive.Entry] = [
            .init("manifest.json", Array(#"{"backupVersion":"1.0"}"#.utf8)),
            RawArchive.Entry("photos/été.jpg", noise(60, seed: 1)).deflatedAsIs(), .zeros("photos/0.jpg", matches: 20),
            .init("empty", []),
        ]
        var archive = RawArchive(entries)
        archive.comment = Array("a comment".utf8)
        good = archive.bytes
        try file.replace(with: good)
        let reader = try ZipReader(descriptor: file.descriptor)
        let verification = try ZipVerification(reader)
        try verification.work()
        try #require(try reader.refusals.isEmpty && verification.digests.count == entries.count)
        contents = Dictionary(uniqueKeysWithValues: try verification.digests.map { (try reader.entries[$0].name, $1) })
    }

    /// Nil where the archive was refused; else how many entries could be read whole.
    ///
    /// Fails where an entry is given out that was not packed like that.
    private func read(_ bytes: [UInt8], _ note: @autoclosure () -> String) throws -> Int? {
        try file.replace(with: bytes)
        do throws(ZipError) {
            let reader = try ZipReader(descriptor: file.descriptor)
            let verification = try ZipVerification(reader)
            try verification.work()
            for (index, digest) in try verification.digests where reader.problems(of: index).isEmpty {
                if contents[try reader.entries[index].name] != digest { Issue.record("\(note())") }
            }
            if reader.entries.count != contents.count { Issue.record("\(note())") }
            return try verification.digests.count
        } catch {
            if error.archiveProblem == nil { Issue.record("\(note()): \(error)") }
            return nil
        }
    }

    @Test func everyFlippedBitIsSeenOrHarmless() throws {
        var refused = 0
        var lost = 0
        for position in good.indices {
            for bit in 0..<8 {
                var bytes = good
                bytes[position] ^= 1 << bit
                switch try read(bytes, "bit \(bit) of byte \(position)") {
                case nil: refused += 1
                case contents.count: break
                default: lost += 1
                }
            }
        }
        #expect(refused > 0 && lost > 0)
    }

    @Test func everyShorterFileIsRefused() throws {
        for length in good.indices {
            #expect(try read(Array(good.prefix(length)), "cut to \(length)") == nil, "cut to \(length)")
        }
    }

    @Test func bytesBehindTheEndAreRefused() throws {
        #expect(try read(good + [0], "one more") == nil)
        #expect(try read(good + good.prefix(40), "a piece of another") == nil)
    }

    /// 20,000 archives, each with a few fields of its headers overwritten. The seed makes every run the same.
    @Test func mutatedHeadersNeverCrash() throws {
        var random = SplitMix64(seed: 0x5A1A_D0C5)
        let directory = good.count - 300
        let extremes: [[UInt8]] = [
            [0xFF, 0xFF, 0xFF, 0xFF], [0, 0, 0, 0], [0xFF, 0xFF, 0xFF, 0x7F], [0, 0, 0, 0x80],
            [0xFE, 0xFF, 0xFF, 0xFF],
            [0xFF, 0xFF], [1, 0], [0x50, 0x4B, 5, 6], [0x50, 0x4B, 6, 7], [0x50, 0x4B, 6, 6], [0x50, 0x4B, 1, 2],
        ]
        var taken = 0
        for round in 0..<20_000 {
            var bytes = good
            for _ in 0...Int.random(in: 0..<4, using: &random) {
                let start = Int.random(in: (round % 4 == 0 ? 0 : directory)..<bytes.count, using: &random)
                let value =
                    Bool.random(using: &random)
                    ? extremes.randomElement(using: &random) ?? [] : [UInt8.random(in: 0...255, using: &random)]
                for (offset, byte) in value.enumerated() where start + offset < bytes.count {
                    bytes[start + offset] = byte
                }
            }
            if round % 8 == 0 {
                // Also move whole parts about, so that lengths and offsets meet other records.
                let start = Int.random(in: 0..<bytes.count, using: &random)
                let count = Int.random(in: 0...min(64, bytes.count - start), using: &random)
                let part = bytes[start..<start + count]
                bytes.insert(contentsOf: part, at: Int.random(in: 0...bytes.count, using: &random))
            }
            try file.replace(with: bytes)
            do throws(ZipError) {
                let reader = try ZipReader(descriptor: file.descriptor)
                let verification = try ZipVerification(reader)
                try verification.work()
                for (index, digest) in try verification.digests {
                    let entry = try reader.entries[index]
                    if digest.size != entry.size || digest.crc32 != entry.crc32 { Issue.record("round \(round)") }
                }
                taken += 1
            } catch {
                if error.archiveProblem == nil { Issue.record("round \(round): \(error)") }
            }
        }
        #expect(taken > 100, "too few get past the end record to say anything about the rest")
        #expect(taken < 20_000)
    }
}
