import Files
import Foundation
import Scratch
import TestSupport
import Testing

@testable import ZipArchive

/// What is kept of entries, in memory and in files: both have to say the same.
struct ManyEntriesTests {
    private let folder: TemporaryFolder
    private let file: TestFile

    init() throws {
        folder = try TemporaryFolder("many")
        file = try TestFile(creating: folder.file("a.zip"))
    }

    private func open(_ entries: [RawArchive.Entry], _ scratch: Scratch) throws -> ZipReader {
        try file.replace(with: RawArchive(entries).bytes)
        return try ZipReader(descriptor: file.descriptor, limits: ZipLimits(), proven: nil, scratch: scratch)
    }

    /// Each of its own size and name, some with names in other encodings.
    private static let entries: [RawArchive.Entry] = (0..<20_000).map { number in
        var entry = RawArchive.Entry("photos/\(number)", Array("\(number)".utf8))
        if number % 100 == 7 {
            // "é" in code page 437, which is not UTF-8.
            (entry.name, entry.flags) = (Array("old/\(number)".utf8) + [0x82], 0)
        }
        return entry
    }

    @Test func whatIsInFilesIsWhatIsInMemory() throws {
        let inMemory = try open(Self.entries, .memory)
        let inFiles = try open(Self.entries, Scratch(in: folder.file("")))
        #expect(inFiles.refusals.isEmpty && inFiles.entries.count == Self.entries.count)
        let entries = try inFiles.entries.map { $0 }
        #expect(try inMemory.entries.map { $0 } == entries)
        #expect(entries[107].name == "old/107é" && entries[107].nameBytes == Self.entries[107].name)
        for entry in entries.reversed() where entry.index % 97 == 0 || entry.index % 100 == 7 {
            #expect(try inFiles.entries[entry.index] == entry)
            #expect(try inFiles.index(of: entry.name) == entry.index)
            #expect(try inFiles.dataOffset(of: entry.index) == inMemory.dataOffset(of: entry.index))
            #expect(try inFiles.read(entry.index, limit: 10) == Data("\(entry.index)".utf8))
        }
        let verification = try ZipVerification(inFiles)
        #expect(verification.bytes == Self.entries.reduce(0) { $0 + Int64($1.data.count) })
        try verification.work()
        #expect(try verification.failures.isEmpty && verification.digests.count == Self.entries.count)
    }

    /// By the same names as a dictionary of them would, of those that are taken.
    @Test func entriesAreFoundByTheirNames() throws {
        let reader = try open(
            [.init("été"), .init("Straße"), .init("STRASSE"), .init("a\\b"), .init("A\\B"), .init("folder/", [])],
            .memory)
        #expect(try reader.index(of: "été") == 0)
        #expect(try reader.index(of: "e\u{301}te\u{301}") == 0)
        #expect(try reader.index(of: "ÉTÉ") == nil)
        #expect(try reader.index(of: "Straße") == 1)
        // Refused for the name of the other.
        #expect(try reader.index(of: "STRASSE") == nil && reader.problems(of: 2) == [.nameTaken(by: "Straße")])
        #expect(try reader.index(of: "a\\b") == nil)
        #expect(try reader.index(of: "folder/") == 5 && reader.index(of: "folder") == nil)
        #expect(try reader.index(of: "nobody") == nil && reader.index(of: "") == nil)
    }

    /// Entries whose order is not that of their bytes are sorted before they are compared.
    @Test(arguments: [false, true]) func anyOrderIsTaken(_ overlaps: Bool) throws {
        var archive = RawArchive(Array(Self.entries.prefix(300)))
        let starts = archive.entries.indices.map { number in
            archive.entries[..<number].reduce(0) { $0 + 30 + $1.name.count + $1.data.count }
        }
        // The headers stay, and say the names of before.
        for number in archive.entries.indices {
            let other = number ^ 1
            var entry = Self.entries[other]
            entry.offset = UInt32(starts[other])
            (entry.localName, entry.localSize) = (Self.entries[number].name, Self.entries[number].size)
            (entry.localCompressedSize, entry.localCRC32) = (Self.entries[number].size, Self.entries[number].crc32)
            entry.localFlags = Self.entries[number].flags
            entry.compressedSize = entry.size
            entry.data = Self.entries[number].data
            archive.entries[number] = entry
        }
        if overlaps { archive.entries[200].offset = UInt32(starts[40]) }
        try file.replace(with: archive.bytes)
        if overlaps {
            #expect(throws: ZipError.unusableArchive(.overlap(entry: "photos/201", other: "photos/40"))) {
                try ZipReader(descriptor: file.descriptor)
            }
        } else {
            let reader = try ZipReader(descriptor: file.descriptor)
            #expect(reader.refusals.isEmpty)
            #expect(try reader.read(200, limit: 10) == Data("201".utf8))
        }
    }

    /// Written by several threads and out of order, with what is known of it in files; and read back with what is proven of it.
    @Test func anArchiveIsMadeOfWhatLiesInFiles() throws {
        let scratch = Scratch(in: folder.file(""))
        let contents = (0..<20_000).map { Array("content \($0)".utf8) + noise(150, seed: UInt64($0)) }
        var maker = ZipLayout.Maker(in: scratch)
        for (number, content) in contents.enumerated() {
            try maker.append(.init(name: "photos/\(number)", size: Int64(content.count), modified: 1_700_000_000_000))
        }
        let layout = try maker.finish()
        let same = try ZipLayout(entries: (0..<layout.count).map { try layout.entry(at: $0) })
        #expect(same.totalSize == layout.totalSize && same.directoryOffset == layout.directoryOffset)
        let writer = ZipWriter(descriptor: file.descriptor, layout: layout)
        #expect(throws: ZipError.unwritten(entry: "photos/0", count: 20_000)) { try writer.finish() }
        let table = EntryTable<ContentDigest>(in: scratch)
        let runs = Array(try layout.runs(of: 0..<layout.count).reversed())
        #expect(Set(runs.joined()).count == layout.count && runs.count > 1)
        let failures = concurrently(4) { thread in
            for run in runs.enumerated().filter({ $0.offset % 4 == thread }).map(\.element) {
                let copying = try EntryRun(run, of: writer)
                for index in run {
                    try table.put(copying.copy(index, reading: HeldBytes(contents[index])), at: index)
                }
                _ = try copying.finish()
            }
        }
        #expect(failures.isEmpty)
        #expect(throws: ZipError.writtenTwice(entry: "photos/7")) { try writer.writeEntry(7, bytes: contents[7]) }
        try writer.finish()
        _ = fsync(file.descriptor)
        guard try writer.proveSeams() else { return }
        table.forget(11)
        let reader = try ZipReader(
            descriptor: file.descriptor, limits: ZipLimits(), proven: writer.proven(table), scratch: scratch)
        #expect(reader.refusals.isEmpty && reader.form?.otherEntries == [] && reader.form?.hasOtherEnd == false)
        let verification = try ZipVerification(reader)
        #expect(verification.bytes == Int64(contents[11].count))
        try verification.work()
        let digests = try verification.digests
        for (index, content) in contents.enumerated() where digests[index] != ContentDigest(of: content) {
            Issue.record("\(index)")
        }
    }

    @Test func aCopyForgetsForItselfAlone() throws {
        let table = EntryTable<VerifiedEntry>(in: Scratch(in: folder.file("")))
        let digests = (0..<10_000).map { ContentDigest(of: Data("\($0)".utf8)) }
        for (index, digest) in digests.enumerated() where index % 3 > 0 {
            let fingerprint = index % 3 == 1 ? nil : Fingerprint(size: digest.size, low: UInt64(index), high: .max)
            try table.put(VerifiedEntry(digest: digest, fingerprint: fingerprint), at: index)
        }
        let copy = table.copy()
        copy.forget(4)
        #expect(try copy[4] == nil && table[4] != nil && !copy.contains(4) && table.contains(4))
        for (index, digest) in digests.enumerated() where index != 4 {
            let found = try copy[index]
            #expect(found?.digest == (index % 3 > 0 ? digest : nil))
            #expect(found?.fingerprint?.low == (index % 3 == 2 ? UInt64(index) : nil))
            #expect(found?.fingerprint?.size == (index % 3 == 2 ? digest.size : nil))
        }
        #expect(try copy[10_000] == nil)
    }

    @Test func withoutAScratchFolderAllStaysInMemory() throws {
        try file.replace(with: RawArchive(Self.entries).bytes)
        let reader = try ZipReader(
            descriptor: file.descriptor, limits: ZipLimits(), proven: nil,
            scratch: Scratch(in: folder.file("nowhere")))
        #expect(reader.entries.count == Self.entries.count)
        let names: [String] = try reader.entries.map { entry throws(ZipError) in entry.name }
        let inMemory = try ZipReader(descriptor: file.descriptor)
        let expected: [String] = try inMemory.entries.map { entry throws(ZipError) in entry.name }
        #expect(names == expected)
    }
}

struct EntrySetTests {
    @Test func aBitForEach() {
        var set: EntrySet = [0, 63, 64, 1000]
        #expect(set.count == 4 && set.contains(63) && set.contains(1000) && !set.contains(62) && !set.contains(9999))
        set.insert(63)
        #expect(set.count == 4)
        set.remove(1000)
        set.remove(1000)
        set.remove(5000)
        #expect(set.count == 3 && !set.contains(1000) && set == [63, 64, 0] && set != [0, 63, 65])
        for index in [0, 63, 64] { set.remove(index) }
        #expect(set.isEmpty && set == [])
    }
}
