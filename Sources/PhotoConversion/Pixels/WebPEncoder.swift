import CWebP
import Glibc
import ImageWorkerProtocol

/// A WebP in memory: lossy, in the extended form, with the end that says which maker it is from.
struct EncodedWebP {
    /// The whole file.
    let bytes: [UInt8]

    /// What libwebp tries, of 0 (fastest) to 6. Measured on 42 photos of 1024 pixels, beside JPEG of the same PSNR and SSIM: method 0
    /// takes 0.77 and 0.94 of its bytes and 31 ms, method 2 0.71 and 0.80 and 52 ms, method 4 0.67 and 0.75 and 126 ms; JPEG takes
    /// 4 ms. An import of 12 MP photos takes some 200 ms of processor time for each with method 2, and vipsthumbnail three times that.
    private static let method: Int32 = 2

    /// - Parameters:
    ///   - picture: with chroma of half its width and height, where it has chroma.
    ///   - turned: degrees by which the photo is shown turned, which the end says too.
    init(_ picture: PlanarPicture, quality: Int, turned: Int = 0) throws(ImagingError) {
        let (width, height) = (picture.size.width, picture.size.height)
        var config = WebPConfig()
        var target = CWebP.WebPPicture()
        guard WebPConfigPreset(&config, WEBP_PRESET_PHOTO, Float(quality)) != 0, WebPPictureInit(&target) != 0 else {
            throw .unsupported("this libwebp is not the one that the program was built with")
        }
        config.method = Self.method
        target.use_argb = 0
        (target.width, target.height) = (Int32(width), Int32(height))
        guard WebPPictureAlloc(&target) != 0 else { throw .lackOfMemory }
        defer { WebPPictureFree(&target) }
        switch picture.kind {
        case .ycc(subsampleWidth: 1, subsampleHeight: 1):
            Self.copy(picture.planes[0], to: target.y, target.y_stride, Self.luma)
            Self.copy(picture.planes[1], to: target.u, target.uv_stride, Self.chroma)
            Self.copy(picture.planes[2], to: target.v, target.uv_stride, Self.chroma)
        case .grey:
            Self.copy(picture.planes[0], to: target.y, target.y_stride, Self.luma)
            for plane in [target.u, target.v] {
                plane?.update(repeating: 128, count: Int(target.uv_stride) * ((height + 1) / 2))
            }
        case .rgb: try Self.copy(picture, to: &target)
        case .ycc, .deepRGB: throw .unsupported("samples that no WebP has")
        }
        var writer = WebPMemoryWriter()
        WebPMemoryWriterInit(&writer)
        defer { WebPMemoryWriterClear(&writer) }
        let isDone = withUnsafeMutablePointer(to: &writer) { writer in
            target.writer = WebPMemoryWrite
            target.custom_ptr = UnsafeMutableRawPointer(writer)
            return WebPEncode(&config, &target) != 0
        }
        // A picture of these sizes is refused for want of memory alone.
        guard isDone, let encoded = writer.mem, writer.size > Self.riff else { throw .lackOfMemory }
        bytes = Self.extended(UnsafeBufferPointer(start: encoded, count: writer.size), width, height, turned)
    }

    /// `RIFF`, a length, `WEBP`.
    private static let riff = 12

    /// The same picture in the extended form.
    private static func extended(
        _ simple: UnsafeBufferPointer<UInt8>, _ width: Int, _ height: Int, _ turned: Int
    ) -> [UInt8] {
        func number(_ value: Int, bytes: Int) -> [UInt8] { (0..<bytes).map { UInt8(value >> (8 * $0) & 0xFF) } }
        let size = number(width - 1, bytes: 3) + number(height - 1, bytes: 3)
        let head = Array("WEBPVP8X".utf8) + [10, 0, 0, 0, 0, 0, 0, 0] + size
        let picture = UnsafeBufferPointer(rebasing: simple[riff...])
        let length = head.count + picture.count + PreviewMaker.tailBytes
        return Array("RIFF".utf8) + number(length, bytes: 4) + head + picture
            + PreviewMaker.tail(turned: turned)
    }

    // MARK: Samples

    /// JPEG's samples take the whole byte, WebP's do not.
    private static let luma: [UInt8] = (0..<256).map { UInt8(16 + ($0 * 219 + 127) / 255) }
    private static let chroma: [UInt8] = (0..<256).map { value in
        let distance = (value - 128) * 224
        return UInt8(128 + (distance + (distance < 0 ? -127 : 127)) / 255)
    }

    private static func copy(
        _ plane: PlanarPicture.Plane, to target: UnsafeMutablePointer<UInt8>?, _ stride: Int32, _ table: [UInt8]
    ) {
        guard let target else { return }
        table.withUnsafeBufferPointer { table in
            for y in 0..<plane.height {
                let (source, line) = (plane.line(y), target + y * Int(stride))
                for x in 0..<plane.width { line[x] = table[Int(source[x])] }
            }
        }
    }

    private static func copy(_ picture: PlanarPicture, to target: inout CWebP.WebPPicture) throws(ImagingError) {
        let stride = picture.size.width * 3
        guard let pixels = malloc(stride * picture.size.height)?.assumingMemoryBound(to: UInt8.self) else {
            throw .lackOfMemory
        }
        defer { free(pixels) }
        for y in 0..<picture.size.height { picture.interleave(line: y, into: pixels + y * stride) }
        guard WebPPictureImportRGB(&target, pixels, Int32(stride)) != 0 else { throw .lackOfMemory }
    }
}
