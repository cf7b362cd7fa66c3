import Foundation
import Randomness
import TestSupport
import Testing

@testable import ZipArchive

/// What is got from archives whose directory or headers are damaged.
struct SalvageTests {
    private let folder: TemporaryFolder
    private let file: TestFile

    init() throws {
        folder = try TemporaryFolder("salvage")
        file = try TestFile(creating: folder.file("a.zip"))
    }

    private static let contents: [(name: String, bytes: [UInt8])] = [
        ("manifest.json", Array(#"{"backupVersion":"1.0"}"#.utf8)), ("empty", []),
        ("photos/été.jpg", noise(300, seed: 1)),
        ("photos/aligned.jpg", noise(70_000, seed: 2)), ("photos/behind.jpg", noise(200, seed: 3)),
    ]

    private func written(_ contents: [(name: String, bytes: [UInt8])] = Self.contents) throws -> [UInt8] {
        let layout = try ZipLayout(
            entries: contents.map { .init(name: $0.name, size: Int64($0.bytes.count), modified: 1_696_170_622_123) })
        try file.replace(with: [])
        let writer = ZipWriter(descriptor: file.descriptor, layout: layout)
        for (index, content) in contents.enumerated() { try writer.writeEntry(index, bytes: content.bytes) }
        try writer.finish()
        return try file.bytes()
    }

    private func open(_ bytes: [UInt8], limits: ZipLimits = ZipLimits()) throws -> ZipReader {
        try file.replace(with: bytes)
        return try ZipReader.salvaging(file.descriptor, limits: limits)
    }

    /// What can be read whole, under each name that it has.
    private func salvage(_ bytes: [UInt8]) throws -> [String: ContentDigest] {
        let reader = try open(bytes)
        let verification = try ZipVerification(reader)
        try verification.work()
        let sound = try verification.digests.filter { index, _ in
            reader.problems(of: index).allSatisfy(\.concernsOtherReaders)
        }
        var digests: [String: ContentDigest] = [:]
        for (index, digest) in sound { digests[try reader.entries[index].name] = digest }
        for (name, index) in reader.otherNames where digests[name] == nil { digests[name] = sound[index] }
        return digests
    }

    private func expect(
        _ contents: [(name: String, bytes: [UInt8])] = Self.contents, in bytes: [UInt8], _ note: String = "",
        butFor lost: Set<String> = []
    ) throws {
        let digests = try salvage(bytes)
        for (name, content) in contents {
            let whole = lost.contains(name) ? nil : ContentDigest(of: content)
            #expect(digests[name] == whole, "\(name), \(note)")
        }
    }

    @Test func oneInOrderIsOpenedAsEver() throws {
        let reader = try open(try written())
        #expect(reader.salvage == nil && reader.refusals.isEmpty && reader.entries.count == Self.contents.count)
    }

    /// Of headers, directory and end all comes back; of an entry's bytes all others do.
    ///
    /// One of three bits of each byte is flipped; with `SMILEPILE_SEEDS` above 1, each of the three (Scripts/simulate).
    @Test func aFlippedByteCostsOneEntryAtMost() throws {
        let bits: [UInt8] = [0x01, 0x10, 0x80]
        let good = try written()
        let starts = try ZipLayout(
            entries: Self.contents.map {
                .init(name: $0.name, size: Int64($0.bytes.count), modified: 1_696_170_622_123)
            })
        var hits: [Int: String] = [:]
        for (index, content) in Self.contents.enumerated() {
            let start = Int(try starts.dataOffset(of: index))
            for place in start..<start + content.bytes.count { hits[place] = content.name }
        }
        for place in good.indices where hits[place] == nil || place % 1009 == 0 {
            // Of the zeros that align an entry a few.
            if hits[place] == nil, (560..<4090).contains(place), place % 97 > 0 { continue }
            for (number, bit) in bits.enumerated() where explorationFactor > 1 || place % bits.count == number {
                var bytes = good
                bytes[place] ^= bit
                try expect(in: bytes, "byte \(place), bit \(bit)", butFor: Set([hits[place]].compactMap { $0 }))
            }
        }
    }

    @Test func aCutArchiveGivesWhatIsInFrontOfTheCut() throws {
        let good = try written()
        let layout = try ZipLayout(
            entries: Self.contents.map {
                .init(name: $0.name, size: Int64($0.bytes.count), modified: 1_696_170_622_123)
            })
        for length in [100, 400, 500, 4000, 50_000, good.count - 300, good.count - 1] {
            let lost = try Self.contents.indices.filter {
                try layout.placed(at: $0).extent.upperBound > Int64(length)
            }.map { Self.contents[$0].name }
            try expect(in: Array(good.prefix(length)), "cut to \(length)", butFor: Set(lost))
        }
        #expect(throws: ZipError.unusableArchive(.endNotFound)) { try open(Array(good.prefix(50))) }
        #expect(throws: ZipError.unusableArchive(.endNotFound)) { try open(noise(300_000, seed: 9)) }
        #expect(throws: ZipError.unusableArchive(.endNotFound)) { try open([]) }
    }

    /// Directory, header and bytes, each of another entry.
    @Test func severalDamagesAtOnce() throws {
        let good = try written()
        let directory = good.count - 22 - 300
        var bytes = good
        for place in directory..<good.count { bytes[place] = 0xAA }
        bytes[0] = 0
        let start = try #require(Data(bytes).range(of: Data(Self.contents[2].bytes))).lowerBound
        bytes[start + 7] ^= 4
        try expect(in: bytes, butFor: ["manifest.json", "photos/été.jpg"])
        // A sector of zeros between two photos.
        bytes = good
        let end = try #require(Data(bytes).range(of: Data(Self.contents[3].bytes))).upperBound
        for place in end - 256..<end + 120 { bytes[place] = 0 }
        try expect(in: bytes, butFor: ["photos/aligned.jpg", "photos/behind.jpg"])
    }

    /// A picture may be an archive itself, or have one in it: its entries are not taken for those around it.
    @Test func anArchiveInsideIsOneEntry() throws {
        let inner = try written([("photos/a.jpg", [1, 2, 3]), ("photos/b.jpg", noise(50, seed: 4))])
        let contents: [(name: String, bytes: [UInt8])] = [
            ("x.zip", inner), ("photos/a.jpg", noise(90, seed: 5)), ("photos/b.jpg", noise(90, seed: 6)),
        ]
        let good = try written(contents)
        try expect(contents, in: good.dropLast(3) + [1, 1, 1])
        var bytes = good
        let header = try #require(Data(good).range(of: Data(inner))).upperBound
        bytes[header] ^= 1
        try expect(contents, in: bytes)
        try expect(contents, in: bytes.dropLast(3) + [1, 1, 1], butFor: ["photos/a.jpg"])
    }

    @Test(
        .enabled(if: Tool.zip.isPresent, "zip is not installed"), arguments: [["-r"], ["-r", "-0"], ["-r", "-fd"]])
    func archivesOfOthersWithoutADirectory(_ options: [String]) throws {
        let root = folder.file("in")
        try FileManager.default.createDirectory(atPath: root + "/photos", withIntermediateDirectories: true)
        for (name, bytes) in Self.contents { _ = try TestFile(creating: root + "/" + name, bytes: bytes) }
        try Tool.zip.run(["-q"] + options + [folder.file("b.zip"), "."], in: root)
        let good = try TestFile(reading: folder.file("b.zip")).bytes()
        try expect(in: good)
        // Where sizes stand behind the bytes, nothing says from the front where these end.
        if options == ["-r", "-fd"] {
            try expect(in: good.dropLast(), butFor: Set(Self.contents.map(\.name)))
        } else {
            try expect(in: good.dropLast())
        }
    }

    // MARK: Hostile ones

    @Test func nothingThatIsTakenSharesBytes() throws {
        let content = noise(100, seed: 1)
        var outer = RawArchive.Entry("outer", content)
        let inner = RawArchive(.init("inner", [1, 2, 3])).bytes
        outer.data = inner + content
        (outer.size, outer.crc32) = (UInt32(outer.data.count), ContentDigest(of: outer.data).crc32)
        var hidden = RawArchive.Entry("inner", [1, 2, 3])
        (hidden.offset, hidden.localName) = (35, Array("other".utf8))
        let reader = try open(RawArchive(outer, hidden).bytes)
        #expect(try reader.entries.map(\.name) == ["outer", "other"])
        if case .overlap? = reader.salvage?.problem {} else { Issue.record("\(String(describing: reader.salvage))") }
    }

    /// What is in order loses nothing by what is not: neither its name nor, behind bytes in front, its place.
    @Test func whatIsInOrderGoesFirst() throws {
        var renamed = RawArchive.Entry("b", [1, 2, 3])
        (renamed.name, renamed.localName) = (Array("c".utf8), Array("b".utf8))
        let named = try open(RawArchive(renamed, .init("b")).bytes)
        let index = try #require(named.entries.indices.first { named.problems(of: $0).isEmpty })
        let entry = try named.entries[index]
        #expect(entry.name == "b" && entry.size == 7)

        var streamed = RawArchive.Entry("streamed")
        streamed.flags |= 1 << 3
        (streamed.localSize, streamed.localCompressedSize, streamed.localCRC32) = (0, 0, 0)
        streamed.behind =
            [0x50, 0x4B, 7, 8] + RawArchive.little(streamed.crc32) + RawArchive.little(UInt32(7))
            + RawArchive.little(UInt32(7))
        var broken = RawArchive.Entry("broken")
        broken.localCRC32 = 5
        broken.crc32 = 6
        var archive = RawArchive(streamed, broken)
        archive.prefix = [1, 2, 3]
        let shifted = try open(archive.bytes)
        #expect(try shifted.entries.map(\.name) == ["streamed", "broken"])
        #expect(try shifted.read(0, limit: 7) == Data("content".utf8))
        #expect(shifted.obstacle(to: 1) == .localHeaderDisagrees(.checksum))
    }

    @Test func namesAreLookedAtAndTwiceIsOnce() throws {
        let good = RawArchive(.init("../a"), .init("b"), .init("B", [1]), .init("c\\d")).bytes
        let reader = try open(good.dropLast())
        #expect(reader.entries.count == 4 && reader.salvage?.problem == .endNotFound)
        #expect(
            reader.refusals.map(\.problem) == [.nameClimbs, .nameHoldsBackslash, .nameTaken(by: "b")])
    }

    @Test func limitsHold() throws {
        let good = RawArchive(.init("a"), .init("b"), .zeros("c", matches: 5000)).bytes.dropLast()
        #expect(throws: ZipError.unusableArchive(.tooManyEntries(count: 3, limit: 2))) {
            try open(Array(good), limits: ZipLimits(maximumEntries: 2))
        }
        #expect(throws: ZipError.unusableArchive(.tooManyBytes(limit: 1000))) {
            try open(Array(good), limits: ZipLimits(maximumTotalBytes: 1000))
        }
        // A bomb is no entry.
        let strict = try open(Array(good), limits: ZipLimits(ratioFreeBytes: 1000))
        #expect(try strict.entries.map(\.name) == ["a", "b"])
    }

    /// Headers that all claim the rest of the file: each costs a reading, of which there are only so many.
    @Test func aFileOfFalseHeadersEnds() throws {
        var entry = RawArchive.Entry("a", [])
        entry.data = []
        var bytes: [UInt8] = []
        for place in 0..<40_000 {
            entry.localSize = UInt32((40_000 - place) * 31 - 31)
            entry.localCompressedSize = entry.localSize
            bytes += RawArchive(entry).bytes.prefix(31)
        }
        var asked = 0
        try file.replace(with: bytes)
        #expect(throws: ZipError.unusableArchive(.endNotFound)) {
            try ZipReader.salvaging(file.descriptor, limits: ZipLimits())
        }
        #expect(throws: ZipError.cancelled) {
            try ZipReader.salvaging(
                file.descriptor, limits: ZipLimits(),
                cancelled: {
                    asked += 1
                    return asked > 10
                })
        }
    }

    /// Nothing but the beginnings of headers: none of them is one, and to look at each would take hours for a large file.
    @Test func aFileOfSignaturesEndsSoon() throws {
        var asked = 0
        try file.replace(with: Array(repeatElement([0x50, 0x4B, 3, 4] as [UInt8], count: 500_000).joined()))
        #expect(throws: ZipError.unusableArchive(.endNotFound)) {
            try ZipReader.salvaging(
                file.descriptor, limits: ZipLimits(),
                cancelled: {
                    asked += 1
                    return false
                })
        }
        #expect(asked < 20_000, "\(asked)")
    }

    /// A name that the damaged directory has twice belongs to the entry of which it is.
    @Test func aNameThatBecameAnotherOnesLeavesThatOneWhole() throws {
        var bytes = RawArchive([.init("photos/1.jpg", noise(90, seed: 1)), .init("photos/3.jpg", noise(70, seed: 2))])
            .bytes
        let name = Array("photos/1.jpg".utf8)
        let place = try #require(bytes.indices.dropLast(name.count).last { bytes[$0...].starts(with: name) })
        bytes[place + 7] ^= 2
        try file.replace(with: bytes)
        let reader = try ZipReader.salvaging(file.descriptor, limits: ZipLimits())
        for (index, name) in ["photos/1.jpg", "photos/3.jpg"].enumerated() {
            let entries = try reader.entries.map { $0 }
            let found = try #require(entries.first { $0.name == name }, "\(entries.map(\.name))")
            #expect(reader.problems(of: found.index).isEmpty, "\(reader.problems(of: found.index))")
            let content = noise(index == 0 ? 90 : 70, seed: index == 0 ? 1 : 2)
            #expect(try reader.read(found.index, limit: 1000) == Data(content))
        }
    }

    /// The seed makes every run the same. What is got is what the archive says, of bytes that nothing else has.
    @Test func mutatedArchivesNeverCrash() throws {
        var random = SplitMix64(seed: 0x5A17_A6E5)
        let good = RawArchive([
            .init("manifest.json"), RawArchive.Entry("photos/a", noise(60, seed: 1)).deflatedAsIs(),
            .zeros("photos/0", matches: 20), .init("empty", []), .init("last", noise(40, seed: 2)),
        ]).bytes
        let extremes: [[UInt8]] = [
            [0xFF, 0xFF, 0xFF, 0xFF], [0, 0, 0, 0], [0xFF, 0xFF, 0xFF, 0x7F], [0x50, 0x4B, 3, 4], [0x50, 0x4B, 1, 2],
        ]
        var taken = 0
        for round in 0..<5000 {
            var bytes = good
            for _ in 0...Int.random(in: 0..<5, using: &random) {
                let start = Int.random(in: 0..<bytes.count, using: &random)
                let value = Bool.random(using: &random) ? extremes[round % extremes.count] : [UInt8(round & 255)]
                for (offset, byte) in value.enumerated() where start + offset < bytes.count {
                    bytes[start + offset] = byte
                }
            }
            do throws(ZipError) {
                try file.bytes(bytes)
                let reader = try ZipReader.salvaging(file.descriptor, limits: ZipLimits())
                let verification = try ZipVerification(reader)
                try verification.work()
                for (index, digest) in try verification.digests {
                    let entry = try reader.entries[index]
                    if digest.size != entry.size || digest.crc32 != entry.crc32 { Issue.record("round \(round)") }
                }
                taken += try verification.digests.count
            } catch {
                if error.archiveProblem == nil { Issue.record("round \(round): \(error)") }
            }
        }
        #expect(taken > 15_000)
    }
}

extension TestFile {
    fileprivate func bytes(_ bytes: [UInt8]) throws(ZipError) {
        do { try replace(with: bytes) } catch { throw .writeFailed(errno: EIO) }
    }
}
