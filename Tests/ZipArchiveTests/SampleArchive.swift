import Foundation
import TestSupport

@testable import ZipArchive

/// Archives made by our writer for other people's readers.
enum SampleArchive: String, CaseIterable, Sendable {
    /// Everything that a backup holds and its odd cases, small.
    case varied
    /// More entries than the 16-bit counter holds.
    case manyEntries
    /// An entry past 4 GiB, and one behind it. A sparse file: it takes no room on the disk.
    case hugeEntry

    static let hugeSize: Int64 = (1 << 32) + 5
    /// CRC-32 of that many zeros, computed with Python's zlib.
    static let hugeChecksum: UInt32 = 0xB1C2_A1A3
    static let hugeName = "photos/huge.bin"

    /// Name and content of each entry; no content for the huge one.
    var contents: [(name: String, bytes: [UInt8]?)] {
        switch self {
        case .varied:
            [
                ("manifest.json", Array(#"{"backupVersion":"1.0"}"#.utf8)),
                ("empty", []),
                ("photos/été à la mer.jpg", noise(100_000, seed: 1)),
                ("photos/写真 👨‍👩‍👧.jpg", noise(65_536, seed: 2)),
                ("photos/just below.jpg", noise(65_535, seed: 3)),
                ("photos/e\u{301}.heic", noise(300_001, seed: 4)),
                ("photos/" + String(repeating: "n", count: 200), noise(70_000, seed: 5)),
                ("photos/before 1980", noise(10, seed: 6)),
                ("photos/after 2107", noise(90_000, seed: 7)),
                ("metadata.json", Array("{}".utf8)),
            ]
        case .manyEntries:
            (0..<70_000).map { ("photos/\($0)", Array("photo \($0)".utf8)) }
        case .hugeEntry:
            [
                ("manifest.json", Array("{}".utf8)), (Self.hugeName, nil),
                ("photos/behind.jpg", noise(100_000, seed: 8)), ("last.json", Array("[]".utf8)),
            ]
        }
    }

    /// The digest that a reader must find for each name, the huge one left out.
    var digests: [String: String] {
        contents.reduce(into: [:]) { digests, entry in
            if let bytes = entry.bytes { digests[entry.name] = ContentDigest(of: bytes).sha256.hex }
        }
    }

    /// Writes the archive into `folder`.
    ///
    /// The huge one goes into memory where that is offered: reading a hole of a disk file fills the page cache with
    /// 4 GiB of zeros, reading one of tmpfs fills nothing.
    func write(in folder: TemporaryFolder) throws -> TestFile {
        var file = try TestFile(creating: folder.file("a.zip"))
        let memory = "/dev/shm/smilepile-\(UUID().uuidString).zip"
        if self == .hugeEntry, let inMemory = try? TestFile(creating: memory, removedAtEnd: true) { file = inMemory }
        let contents = contents
        let entries = contents.map { entry in
            let modified: Int64 =
                switch entry.name {
                case "photos/before 1980": -5_000_000_000_500
                case "photos/after 2107": 9_000_000_000_000
                default: 1_696_170_622_123
                }
            return ZipLayout.Entry(
                name: entry.name, size: entry.bytes.map { Int64($0.count) } ?? Self.hugeSize, modified: modified)
        }
        let writer = ZipWriter(descriptor: file.descriptor, layout: try ZipLayout(entries: entries))
        for (index, entry) in contents.enumerated() {
            if let bytes = entry.bytes {
                try writer.writeEntry(index, bytes: bytes)
            } else {
                try writer.adoptEntry(index, crc32: Self.hugeChecksum)
            }
        }
        try writer.finish()
        return file
    }
}
