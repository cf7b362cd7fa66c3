import Files
import Foundation
import TestSupport
import Testing

@testable import ZipArchive

/// On a file system that can share blocks; as root only, because it is mounted.
@Suite(.enabled(if: SharingFileSystem.isPossible, "mounting XFS takes root, xfsprogs and a loop device"))
struct BlockSharingTests {
    private let place: SharingFileSystem

    init() throws { place = try SharingFileSystem() }

    private func writer(_ sizes: [Int]) throws -> (ZipWriter, TestFile) {
        let entries = sizes.enumerated().map {
            ZipLayout.Entry(name: "photos/\($0.offset)", size: Int64($0.element), modified: 1_700_000_000_000)
        }
        let file = try TestFile(creating: place.path + "/a.zip")
        return (ZipWriter(descriptor: file.descriptor, layout: try ZipLayout(entries: entries)), file)
    }

    @Test func anArchiveTakesNoRoomForWhatItShares() throws {
        let contents = [noise(8_000_000, seed: 1), noise(4 << 20, seed: 2), noise(50_000, seed: 3)]
        let sources = try contents.enumerated().map {
            try TestFile(creating: place.path + "/source\($0.offset)", bytes: $0.element)
        }
        let (writer, file) = try writer(contents.map(\.count))
        let before = try place.used()
        var seen = 0
        let copied = try sources.enumerated().map {
            let run = try EntryRun($0.offset..<$0.offset + 1, of: writer)
            let source = OpenFile($0.element.descriptor)
            let digest = try run.copy($0.offset, reading: source, progress: { seen += $0 })
            // What is shared was read from the disk; the rest of the last block was written.
            #expect(try run.finish())
            return digest
        }
        #expect(copied == contents.map { ContentDigest(of: $0) })
        #expect(seen == contents.map(\.count).reduce(0, +))
        try writer.finish()
        try #require(fsync(file.descriptor) == 0)
        #expect(try writer.proveSeams())
        #expect(try place.used() - before < 1_000_000)
        // Whoever changes a source has blocks of his own from then on.
        try sources[0].replace(with: noise(8_000_000, seed: 9))
        let reader = try ZipReader(descriptor: file.descriptor)
        for (index, bytes) in contents.enumerated() {
            #expect(try reader.read(index, limit: 1 << 24) == Data(bytes))
        }
        // And back, into files.
        let used = try place.used()
        for (index, bytes) in contents.enumerated() {
            let target = try TestFile(creating: place.path + "/target\(index)")
            #expect(try reader.extract(index, to: target.descriptor) == ContentDigest(of: bytes))
            #expect(try target.bytes() == bytes)
        }
        #expect(try place.used() - used < 1_000_000)
    }

    @Test(arguments: [-1, 1, 300_000]) func aSourceOfAnotherSizeIsRefused(_ difference: Int) throws {
        let content = noise(1_000_000, seed: 1)
        let (writer, file) = try writer([content.count])
        defer { withExtendedLifetime(file) {} }
        let source = try TestFile(creating: place.path + "/source", bytes: noise(content.count + difference, seed: 1))
        #expect(throws: ZipError.sourceSizeDiffers(entry: "photos/0", expected: 1_000_000)) {
            try writer.copyEntry(0, from: source.descriptor)
        }
        try source.replace(with: content)
        #expect(try writer.copyEntry(0, from: source.descriptor) == ContentDigest(of: content))
    }

    @Test func aSourceElsewhereIsCopied() throws {
        let content = noise(1_000_000, seed: 1)
        let folder = try TemporaryFolder("elsewhere")
        let source = try TestFile(creating: folder.file("source"), bytes: content)
        let (writer, file) = try writer([content.count])
        defer { withExtendedLifetime(file) {} }
        #expect(try writer.copyEntry(0, from: source.descriptor) == ContentDigest(of: content))
        try writer.finish()
        #expect(try ZipReader(descriptor: file.descriptor).read(0, limit: 1 << 20) == Data(content))
    }
}

/// XFS in a file, mounted for as long as somebody has this.
private final class SharingFileSystem: Sendable {
    static let isPossible = geteuid() == 0 && (try? SharingFileSystem()) != nil

    let path: String
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder("sharing")
        path = folder.file("mounted")
        let image = folder.file("image")
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        // XFS takes no less.
        try Self.run("truncate", "-s", "320M", image)
        try Self.run("mkfs.xfs", "-q", "-m", "reflink=1", image)
        try Self.run("mount", "-o", "loop", image, path)
    }

    deinit { try? Self.run("umount", "--lazy", path) }

    /// Bytes that are taken.
    func used() throws -> Int64 {
        sync()
        var facts = statvfs()
        try #require(statvfs(path, &facts) == 0)
        return Int64(facts.f_blocks - facts.f_bfree) * Int64(facts.f_frsize)
    }

    private static func run(_ arguments: String...) throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = arguments
        (process.standardOutput, process.standardError) = (FileHandle.nullDevice, FileHandle.nullDevice)
        try process.run()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw CocoaError(.executableLoad) }
    }
}
