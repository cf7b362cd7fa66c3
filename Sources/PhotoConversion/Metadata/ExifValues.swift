import CExiv2

/// The values of an EXIF block, taken apart by libexiv2.
final class ExifValues {
    enum Directory {
        case image, photo, gps
    }

    struct Value {
        /// TIFF's number of the type.
        var type: UInt16
        var bytes: [UInt8]
    }

    private let exif: OpaquePointer
    let isBigEndian: Bool

    /// Nil where it is no block that libexiv2 reads.
    init?(_ block: ExifBlock) {
        guard let exif = cexiv2_read_exif(block.bytes, block.bytes.count) else { return nil }
        self.exif = exif
        isBigEndian = cexiv2_is_big_endian(exif)
    }

    deinit { cexiv2_free_exif(exif) }

    func value(_ directory: Directory, _ tag: UInt16) -> Value? {
        let place: cexiv2_directory =
            switch directory {
            case .image: cexiv2_image
            case .photo: cexiv2_photo
            case .gps: cexiv2_gps
            }
        var found = cexiv2_value()
        guard cexiv2_find_tag(exif, place, tag, &found) else { return nil }
        return Value(type: found.type, bytes: Array(UnsafeBufferPointer(start: found.bytes, count: found.length)))
    }

    /// The bytes of a tag that holds a text, of whichever type its writer made it: ASCII, BYTE or UNDEFINED.
    func text(_ directory: Directory, _ tag: UInt16) -> [UInt8]? {
        value(directory, tag).flatMap { [1, 2, 7].contains($0.type) ? $0.bytes : nil }
    }

    /// BYTE, SHORT or LONG.
    func number(_ directory: Directory, _ tag: UInt16) -> Int? {
        guard let value = value(directory, tag), let width = [1: 1, 3: 2, 4: 4][value.type],
            value.bytes.count >= width
        else { return nil }
        return Int(word(value.bytes.prefix(width)))
    }

    /// RATIONAL or SRATIONAL, at most so many. Nil in place of one that is divided by zero.
    func fractions(_ tag: UInt16, upTo count: Int = 3) -> [Double?]? {
        guard let value = value(.gps, tag), value.type == 5 || value.type == 10, value.bytes.count >= 8 else {
            return nil
        }
        return stride(from: 0, to: min(value.bytes.count / 8, count) * 8, by: 8).map { start in
            let (upper, lower) = (word(value.bytes[start..<start + 4]), word(value.bytes[start + 4..<start + 8]))
            guard lower != 0 else { return nil }
            return value.type == 5
                ? Double(upper) / Double(lower)
                : Double(Int32(bitPattern: upper)) / Double(Int32(bitPattern: lower))
        }
    }

    private func word(_ bytes: ArraySlice<UInt8>) -> UInt32 {
        (isBigEndian ? Array(bytes) : bytes.reversed()).reduce(0) { $0 << 8 | UInt32($1) }
    }
}
