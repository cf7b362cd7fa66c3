import CLinux
import Files
import Foundation
import TestSupport
import Testing

@testable import ZipArchive

struct ZipWriterTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder("writer") }

    private func writer(_ sizes: [Int], into name: String = "a.zip") throws -> (ZipWriter, TestFile) {
        let entries = sizes.enumerated().map {
            ZipLayout.Entry(name: "photos/\($0.offset)", size: Int64($0.element), modified: 1_700_000_000_000)
        }
        let file = try TestFile(creating: folder.file(name))
        return (ZipWriter(descriptor: file.descriptor, layout: try ZipLayout(entries: entries)), file)
    }

    @Test func severalThreadsWriteOneArchive() throws {
        let contents = (0..<96).map { noise($0 * 7919 % 600_000, seed: UInt64($0)) }
        let sources = try contents.enumerated().map {
            try TestFile(creating: folder.file("source\($0.offset)"), bytes: $0.element)
        }
        let (writer, file) = try writer(contents.map(\.count))
        // Backwards and side by side: the order of writing must not matter.
        let failures = concurrently(contents.count) { turn in
            let index = contents.count - 1 - turn
            let digest =
                if index % 3 == 0 { try writer.writeEntry(index, bytes: contents[index]) } else {
                    try writer.copyEntry(index, from: sources[index].descriptor)
                }
            if digest != ContentDigest(of: contents[index]) { throw ZipError.cancelled }
        }
        #expect(failures.isEmpty)
        try writer.finish()
        #expect(try DescriptorIO.size(file.descriptor) == writer.layout.totalSize)
        let reader = try ZipReader(descriptor: file.descriptor)
        #expect(reader.refusals.isEmpty)
        for (index, bytes) in contents.enumerated() {
            #expect(try reader.read(index, limit: 1 << 20) == Data(bytes))
        }
    }

    @Test func whatLiesBehindTheArchiveIsCutOff() throws {
        let (writer, file) = try writer([3])
        try file.replace(with: noise(100_000, seed: 1))
        try writer.writeEntry(0, bytes: Data("abc".utf8))
        try writer.finish()
        #expect(try DescriptorIO.size(file.descriptor) == writer.layout.totalSize)
        #expect(try ZipReader(descriptor: file.descriptor).read(0, limit: 3) == Data("abc".utf8))
    }

    @Test func anEmptyArchiveIsAnArchive() throws {
        let (writer, file) = try writer([])
        try writer.finish()
        #expect(try file.bytes().count == 22)
        #expect(try ZipReader(descriptor: file.descriptor).entries.isEmpty)
    }

    @Test(arguments: [-1, 1, 300_000])
    func aSourceOfAnotherSizeIsRefusedAndMayBeTriedAgain(_ difference: Int) throws {
        let size = 300_000
        let bytes = noise(size, seed: 9)
        let source = try TestFile(creating: folder.file("source"), bytes: noise(size + difference, seed: 9))
        let (writer, file) = try writer([size])
        let refusal = ZipError.sourceSizeDiffers(entry: "photos/0", expected: Int64(size))
        #expect(throws: refusal) { try writer.copyEntry(0, from: source.descriptor) }
        #expect(throws: refusal) { try writer.writeEntry(0, bytes: noise(size + difference, seed: 9)) }
        #expect(throws: ZipError.unwritten(entry: "photos/0", count: 1)) { try writer.finish() }
        try source.replace(with: bytes)
        #expect(try writer.copyEntry(0, from: source.descriptor) == ContentDigest(of: bytes))
        try writer.finish()
        #expect(try ZipReader(descriptor: file.descriptor).read(0, limit: size) == Data(bytes))
    }

    @Test func anEntryIsWrittenOnce() throws {
        let (writer, file) = try writer([1, 1])
        try writer.writeEntry(1, bytes: [7])
        #expect(throws: ZipError.writtenTwice(entry: "photos/1")) { try writer.writeEntry(1, bytes: [7]) }
        #expect(throws: ZipError.unwritten(entry: "photos/0", count: 1)) { try writer.finish() }
        withExtendedLifetime(file) {}
    }

    @Test func cancellingStopsBetweenBuffers() throws {
        let source = try TestFile(creating: folder.file("source"), bytes: noise(1_000_000, seed: 3))
        let (writer, file) = try writer([1_000_000])
        var seen = 0
        #expect(throws: ZipError.cancelled) {
            try writer.copyEntry(0, from: source.descriptor, cancelled: { seen > 0 }, progress: { seen += $0 })
        }
        #expect(seen == CopyLane.capacity)
        seen = 0
        _ = try writer.copyEntry(0, from: source.descriptor, progress: { seen += $0 })
        #expect(seen == 1_000_000)
        withExtendedLifetime(file) {}
    }

    @Test(.enabled(if: FileManager.default.fileExists(atPath: "/dev/full"), "/dev/full is not here"))
    func aFullDiskIsAnErrorOfItsOwn() throws {
        let full = clinux_open("/dev/full", O_WRONLY, 0)
        defer { close(full) }
        let source = try TestFile(creating: folder.file("source"), bytes: noise(1000, seed: 3))
        let layout = try ZipLayout(entries: [.init(name: "a", size: 1000, modified: 0)])
        let writer = ZipWriter(descriptor: full, layout: layout)
        #expect(throws: ZipError.diskFull) { try writer.copyEntry(0, from: source.descriptor) }
        #expect(throws: ZipError.diskFull) { try writer.writeEntry(0, bytes: noise(1000, seed: 3)) }
        #expect(throws: ZipError.diskFull) {
            try ZipWriter(descriptor: full, layout: ZipLayout(entries: [])).finish()
        }
        let archive = try TestFile(creating: folder.file("a.zip"), bytes: RawArchive(.init("a")).bytes)
        let reader = try ZipReader(descriptor: archive.descriptor)
        #expect(throws: ZipError.diskFull) { try reader.extract(0, to: full) }
    }

    @Test func failuresOfEitherSideAreToldApart() throws {
        let source = try TestFile(creating: folder.file("source"), bytes: [1])
        let readOnly = try TestFile(reading: folder.file("source"))
        let layout = try ZipLayout(entries: [.init(name: "a", size: 1, modified: 0)])
        #expect(throws: ZipError.writeFailed(errno: EBADF)) {
            try ZipWriter(descriptor: readOnly.descriptor, layout: layout).copyEntry(0, from: source.descriptor)
        }
        #expect(throws: ZipError.readFailed(errno: EBADF)) {
            try ZipWriter(descriptor: source.descriptor, layout: layout).copyEntry(0, from: -1)
        }
        #expect(throws: ZipError.readFailed(errno: EBADF)) { try ContentDigest(ofDescriptor: -1) }
        #expect(throws: ZipError.readFailed(errno: EBADF)) { try ZipReader(descriptor: -1) }
    }
}
