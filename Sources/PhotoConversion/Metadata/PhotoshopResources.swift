import ImageWorkerProtocol

/// Photoshop's image resources, in which JPEG and TIFF carry IPTC: blocks with a number, a name and a length.
enum PhotoshopResources {
    /// What begins each APP13 segment that holds a part of them.
    static let segmentName: [UInt8] = Array("Photoshop 3.0\0".utf8)
    private static let iptc: UInt16 = 0x0404

    /// The records of IPTC in the first block that has them.
    static func iptc(in bytes: ByteView) -> [UInt8]? {
        var offset = 0
        while offset + 12 <= bytes.count {
            // Other programs put their own four letters there.
            guard (0..<4).allSatisfy({ (0x20..<0x7F).contains(bytes[offset + $0]) }) else { return nil }
            let number = bytes.bigEndian16(at: offset + 4)
            // A name with its length before it, together an even number.
            offset += 6 + (Int(bytes[offset + 6]) + 2) / 2 * 2
            let length = Int(bytes.bigEndian32(at: offset))
            offset += 4
            if number == iptc {
                let block = bytes.part(from: offset, count: length)
                return block.count == length ? EmbeddedMetadata.iptcRecords(block) : nil
            }
            offset += length + length % 2
        }
        return nil
    }

    /// The APP13 segments for these records.
    static func segments(iptc records: [UInt8]) -> [JPEGSegment] {
        let count = UInt32(records.count)
        let block =
            Array("8BIM".utf8) + [UInt8(iptc >> 8), UInt8(iptc & 255), 0, 0]
            + (0..<4).map { UInt8(truncatingIfNeeded: count >> (24 - 8 * UInt32($0))) }
            + records + [UInt8](repeating: 0, count: records.count % 2)
        let room = JPEGSegment.mostBytes - segmentName.count
        return stride(from: 0, to: block.count, by: room).map { start in
            JPEGSegment(marker: 0xED, bytes: segmentName + block[start..<min(block.count, start + room)])
        }
    }
}
