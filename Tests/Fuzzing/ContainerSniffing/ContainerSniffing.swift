import CGD
import CLCMS
import Foundation
import FuzzSupport
import ImageWorkerProtocol
import SampleAlbum

@testable import PhotoConversion

/// The bytes of a picture: what type it is taken for, what is found in its container, which tiles it has, and, of the two types whose pixels
/// are read or steered by our own code (BMP and JPEG), the whole conversion of small ones.
@main
enum ContainerSniffing: FuzzTarget {
    private static let mostPixels = 1 << 16

    static func seeds() throws -> [[UInt8]] {
        let photo = Array(try SampleAlbum(width: 24, height: 16, texture: 4).photo(3))
        return [photo] + drawn() + bitmaps() + withProfiles(photo) + withTexts(photo) + [
            Array("GIF89a\u{10}\u{0}".utf8), [0, 0, 0, 20] + Array("ftypmif1\u{0}\u{0}\u{0}\u{0}heic".utf8),
            [0, 0, 0, 24] + Array("ftypavif\u{0}\u{0}\u{0}\u{0}mif1avif".utf8),
            [0x49, 0x49, 0x2A, 0, 8, 0, 0, 0], webp(), grid(idBytes: 2), grid(idBytes: 4),
        ]
    }

    /// A picture of 2 x 1 tiles, turned and cropped, of which only the pixels are missing.
    private static func grid(idBytes: Int) -> [UInt8] {
        func big(_ value: Int, _ count: Int) -> [UInt8] {
            (0..<count).map { UInt8(value >> ((count - 1 - $0) * 8) & 255) }
        }
        func box(_ type: String, _ body: [UInt8]) -> [UInt8] { big(body.count + 8, 4) + Array(type.utf8) + body }
        func id(_ item: Int) -> [UInt8] { big(item, idBytes) }
        let isWide: UInt8 = idBytes == 4 ? 1 : 0
        let version: [UInt8] = [isWide, 0, 0, 0]
        func count(_ items: Int) -> [UInt8] { big(items, isWide == 1 ? 4 : 2) }
        func item(_ number: Int, _ type: String) -> [UInt8] {
            let flags: [UInt8] = [2 + isWide, 0, 0, number > 1 ? 1 : 0]
            return box("infe", flags + id(number) + [0, 0] + Array(type.utf8) + [0])
        }
        let items = item(1, "grid") + item(2, "hvc1") + item(3, "hvc1")
        let tiles = id(1) + big(2, 2) + id(2) + id(3)
        let crop = box("clap", [96, 1, 60, 1, 4, 1, 0, 1].flatMap { big($0, 4) })
        let properties = box("ispe", big(0, 4) + big(128, 4) + big(64, 4)) + crop + box("irot", [1]) + box("imir", [0])
        let belongs = version + big(1, 4) + id(1) + [4, 1, 2, 3, 4]
        let place = [1 + isWide, 0, 0, 0, 0x44, 0] + count(1) + id(1) + [0, 1, 0, 0, 0, 1] + big(0, 4) + big(8, 4)
        var parts = box("pitm", version + id(1))
        parts += box("iinf", version + count(3) + items)
        parts += box("iref", version + box("dimg", tiles))
        parts += box("iprp", box("ipco", properties) + box("ipma", belongs))
        parts += box("idat", [0, 0, 0, 1] + big(128, 2) + big(64, 2))
        parts += box("iloc", place)
        return box("ftyp", Array("heic\0\0\0\0mif1heic".utf8)) + box("meta", big(0, 4) + parts)
    }

    /// One small picture in each form that gd writes.
    private static func drawn() -> [[UInt8]] {
        guard let image = gdImageCreateTrueColor(9, 7) else { return [] }
        defer { gdImageDestroy(image) }
        gdImageFilledRectangle(image, 2, 2, 6, 5, 0x20_80FF)
        gdImageInterlace(image, 1)
        let writers: [(gdImagePtr, UnsafeMutablePointer<Int32>) -> UnsafeMutableRawPointer?] = [
            { gdImageJpegPtr($0, $1, 80) }, { gdImagePngPtr($0, $1) }, { gdImageGifPtr($0, $1) },
            { gdImageBmpPtr($0, $1, 0) }, { gdImageBmpPtr($0, $1, 1) }, { gdImageTiffPtr($0, $1) },
        ]
        return writers.compactMap { write in
            var count: Int32 = 0
            guard let address = write(image, &count) else { return nil }
            defer { gdFree(address) }
            return Array(UnsafeRawBufferPointer(start: address, count: Int(count)))
        }
    }

    /// Each way to say a pixel: palettes, bit fields, the old header.
    private static func bitmaps() -> [[UInt8]] {
        func little(_ numbers: UInt32...) -> [UInt8] {
            numbers.flatMap { number in withUnsafeBytes(of: number.littleEndian) { Array($0) } }
        }
        var files = [1, 4, 8, 16, 24, 32].map { (depth: UInt32) -> [UInt8] in
            let palette = depth <= 8 ? [UInt8](repeating: 0x40, count: 4 << depth) : []
            let stride = (5 * depth + 31) / 32 * 4
            let header = little(40, 5, 4) + [1, 0, UInt8(depth), 0] + little(0, 0, 0, 0, 0, 0)
            let file = little(0, 0, UInt32(14 + header.count + palette.count))
            return Array("BM".utf8) + file + header + palette + [UInt8](repeating: 0x5A, count: Int(stride) * 4)
        }
        let masks = little(0xFF00_0000, 0xFF_0000, 0xFF00, 0xFF)
        files.append(
            Array("BM".utf8) + little(0, 0, 14 + 56) + little(56, 3, UInt32(bitPattern: -2)) + [1, 0, 32, 0]
                + little(3, 0, 0, 0, 0, 0) + masks + [UInt8](repeating: 0x77, count: 24))
        files.append(
            Array("BM".utf8) + little(0, 0, 14 + 12) + little(12) + [3, 0, 2, 0, 1, 0, 24, 0]
                + [UInt8](repeating: 0x11, count: 24))
        return files
    }

    private static func webp() -> [UInt8] {
        let chunk =
            Array("EXIF".utf8) + [16, 0, 0, 0] + Array("Exif\u{0}\u{0}MM\u{0}*\u{0}\u{0}\u{0}\u{8}\u{0}\u{0}".utf8)
        return Array("RIFF".utf8) + [UInt8(4 + chunk.count * 2), 0, 0, 0] + Array("WEBP".utf8) + chunk
            + Array("ICCP".utf8) + [160, 0, 0, 0] + [UInt8](repeating: 1, count: 160)
    }

    /// XMP in each container, and IPTC; in the JPEG both in two parts.
    private static func withTexts(_ photo: [UInt8]) -> [[UInt8]] {
        let digest = String(repeating: "0", count: 32)
        let packet = Array(
            """
            <rdf:RDF xmlns:rdf='\(XMPPacket.Namespace.rdf.rawValue)'><rdf:Description xmlns:n='\(XMPPacket.Namespace
            .note.rawValue)' n:HasExtendedXMP='\(digest)'/></rdf:RDF>
            """.utf8)
        func segment(_ marker: UInt8, _ bytes: [UInt8]) -> [UInt8] {
            [0xFF, marker, UInt8((bytes.count + 2) >> 8), UInt8((bytes.count + 2) & 255)] + bytes
        }
        let part = XMPSegments.extensionName + Array(digest.utf8) + [0, 0, 0, 8]
        let resources = PhotoshopResources.segments(iptc: [0x1C, 2, 120, 0, 4, 1, 2, 3, 4])
            .flatMap { $0.bytes.dropFirst(PhotoshopResources.segmentName.count) }
        let jpeg =
            segment(0xE1, XMPSegments.standardName + packet)
            + segment(0xE1, part + [0, 0, 0, 0] + Array("<a><".utf8))
            + segment(0xE1, part + [0, 0, 0, 4] + Array("/a>\n".utf8))
            + segment(0xED, PhotoshopResources.segmentName + resources.prefix(20))
            + segment(0xED, PhotoshopResources.segmentName + resources.dropFirst(20))
        let text = Array("XML:com.adobe.xmp\u{0}\u{0}\u{0}\u{0}\u{0}".utf8) + packet
        let png: [UInt8] =
            [0x89] + Array("PNG\r\n\u{1A}\n".utf8) + [0, 0, UInt8(text.count >> 8), UInt8(text.count & 255)]
            + Array("iTXt".utf8) + text + [0, 0, 0, 0]
        let gif: [UInt8] =
            Array("GIF89a".utf8) + [1, 0, 1, 0, 0, 0, 0, 0x21, 0xFF, 11] + Array("XMP DataXMP".utf8) + packet + [1]
            + (0...255).reversed().map { UInt8($0) } + [0, 0x3B]
        let tiff: [UInt8] =
            [0x49, 0x49, 0x2A, 0, 8, 0, 0, 0, 2, 0] + [
                0xBC, 2, 1, 0, UInt8(packet.count & 255), UInt8(packet.count >> 8), 0, 0,
            ]
            + [47, 0, 0, 0, 0xBB, 0x83, 7, 0, 9, 0, 0, 0, 38, 0, 0, 0, 0, 0, 0, 0]
            + [0x1C, 2, 120, 0, 4, 1, 2, 3, 4] + packet
        return [photo.prefix(2) + jpeg + photo.dropFirst(2), png, gif, tiff]
    }

    /// With a profile in two parts, the second first: one that is none, and that of sRGB.
    private static func withProfiles(_ photo: [UInt8]) -> [[UInt8]] {
        var profiles = [[UInt8](repeating: 1, count: 160)]
        if let profile = cmsCreate_sRGBProfile() {
            var count: cmsUInt32Number = 0
            cmsSaveProfileToMem(profile, nil, &count)
            var bytes = [UInt8](repeating: 0, count: Int(count))
            if cmsSaveProfileToMem(profile, &bytes, &count) != 0 { profiles.append(bytes) }
            cmsCloseProfile(profile)
        }
        return profiles.map { profile in
            func part(_ number: UInt8, _ bytes: ArraySlice<UInt8>) -> [UInt8] {
                let length = 2 + 14 + bytes.count
                return [0xFF, 0xE2, UInt8(length >> 8), UInt8(length & 255)] + Array("ICC_PROFILE\u{0}".utf8)
                    + [number, 2] + bytes
            }
            return [0xFF, 0xD8] + part(2, profile[80...]) + part(1, profile[..<80]) + photo.dropFirst(2)
        }
    }

    private static let source = ScratchFile()
    private static let photo = ScratchFile()
    private static let thumbnail = ScratchFile()
    private static let preview = ScratchFile()
    private static let converter = Converter()

    /// Unchecked because the converter is not `Sendable`, and the static that holds it has to be: libFuzzer has one thread,
    /// which makes it and alone uses it.
    private struct Converter: @unchecked Sendable {
        let converter = PhotoConverter()
    }

    static func run(_ input: [UInt8]) {
        let found = input.withUnsafeBytes { bytes -> PictureType? in
            let view = ByteView(bytes)
            check(EmbeddedMetadata(jpeg: view))
            check(EmbeddedMetadata(png: view))
            check(EmbeddedMetadata(webp: view))
            check(EmbeddedMetadata(gif: view))
            let tags = TIFFTags(view)
            check(EmbeddedMetadata(xmp: tags.xmp, iptc: tags.iptc))
            checkLines(view)
            checkTiles(view)
            return try? PictureType(content: view)
        }
        guard !input.isEmpty, found == .bmp || found == .jpeg else { return }
        source.replace(with: input)
        do throws(ImagingError) {
            let file = try SourceFile(descriptor: source.descriptor)
            let decoder = try pictureDecoder(found == .bmp ? .bmp : .jpeg, file)
            guard decoder.size.width * decoder.size.height <= mostPixels else { return }
            let made = try converter.converter.convert(
                source: source.descriptor, photo: photo.descriptor, thumbnail: thumbnail.descriptor,
                preview: preview.descriptor)
            check(made)
        } catch {
            require(!error.description.isEmpty, "a refusal without words")
            if case .io = error { fail("\(error)") }
        }
    }

    private static func check(_ metadata: EmbeddedMetadata) {
        require((metadata.exif?.count ?? 9) > 8, "an EXIF block of nothing")
        require((metadata.exif?.count ?? 0) <= ImageLimits.exifBytes, "an EXIF block over its limit")
        for packet in [metadata.xmp, metadata.extendedXMP] {
            require((packet?.count ?? 0) <= ImageLimits.xmpBytes, "a packet over its limit")
        }
        require((metadata.iptc?.count ?? 0) <= ImageLimits.iptcBytes, "records over their limit")
        require(metadata.extendedXMP == nil || metadata.xmp != nil, "the second part of nothing")
        if case .icc(let profile)? = metadata.profile {
            require((128...ImageLimits.profileBytes).contains(profile.count), "a profile of \(profile.count) bytes")
        }
    }

    /// Every line of a bitmap of bounded size, the file cut wherever it is.
    private static func checkLines(_ view: ByteView) {
        let header = BMPHeader(view)
        guard (1...512).contains(header.width), (1...512).contains(header.height),
            let pixels = try? BMPPixels(header, view)
        else { return }
        var row = [UInt8](repeating: 0, count: header.width * 4)
        for line in 0..<header.height {
            row.withUnsafeMutableBufferPointer { $0.baseAddress.map { pixels.read(line: line, into: $0) } }
        }
    }

    /// What is taken for tiles are as many as there should be, and nothing of them lies outside.
    private static func checkTiles(_ view: ByteView) {
        guard let container = try? HEIFContainer(view) else { return }
        if let content = container.content(of: container.primary) {
            require(content.count <= view.count, "an item of more bytes than there are")
        }
        guard let grid = try? HEIFGrid(container) else { return }
        require(grid.tiles.count == grid.columns * grid.rows, "\(grid.tiles.count) tiles")
        require(grid.flags == grid.flags.sorted() && !grid.flags.isEmpty, "flags that cannot be found")
        require(grid.flags.allSatisfy { $0 < view.count }, "a flag past the end")
        require(grid.size.pixels <= ImageLimits.pixels, "\(grid.size) pixels")
        let (window, size) = (grid.window, grid.window.size)
        require(window.left >= 0 && window.top >= 0 && size.width > 0 && size.height > 0, "\(window)")
        require(
            window.left + size.width <= grid.size.width && window.top + size.height <= grid.size.height, "\(window)")
    }

    private static func check(_ made: MadePhoto) {
        require((1...ImageLimits.photoSide).contains(max(made.width, made.height)), "\(made.width) x \(made.height)")
        require(
            (1...ImageLimits.thumbnailSide).contains(max(made.thumbnailWidth, made.thumbnailHeight)), "the thumbnail")
        check(thumbnail, isOf: (made.thumbnailWidth, made.thumbnailHeight))
        if !made.keepsSource { check(photo, isOf: (made.width, made.height)) }
        guard let size = ImageLimits.previewSize(ofPhoto: made.width, made.height) else { return }
        do throws(ImagingError) {
            let again = try WebPPicture(try SourceFile(descriptor: preview.descriptor))
            require(again.size == PixelSize(width: size.width, height: size.height), "a preview of other measures")
        } catch {
            fail("a preview cannot be opened: \(error)")
        }
    }

    /// What is stored is a picture that can be opened again.
    private static func check(_ output: ScratchFile, isOf said: (width: Int, height: Int)) {
        do throws(ImagingError) {
            let again = try JPEGPicture(try SourceFile(descriptor: output.descriptor))
            require(again.size == PixelSize(width: said.width, height: said.height), "other measures than is said")
        } catch {
            fail("what was stored cannot be opened: \(error)")
        }
    }
}
