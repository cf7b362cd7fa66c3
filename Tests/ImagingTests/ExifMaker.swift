/// EXIF blocks made to order.
enum ExifMaker {
    struct Entry {
        var tag: UInt16
        var type: UInt16
        var count: UInt32
        var data: [UInt8]

        static func short(_ tag: UInt16, _ value: Int) -> Entry {
            Entry(tag: tag, type: 3, count: 1, data: bytes16(value))
        }
        static func long(_ tag: UInt16, _ value: Int) -> Entry {
            Entry(tag: tag, type: 4, count: 1, data: bytes32(value))
        }
        static func text(_ tag: UInt16, _ value: String) -> Entry {
            Entry(tag: tag, type: 2, count: UInt32(value.utf8.count + 1), data: Array(value.utf8) + [0])
        }
        static func undefined(_ tag: UInt16, _ data: [UInt8]) -> Entry {
            Entry(tag: tag, type: 7, count: UInt32(data.count), data: data)
        }
        static func fractions(_ tag: UInt16, _ values: [(Int, Int)]) -> Entry {
            Entry(
                tag: tag, type: 5, count: UInt32(values.count),
                data: values.flatMap { bytes32($0.0) + bytes32($0.1) })
        }
        static func angle(_ tag: UInt16, _ degrees: Int, _ minutes: Int, _ seconds: Int) -> Entry {
            let data = [degrees, minutes, seconds].flatMap { bytes32($0) + bytes32(1) }
            return Entry(tag: tag, type: 5, count: 3, data: data)
        }
    }

    static func bytes16(_ value: Int) -> [UInt8] { [UInt8(value >> 8 & 255), UInt8(value & 255)] }
    static func bytes32(_ value: Int) -> [UInt8] { bytes16(value >> 16) + bytes16(value & 0xFFFF) }

    static func block(orientation: Int) -> [UInt8] { block(main: [.short(0x0112, orientation)]) }

    /// A big-endian block: the main directory, the ones it links to, and a thumbnail's directory with the thumbnail at
    /// the very end.
    static func block(main: [Entry], photo: [Entry] = [], place: [Entry] = [], thumbnail: [UInt8] = []) -> [UInt8] {
        var main = main
        if !photo.isEmpty { main.append(.long(0x8769, 0)) }
        if !place.isEmpty { main.append(.long(0x8825, 0)) }
        main.sort { $0.tag < $1.tag }
        let photoStart = 8 + size(main)
        let placeStart = photoStart + (photo.isEmpty ? 0 : size(photo))
        let secondStart = placeStart + (place.isEmpty ? 0 : size(place))
        for index in main.indices {
            if main[index].tag == 0x8769 { main[index].data = bytes32(photoStart) }
            if main[index].tag == 0x8825 { main[index].data = bytes32(placeStart) }
        }
        var bytes: [UInt8] = [0x4D, 0x4D, 0, 0x2A] + bytes32(8)
        append(main, next: thumbnail.isEmpty ? 0 : secondStart, to: &bytes)
        if !photo.isEmpty { append(photo, next: 0, to: &bytes) }
        if !place.isEmpty { append(place, next: 0, to: &bytes) }
        if !thumbnail.isEmpty {
            let entries: [Entry] = [.short(0x0103, 6), .long(0x0201, 0), .long(0x0202, thumbnail.count)]
            let start = secondStart + size(entries)
            append([entries[0], .long(0x0201, start), entries[2]], next: 0, to: &bytes)
            bytes += thumbnail
        }
        return bytes
    }

    private static func size(_ entries: [Entry]) -> Int {
        6 + entries.count * 12 + entries.reduce(0) { $0 + ($1.data.count > 4 ? $1.data.count : 0) }
    }

    /// One directory, where `bytes` end.
    static func append(_ entries: [Entry], next: Int, to bytes: inout [UInt8]) {
        var behind = bytes.count + 6 + entries.count * 12
        var values: [UInt8] = []
        bytes += bytes16(entries.count)
        for entry in entries {
            bytes += bytes16(Int(entry.tag)) + bytes16(Int(entry.type)) + bytes32(Int(entry.count))
            if entry.data.count <= 4 {
                bytes += entry.data + [UInt8](repeating: 0, count: 4 - entry.data.count)
            } else {
                bytes += bytes32(behind)
                values += entry.data
                behind += entry.data.count
            }
        }
        bytes += bytes32(next) + values
    }
}
