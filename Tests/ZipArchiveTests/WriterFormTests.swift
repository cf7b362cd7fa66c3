import Foundation
import TestSupport
import Testing

@testable import ZipArchive

/// Whether an archive is as our writer writes it, to the last byte.
struct WriterFormTests {
    private let folder: TemporaryFolder
    private let file: TestFile

    init() throws {
        folder = try TemporaryFolder("form")
        file = try TestFile(creating: folder.file("a.zip"))
    }

    @Test(arguments: SampleArchive.allCases) func whatTheWriterWritesIsInItsForm(_ sample: SampleArchive) throws {
        let archive = try sample.write(in: folder)
        let form = try #require(try ZipReader(descriptor: archive.descriptor).form)
        #expect(form.otherEntries.isEmpty && !form.hasOtherEnd)
    }

    @Test func timesOfEveryKindAreInItsForm() throws {
        // Seconds of 1901, 1970, 1980, 2038 and 2107, and what is beyond.
        let seconds: [Int64] = [
            -2_147_483_649, -1, 0, 315_532_799, 315_532_800, 315_532_801, 2_147_483_648, 4_354_819_198,
        ]
        var times: [Int64] = [.min, .max]
        for second in seconds { times += [second * 1000 - 1, second * 1000, second * 1000 + 999] }
        let entries = times.indices.map { ZipLayout.Entry(name: "\($0)", size: 0, modified: times[$0]) }
        let layout = try ZipLayout(entries: entries)
        let writer = ZipWriter(descriptor: file.descriptor, layout: layout)
        for index in times.indices { try writer.writeEntry(index, bytes: [UInt8]()) }
        try writer.finish()
        let form = try #require(try ZipReader(descriptor: file.descriptor).form)
        #expect(form.otherEntries.isEmpty && !form.hasOtherEnd)
    }

    /// Each bit, of headers, names, the zeros that align, bytes, directory and end.
    @Test func noFlippedBitPasses() throws {
        let contents: [(String, [UInt8])] = [
            ("manifest.json", Array("{}".utf8)), ("empty", []), ("photos/é.jpg", noise(30, seed: 1)), ("last", [1]),
        ]
        let layout = try ZipLayout(
            entries: contents.map { .init(name: $0.0, size: Int64($0.1.count), modified: 1_696_170_622_123) })
        let writer = ZipWriter(descriptor: file.descriptor, layout: layout)
        for (index, content) in contents.enumerated() { try writer.writeEntry(index, bytes: content.1) }
        try writer.finish()
        let good = try file.bytes()
        for place in good.indices {
            for bit in 0..<8 {
                var bytes = good
                bytes[place] ^= 1 << bit
                #expect(try !passes(bytes), "bit \(bit) of byte \(place)")
            }
        }
        #expect(try passes(good))
    }

    @Test func noFlippedByteBeforeAnAlignedEntryPasses() throws {
        let layout = try ZipLayout(
            entries: [.init(name: "a", size: 10, modified: 0), .init(name: "b", size: 65_536, modified: 0)])
        let writer = ZipWriter(descriptor: file.descriptor, layout: layout)
        try writer.writeEntry(0, bytes: noise(10, seed: 1))
        try writer.writeEntry(1, bytes: noise(65_536, seed: 2))
        try writer.finish()
        let good = try file.bytes()
        for place in stride(from: 0, to: Int(try layout.dataOffset(of: 1)), by: 41) {
            var bytes = good
            bytes[place] ^= 0x40
            #expect(try !passes(bytes), "byte \(place)")
        }
        #expect(try passes(good))
    }

    private func passes(_ bytes: [UInt8]) throws -> Bool {
        try file.replace(with: bytes)
        do throws(ZipError) {
            let reader = try ZipReader(descriptor: file.descriptor)
            let verification = try ZipVerification(reader)
            try verification.work()
            guard let form = reader.form else { return false }
            return reader.refusals.isEmpty && verification.failures.isEmpty && form.otherEntries.isEmpty
                && !form.hasOtherEnd
        } catch {
            if error.archiveProblem == nil { Issue.record(error) }
            return false
        }
    }

    @Test func archivesOfOthersAreNotInItsForm() throws {
        var other = RawArchive.Entry("a")
        other.version = 10
        try file.replace(with: RawArchive(other, RawArchive.Entry("b").deflatedAsIs()).bytes)
        #expect(try ZipReader(descriptor: file.descriptor).form?.otherEntries == [0, 1])
        // Names that are as long as names can be, and grow in UTF-8.
        var entry = RawArchive.Entry(name: [UInt8](repeating: 0xFF, count: 65_535))
        entry.extra = RawArchive.extra(0x5455, [1, 0, 0, 0, 1])
        try file.replace(with: RawArchive(entry).bytes)
        #expect(try ZipReader(descriptor: file.descriptor).form?.otherEntries == [0])
    }
}
