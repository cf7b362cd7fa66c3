import DateTexts
import FuzzSupport
import Glibc
import ImageWorkerProtocol
import SampleAlbum

@testable import PhotoConversion

/// An EXIF block as a container carries it, or a whole TIFF file: found, read, patched; XMP and IPTC, read, corrected and
/// carried; PNG's text chunks; and the dates in all of them.
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
            Array("20190612\u{0}143305\u{0}+0200".utf8), Array("2019-06-12T14:33:05.526GMT+02:00".utf8),
            Array("Wed, 12 Jun 2019 14:33:05 +0200".utf8), chunk("Creation Time\u{0}12 Jun 2019 14:33:05"),
            chunk("Raw profile type exif\u{0}\nexif\n  14\n49492a00080000000000\n00000000\n"),
            Array("UNICODE\u{0}A\u{0}t\u{0} \u{0}".utf8),
        ] + packets() + [records()]
    }

    /// Each form of a property that is read or corrected. What says `LONG` becomes too long for a segment.
    private static func packets() -> [[UInt8]] {
        let namespaces = [("xmp", XMPPacket.Namespace.xmp), ("tiff", .tiff), ("dc", .dublinCore), ("n", .note)]
            .map { "xmlns:\($0)='\($1.rawValue)'" }.joined(separator: " ")
        func wrapped(_ attributes: String, _ elements: String) -> [UInt8] {
            let description = "<rdf:Description rdf:about='' \(namespaces) \(attributes)>\(elements)</rdf:Description>"
            let rdf = "<rdf:RDF xmlns:rdf='\(XMPPacket.Namespace.rdf.rawValue)'>\(description)</rdf:RDF>"
            return Array(
                "<?xpacket begin='' id='x'?><x:xmpmeta xmlns:x='adobe:ns:meta/'>\(rdf)</x:xmpmeta><?xpacket end='w'?>"
                    .utf8)
        }
        return [
            wrapped("xmp:Rating='4' tiff:Orientation='6' xmp:CreateDate='2019-06-12'", ""),
            wrapped(
                "", "<tiff:ImageWidth>4000</tiff:ImageWidth><xmp:CreateDate>2019-06-12T14:33Z</xmp:CreateDate>"),
            wrapped(
                "n:HasExtendedXMP='00'",
                "<dc:description><rdf:Alt><rdf:li xml:lang='x-default'>At &#x41;</rdf:li></rdf:Alt></dc:description>"),
            wrapped(
                "dc:title='LONG' xmp:Label='a'", "<xmp:Nickname><![CDATA[x]]></xmp:Nickname><dc:type>LONG</dc:type>"),
        ]
    }

    /// A text chunk of a PNG, whose sum nobody looks at.
    private static func chunk(_ text: String) -> [UInt8] {
        [0, 0, 0, UInt8(text.utf8.count)] + Array("tEXt".utf8) + Array(text.utf8) + [0, 0, 0, 0]
    }

    private static func records() -> [UInt8] {
        [(55, "20190612"), (60, "143305+0200"), (120, "At the lake")].flatMap { (number: UInt8, text: String) in
            [0x1C, 2, number, 0, UInt8(text.utf8.count)] + Array(text.utf8)
        }
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
                check(PictureFacts(EmbeddedMetadata(exif: block)))
                checkPatching(block)
            }
            if let gathered = TIFFExif.block(from: view) {
                require(gathered.count <= ImageLimits.exifSegmentBytes, "gathered more than a segment holds")
                require(ExifBlock(gathered) != nil, "gathered what is no block")
                check(PictureFacts(EmbeddedMetadata(exif: gathered)))
                checkPatching(gathered)
                // What was gathered is whole: gathering it again finds the same.
                let again = gathered.withUnsafeBytes { TIFFExif.block(from: ByteView($0)) }
                require(again == gathered, "gathered again it is another")
            }
        }
        checkTexts(input)
        checkChunks(input)
        checkDate(input)
    }

    // MARK: XMP and IPTC

    private static let size = PixelSize(width: 2048, height: 1365)

    private static func checkTexts(_ input: [UInt8]) {
        var text = input
        if let mark = input.indices.first(where: { input[$0...].starts(with: "LONG".utf8) }) {
            text.replaceSubrange(mark..<mark + 4, with: [UInt8](repeating: 0x61, count: 70_000))
        }
        let metadata = text.withUnsafeBytes {
            EmbeddedMetadata(
                xmp: EmbeddedMetadata.xmpPacket(ByteView($0)), iptc: EmbeddedMetadata.iptcRecords(ByteView($0)))
        }
        check(PictureFacts(metadata))
        let packet = metadata.xmp ?? []
        let found = XMPPacket(packet)
        if let found {
            for property in found.properties {
                require(property.span.upperBound <= packet.count, "a property past the end")
                require(property.value.map { property.span.contains($0.lowerBound) } ?? true, "a value elsewhere")
            }
        }
        let segments = CarriedMetadata(metadata, upright: size).segments
        require(segments.allSatisfy { $0.bytes.count <= JPEGSegment.mostBytes }, "a segment that is too long")
        var file: [UInt8] = [0xFF, 0xD8]
        for segment in segments {
            let length = segment.bytes.count + 2
            file += [0xFF, segment.marker, UInt8(length >> 8), UInt8(length & 255)] + segment.bytes
        }
        let again = file.withUnsafeBytes { EmbeddedMetadata(jpeg: ByteView($0)) }
        require(again.iptc == metadata.iptc, "other records than were written")
        // What is too long and cannot be taken apart is left out.
        if let carried = again.xmp {
            require((XMPPacket(carried) == nil) == (found == nil), "well-formed, or no more")
            require(found != nil || carried == packet, "what is not understood was changed")
        } else {
            require(packet.isEmpty || packet.count > 65_000, "a packet that was left out")
        }
        // What is carried once is right, and stays as it is.
        let twice = CarriedMetadata(again, upright: size).segments
        require(twice.map(\.bytes) == segments.map(\.bytes), "carried again it is another")
    }

    /// As a PNG's chunks behind its beginning, whatever is in them; and as a comment's characters.
    private static func checkChunks(_ input: [UInt8]) {
        let file = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A] + input
        check(PictureFacts(file.withUnsafeBytes { EmbeddedMetadata(png: ByteView($0)) }))
        for isBigEndian in [true, false] {
            if let text = UserComment.text(input[...], isBigEndian: isBigEndian) {
                require(text.unicodeScalars.allSatisfy(PictureFacts.isShown), "a comment that cannot be shown")
            }
        }
        require(String(validating: EmbeddedText.mended(input), as: UTF8.self) != nil, "mended, and no UTF-8")
    }

    private static func check(_ facts: PictureFacts) {
        if let taken = facts.taken {
            require(CameraDate.clocks.contains(taken.clock), "\(taken)")
            require(taken.offset.map(CameraDate.offsets.contains) ?? true, "\(taken)")
        }
        require(facts.rating.map((0...5).contains) ?? true, "\(facts.rating ?? 0) stars")
        if let location = facts.location {
            require(abs(location.latitude) <= 90 && abs(location.longitude) <= 180, "nowhere: \(location)")
        }
        if let camera = facts.camera {
            require(PictureFacts.isLine(camera, upTo: ImageLimits.cameraLength), "a camera that cannot be shown")
        }
        if let caption = facts.caption {
            let scalars = caption.unicodeScalars
            require((1...ImageLimits.captionLength).contains(scalars.count), "a caption of \(scalars.count)")
            require(scalars.allSatisfy(PictureFacts.isShown), "a caption that cannot be shown")
        }
    }

    private static func checkPatching(_ block: [UInt8]) {
        guard var patched = ExifBlock(block) else { return }
        let before = patched.orientation
        var hidden = patched
        hidden.hideMakerNotes()
        require(hidden.bytes.count == block.count, "hiding moved something")
        patched.describe(upright: size)
        require(patched.bytes.count <= block.count, "patching made it longer")
        require(
            before == .upright || patched.orientation == .upright, "still turned, after it was described as upright")
        let once = patched.bytes
        patched.describe(upright: size)
        require(patched.bytes == once, "patching it again changes it again")
    }

    /// A date, its fraction and its offset, with a zero between them; or a date and a time.
    private static func checkDate(_ input: [UInt8]) {
        let texts = input.split(separator: 0, maxSplits: 2, omittingEmptySubsequences: false).map {
            String(decoding: $0, as: UTF8.self)
        }
        guard let first = texts.first else { return }
        let second = texts.count > 1 ? texts[1] : nil
        let dates = [
            WrittenDate(first, fraction: second, offset: texts.count > 2 ? texts[2] : nil), WrittenDate(first),
            WrittenDate(iptc: first, time: second),
        ]
        for date in dates { date.map(check) }
    }

    private static func check(_ date: WrittenDate) {
        require((0..<1000).contains(date.millisecond), "\(date)")
        let milliseconds = date.milliseconds
        require(CameraDate.clocks.contains(milliseconds), "\(date) is \(milliseconds)")
        require(date.offset.map(CameraDate.offsets.contains) ?? true, "\(date)")
        // Back again, by way of a function of the C library.
        var seconds = time_t((milliseconds - Int64(date.millisecond)) / 1000)
        var parts = tm()
        gmtime_r(&seconds, &parts)
        require(
            [parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec]
                .map(Int.init) == [date.year, date.month, date.day, date.hour, date.minute, date.second],
            "\(date) comes back as \(parts)")
    }
}
