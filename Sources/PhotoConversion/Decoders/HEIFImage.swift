import CHEIF
import ImageWorkerProtocol

/// A picture that libheif has decoded.
final class HEIFImage {
    struct Plane {
        var base: UnsafePointer<UInt8>
        var stride: Int
        var size: PixelSize
        /// Bits of a sample.
        var depth: Int
    }

    private let handle: OpaquePointer

    init(_ item: HEIFPicture.Item, _ space: heif_colorspace, _ chroma: heif_chroma) throws(ImagingError) {
        guard let options = heif_decoding_options_alloc() else {
            throw .lackOfMemory
        }
        defer { heif_decoding_options_free(options) }
        options.pointee.convert_hdr_to_8bit = chroma == heif_chroma_444 || chroma == heif_chroma_undefined ? 0 : 1
        var image: OpaquePointer?
        try HEIFPicture.check(heif_decode_image(item.handle, &image, space, chroma, options))
        guard let image else { throw .damaged("nothing was decoded") }
        handle = image
    }

    deinit { heif_image_release(handle) }

    func plane(_ channel: heif_channel) -> Plane? {
        var stride: Int32 = 0
        guard let base = heif_image_get_plane_readonly(handle, channel, &stride) else { return nil }
        return Plane(
            base: base, stride: Int(stride),
            size: PixelSize(
                width: Int(heif_image_get_width(handle, channel)), height: Int(heif_image_get_height(handle, channel))),
            depth: Int(heif_image_get_bits_per_pixel_range(handle, channel)))
    }
}

/// Planes of RGB, line by line into zimg's ring.
final class HEIFPlanes: LineSource {
    let size: PixelSize
    let kind: PixelKind
    let linesPerStep = 1
    private let image: HEIFImage
    private let planes: [HEIFImage.Plane]
    private var next = 0

    /// Nil where libheif has composed something else.
    init?(_ image: HEIFImage, _ size: PixelSize) {
        planes = [heif_channel_R, heif_channel_G, heif_channel_B].compactMap(image.plane)
        guard planes.count == 3, let depth = planes.first?.depth, (8...16).contains(depth) else { return nil }
        let bytes = depth > 8 ? 2 : 1
        guard planes.allSatisfy({ $0.size == size && $0.depth == depth && $0.stride >= size.width * bytes }) else {
            return nil
        }
        kind = depth > 8 ? .deepRGB(bits: depth) : .rgb
        self.image = image
        self.size = size
    }

    /// Copies some columns of every line that `target` has room for, to begin at its column `place`.
    func copy(_ columns: Range<Int>, into target: PlanarPicture, at place: Int) {
        let bytes = kind.bytesPerSample
        for (from, into) in zip(planes, target.planes) {
            for line in 0..<min(size.height, into.height) {
                (into.line(line) + place * bytes).update(
                    from: from.base + line * from.stride + columns.lowerBound * bytes, count: columns.count * bytes)
            }
        }
        withExtendedLifetime(image) {}
    }

    func decode(through line: Int, into ring: PlanarPicture) throws(ImagingError) {
        while next <= line {
            for (index, plane) in planes.enumerated() {
                ring.planes[index].line(next).update(
                    from: plane.base + next * plane.stride, count: size.width * kind.bytesPerSample)
            }
            next += 1
        }
        withExtendedLifetime(image) {}
    }
}

extension HEIFPlanes {
    /// Planes of more than 8 bits with their opacity, each line composited over a white of the picture's own.
    static func opaqueLines(
        _ image: HEIFImage, _ size: PixelSize, white: UInt16, isPremultiplied: Bool
    ) -> (any LineSource)? {
        let planes = [heif_channel_R, heif_channel_G, heif_channel_B, heif_channel_Alpha].compactMap(image.plane)
        guard planes.count == 4,
            planes.allSatisfy({ $0.size == size && (9...16).contains($0.depth) && $0.stride >= size.width * 2 })
        else { return nil }
        return DeepRowLines(
            size: size, channels: .coloursAndOpacity, isPremultiplied: isPremultiplied, white: white
        ) { line, row in
            for (channel, plane) in planes.enumerated() {
                let most = UInt32(1) << UInt32(plane.depth) - 1
                let samples = UnsafeRawPointer(plane.base + line * plane.stride).assumingMemoryBound(to: UInt16.self)
                for x in 0..<size.width {
                    row[x &* 4 &+ channel] = UInt16((min(UInt32(samples[x]), most) &* 65_535 &+ most / 2) / most)
                }
            }
            withExtendedLifetime(image) {}
        }
    }
}
