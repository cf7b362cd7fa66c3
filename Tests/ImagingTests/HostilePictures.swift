import Foundation
import ImageWorkerProtocol
import Testing

@testable import PhotoConversion

/// Small hostile pictures, made here: what a decoder may meet, without a file that anybody has to keep.
struct HostilePicture: Sendable, CustomTestStringConvertible {
    enum Verdict: Sendable {
        /// Refused with a type, and nothing else happens.
        case refused
        /// Odd, and a picture all the same.
        case taken
        /// Either is right; a worker that dies of it is not.
        case either
    }

    let name: String
    let bytes: [UInt8]
    let must: Verdict

    var testDescription: String { name }
}

extension HostilePicture {
    private static let size = PixelSize(width: 64, height: 48)

    private static func picture(_ format: Pictures.Format) throws -> [UInt8] {
        Array(try Pictures.file(format, size))
    }

    /// Where `pattern` begins, the first time.
    private static func place(of pattern: [UInt8], in bytes: [UInt8]) throws -> Int {
        try #require(
            bytes.indices.dropLast(pattern.count - 1).first { bytes[$0..<$0 + pattern.count].elementsEqual(pattern) })
    }

    private static func big32(_ value: UInt32) -> [UInt8] {
        (0..<4).map { UInt8(truncatingIfNeeded: value >> (24 - 8 * $0)) }
    }

    // MARK: What is no picture

    static func strangers() -> [HostilePicture] {
        let texts = [
            ("a page", "<!DOCTYPE html><html><body onload='x()'>"),
            ("a drawing", "<svg xmlns='http://www.w3.org/2000/svg'/>"),
            ("a script", "#!/bin/sh\nexit 1\n"), ("a document", "%PDF-1.7\n%%EOF"), ("an archive", "PK\u{3}\u{4}"),
            ("a program", "\u{7F}ELF"), ("nothing", ""), ("one byte", "B"),
        ]
        let beginnings: [(String, [UInt8])] = [
            ("JPEG", [0xFF, 0xD8]), ("PNG", [0x89] + Array("PNG\r\n\u{1A}\n".utf8)), ("GIF", Array("GIF89a".utf8)),
            ("BMP", Array("BM".utf8)), ("WebP", Array("RIFF\0\0\0\0WEBPVP8 ".utf8)),
            ("TIFF, little-endian", [0x49, 0x49, 42, 0, 8, 0, 0, 0]),
            ("TIFF, big-endian", [0x4D, 0x4D, 0, 42, 0, 0, 0, 8]),
            ("HEIC", [0, 0, 0, 24] + Array("ftypheic\0\0\0\0mif1heic".utf8)),
            ("AVIF", [0, 0, 0, 24] + Array("ftypavif\0\0\0\0mif1avif".utf8)),
            ("JPEG XL", [0xFF, 0x0A]), ("a JPEG XL's container", JXLPicture.container),
            ("JPEG 2000", J2KPicture.codestream), ("a JPEG 2000's container", J2KPicture.container),
            ("Canon's raw", [0, 0, 0, 24] + Array("ftypcrx \0\0\0\u{1}crx isom".utf8)),
            ("Fuji's raw", Array("FUJIFILMCCD-RAW 0201".utf8)), ("Olympus' raw", Array("IIRO\u{8}\0\0\0".utf8)),
            ("Panasonic's raw", Array("IIU\0\u{8}\0\0\0".utf8)),
            ("an older Canon's raw", Array("II*\0\u{10}\0\0\0CR\u{2}\0".utf8)),
        ]
        return texts.map { HostilePicture(name: $0, bytes: Array($1.utf8), must: .refused) }
            + beginnings.map { HostilePicture(name: "the beginning of \($0)", bytes: $1, must: .refused) }
            + beginnings.map {
                HostilePicture(
                    name: "the beginning of \($0), then zeros", bytes: $1 + [UInt8](repeating: 0, count: 4096),
                    must: .refused)
            }
    }

    // MARK: What says more than it has

    /// Kilobytes that ask for gigabytes.
    static func bombs() throws -> [HostilePicture] {
        var found: [HostilePicture] = []
        func add(_ name: String, _ bytes: [UInt8]) { found.append(.init(name: name, bytes: bytes, must: .refused)) }

        var gif = try picture(.gif)
        gif.replaceSubrange(6..<10, with: [255, 255, 255, 255])
        add("a GIF with a screen of 65,535 x 65,535", gif)
        var bmp = try picture(.bmp)
        bmp.replaceSubrange(18..<26, with: [0, 0x40, 0, 0, 0, 0x40, 0, 0])
        add("a BMP of 16,384 x 16,384", bmp)
        var png = try picture(.png)
        png.replaceSubrange(16..<24, with: big32(30_000) + big32(30_000))
        add("a PNG of 30,000 x 30,000", png)
        var avif = try picture(.avif)
        let ispe = try place(of: Array("ispe".utf8), in: avif)
        avif.replaceSubrange(ispe + 8..<ispe + 16, with: big32(60_000) + big32(60_000))
        add("an AVIF that says it is 60,000 x 60,000", avif)
        return found
    }

    // MARK: What contradicts itself

    static func liars() throws -> [HostilePicture] {
        var found: [HostilePicture] = []
        func add(_ name: String, _ must: Verdict, _ bytes: [UInt8]) {
            found.append(.init(name: name, bytes: bytes, must: must))
        }

        let png = try picture(.png)
        let data = try place(of: Array("IDAT".utf8), in: png)
        add("a PNG without its data", .refused, Array(png[..<(data - 4)]) + png.suffix(12))
        add(
            "a PNG whose data are noise", .refused,
            Array(png[..<(data + 4)]) + png[(data + 4)...].map { $0 ^ 0x5A })
        add(
            "a PNG with a chunk of 2 GiB", .refused,
            Array(png[..<(data - 4)]) + [0x7F, 0xFF, 0xFF, 0xFF] + png[data...])
        var palette = png
        palette[25] = 3
        add("a PNG with a palette that is not there", .refused, palette)

        add("a GIF without a picture", .refused, Array("GIF89a".utf8) + [8, 0, 8, 0, 0, 0, 0, 0x3B])
        let frame: [UInt8] = [0x2C, 0, 0, 0, 0, 8, 0, 8, 0, 0, 13, 2, 0xFF, 0xFF, 0, 0x3B]
        add(
            "a GIF with codes of 14 bits", .refused,
            Array("GIF89a".utf8) + [8, 0, 8, 0, 0x80, 0, 0, 0, 0, 0, 9, 9, 9] + frame)

        var bmp = try picture(.bmp)
        bmp.replaceSubrange(10..<14, with: [0xFF, 0xFF, 0xFF, 0x7F])
        add("a BMP whose pixels are 2 GiB away", .refused, bmp)
        // Run-length data that never end a line and go on past the last.
        let runs = [[UInt8]](repeating: [255, 1], count: 2000).flatMap { $0 }
        let header =
            Array("BM".utf8) + [
                0, 0, 0, 0, 0, 0, 0, 0, 0x36, 4, 0, 0, 40, 0, 0, 0, 8, 0, 0, 0, 8, 0, 0, 0, 1, 0, 8, 0, 1, 0, 0, 0,
            ]
            + [UInt8](repeating: 0, count: 20)
        add("a BMP with runs past its end", .either, header + [UInt8](repeating: 9, count: 1024) + runs)

        func tiff(_ entries: [ExifMaker.Entry], next: Int = 0) -> [UInt8] {
            var bytes = ExifMaker.block(main: entries)
            bytes.replaceSubrange(10 + entries.count * 12..<14 + entries.count * 12, with: ExifMaker.bytes32(next))
            return bytes
        }
        let grey: [ExifMaker.Entry] = [
            .long(0x0100, 64), .long(0x0101, 48), .short(0x0102, 8), .short(0x0103, 1), .short(0x0106, 1),
            .short(0x0115, 1), .long(0x0116, 48),
        ]
        add("a TIFF whose strip is past its end", .refused, tiff(grey + [.long(0x0111, 1 << 20), .long(0x0117, 3072)]))
        add("a TIFF without strips", .refused, tiff(grey))
        add(
            "a TIFF with more strips than bytes", .refused,
            tiff(grey + [.init(tag: 0x0111, type: 4, count: .max, data: [0, 0, 0, 8]), .long(0x0117, 3072)]))
        add("a TIFF whose directory follows itself", .refused, tiff([.long(0x0100, 64)], next: 8))

        let canvas: [UInt8] = [0xFF, 0x3F, 0, 0xFF, 0x3F, 0]
        let extended: [UInt8] = Array("VP8X".utf8) + [10, 0, 0, 0, 0, 0, 0, 0] + canvas
        let webp = Array(try picture(.webp).dropFirst(12))
        let length = UInt32(4 + extended.count + webp.count).littleEndian
        let riff = Array("RIFF".utf8) + withUnsafeBytes(of: length) { Array($0) } + Array("WEBP".utf8)
        add("a WebP whose canvas of 16,384 x 16,384 is not its picture's", .refused, riff + extended + webp)

        let jpeg = try picture(.jpeg)
        let scan = try place(of: [0xFF, 0xDA], in: jpeg)
        add("a JPEG without its scan", .refused, Array(jpeg[..<scan]) + [0xFF, 0xD9])
        let tables = try place(of: [0xFF, 0xC4], in: jpeg)
        var codes = jpeg
        for index in tables + 5..<tables + 21 { codes[index] = 255 }
        add("a JPEG with more codes than there can be", .refused, codes)
        add("a JPEG with a segment of no length", .either, [0xFF, 0xD8, 0xFF, 0xE1, 0, 0] + jpeg.dropFirst(2))
        return found
    }

    // MARK: What is odd and right

    static func oddities() throws -> [HostilePicture] {
        let jpeg = try picture(.jpeg)
        let comment: [UInt8] = [0xFF, 0xFE, 0xFF, 0xFF] + [UInt8](repeating: 0x41, count: 65_533)
        let comments = [[UInt8]](repeating: comment, count: 40).flatMap { $0 }
        let ring = ExifMaker.block(main: [.short(0x0112, 6), .long(0x8769, 8)])
        return [
            .init(name: "a JPEG with an archive behind it", bytes: jpeg + Array("PK\u{3}\u{4}".utf8), must: .taken),
            .init(
                name: "a PNG with a program behind it", bytes: try picture(.png) + Array("\u{7F}ELF".utf8), must: .taken
            ),
            .init(
                name: "a JPEG with 2.6 MB of comments", bytes: jpeg.prefix(2) + comments + jpeg.dropFirst(2),
                must: .taken),
            .init(
                name: "a JPEG whose EXIF goes in a ring", bytes: Array(try Pictures.jpeg(size, exif: ring)),
                must: .taken),
            .init(
                name: "a JPEG whose EXIF is noise",
                bytes: Array(
                    try Pictures.jpeg(size, exif: [0x49, 0x49, 42, 0] + [UInt8](repeating: 0xFF, count: 900))),
                must: .taken),
        ]
    }

    // MARK: Anything

    /// Whole pictures of one format, cut off and changed: the same ones in every run.
    static func mutants(_ format: Pictures.Format) throws -> [HostilePicture] {
        let whole = try picture(format)
        var generator = Seeded(state: 20_261_122)
        let cut = (1...6).map { part in
            HostilePicture(
                name: "\(part) of 7 parts of \(format)", bytes: Array(whole.prefix(whole.count * part / 7)),
                must: .either)
        }
        let changed = (0..<24).map { round in
            var bytes = whole
            for _ in 0..<Int.random(in: 1...12, using: &generator) {
                // Every other one only near the beginning, where what counts is.
                let end = round % 2 == 0 ? bytes.count : min(bytes.count, 200)
                bytes[Int.random(in: 0..<end, using: &generator)] = UInt8.random(in: 0...255, using: &generator)
            }
            return HostilePicture(name: "\(format), changed \(round)", bytes: bytes, must: .either)
        }
        return cut + changed
    }
}
