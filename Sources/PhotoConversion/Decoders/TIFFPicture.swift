import CTIFF
import ImageWorkerProtocol

/// The first picture of a TIFF, classic or big. Through libtiff directly: gd turns some orientations and not others,
/// and drops the profile.
struct TIFFPicture: PictureDecoder {
    let size: PixelSize
    let metadata: EmbeddedMetadata
    private let file: File

    init(_ source: SourceFile) throws(ImagingError) {
        file = try File(source)
        var width: UInt32 = 0
        var height: UInt32 = 0
        guard ctiff_uint32(file.handle, UInt32(TIFFTAG_IMAGEWIDTH), &width) != 0,
            ctiff_uint32(file.handle, UInt32(TIFFTAG_IMAGELENGTH), &height) != 0
        else { throw .damaged("a TIFF without dimensions") }
        size = PixelSize(width: Int(width), height: Int(height))
        try ImageLimits.check(width: size.width, height: size.height, pixels: ImageLimits.wholePixels)
        try Self.refuseRaw(file, source.bytes)
        let tags = TIFFTags(source.bytes)
        metadata = EmbeddedMetadata(
            exif: TIFFExif.block(from: source.bytes), xmp: tags.xmp, iptc: tags.iptc, profile: Self.profile(file),
            isUpright: false)
    }

    /// A strip or a row of tiles at a time: as decoded, as RGBA, and as stored.
    var memory: Int {
        let lines = Raster.linesAtOnce(file, size)
        let isTiled = TIFFIsTiled(file.handle) != 0
        let part = isTiled ? TIFFTileSize64(file.handle) : TIFFStripSize64(file.handle)
        // A hostile header says anything; past this there is never so much.
        return size.width * lines * 4 + Int(min(part, 1 << 40)) * 2
    }

    func lines(atLeast side: Int, inks: RowConverter?) throws(ImagingError) -> any LineSource {
        let raster = try Raster(file, size)
        return RowLines(size: size, format: .rgbaPremultiplied) { (line, row) throws(ImagingError) in
            try raster.read(line: line, into: row)
        }
    }

    /// Camera raw files are TIFFs whose first picture is a small preview: importing that would lose the photo.
    private static func refuseRaw(_ file: File, _ bytes: ByteView) throws(ImagingError) {
        var kind: UInt32 = 0
        _ = ctiff_uint32(file.handle, UInt32(TIFFTAG_SUBFILETYPE), &kind)
        let isReduced = kind & UInt32(FILETYPE_REDUCEDIMAGE) != 0
        guard !isReduced, ctiff_is_dng(file.handle) == 0, bytes.text(at: 8, count: 2) != "CR" else {
            throw .unsupported("a camera's raw file")
        }
    }

    private static func profile(_ file: File) -> ColourProfile? {
        var length: UInt32 = 0
        var address: UnsafeRawPointer?
        guard ctiff_profile(file.handle, &length, &address) != 0, let address, length >= 128,
            length <= ImageLimits.profileBytes
        else { return nil }
        return .icc(Array(UnsafeRawBufferPointer(start: address, count: Int(length))))
    }

    /// libtiff's handle, and the bytes it reads.
    fileprivate final class File {
        let handle: OpaquePointer
        private let source: SourceFile
        private let reader: UnsafeMutablePointer<ctiff_bytes>

        init(_ source: SourceFile) throws(ImagingError) {
            self.source = source
            reader = .allocate(capacity: 1)
            reader.initialize(
                to: ctiff_bytes(bytes: source.bytes.base, length: tmsize_t(source.bytes.count), position: 0))
            guard let handle = ctiff_open(reader) else {
                reader.deallocate()
                throw .damaged("its TIFF structure is broken")
            }
            self.handle = handle
        }

        deinit {
            TIFFClose(handle)
            reader.deallocate()
        }
    }

    /// Rows in RGBA as libtiff makes them from whatever is stored, a strip or a row of tiles at a time.
    private final class Raster {
        private let file: File
        private let size: PixelSize
        private let image: UnsafeMutablePointer<TIFFRGBAImage>
        private let pixels: UnsafeMutablePointer<UInt32>
        private let chunk: Int
        /// The first line in `pixels`, and how many are there.
        private var first = 0
        private var count = 0

        /// Less than a strip at a time would decode it again and again.
        static func linesAtOnce(_ file: File, _ size: PixelSize) -> Int {
            var lines: UInt32 = 0
            if TIFFIsTiled(file.handle) != 0 {
                _ = ctiff_uint32(file.handle, UInt32(TIFFTAG_TILELENGTH), &lines)
            } else {
                _ = ctiff_rows_per_strip(file.handle, &lines)
            }
            return min(size.height, max(1, Int(lines)))
        }

        init(_ file: File, _ size: PixelSize) throws(ImagingError) {
            self.file = file
            self.size = size
            chunk = Self.linesAtOnce(file, size)
            guard let pixels = malloc(size.width * chunk * 4) else {
                throw .tooLarge("decoding it needs more memory than a worker may have")
            }
            ctiff_ask_for_rgb(file.handle)
            image = .allocate(capacity: 1)
            var message = [CChar](repeating: 0, count: 1024)
            guard TIFFRGBAImageOK(file.handle, &message) != 0,
                TIFFRGBAImageBegin(image, file.handle, 1, &message) != 0
            else {
                free(pixels)
                image.deallocate()
                throw .unsupported("a TIFF of a kind that cannot be shown")
            }
            self.pixels = pixels.assumingMemoryBound(to: UInt32.self)
            // As stored: turning is done for all types in one place.
            image.pointee.req_orientation = image.pointee.orientation
        }

        deinit {
            TIFFRGBAImageEnd(image)
            image.deallocate()
            free(pixels)
        }

        func read(line: Int, into row: UnsafeMutablePointer<UInt8>) throws(ImagingError) {
            if line >= first + count {
                first = line / chunk * chunk
                count = min(chunk, size.height - first)
                image.pointee.row_offset = Int32(first)
                guard TIFFRGBAImageGet(image, pixels, UInt32(size.width), UInt32(count)) != 0 else {
                    throw .damaged("its TIFF data cannot be decoded")
                }
            }
            let from = UnsafeRawPointer(pixels + (line - first) * size.width)
            UnsafeMutableRawPointer(row).copyMemory(from: from, byteCount: size.width * 4)
        }
    }
}
