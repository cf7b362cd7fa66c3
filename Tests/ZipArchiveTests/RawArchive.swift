import Foundation

@testable import ZipArchive

/// An archive put together field by field, so that a test can make any one of them lie.
struct RawArchive {
    struct Entry {
        var name: [UInt8]
        var data: [UInt8]
        var method: UInt16 = 0
        var flags: UInt16 = 1 << 11
        /// After inflating.
        var size: UInt32
        var crc32: UInt32
        var madeBy: UInt16 = 3 << 8 | 45
        var version: UInt16 = 20
        var mode: UInt32 = 0o100644
        /// The lowest byte of the attributes.
        var dosAttributes: UInt32 = 0
        var extra: [UInt8] = []
        var disk: UInt16 = 0
        /// In place of the real offset.
        var offset: UInt32?
        /// In place of the real compressed size, in the central directory.
        var compressedSize: UInt32?
        /// In place of the above, in the local header.
        var localName: [UInt8]?
        var localMethod: UInt16?
        var localFlags: UInt16?
        var localSize: UInt32?
        var localCompressedSize: UInt32?
        var localCRC32: UInt32?
        var localExtra: [UInt8]?
        var localVersion: UInt16?
        /// Written behind the data.
        var behind: [UInt8] = []

        init(_ name: String, _ content: [UInt8] = Array("content".utf8)) {
            self.init(name: Array(name.utf8), content)
        }

        init(name: [UInt8], _ content: [UInt8] = Array("content".utf8)) {
            self.name = name
            data = content
            size = UInt32(content.count)
            crc32 = ContentDigest(of: content).crc32
        }
    }

    var entries: [Entry]
    var prefix: [UInt8] = []
    var comment: [UInt8] = []
    var count: UInt16?
    var disk: UInt16 = 0
    var directoryOffset: UInt32?
    var directorySize: UInt32?
    /// Written between the directory and the end record.
    var beforeEnd: [UInt8] = []

    init(_ entries: Entry...) { self.entries = entries }

    init(_ entries: [Entry]) { self.entries = entries }

    var bytes: [UInt8] {
        var local = RecordBytes()
        var central = RecordBytes()
        for entry in entries {
            let offset = entry.offset ?? UInt32(local.bytes.count)
            let compressed = entry.compressedSize ?? UInt32(entry.data.count)
            local.append(UInt32(0x0403_4B50))
            local.append(entry.localVersion ?? entry.version)
            local.append(entry.localFlags ?? entry.flags)
            local.append(entry.localMethod ?? entry.method)
            local.append(UInt32(0x0021_0000))
            local.append(entry.localCRC32 ?? entry.crc32)
            local.append(entry.localCompressedSize ?? compressed)
            local.append(entry.localSize ?? entry.size)
            local.append(UInt16((entry.localName ?? entry.name).count))
            local.append(UInt16((entry.localExtra ?? entry.extra).count))
            local.append(entry.localName ?? entry.name)
            local.append(entry.localExtra ?? entry.extra)
            local.append(entry.data)
            local.append(entry.behind)

            central.append(UInt32(0x0201_4B50))
            central.append(entry.madeBy)
            central.append(entry.version)
            central.append(entry.flags)
            central.append(entry.method)
            central.append(UInt32(0x0021_0000))
            central.append(entry.crc32)
            central.append(compressed)
            central.append(entry.size)
            central.append(UInt16(entry.name.count))
            central.append(UInt16(entry.extra.count))
            central.append(UInt16(0))
            central.append(entry.disk)
            central.append(UInt16(0))
            central.append(entry.mode << 16 | entry.dosAttributes)
            central.append(offset)
            central.append(entry.name)
            central.append(entry.extra)
        }
        var end = RecordBytes()
        end.append(UInt32(0x0605_4B50))
        end.append(disk)
        end.append(disk)
        end.append(count ?? UInt16(entries.count))
        end.append(count ?? UInt16(entries.count))
        end.append(directorySize ?? UInt32(central.bytes.count))
        end.append(directoryOffset ?? UInt32(local.bytes.count))
        end.append(UInt16(comment.count))
        return prefix + local.bytes + central.bytes + beforeEnd + end.bytes + comment
    }

    /// A field of an extra: id, length, body.
    static func extra(_ id: UInt16, _ body: [UInt8]) -> [UInt8] {
        var field = RecordBytes()
        field.append(id)
        field.append(UInt16(body.count))
        field.append(body)
        return field.bytes
    }

    static func little(_ number: some FixedWidthInteger) -> [UInt8] {
        var bytes = RecordBytes()
        bytes.append(number)
        return bytes.bytes
    }
}

extension RawArchive.Entry {
    /// The same content as one raw deflate stream without compression: blocks of at most 65,535 bytes.
    func deflatedAsIs() -> Self {
        var entry = self
        entry.data = []
        var rest = data[...]
        repeat {
            let block = rest.prefix(0xFFFF)
            rest = rest.dropFirst(0xFFFF)
            entry.data.append(rest.isEmpty ? 1 : 0)
            entry.data += RawArchive.little(UInt16(block.count)) + RawArchive.little(~UInt16(block.count)) + block
        } while !rest.isEmpty
        entry.method = 8
        return entry
    }

    /// Zeros, deflated about 1 : 158 with the fixed codes: one literal, then matches of 258 bytes at distance 1.
    static func zeros(_ name: String, matches: Int) -> Self {
        var bits: [Bool] = [true, true, false]  // last block, fixed codes (lowest bit first)
        bits += [false, false, true, true, false, false, false, false]  // literal 0
        for _ in 0..<matches {
            bits += [true, true, false, false, false, true, false, true]  // 285: length 258
            bits += [false, false, false, false, false]  // distance 1
        }
        bits += [false, false, false, false, false, false, false]  // 256: end of block
        var deflated = [UInt8](repeating: 0, count: (bits.count + 7) / 8)
        for (index, bit) in bits.enumerated() where bit { deflated[index / 8] |= 1 << (index % 8) }
        let content = [UInt8](repeating: 0, count: 1 + 258 * matches)
        var entry = Self(name, content)
        entry.data = deflated
        entry.method = 8
        return entry
    }
}
