/// An EXIF block (a small TIFF file) read and patched in place, every offset checked.
///
/// Patched rather than parsed and written again, because maker notes hold offsets into the block that only their
/// makers know: as long as nothing moves they stay right.
struct ExifBlock {
    private(set) var bytes: [UInt8]
    private let isBigEndian: Bool

    private enum Tag {
        static let imageWidth: UInt16 = 0x0100
        static let imageLength: UInt16 = 0x0101
        static let orientation: UInt16 = 0x0112
        static let exifDirectory: UInt16 = 0x8769
        static let makerNote: UInt16 = 0x927C
        static let padding: UInt16 = 0xEA1C
        static let pixelWidth: UInt16 = 0xA002
        static let pixelHeight: UInt16 = 0xA003
        static let thumbnailOffset: UInt16 = 0x0201
        static let thumbnailLength: UInt16 = 0x0202
    }

    /// Nil where `bytes` have no TIFF header.
    init?(_ bytes: [UInt8]) {
        guard bytes.count >= 14 else { return nil }
        if bytes.starts(with: [0x49, 0x49, 0x2A, 0]) {
            isBigEndian = false
        } else if bytes.starts(with: [0x4D, 0x4D, 0, 0x2A]) {
            isBigEndian = true
        } else {
            return nil
        }
        self.bytes = bytes
    }

    /// Orientation of the main picture, stored as SHORT, LONG or BYTE.
    var orientation: Orientation {
        guard let entry = entry(Tag.orientation, in: firstDirectory), let value = value(entry) else { return .upright }
        return Orientation(exif: Int(value))
    }

    /// What the camera's maker has put in, as it stands there; nil where there is nothing.
    var makerNote: ArraySlice<UInt8>? {
        guard let directory = entry(Tag.exifDirectory, in: firstDirectory).flatMap(value).map(Int.init),
            let entry = entry(Tag.makerNote, in: directory), let count = read32(entry + 4).map(Int.init),
            count > 4, let start = read32(entry + 8).map(Int.init), start <= bytes.count, count <= bytes.count - start
        else { return nil }
        return bytes[start..<start + count]
    }

    /// Makes padding of what camera makers put in.
    mutating func hideMakerNotes() {
        guard let directory = entry(Tag.exifDirectory, in: firstDirectory).flatMap(value).map(Int.init) else { return }
        for index in 0..<(entryCount(directory) ?? 0) {
            let entry = directory + 2 + index * 12
            if read16(entry) == Tag.makerNote { write16(entry, Tag.padding) }
        }
    }

    /// Says that the picture is upright and `size` large, and forgets the thumbnail, which shows it as it was.
    mutating func describe(upright size: PixelSize) {
        let main = firstDirectory
        set(Tag.orientation, in: main, to: 1)
        set(Tag.imageWidth, in: main, to: UInt32(size.width))
        set(Tag.imageLength, in: main, to: UInt32(size.height))
        if let entry = entry(Tag.exifDirectory, in: main), let directory = value(entry) {
            set(Tag.pixelWidth, in: Int(directory), to: UInt32(size.width))
            set(Tag.pixelHeight, in: Int(directory), to: UInt32(size.height))
        }
        forgetThumbnail(after: main)
    }

    private mutating func forgetThumbnail(after main: Int) {
        guard let count = entryCount(main) else { return }
        let link = main + 2 + count * 12
        guard let second = read32(link), second != 0 else { return }
        write32(link, 0)
        guard let start = entry(Tag.thumbnailOffset, in: Int(second)).flatMap(value).map(Int.init),
            let length = entry(Tag.thumbnailLength, in: Int(second)).flatMap(value).map(Int.init)
        else { return }
        // At the end of the block, as most cameras put it, the thumbnail can go altogether.
        if start > link + 4, start > Int(second), start < bytes.count, start + length >= bytes.count - 64,
            start + length <= bytes.count
        {
            bytes.removeSubrange(start...)
        }
    }

    // MARK: Directories

    private var firstDirectory: Int { Int(read32(4) ?? 0) }

    private func entryCount(_ directory: Int) -> Int? {
        guard directory >= 8, let count = read16(directory) else { return nil }
        // A directory that claims more entries than the block can hold is no directory.
        return directory + 2 + Int(count) * 12 <= bytes.count ? Int(count) : nil
    }

    /// Where the entry of `tag` stands in the directory at `directory`.
    private func entry(_ tag: UInt16, in directory: Int) -> Int? {
        guard let count = entryCount(directory) else { return nil }
        return (0..<count).lazy.map { directory + 2 + $0 * 12 }.first { read16($0) == tag }
    }

    /// The first value of an entry of type BYTE, SHORT or LONG.
    private func value(_ entry: Int) -> UInt32? {
        guard let type = read16(entry + 2), let count = read32(entry + 4), count >= 1 else { return nil }
        switch type {
        case 1 where count <= 4: return entry + 8 < bytes.count ? UInt32(bytes[entry + 8]) : nil
        case 3 where count <= 2: return read16(entry + 8).map(UInt32.init)
        case 4 where count == 1: return read32(entry + 8)
        default: return nil
        }
    }

    /// Writes the value of an entry that is there, in the type that it has.
    private mutating func set(_ tag: UInt16, in directory: Int, to newValue: UInt32) {
        guard let entry = entry(tag, in: directory), value(entry) != nil, let type = read16(entry + 2) else { return }
        switch type {
        case 1: bytes[entry + 8] = UInt8(clamping: newValue)
        case 3: write16(entry + 8, UInt16(clamping: newValue))
        default: write32(entry + 8, newValue)
        }
    }

    // MARK: Numbers

    private func read16(_ offset: Int) -> UInt16? {
        guard offset >= 0, offset + 2 <= bytes.count else { return nil }
        let value = UInt16(bytes[offset]) << 8 | UInt16(bytes[offset + 1])
        return isBigEndian ? value : value.byteSwapped
    }

    private func read32(_ offset: Int) -> UInt32? {
        guard let first = read16(offset), let second = read16(offset + 2) else { return nil }
        return isBigEndian ? UInt32(first) << 16 | UInt32(second) : UInt32(second) << 16 | UInt32(first)
    }

    private mutating func write16(_ offset: Int, _ value: UInt16) {
        guard offset >= 0, offset + 2 <= bytes.count else { return }
        let ordered = isBigEndian ? value : value.byteSwapped
        bytes[offset] = UInt8(ordered >> 8)
        bytes[offset + 1] = UInt8(ordered & 0xFF)
    }

    private mutating func write32(_ offset: Int, _ value: UInt32) {
        let halves = (UInt16(value >> 16), UInt16(value & 0xFFFF))
        write16(offset, isBigEndian ? halves.0 : halves.1)
        write16(offset + 2, isBigEndian ? halves.1 : halves.0)
    }
}
