import CHEIF
import ImageWorkerProtocol

/// HEIC and AVIF, by libheif. The container says how the picture lies and libheif turns it; EXIF's orientation is a
/// copy of that and must not turn it again.
struct HEIFPicture: PictureDecoder {
    let size: PixelSize
    let metadata: EmbeddedMetadata
    private let item: Item
    /// Nil where libheif has to decode the whole picture.
    private let tiles: Tiles?
    /// More than 8 bits a sample.
    private let isDeep: Bool

    private struct Tiles {
        var grid: HEIFGrid
        var size: PixelSize
        var depth: Int
    }

    /// A row of tiles, where there are some. Else the decoder's pictures, libheif's planes and their conversion. Measured, in
    /// bytes a pixel, with one thread: 4.3 in 4:2:0, 6.1 in 4:4:4, 6.9 with opacity; a turned picture is there twice for a
    /// moment, which are 6 to 10, and twice that over 8 bits.
    var memory: Int {
        if let tiles { return HEIFTiles.memory(tiles.grid, tile: tiles.size, bytesPerSample: isDeep ? 2 : 1) }
        return size.pixels * (isDeep ? 16 : item.hasAlpha ? 10 : 8)
    }

    /// How to turn the lines: where libheif decodes the whole picture, it does it.
    var orientation: Orientation { tiles?.grid.orientation ?? .upright }

    init(_ source: SourceFile) throws(ImagingError) {
        let container = try HEIFContainer(source.bytes)
        let grid = try HEIFGrid(container)
        item = try Item(source, showing: grid?.flags ?? [])
        let shown = Self.size(item.handle)
        try ImageLimits.check(width: shown.width, height: shown.height)
        tiles = if let grid { try Self.tiles(grid, item, shown) } else { nil }
        size = tiles?.grid.window.size ?? shown
        isDeep = (tiles?.depth ?? Int(heif_image_handle_get_luma_bits_per_pixel(item.handle))) > 8
        metadata = EmbeddedMetadata(exif: item.exif, xmp: item.xmp, profile: item.profile, isUpright: true)
    }

    /// Nil where libheif sees another picture than we do, which is then its own to decode.
    private static func tiles(_ grid: HEIFGrid, _ item: Item, _ shown: PixelSize) throws(ImagingError) -> Tiles? {
        guard !item.hasAlpha, grid.window.size.upright(grid.orientation) == shown, let first = grid.tiles.first else {
            return nil
        }
        let tile = try Item(item, tile: first)
        let size = size(tile.handle)
        try ImageLimits.check(width: size.width, height: size.height)
        guard size.width * grid.columns >= grid.size.width, size.height * grid.rows >= grid.size.height else {
            throw .damaged("its tiles do not cover it")
        }
        let depth = Int(heif_image_handle_get_luma_bits_per_pixel(tile.handle))
        return Tiles(grid: grid, size: size, depth: depth)
    }

    private static func size(_ handle: OpaquePointer) -> PixelSize {
        PixelSize(
            width: Int(heif_image_handle_get_width(handle)), height: Int(heif_image_handle_get_height(handle)))
    }

    func lines(atLeast side: Int, inks: RowConverter?) throws(ImagingError) -> any LineSource {
        if let tiles { return try HEIFTiles(item, tiles.grid, tile: tiles.size, depth: tiles.depth) }
        // As libheif composes it, planes of RGB, so that no interleaved copy of full size is made.
        if !item.hasAlpha {
            let image = try HEIFImage(item, heif_colorspace_undefined, heif_chroma_undefined)
            if let lines = HEIFPlanes(image, size) { return lines }
        }
        if let highRange, isDeep, let lines = try deepLines(white: highRange.whiteSample) { return lines }
        return try interleavedLines()
    }

    /// Of more than 8 bits, with opacity or in grey. Nil where libheif makes no planes of it: then 8 bits have to do.
    private func deepLines(white: UInt16) throws(ImagingError) -> (any LineSource)? {
        let image: HEIFImage
        do {
            image = try HEIFImage(item, heif_colorspace_RGB, heif_chroma_444)
        } catch .unsupported {
            return nil
        }
        guard item.hasAlpha else { return HEIFPlanes(image, size) }
        return HEIFPlanes.opaqueLines(image, size, white: white, isPremultiplied: item.isPremultiplied)
    }

    /// By libheif's own conversion to RGB: alpha and grey.
    private func interleavedLines() throws(ImagingError) -> any LineSource {
        let format: RowFormat = item.hasAlpha ? (item.isPremultiplied ? .rgbaPremultiplied : .rgba) : .rgb
        let image = try HEIFImage(
            item, heif_colorspace_RGB, item.hasAlpha ? heif_chroma_interleaved_RGBA : heif_chroma_interleaved_RGB)
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
            throw .lackOfMemory
        case heif_error_Unsupported_filetype, heif_error_Unsupported_feature: throw .unsupported(words)
        default: throw .damaged(words)
        }
    }

    /// A container that is open.
    fileprivate final class Context {
        let handle: OpaquePointer
        private let source: SourceFile
        private let reader: UnsafeMutablePointer<cheif_bytes>
        private let flags: UnsafeMutableBufferPointer<UInt64>

        /// - Parameter flags: where items that are to be got at stand, in ascending order.
        init(_ source: SourceFile, showing flags: [UInt64]) throws(ImagingError) {
            guard let handle = heif_context_alloc() else { throw .lackOfMemory }
            self.handle = handle
            self.source = source
            self.flags = .allocate(capacity: flags.count)
            _ = self.flags.initialize(from: flags)
            reader = .allocate(capacity: 1)
            reader.initialize(
                to: cheif_bytes(
                    bytes: source.bytes.base, length: source.count, position: 0, flags: self.flags.baseAddress,
                    flag_count: flags.count))
            // One worker is one thread's worth of work; there are as many workers as cores.
            heif_context_set_max_decoding_threads(handle, 0)
            try HEIFPicture.check(cheif_open(handle, reader))
        }

        deinit {
            heif_context_free(handle)
            reader.deallocate()
            flags.deallocate()
        }
    }

    /// One picture of a container: the primary one, or a tile of it. Nothing is decoded.
    final class Item {
        let handle: OpaquePointer
        private let context: Context

        /// - Parameter flags: of the tiles, see ``HEIFGrid/flags``.
        convenience init(_ source: SourceFile, showing flags: [UInt64]) throws(ImagingError) {
            let context = try Context(source, showing: flags)
            var handle: OpaquePointer?
            try HEIFPicture.check(heif_context_get_primary_image_handle(context.handle, &handle))
            try self.init(context, handle)
        }

        convenience init(_ whole: Item, tile: HEIFContainer.ItemID) throws(ImagingError) {
            var handle: OpaquePointer?
            try HEIFPicture.check(heif_context_get_image_handle(whole.context.handle, tile, &handle))
            try self.init(whole.context, handle)
        }

        private init(_ context: Context, _ handle: OpaquePointer?) throws(ImagingError) {
            guard let handle else { throw .damaged("no primary picture") }
            self.context = context
            self.handle = handle
        }

        deinit { heif_image_handle_release(handle) }

        var hasAlpha: Bool { heif_image_handle_has_alpha_channel(handle) != 0 }
        var isPremultiplied: Bool { heif_image_handle_is_premultiplied_alpha(handle) != 0 }

        /// Numbers count for less than a profile, but where they say that there is more light than a screen shows: no profile's
        /// curves say how bright white is.
        var profile: ColourProfile? {
            let numbered = numberedProfile
            if case .highRange = numbered { return numbered }
            let count = heif_image_handle_get_raw_color_profile_size(handle)
            guard count >= 128, count <= ImageLimits.profileBytes else { return numbered }
            var bytes = [UInt8](repeating: 0, count: count)
            return heif_image_handle_get_raw_color_profile(handle, &bytes).code == heif_error_Ok ? .icc(bytes) : nil
        }

        private var numberedProfile: ColourProfile? {
            var found: UnsafeMutablePointer<heif_color_profile_nclx>?
            guard heif_image_handle_get_nclx_color_profile(handle, &found).code == heif_error_Ok, let found else {
                return nil
            }
            defer { heif_nclx_color_profile_free(found) }
            return ColourProfile(
                primaries: found.pointee.color_primaries.rawValue,
                transfer: found.pointee.transfer_characteristics.rawValue)
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
