import CHEIF
import ImageWorkerProtocol

/// HEIC and AVIF, by libheif. The container says how the picture lies and libheif turns it; EXIF's orientation is a
/// copy of that and must not turn it again.
struct HEIFPicture: PictureDecoder {
    let size: PixelSize
    let metadata: EmbeddedMetadata
    private let item: Item
    /// More than 8 bits a sample.
    private let isDeep: Bool

    /// The decoder's pictures, libheif's planes and their conversion. Measured, in bytes a pixel, with one thread: 6.7 in
    /// 4:2:0, 8.8 in 4:4:4 and with opacity, 13 over 8 bits.
    var memory: Int { size.pixels * (isDeep ? 16 : item.hasAlpha ? 12 : 10) }

    init(_ source: SourceFile) throws(ImagingError) {
        item = try Item(source)
        size = PixelSize(
            width: Int(heif_image_handle_get_width(item.handle)),
            height: Int(heif_image_handle_get_height(item.handle)))
        isDeep = heif_image_handle_get_luma_bits_per_pixel(item.handle) > 8
        try ImageLimits.check(
            width: size.width, height: size.height,
            pixels: isDeep ? ImageLimits.deepPixels : ImageLimits.wholePixels)
        metadata = EmbeddedMetadata(exif: item.exif, xmp: item.xmp, profile: item.profile, isUpright: true)
    }

    func lines(atLeast side: Int, inks: RowConverter?) throws(ImagingError) -> any LineSource {
        // As libheif composes it, planes of RGB, so that no interleaved copy of full size is made.
        if !item.hasAlpha {
            let image = try HEIFImage(item, size, heif_colorspace_undefined, heif_chroma_undefined)
            if let lines = HEIFPlanes(image, size) { return lines }
        }
        return try interleavedLines()
    }

    /// By libheif's own conversion to RGB: alpha and grey.
    private func interleavedLines() throws(ImagingError) -> any LineSource {
        let format: RowFormat = item.hasAlpha ? (item.isPremultiplied ? .rgbaPremultiplied : .rgba) : .rgb
        let image = try HEIFImage(
            item, size, heif_colorspace_RGB, item.hasAlpha ? heif_chroma_interleaved_RGBA : heif_chroma_interleaved_RGB)
        guard let plane = image.plane(heif_channel_interleaved), plane.size == size,
            plane.stride >= size.width * format.bytesPerPixel
        else { throw .damaged("its picture is not as large as it says") }
        let count = size.width * format.bytesPerPixel
        return RowLines(size: size, format: format) { (line, row) throws(ImagingError) in
            row.update(from: plane.base + line * plane.stride, count: count)
            withExtendedLifetime(image) {}
        }
    }

    static func check(_ error: heif_error) throws(ImagingError) {
        guard error.code != heif_error_Ok else { return }
        let words = error.message.map { String(cString: $0) } ?? "no reason given"
        switch error.code {
        case heif_error_Memory_allocation_error:
            throw .tooLarge("decoding it needs more memory than a worker may have")
        case heif_error_Unsupported_filetype, heif_error_Unsupported_feature: throw .unsupported(words)
        default: throw .damaged(words)
        }
    }

    /// The container and its primary picture; nothing is decoded.
    final class Item {
        let handle: OpaquePointer
        private let context: OpaquePointer
        private let source: SourceFile

        init(_ source: SourceFile) throws(ImagingError) {
            self.source = source
            guard let context = heif_context_alloc() else {
                throw .tooLarge("decoding it needs more memory than a worker may have")
            }
            // One worker is one thread's worth of work; there are as many workers as cores.
            heif_context_set_max_decoding_threads(context, 0)
            var handle: OpaquePointer?
            do throws(ImagingError) {
                let bytes = source.bytes
                try HEIFPicture.check(
                    heif_context_read_from_memory_without_copy(context, bytes.base, bytes.count, nil))
                try HEIFPicture.check(heif_context_get_primary_image_handle(context, &handle))
            } catch {
                heif_context_free(context)
                throw error
            }
            guard let handle else {
                heif_context_free(context)
                throw .damaged("no primary picture")
            }
            self.context = context
            self.handle = handle
        }

        deinit {
            heif_image_handle_release(handle)
            heif_context_free(context)
        }

        var hasAlpha: Bool { heif_image_handle_has_alpha_channel(handle) != 0 }
        var isPremultiplied: Bool { heif_image_handle_is_premultiplied_alpha(handle) != 0 }

        var profile: ColourProfile? {
            let count = heif_image_handle_get_raw_color_profile_size(handle)
            if count >= 128, count <= ImageLimits.profileBytes {
                var bytes = [UInt8](repeating: 0, count: count)
                return heif_image_handle_get_raw_color_profile(handle, &bytes).code == heif_error_Ok
                    ? .icc(bytes) : nil
            }
            var found: UnsafeMutablePointer<heif_color_profile_nclx>?
            guard heif_image_handle_get_nclx_color_profile(handle, &found).code == heif_error_Ok, let found else {
                return nil
            }
            defer { heif_nclx_color_profile_free(found) }
            return .primaries(found.pointee.color_primaries.rawValue)
        }

        var exif: [UInt8]? {
            var block: heif_item_id = 0
            guard heif_image_handle_get_list_of_metadata_block_IDs(handle, "Exif", &block, 1) == 1 else { return nil }
            let count = heif_image_handle_get_metadata_size(handle, block)
            guard count > 12, count <= ImageLimits.exifBytes else { return nil }
            var bytes = [UInt8](repeating: 0, count: count)
            guard heif_image_handle_get_metadata(handle, block, &bytes).code == heif_error_Ok else { return nil }
            // Four bytes say how far the TIFF header is from their end.
            return bytes.withUnsafeBytes { raw in
                let view = ByteView(raw)
                let start = 4 + Int(view.bigEndian32(at: 0))
                return EmbeddedMetadata.exifBlock(view.part(from: start))
                    ?? EmbeddedMetadata.exifBlock(view.part(from: 4))
            }
        }
    }
}
