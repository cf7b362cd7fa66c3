import Foundation
import FuzzSupport

@testable import ZipArchive

/// Archives made by our own writer, small ones, and the forms that other people's have.
enum ZipSeeds {
    static func all() throws -> [[UInt8]] {
        let small = try written(["manifest.json": Array("{}".utf8), "photos/é.jpg": Array("content".utf8), "empty": []])
        return [
            small, try written([:]), aligned(),
            deflated(), withZIP64End(), withDescriptors(wide: false), withDescriptors(wide: true),
            [0, 1, 2, 3] + small, small.dropLast(2) + [7, 0] + Array("comment".utf8), folders(),
        ]
    }

    private static func written(_ contents: KeyValuePairs<String, [UInt8]>) throws -> [UInt8] {
        let layout = try ZipLayout(
            entries: contents.map { .init(name: $0.key, size: Int64($0.value.count), modified: 1_696_170_622_123) })
        let file = ScratchFile()
        let writer = ZipWriter(descriptor: file.descriptor, layout: layout)
        for (index, entry) in contents.enumerated() { try writer.writeEntry(index, bytes: entry.value) }
        try writer.finish()
        return file.bytes()
    }

    /// The fields of both headers of an entry.
    private struct Raw {
        var name = "a"
        var flags: UInt16 = 1 << 11
        var method: UInt16 = 0
        var content = Array("content".utf8)
        var data = Array("content".utf8)
        var extra: [UInt8] = []
        var localExtra: [UInt8] = []
        /// In the local header size, compressed size and checksum are zero, and this follows the data.
        var descriptor: [UInt8]?
        var isWide = false
        var attributes: UInt32 = 0o100644 << 16

        func header(central offset: UInt32?) -> [UInt8] {
            var record = RecordBytes()
            let isCentral = offset != nil
            let isLate = !isCentral && descriptor != nil
            record.append(UInt32(isCentral ? 0x0201_4B50 : 0x0403_4B50))
            if isCentral { record.append(UInt16(3 << 8 | 45)) }
            record.append(UInt16(isWide ? 45 : 20))
            record.append(flags)
            record.append(method)
            record.append(UInt32(0x0021_0000))
            record.append(isLate ? 0 : ContentDigest(of: content).crc32)
            record.append(isWide ? .max : isLate ? 0 : UInt32(data.count))
            record.append(isWide ? .max : isLate ? 0 : UInt32(content.count))
            record.append(UInt16(name.utf8.count))
            record.append(UInt16((isCentral ? extra : localExtra).count))
            if let offset {
                record.append([UInt8](repeating: 0, count: 6))
                record.append(attributes)
                record.append(offset)
            }
            record.append(Array(name.utf8))
            record.append(isCentral ? extra : localExtra)
            return record.bytes
        }
    }

    private static func archive(_ entries: [Raw], zip64End: Bool = false) -> [UInt8] {
        var bytes: [UInt8] = []
        var central: [UInt8] = []
        for entry in entries {
            central += entry.header(central: UInt32(bytes.count))
            bytes += entry.header(central: nil) + entry.data + (entry.descriptor ?? [])
        }
        var end = RecordBytes()
        if zip64End {
            end.append(UInt32(0x0606_4B50))
            end.append(UInt64(44))
            end.append(UInt32(45 << 16 | 45))
            end.append(UInt64(0))
            for number in [entries.count, entries.count, central.count, bytes.count] { end.append(UInt64(number)) }
            end.append(UInt32(0x0706_4B50))
            end.append(UInt32(0))
            end.append(UInt64(bytes.count + central.count))
            end.append(UInt32(1))
        }
        end.append(UInt32(0x0605_4B50))
        end.append(UInt32(0))
        end.append(zip64End ? UInt32.max : UInt32(entries.count << 16 | entries.count))
        end.append(zip64End ? UInt32.max : UInt32(central.count))
        end.append(zip64End ? UInt32.max : UInt32(bytes.count))
        end.append(UInt16(0))
        return bytes + central + end.bytes
    }

    private static func deflated() -> [UInt8] {
        // A stored block, and 1 + 258 zeros with the fixed codes.
        let block = Raw(name: "block", method: 8, data: [1, 7, 0, 0xF8, 0xFF] + Array("content".utf8))
        let zeros = Raw(
            name: "zeros", method: 8, content: [UInt8](repeating: 0, count: 259),
            data: [0x63, 0x18, 0x05, 0x00])
        return archive([block, zeros])
    }

    /// With a gap before the data, in zipalign's form.
    private static func aligned() -> [UInt8] {
        archive([Raw(localExtra: [0x35, 0xD9, 8, 0, 0, 16] + [UInt8](repeating: 0, count: 6))])
    }

    private static func withZIP64End() -> [UInt8] { archive([Raw(), Raw(name: "b")], zip64End: true) }

    private static func withDescriptors(wide: Bool) -> [UInt8] {
        var descriptor = RecordBytes()
        descriptor.append(UInt32(0x0807_4B50))
        descriptor.append(ContentDigest(of: "content".utf8.map { $0 }).crc32)
        var sizes = RecordBytes()
        for _ in 0..<2 { if wide { sizes.append(UInt64(7)) } else { descriptor.append(UInt32(7)) } }
        let timestamp: [UInt8] = [0x55, 0x54, 5, 0, 1, 0, 0, 0, 1]
        let unix: [UInt8] = [0x75, 0x78, 11, 0, 1, 4, 0xE8, 3, 0, 0, 4, 0xE8, 3, 0, 0]
        let long: [UInt8] = wide ? [1, 0, 16, 0] + sizes.bytes : []
        let entry = Raw(
            flags: 1 << 3, extra: long + timestamp + unix, localExtra: long + timestamp,
            descriptor: descriptor.bytes + sizes.bytes, isWide: wide)
        var second = entry
        second.name = "b"
        return archive([entry, second])
    }

    private static func folders() -> [UInt8] {
        let folder = Raw(name: "photos/", content: [], data: [], attributes: 0o040755 << 16 | 0x10)
        return archive([folder, Raw(name: "photos/a")])
    }
}
