import FuzzSupport
import ImageWorkerProtocol

@testable import PhotoConversion

/// The beginning of a camera's raw file: whose it is, its directories and boxes, its previews, its facts; and by LibRaw
/// its header, and the development of small ones.
@main
enum RawHeaders: FuzzTarget {
    private static let mostPixels = 1 << 14

    static func seeds() throws -> [[UInt8]] {
        [
            dng(hasPreview: false), dng(hasPreview: true), dng(hasPreview: false, compression: 7), canon(), fuji(),
            Array("IIRO\u{8}\0\0\0\0\0\0\0\0\0".utf8), Array("II*\0\u{10}\0\0\0CR\u{2}\0\0\0\0\0\0\0".utf8),
            [0x49, 0x49, 0x55, 0, 8, 0, 0, 0, 1, 0, 0x2E, 0, 7, 0, 16, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 0],
        ]
    }

    private static func big(_ value: Int, _ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(value >> ((count - 1 - $0) * 8) & 255) }
    }

    private static func entry(_ tag: Int, _ type: Int, _ values: [Int]) -> (head: [UInt8], data: [UInt8]) {
        let width = [1: 1, 2: 1, 3: 2, 4: 4, 10: 4][type] ?? 1
        let count = type == 10 ? values.count / 2 : values.count
        return (big(tag, 2) + big(type, 2) + big(count, 4), values.flatMap { big($0, width) })
    }

    /// A mosaic of 16 x 8 pixels.
    private static func dng(hasPreview: Bool, compression: Int = 1) -> [UInt8] {
        let samples = (0..<128).flatMap { big($0 * 500 & 0x3FFF, 2) }
        let preview: [UInt8] = [0xFF, 0xD8, 0xFF, 0xC0, 0, 17, 8, 4, 0, 6, 0, 3, 1, 0x22, 0, 2, 0x11, 1, 3, 0x11, 1]
        var bytes: [UInt8] = []
        var place = 0
        for _ in 0..<2 {
            var entries = [
                entry(0x0100, 4, [16]), entry(0x0101, 4, [8]), entry(0x0102, 3, [16]), entry(0x0103, 3, [compression]),
                entry(0x0106, 3, [32_803]), entry(0x010F, 2, Array("Cam\0".utf8).map(Int.init)),
                entry(0x0110, 2, Array("One\0".utf8).map(Int.init)), entry(0x0111, 4, [place]), entry(0x0112, 3, [6]),
                entry(0x0115, 3, [1]), entry(0x0116, 4, [8]), entry(0x0117, 4, [samples.count]),
            ]
            if hasPreview {
                entries += [entry(0x0201, 4, [place + samples.count]), entry(0x0202, 4, [preview.count])]
            }
            entries += [
                entry(0x828D, 3, [2, 2]), entry(0x828E, 1, [0, 1, 1, 2]), entry(0xC612, 1, [1, 4, 0, 0]),
                entry(0xC621, 10, [1, 1, 0, 1, 0, 1, 0, 1, 1, 1, 0, 1, 0, 1, 0, 1, 1, 1]),
            ]
            bytes = [0x4D, 0x4D, 0, 0x2A, 0, 0, 0, 8] + big(entries.count, 2)
            var behind = bytes.count + entries.count * 12 + 4
            var values: [UInt8] = []
            for (head, data) in entries {
                bytes += head
                bytes += data.count <= 4 ? data + [UInt8](repeating: 0, count: 4 - data.count) : big(behind, 4)
                if data.count > 4 {
                    values += data
                    behind += data.count
                }
            }
            bytes += [0, 0, 0, 0] + values
            place = bytes.count
        }
        return bytes + samples + preview
    }

    private static func box(_ type: String, _ body: [UInt8]) -> [UInt8] {
        big(body.count + 8, 4) + Array(type.utf8) + body
    }

    private static func canon() -> [UInt8] {
        let identity: [UInt8] = [
            0x85, 0xC0, 0xB6, 0x87, 0x82, 0x0F, 0x11, 0xE0, 0x81, 0x11, 0xF4, 0xCE, 0x46, 0x2B, 0x6A, 0x48,
        ]
        let directory: [UInt8] = [
            0x49, 0x49, 0x2A, 0, 8, 0, 0, 0, 1, 0, 0x0F, 1, 2, 0, 4, 0, 0, 0, 0x43, 0x61, 0x6E, 0, 0, 0, 0, 0,
        ]
        return box("ftyp", Array("crx \0\0\0\u{1}crx isom".utf8))
            + box("moov", box("uuid", identity + box("CMT1", directory) + box("CMT2", directory)))
    }

    private static func fuji() -> [UInt8] {
        let name = Array("FUJIFILMCCD-RAW 0201FF383501X-T4".utf8)
        return name + [UInt8](repeating: 0, count: 84 - name.count) + big(160, 4) + big(8, 4)
            + [UInt8](repeating: 0, count: 68) + [0xFF, 0xD8, 0xFF, 0xDB, 0, 4, 0, 0]
    }

    private static let source = ScratchFile()

    static func run(_ input: [UInt8]) {
        input.withUnsafeBytes { bytes in
            let view = ByteView(bytes)
            let directories = RawDirectories(view)
            require(directories.previews.allSatisfy { (3...view.count).contains($0.count) }, "a preview past the end")
            for type in [PictureType.dng, .cr3, .raf, .rw2] {
                let metadata = RawMetadata.read(view, type)
                require((metadata.exif?.count ?? 9) > 8, "an EXIF block of nothing")
                require((metadata.exif?.count ?? 0) <= ImageLimits.exifBytes, "an EXIF block over its limit")
                require(PictureFacts(metadata).isPossible, "facts that cannot be")
                require(
                    RawMetadata.previews(view, type).allSatisfy { $0.count <= view.count }, "more preview than file")
            }
        }
        guard let type = input.withUnsafeBytes({ RawSignature.type(ByteView($0)) }) else { return }
        source.replace(with: input)
        do throws(ImagingError) {
            let file = try SourceFile(descriptor: source.descriptor)
            let picture = try RawPicture(file, type)
            require(picture.size.width > 0 && picture.size.height > 0, "\(picture.size)")
            require(picture.size.pixels <= ImageLimits.pixels, "\(picture.size)")
            guard picture.memory < 32 << 20, picture.size.pixels <= mostPixels else { return }
            try readAll(picture)
        } catch {
            require(!error.description.isEmpty, "a refusal without words")
            if case .io = error { fail("\(error)") }
        }
    }

    private static func readAll(_ picture: RawPicture) throws(ImagingError) {
        let lines = try picture.lines(atLeast: ImageLimits.photoSide, inks: nil)
        require(lines.size.pixels <= ImageLimits.pixels, "\(lines.size)")
        guard let rows = lines as? RowLines else { return }
        let ring = try PlanarPicture(size: lines.size, kind: lines.kind)
        try rows.decode(through: lines.size.height - 1, into: ring)
    }
}
