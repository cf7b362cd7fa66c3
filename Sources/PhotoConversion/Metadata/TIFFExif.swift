import ImageWorkerProtocol

/// The EXIF of a TIFF file, which is spread over the file itself: what describes the photo is gathered into a small
/// block of its own. Best effort: maker notes, which hold offsets into the whole file, stay behind.
enum TIFFExif {
    private struct Entry {
        var tag: UInt16
        var type: UInt16
        var count: UInt32
        /// In the file's byte order; at most four bytes long it stands in the entry.
        var data: [UInt8]
    }

    /// What a photo's first directory may keep. The rest describes how the pixels are stored.
    private static let keptTags: Set<UInt16> = [
        0x010E, 0x010F, 0x0110, 0x0112, 0x011A, 0x011B, 0x0128, 0x0131, 0x0132, 0x013B, 0x4746, 0x4749,
        0x8298, 0x9C9B, 0x9C9C,
    ]
    private static let exifDirectory: UInt16 = 0x8769
    private static let gpsDirectory: UInt16 = 0x8825
    private static let makerNote: UInt16 = 0x927C
    private static let interoperability: UInt16 = 0xA005
    private static let mostEntries = 200

    /// A block, or nil where there is nothing to keep. BigTIFF's wider directories are not read.
    static func block(from file: ByteView) -> [UInt8]? {
        let isBigEndian = file[0] == 0x4D
        // Olympus and Panasonic have letters of their own where TIFF has its number.
        let isNumbered = file[2] == 0x2A || file[3] == 0x2A
        guard isNumbered || RawSignature.type(file) == .orf || RawSignature.type(file) == .rw2 else { return nil }
        let reader = Reader(bytes: file, isBigEndian: isBigEndian)
        let main = reader.entries(at: reader.number32(4))
        func linked(_ tag: UInt16) -> [Entry] {
            guard let link = main.first(where: { $0.tag == tag }), link.data.count == 4 else { return [] }
            let offset = link.data.withUnsafeBytes {
                Reader(bytes: ByteView($0), isBigEndian: isBigEndian).number32(0)
            }
            return reader.entries(at: offset).filter { $0.tag != makerNote && $0.tag != interoperability }
        }
        return block(main, exif: linked(exifDirectory), gps: linked(gpsDirectory), isBigEndian: isBigEndian)
    }

    /// A block of directories each of which is the first one of a TIFF of its own. Those that are in another byte order than `main` are left out.
    static func block(main: ByteView, exif: ByteView?, gps: ByteView?) -> [UInt8]? {
        let isBigEndian = main[0] == 0x4D
        func entries(_ file: ByteView?) -> [Entry] {
            guard let file, file[0] == main[0], file[2] == 0x2A || file[3] == 0x2A else { return [] }
            let reader = Reader(bytes: file, isBigEndian: isBigEndian)
            return reader.entries(at: reader.number32(4)).filter { $0.tag != makerNote && $0.tag != interoperability }
        }
        return block(entries(main), exif: entries(exif), gps: entries(gps), isBigEndian: isBigEndian)
    }

    private static func block(
        _ main: [Entry], exif: [Entry], gps: [Entry], isBigEndian: Bool
    ) -> [UInt8]? {
        var first = main.filter { keptTags.contains($0.tag) }
        guard !first.isEmpty || !exif.isEmpty || !gps.isEmpty else { return nil }
        var writer = Writer(isBigEndian: isBigEndian)
        // Links get their targets once the sizes of what stands before them are known.
        for (tag, entries) in [(exifDirectory, exif), (gpsDirectory, gps)] where !entries.isEmpty {
            first.append(Entry(tag: tag, type: 4, count: 1, data: [0, 0, 0, 0]))
        }
        first.sort { $0.tag < $1.tag }
        let firstSize = Writer.size(first)
        var offset = 8 + firstSize
        for (tag, entries) in [(exifDirectory, exif), (gpsDirectory, gps)] where !entries.isEmpty {
            guard let index = first.firstIndex(where: { $0.tag == tag }) else { continue }
            first[index].data = writer.bytes32(UInt32(offset))
            offset += Writer.size(entries)
        }
        for entries in [first, exif, gps] where !entries.isEmpty { writer.append(entries) }
        return writer.bytes.count <= ImageLimits.exifSegmentBytes ? writer.bytes : nil
    }

    private struct Reader {
        let bytes: ByteView
        let isBigEndian: Bool

        func number16(_ offset: Int) -> UInt16 {
            isBigEndian ? bytes.bigEndian16(at: offset) : bytes.littleEndian16(at: offset)
        }

        func number32(_ offset: Int) -> UInt32 {
            isBigEndian ? bytes.bigEndian32(at: offset) : bytes.littleEndian32(at: offset)
        }

        func entries(at start: UInt32) -> [Entry] {
            let start = Int(start)
            guard start >= 8 else { return [] }
            let sizes: [Int] = [0, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8]
            return (0..<min(Int(number16(start)), mostEntries)).compactMap { index in
                let offset = start + 2 + index * 12
                let type = number16(offset + 2)
                let count = number32(offset + 4)
                guard type >= 1, Int(type) < sizes.count, count >= 1, count <= 32_768 else { return nil }
                let length = Int(count) * sizes[Int(type)]
                let data = bytes.part(from: length <= 4 ? offset + 8 : Int(number32(offset + 8)), count: length)
                guard data.count == length else { return nil }
                return Entry(tag: number16(offset), type: type, count: count, data: data.array)
            }
        }
    }

    private struct Writer {
        private let isBigEndian: Bool
        private(set) var bytes: [UInt8]

        init(isBigEndian: Bool) {
            self.isBigEndian = isBigEndian
            bytes = isBigEndian ? [0x4D, 0x4D, 0, 0x2A, 0, 0, 0, 8] : [0x49, 0x49, 0x2A, 0, 8, 0, 0, 0]
        }

        /// Bytes of a directory and the values that do not fit its entries, each at an even offset.
        static func size(_ entries: [Entry]) -> Int {
            2 + entries.count * 12 + 4
                + entries.reduce(0) { $0 + ($1.data.count > 4 ? ($1.data.count + 1) / 2 * 2 : 0) }
        }

        func bytes16(_ value: UInt16) -> [UInt8] {
            isBigEndian ? [UInt8(value >> 8), UInt8(value & 255)] : [UInt8(value & 255), UInt8(value >> 8)]
        }

        func bytes32(_ value: UInt32) -> [UInt8] {
            let bytes = (0..<4).map { UInt8(truncatingIfNeeded: value >> (24 - 8 * UInt32($0))) }
            return isBigEndian ? bytes : bytes.reversed()
        }

        mutating func append(_ entries: [Entry]) {
            var behind = bytes.count + 2 + entries.count * 12 + 4
            var values: [UInt8] = []
            bytes += bytes16(UInt16(entries.count))
            for entry in entries {
                bytes += bytes16(entry.tag) + bytes16(entry.type) + bytes32(entry.count)
                if entry.data.count <= 4 {
                    bytes += entry.data + [UInt8](repeating: 0, count: 4 - entry.data.count)
                } else {
                    bytes += bytes32(UInt32(behind))
                    let padded = entry.data + [UInt8](repeating: 0, count: entry.data.count % 2)
                    values += padded
                    behind += padded.count
                }
            }
            bytes += [0, 0, 0, 0] + values
        }
    }
}
