import FuzzSupport
import Glibc
import ImageWorkerProtocol
import SampleAlbum

@testable import PhotoConversion

/// An EXIF block as a container carries it, or a whole TIFF file: found, read, patched; and the dates in it.
@main
enum Exif: FuzzTarget {
    static func seeds() throws -> [[UInt8]] {
        var seeds: [[UInt8]] = []
        for index in 0..<10 {
            let photo = Array(try SampleAlbum(width: 16, height: 12, texture: 0).photo(index))
            if let block = photo.withUnsafeBytes({ EmbeddedMetadata(jpeg: ByteView($0)).exif }) { seeds.append(block) }
        }
        return seeds + [
            Array("2023:10:01 14:30:22\u{0}5\u{0}+02:00".utf8), Array("2024-02-29T23:59:60\u{0}\u{0}Z".utf8),
            Array("1969/12/31 23:59:59\u{0}999\u{0}-11:30".utf8), little(), withThumbnail(),
        ]
    }

    /// Everything that a file written on a little-endian machine may hold: a BYTE, a LONG, links and a maker note.
    private static func little() -> [UInt8] {
        [0x49, 0x49, 0x2A, 0, 8, 0, 0, 0, 3, 0] + [0x12, 1, 1, 0, 1, 0, 0, 0, 6, 0, 0, 0]
            + [0x0F, 1, 2, 0, 6, 0, 0, 0, 50, 0, 0, 0] + [0x69, 0x87, 4, 0, 1, 0, 0, 0, 56, 0, 0, 0]
            + [0, 0, 0, 0] + Array("Maker\u{0}".utf8)
            + [2, 0] + [2, 0xA0, 4, 0, 1, 0, 0, 0, 16, 0, 0, 0] + [0x7C, 0x92, 7, 0, 4, 0, 0, 0, 1, 2, 3, 4]
            + [0, 0, 0, 0]
    }

    private static func withThumbnail() -> [UInt8] {
        [0x4D, 0x4D, 0, 0x2A, 0, 0, 0, 8, 0, 1] + [1, 0x12, 0, 3, 0, 0, 0, 1, 0, 8, 0, 0] + [0, 0, 0, 26]
            + [0, 2] + [2, 1, 0, 4, 0, 0, 0, 1, 0, 0, 0, 56] + [2, 2, 0, 4, 0, 0, 0, 1, 0, 0, 0, 4] + [0, 0, 0, 0]
            + [0xFF, 0xD8, 0xFF, 0xD9]
    }

    static func run(_ input: [UInt8]) {
        input.withUnsafeBytes { bytes in
            let view = ByteView(bytes)
            if let block = EmbeddedMetadata.exifBlock(view) {
                require(block.count > 8 && block.count <= ImageLimits.exifBytes, "a block of \(block.count) bytes")
                check(ExifFacts(block: block))
                checkPatching(block)
            }
            if let gathered = TIFFExif.block(from: view) {
                require(gathered.count <= ImageLimits.exifSegmentBytes, "gathered more than a segment holds")
                require(ExifBlock(gathered) != nil, "gathered what is no block")
                check(ExifFacts(block: gathered))
                checkPatching(gathered)
                // What was gathered is whole: gathering it again finds the same.
                let again = gathered.withUnsafeBytes { TIFFExif.block(from: ByteView($0)) }
                require(again == gathered, "gathered again it is another")
            }
        }
        checkDate(input)
    }

    private static func checkPatching(_ block: [UInt8]) {
        guard var patched = ExifBlock(block) else { return }
        let size = PixelSize(width: 2048, height: 1365)
        let before = patched.orientation
        for tag: UInt16 in [0x9003, 0x9004, 0x9011, 0x9012, 0x9291, 0x9292] {
            require((patched.photoText(tag)?.utf8.count ?? 0) <= 64, "a text that is too long")
        }
        patched.describe(upright: size)
        require(patched.bytes.count <= block.count, "patching made it longer")
        require(
            before == .upright || patched.orientation == .upright, "still turned, after it was described as upright")
        let once = patched.bytes
        patched.describe(upright: size)
        require(patched.bytes == once, "patching it again changes it again")
    }

    private static func check(_ facts: ExifFacts) {
        if let location = facts.location {
            require(abs(location.latitude) <= 90 && abs(location.longitude) <= 180, "nowhere: \(location)")
        }
        if let date = facts.takenAt { check(date) }
    }

    /// A date, its fraction and its offset, with a zero between them.
    private static func checkDate(_ input: [UInt8]) {
        let texts = input.split(separator: 0, maxSplits: 2, omittingEmptySubsequences: false).map {
            String(decoding: $0, as: UTF8.self)
        }
        guard let first = texts.first,
            let date = ExifDate(
                date: first, fraction: texts.count > 1 ? texts[1] : nil, offset: texts.count > 2 ? texts[2] : nil)
        else { return }
        check(date)
    }

    private static func check(_ date: ExifDate) {
        require((0..<1000).contains(date.millisecond), "\(date)")
        guard let milliseconds = date.milliseconds else { return }
        require((-6_000_000_000_000...253_500_000_000_000).contains(milliseconds), "\(date) is \(milliseconds)")
        guard let offset = date.offset else { return }
        require(abs(offset) < 86_400, "\(date)")
        // Back again, by way of another function of the C library.
        var seconds = time_t((milliseconds - Int64(date.millisecond)) / 1000) + offset
        var parts = tm()
        gmtime_r(&seconds, &parts)
        if date.second < 60 {
            require(
                [parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec]
                    .map(Int.init) == [date.year, date.month, date.day, date.hour, date.minute, date.second],
                "\(date) comes back as \(parts)")
        }
    }
}
