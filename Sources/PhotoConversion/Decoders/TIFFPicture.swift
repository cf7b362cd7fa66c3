import CTIFF
import Glibc
import ImageWorkerProtocol

/// The first picture of a TIFF, classic or big. Through libtiff directly: gd turns some orientations and not others,
/// and drops the profile.
struct TIFFPicture: PictureDecoder {
    let size: PixelSize
    let metadata: EmbeddedMetadata
    private let file: TIFFFile
    private let layout: TIFFLayout
    /// Nil where libtiff shows them.
    private let samples: TIFFSamples?
    private let sourceBytes: Int

    init(_ source: SourceFile) throws(ImagingError) {
        file = try TIFFFile(source)
        var width: UInt32 = 0
        var height: UInt32 = 0
        guard ctiff_uint32(file.handle, UInt32(TIFFTAG_IMAGEWIDTH), &width) != 0,
            ctiff_uint32(file.handle, UInt32(TIFFTAG_IMAGELENGTH), &height) != 0
        else { throw .damaged("a TIFF without dimensions") }
        size = PixelSize(width: Int(width), height: Int(height))
        try ImageLimits.check(width: size.width, height: size.height)
        layout = TIFFLayout(file, size)
        sourceBytes = source.count
        try Self.refuseRaw(file)
        samples = try TIFFSamples(file, size)
        let tags = TIFFTags(source.bytes)
        metadata = EmbeddedMetadata(
            exif: TIFFExif.block(from: source.bytes), xmp: tags.xmp, iptc: tags.iptc, profile: Self.profile(file),
            isUpright: false)
    }

    var inks: ColourTransform.Inks {
        switch (samples?.meaning, samples?.opacity) {
        case (.inks, _): .cmyk
        case (.grey, nil): .grey
        default: .rgb
        }
    }

    /// A strip or a row of tiles at a time: as decoded, as RGBA, and as stored. A line, where a strip is too big.
    var memory: Int {
        if let samples { return samples.memory(size) + sourceBytes }
        // What is stored lies in the file's memory already; a copy is made only to turn its bits round.
        if layout.lineBytes > 0 { return layout.lineBytes + sourceBytes }
        return size.width * layout.lines * 4 + layout.partBytes * 2
    }

    func lines(atLeast side: Int, inks: RowConverter?) throws(ImagingError) -> any LineSource {
        if let samples {
            let rows = try TIFFSampleRows(file, samples, size)
            return RowLines(size: size, format: try rows.format(inks)) { (line, row) throws(ImagingError) in
                try rows.read(line: line, into: row)
            }
        }
        let shown = try TIFFShownImage(file)
        let rows: any TIFFRows =
            layout.lineBytes > 0 ? try TIFFScanlines(shown, layout, size) : try TIFFStrips(shown, layout, size)
        return RowLines(size: size, format: .rgbaPremultiplied) { (line, row) throws(ImagingError) in
            try rows.read(line: line, into: row)
        }
    }

    /// Camera raw files are TIFFs whose first picture is a small preview: importing that would lose the photo. Those that are known are other
    /// types.
    private static func refuseRaw(_ file: TIFFFile) throws(ImagingError) {
        var kind: UInt32 = 0
        _ = ctiff_uint32(file.handle, UInt32(TIFFTAG_SUBFILETYPE), &kind)
        let isReduced = kind & UInt32(FILETYPE_REDUCEDIMAGE) != 0
        guard !isReduced else { throw .unsupported("a camera's raw file of a kind that is not known") }
    }

    private static func profile(_ file: TIFFFile) -> ColourProfile? {
        var length: UInt32 = 0
        var address: UnsafeRawPointer?
        guard ctiff_profile(file.handle, &length, &address) != 0, let address, length >= 128,
            length <= ImageLimits.profileBytes
        else { return nil }
        return .icc(Array(UnsafeRawBufferPointer(start: address, count: Int(length))))
    }
}

/// Rows in RGBA as libtiff makes them from whatever is stored.
private protocol TIFFRows: AnyObject {
    func read(line: Int, into row: UnsafeMutablePointer<UInt8>) throws(ImagingError)
}

/// How a picture is stored, as far as memory goes.
private struct TIFFLayout {
    let isTiled: Bool
    /// Lines of a strip, or of a row of tiles.
    let lines: Int
    /// Bytes of a strip or tile when it is decoded. A hostile header says anything; past this there is never so much.
    let partBytes: Int
    /// Bytes of one decoded line; 0 where lines cannot be had one at a time.
    let lineBytes: Int

    init(_ file: TIFFFile, _ size: PixelSize) {
        let handle = file.handle
        isTiled = TIFFIsTiled(handle) != 0
        var rows: UInt32 = 0
        if isTiled {
            _ = ctiff_uint32(handle, UInt32(TIFFTAG_TILELENGTH), &rows)
        } else {
            _ = ctiff_rows_per_strip(handle, &rows)
        }
        lines = min(size.height, max(1, Int(rows)))
        partBytes = Int(min(isTiled ? TIFFTileSize64(handle) : TIFFStripSize64(handle), 1 << 40))
        let isBig = size.width * lines * 4 > Self.smallStrip
        lineBytes =
            isBig && !isTiled && Self.hasWholeLines(handle) ? Int(min(TIFFScanlineSize64(handle), 1 << 40)) : 0
    }

    /// Bytes of RGBA up to which a strip is decoded at once, which is faster than line by line.
    private static let smallStrip = 8 << 20

    /// Whether samples lie side by side, and a line of them is a line of the picture: not where chroma is stored once for
    /// several lines, and not in codecs that libtiff decodes only strip by strip.
    private static func hasWholeLines(_ handle: OpaquePointer) -> Bool {
        func value(_ tag: Int32) -> Int {
            var value: UInt16 = 0
            return ctiff_uint16(handle, UInt32(tag), &value) != 0 ? Int(value) : 0
        }
        guard value(TIFFTAG_PLANARCONFIG) == PLANARCONFIG_CONTIG else { return false }
        let compression = value(TIFFTAG_COMPRESSION)
        guard value(TIFFTAG_PHOTOMETRIC) == PHOTOMETRIC_YCBCR else { return compression != COMPRESSION_OJPEG }
        // libjpeg makes RGB of it, which it is asked for.
        return compression == COMPRESSION_JPEG
    }
}

/// Line by line: for strips too big to be held decoded.
private final class TIFFScanlines: TIFFRows {
    private let shown: TIFFShownImage
    private let scanline: UnsafeMutableRawPointer
    private let pixels: UnsafeMutablePointer<UInt32>
    private let size: PixelSize

    init(_ shown: TIFFShownImage, _ layout: TIFFLayout, _ size: PixelSize) throws(ImagingError) {
        // Some codecs write whole bytes or words past what a line has.
        guard let scanline = calloc(1, layout.lineBytes + 64) else { throw .lackOfMemory }
        guard let pixels = calloc(size.width, 4) else {
            free(scanline)
            throw .lackOfMemory
        }
        self.shown = shown
        self.scanline = scanline
        self.pixels = pixels.assumingMemoryBound(to: UInt32.self)
        self.size = size
    }

    deinit {
        free(scanline)
        free(pixels)
    }

    func read(line: Int, into row: UnsafeMutablePointer<UInt8>) throws(ImagingError) {
        guard ctiff_read_line(shown.file.handle, shown.image, UInt32(line), scanline, pixels) != 0 else {
            throw .damaged("its TIFF data cannot be decoded")
        }
        UnsafeMutableRawPointer(row).copyMemory(from: pixels, byteCount: size.width * 4)
    }
}

/// A strip or a row of tiles at a time.
private final class TIFFStrips: TIFFRows {
    private let shown: TIFFShownImage
    private let size: PixelSize
    private let pixels: UnsafeMutablePointer<UInt32>
    /// Less than a strip at a time would decode it again and again.
    private let chunk: Int
    /// The first line in `pixels`, and how many are there.
    private var first = 0
    private var count = 0

    init(_ shown: TIFFShownImage, _ layout: TIFFLayout, _ size: PixelSize) throws(ImagingError) {
        self.shown = shown
        self.size = size
        chunk = layout.lines
        guard let pixels = malloc(size.width * chunk * 4) else { throw .lackOfMemory }
        self.pixels = pixels.assumingMemoryBound(to: UInt32.self)
    }

    deinit { free(pixels) }

    func read(line: Int, into row: UnsafeMutablePointer<UInt8>) throws(ImagingError) {
        if line >= first + count {
            first = line / chunk * chunk
            count = min(chunk, size.height - first)
            shown.image.pointee.row_offset = Int32(first)
            guard TIFFRGBAImageGet(shown.image, pixels, UInt32(size.width), UInt32(count)) != 0 else {
                throw .damaged("its TIFF data cannot be decoded")
            }
        }
        let from = UnsafeRawPointer(pixels + (line - first) * size.width)
        UnsafeMutableRawPointer(row).copyMemory(from: from, byteCount: size.width * 4)
    }
}

/// libtiff's own idea of how to show what is stored.
private final class TIFFShownImage {
    let file: TIFFFile
    let image: UnsafeMutablePointer<TIFFRGBAImage>

    init(_ file: TIFFFile) throws(ImagingError) {
        ctiff_ask_for_rgb(file.handle)
        let image = UnsafeMutablePointer<TIFFRGBAImage>.allocate(capacity: 1)
        var message = [CChar](repeating: 0, count: 1024)
        guard TIFFRGBAImageOK(file.handle, &message) != 0,
            TIFFRGBAImageBegin(image, file.handle, 1, &message) != 0
        else {
            image.deallocate()
            throw .unsupported("a TIFF of a kind that cannot be shown")
        }
        // As stored: turning is done for all types in one place.
        image.pointee.req_orientation = image.pointee.orientation
        // Both properties are set here and no earlier: `deinit` runs after a throw as well, once all of them are set, and
        // would end a picture that libtiff never began.
        self.file = file
        self.image = image
    }

    deinit {
        TIFFRGBAImageEnd(image)
        image.deallocate()
    }
}

/// libtiff's handle, and the bytes it reads.
final class TIFFFile {
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
