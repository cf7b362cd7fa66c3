import Foundation

/// A JPEG APP1 segment with the EXIF that the album's photos carry: orientation, date with sub-seconds and offset,
/// and a position.
struct ExifSegment {
    let orientation: Int
    /// Milliseconds since 1970-01-01 00:00 on the camera's clock.
    let takenAt: Int64?
    let hasPosition: Bool
    let model: String?

    private enum Value {
        case ascii(String)
        case short(UInt16)
        case long(UInt32)
        case rationals([(UInt32, UInt32)])

        var type: UInt16 {
            switch self {
            case .ascii: 2
            case .short: 3
            case .long: 4
            case .rationals: 5
            }
        }

        var count: UInt32 {
            switch self {
            case .ascii(let text): UInt32(text.utf8.count + 1)
            case .short, .long: 1
            case .rationals(let values): UInt32(values.count)
            }
        }

        var bytes: [UInt8] {
            switch self {
            case .ascii(let text): Array(text.utf8) + [0]
            case .short(let value): value.bigEndianBytes
            case .long(let value): value.bigEndianBytes
            case .rationals(let values): values.flatMap { $0.0.bigEndianBytes + $0.1.bigEndianBytes }
            }
        }
    }

    /// The whole segment: marker, length, `Exif`, and a big-endian TIFF block.
    var bytes: Data {
        // IFD0 holds pointers to the others, so their places must be known first: sizes do not depend on them.
        let exif = exifEntries
        let position = positionEntries
        let start: UInt32 = 8
        let exifPlace = start + Self.size(rootEntries(exif: 0, position: hasPosition ? 0 : nil))
        let positionPlace = exifPlace + Self.size(exif)
        let root = rootEntries(exif: exifPlace, position: hasPosition ? positionPlace : nil)
        var block: [UInt8] = Array("MM".utf8) + UInt16(42).bigEndianBytes + start.bigEndianBytes
        block += Self.directory(root, at: start)
        block += Self.directory(exif, at: exifPlace)
        if hasPosition { block += Self.directory(position, at: positionPlace) }
        let content = Array("Exif\0\0".utf8) + block
        return Data([0xFF, 0xE1] + UInt16(content.count + 2).bigEndianBytes + content)
    }

    private func rootEntries(exif: UInt32, position: UInt32?) -> [(UInt16, Value)] {
        [(0x010F, .ascii("SmilePile"))] + (model.map { [(0x0110, .ascii($0))] } ?? [])
            + [(0x0112, .short(UInt16(orientation))), (0x8769, .long(exif))]
            + (position.map { [(0x8825, .long($0))] } ?? [])
    }

    private var exifEntries: [(UInt16, Value)] {
        guard let takenAt else { return [(0x9000, .ascii("0232"))] }
        // In the zone +02:00, so that a reader that takes the clock for UTC's is two hours out.
        var seconds = time_t(takenAt / 1000)
        var parts = tm()
        gmtime_r(&seconds, &parts)
        var text = [CChar](repeating: 0, count: 32)
        strftime(&text, text.count, "%Y:%m:%d %H:%M:%S", &parts)
        let date = String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
        return [
            (0x9003, .ascii(date)), (0x9011, .ascii("+02:00")),
            (0x9291, .ascii(String(takenAt % 1000))),
        ]
    }

    /// 48° 51' 29.6" N, 2° 17' 40.2" E.
    private var positionEntries: [(UInt16, Value)] {
        [
            (0x0001, .ascii("N")), (0x0002, .rationals([(48, 1), (51, 1), (296, 10)])), (0x0003, .ascii("E")),
            (0x0004, .rationals([(2, 1), (17, 1), (402, 10)])),
        ]
    }

    private static func size(_ entries: [(UInt16, Value)]) -> UInt32 {
        entries.reduce(UInt32(6 + entries.count * 12)) { size, entry in
            let bytes = UInt32(entry.1.bytes.count)
            return size + (bytes > 4 ? bytes + bytes % 2 : 0)
        }
    }

    private static func directory(_ entries: [(UInt16, Value)], at place: UInt32) -> [UInt8] {
        var head = UInt16(entries.count).bigEndianBytes
        var data: [UInt8] = []
        let dataPlace = place + UInt32(6 + entries.count * 12)
        for (tag, value) in entries {
            head += tag.bigEndianBytes + value.type.bigEndianBytes + value.count.bigEndianBytes
            let bytes = value.bytes
            if bytes.count <= 4 {
                head += bytes + [UInt8](repeating: 0, count: 4 - bytes.count)
            } else {
                head += (dataPlace + UInt32(data.count)).bigEndianBytes
                data += bytes + [UInt8](repeating: 0, count: bytes.count % 2)
            }
        }
        return head + UInt32(0).bigEndianBytes + data
    }
}

extension FixedWidthInteger {
    fileprivate var bigEndianBytes: [UInt8] { withUnsafeBytes(of: bigEndian) { Array($0) } }
}
