import ImageWorkerProtocol

/// What says that a file is a camera's raw file, and whose. Most are TIFFs, and pictures of scanners and programs are
/// TIFFs too: what tells them apart is that a directory holds the sensor's samples, or that the file says it is a DNG.
enum RawSignature {
    /// Nil of what is no raw file that is known.
    static func type(_ bytes: ByteView) -> PictureType? {
        func has(_ text: String, at offset: Int = 0) -> Bool { bytes.text(at: offset, count: text.utf8.count) == text }
        if has("FUJIFILMCCD-RAW") { return .raf }
        if has("IIRO") || has("IIRS") || has("MMOR") { return .orf }
        if has("IIU\0") { return .rw2 }
        if has("\0MRM") || has("HEAPCCDR", at: 6) { return .otherRaw }
        if has("ftypcrx ", at: 4) { return .cr3 }
        guard has("II*\0") || has("MM\0*") else { return nil }
        if has("CR", at: 8), bytes[10] == 2 { return .cr2 }
        let directories = RawDirectories(bytes)
        if directories.isDNG { return .dng }
        guard directories.holdsSamples else { return nil }
        let makers: [(String, PictureType)] = [
            ("NIKON", .nef), ("SONY", .arw), ("PENTAX", .pef), ("RICOH", .pef), ("SAMSUNG", .srw),
        ]
        return makers.first { directories.make.hasPrefix($0.0) }?.1 ?? .otherRaw
    }
}

/// The directories of a TIFF or of what is built like one, the first ones and those below them, as far as they are
/// about raw files. In bounds: few of them, few entries of each.
struct RawDirectories {
    /// Whether the first one has DNG's version.
    private(set) var isDNG = false
    /// Whether one holds what a sensor saw: one colour a pixel, or its own colours.
    private(set) var holdsSamples = false
    /// Bytes of samples that the directories tell of, and how many of them the file has not.
    private(set) var sampleBytes = 0
    private(set) var missingBytes = 0
    /// In upper case.
    private(set) var make = ""
    /// JPEGs inside, in the order in which they are found.
    private(set) var previews: [ByteView] = []

    private enum Tag {
        static let compression = 0x0103
        static let meaning = 0x0106
        static let make = 0x010F
        static let strips = 0x0111
        static let stripBytes = 0x0117
        static let tiles = 0x0144
        static let tileBytes = 0x0145
        static let below = 0x014A
        static let preview = 0x0201
        static let previewBytes = 0x0202
        static let version = 0xC612
        /// Panasonic's, of a whole JPEG.
        static let panasonic = 0x002E
    }

    private static let mostDirectories = 24
    private static let mostEntries = 400
    private static let mostPreviews = 12
    private static let mostParts = 4096

    private let bytes: ByteView
    private let isBigEndian: Bool
    private var seen: Set<Int> = []

    init(_ bytes: ByteView) {
        self.bytes = bytes
        isBigEndian = bytes[0] == 0x4D
        var waiting = [number32(4)]
        while let start = waiting.popLast(), seen.count < Self.mostDirectories {
            guard start >= 8, start < bytes.count, seen.insert(start).inserted else { continue }
            waiting += read(start, isFirst: seen.count == 1)
        }
    }

    /// - Returns: where further directories are.
    private mutating func read(_ start: Int, isFirst: Bool) -> [Int] {
        let count = min(number16(start), Self.mostEntries)
        var values: [Int: Int] = [:]
        var lists: [Int: List] = [:]
        var further: [Int] = []
        for index in 0..<count {
            let entry = start + 2 + index * 12
            let (tag, type, many) = (number16(entry), number16(entry + 2), number32(entry + 4))
            // SHORT stands at the entry's beginning, LONG and IFD fill it.
            let value = type == 3 ? number16(entry + 8) : number32(entry + 8)
            switch tag {
            case Tag.version: isDNG = isDNG || isFirst
            case Tag.make where make.isEmpty && many <= 64:
                make = bytes.text(at: many > 4 ? value : entry + 8, count: many).uppercased()
            case Tag.below where many == 1: further.append(value)
            case Tag.below where many <= 8: further += (0..<many).map { number32(value + $0 * 4) }
            case Tag.panasonic where many > 4: add(value, many)
            case Tag.strips, Tag.stripBytes, Tag.tiles, Tag.tileBytes:
                lists[tag] = List(start: entry + 8, count: min(many, Self.mostParts), isShort: type == 3)
                // Of several strips none is a whole JPEG.
                if many == 1 { values[tag] = value }
            default: values[tag] = value
            }
        }
        // A mosaic, and colours that are the sensor's.
        if [32_803, 34_892].contains(values[Tag.meaning]) {
            holdsSamples = true
            addSamples(lists[Tag.strips], lists[Tag.stripBytes])
            addSamples(lists[Tag.tiles], lists[Tag.tileBytes])
        } else if let place = values[Tag.strips], [6, 7].contains(values[Tag.compression]) {
            add(place, values[Tag.stripBytes] ?? 0)
        }
        if let place = values[Tag.preview] { add(place, values[Tag.previewBytes] ?? 0) }
        let next = number32(start + 2 + count * 12)
        return [next] + further.reversed()
    }

    /// Numbers of an entry, in it or elsewhere.
    private struct List {
        var start: Int
        var count: Int
        var isShort: Bool
    }

    private func number(_ index: Int, of list: List) -> Int {
        let width = list.isShort ? 2 : 4
        let start = list.count * width <= 4 ? list.start : number32(list.start)
        return list.isShort ? number16(start + index * width) : number32(start + index * width)
    }

    private mutating func addSamples(_ places: List?, _ lengths: List?) {
        guard let places, let lengths else { return }
        for index in 0..<min(places.count, lengths.count) {
            let length = number(index, of: lengths)
            sampleBytes += length
            missingBytes += length - bytes.part(from: number(index, of: places), count: length).count
        }
    }

    private mutating func add(_ place: Int, _ length: Int) {
        let preview = bytes.part(from: place, count: length)
        guard previews.count < Self.mostPreviews, preview.starts(with: [0xFF, 0xD8, 0xFF]) else { return }
        previews.append(preview)
    }

    private func number16(_ offset: Int) -> Int {
        Int(isBigEndian ? bytes.bigEndian16(at: offset) : bytes.littleEndian16(at: offset))
    }

    private func number32(_ offset: Int) -> Int {
        Int(isBigEndian ? bytes.bigEndian32(at: offset) : bytes.littleEndian32(at: offset))
    }
}
