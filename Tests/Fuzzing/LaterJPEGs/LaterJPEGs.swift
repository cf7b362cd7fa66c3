import FuzzSupport
import ImageWorkerProtocol

@testable import PhotoConversion

/// JPEG XL and JPEG 2000: their containers, their headers, and small ones wholly.
@main
enum LaterJPEGs: FuzzTarget {
    private static let mostPixels = 1 << 12

    /// Containers without pixels: whole pictures come from the corpus, and from what was reached before.
    static func seeds() throws -> [[UInt8]] {
        let size: [UInt8] =
            [
                0xFF, 0x4F, 0xFF, 0x51, 0, 47, 0, 0, 0, 0, 0, 16, 0, 0, 0, 16, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 16, 0,
                0, 0, 16,
            ]
            + [0, 0, 0, 0, 0, 0, 0, 0, 0, 3, 7, 1, 1, 7, 1, 1, 7, 1, 1]
        let coding: [UInt8] =
            [0xFF, 0x52, 0, 12, 0, 0, 0, 1, 1, 1, 4, 4, 0, 1, 0xFF, 0x5C, 0, 7, 0x40, 0x40, 0x48, 0x48, 0x50]
            + [0xFF, 0x90, 0, 10, 0, 0, 0, 0, 0, 0, 0, 1, 0xFF, 0x93, 0xFF, 0xD9]
        let signature = J2KPicture.container + box("ftyp", Array("jp2 \0\0\0\0jp2 ".utf8))
        let header = box("ihdr", [0, 0, 0, 16, 0, 0, 0, 16, 0, 3, 7, 7, 0, 0])
        let colours = box("colr", [1, 0, 0, 0, 0, 0, 16]) + box("cdef", [0, 1, 0, 2, 0, 1, 0, 0])
        let palette = box("pclr", [0, 1, 3, 7, 7, 7, 1, 2, 3]) + box("cmap", [0, 0, 1, 0])
        let profile = box("colr", [2, 0, 0] + [UInt8](repeating: 1, count: 160))
        let exif = box("uuid", Array("JpgTiffExif->JP2".utf8) + [0x49, 0x49, 0x2A, 0, 8, 0, 0, 0, 0, 0])
        let jxl = JXLPicture.container + box("ftyp", Array("jxl \0\0\0\0jxl ".utf8))
        return [
            size + coding, signature + box("jp2h", header + colours) + box("jp2c", size + coding),
            signature + box("jp2h", header + palette) + exif + box("jp2c", size + coding),
            signature + box("jp2h", header + profile) + box("xml ", Array("<a>text</a>".utf8)),
            [0xFF, 0x0A, 0x41, 0x10, 0x50, 0x5C, 0x08, 0x08, 0x02, 0x01], [0xFF, 0x0A, 0, 0x10, 0x38],
            jxl + box("Exif", [0, 0, 0, 0, 0x49, 0x49, 0x2A, 0, 8, 0, 0, 0, 0, 0])
                + box("jxlc", [0xFF, 0x0A, 0x41, 0x10]),
            jxl + box("brob", Array("xml ".utf8) + [0x0B, 2, 0x80, 0x3C, 0x61, 0x2F, 0x3E, 0x0A, 3]),
        ]
    }

    private static func box(_ type: String, _ body: [UInt8]) -> [UInt8] {
        let length = body.count + 8
        return [0, 0, UInt8(length >> 8), UInt8(length & 255)] + Array(type.utf8) + body
    }

    private static let source = ScratchFile()

    static func run(_ input: [UInt8]) {
        guard let type = input.withUnsafeBytes({ try? PictureType(content: ByteView($0)) }),
            type == .jpegXL || type == .jpeg2000
        else { return }
        source.replace(with: input)
        do throws(ImagingError) {
            let file = try SourceFile(descriptor: source.descriptor)
            let picture = try pictureDecoder(type, file)
            require(picture.size.width > 0 && picture.size.height > 0, "\(picture.size)")
            require(picture.size.pixels <= ImageLimits.pixels, "\(picture.size)")
            check(picture.metadata)
            guard picture.size.pixels <= mostPixels, picture.memory < 32 << 20 else { return }
            let lines = try picture.lines(atLeast: ImageLimits.photoSide, inks: ColourStep(picture).rowConverter)
            let ring = try PlanarPicture(size: lines.size, kind: lines.kind)
            try lines.decode(through: lines.size.height - 1, into: ring)
        } catch {
            require(!error.description.isEmpty, "a refusal without words")
            if case .io = error { fail("\(error)") }
        }
    }

    private static func check(_ metadata: EmbeddedMetadata) {
        require((metadata.exif?.count ?? 9) > 8, "an EXIF block of nothing")
        require((metadata.exif?.count ?? 0) <= ImageLimits.exifBytes, "an EXIF block over its limit")
        require((metadata.xmp?.count ?? 0) <= ImageLimits.xmpBytes, "a packet over its limit")
        require((metadata.iptc?.count ?? 0) <= ImageLimits.iptcBytes, "records over their limit")
        if case .icc(let profile)? = metadata.profile {
            require(profile.count <= ImageLimits.profileBytes, "a profile of \(profile.count) bytes")
        }
        require(PictureFacts(metadata).isPossible, "facts that cannot be")
    }
}
