import CRaw
import ImageWorkerProtocol

/// A camera's raw file: its largest preview where that has 1,024 pixels, which is the picture as the camera made it;
/// else a development to half its size by LibRaw.
///
/// Previews are looked for here as well, because LibRaw gives out one and knows no camera that is younger than it is:
/// what it cannot develop can still be seen.
struct RawPicture: PictureDecoder {
    /// Pixels of the long side from which on a preview is shown.
    static let smallestPreview = 1024

    let size: PixelSize
    let metadata: EmbeddedMetadata
    let orientation: Orientation
    let uprightSourceSize: PixelSize?
    /// Of the sensor's data, where the file is cut off.
    private let missing: String?
    private let shown: Shown

    private enum Shown {
        case preview(JPEGDecoder)
        case development(RawFile, craw_header)
    }

    init(_ source: SourceFile, _ type: PictureType) throws(ImagingError) {
        let bytes = source.bytes
        let (file, failure) = Self.open(source)
        let header = file?.header
        let preview = Self.preview(source, file, type)
        var metadata = RawMetadata.read(bytes, type)
        if let preview { metadata.add(preview: preview.bytes) }
        metadata.isUpright = true
        self.metadata = metadata
        let turned =
            header.map { Orientation(exif: Int($0.orientation)) } ?? metadata.exif.flatMap(ExifBlock.init)?.orientation
            ?? .upright
        missing = Self.missing(bytes, type)
        let sensor = header.map { PixelSize(width: Int($0.width), height: Int($0.height)) }
        /// No less than what is shown of it.
        func whole(_ shown: PixelSize) -> PixelSize? {
            (sensor?.upright(turned)).map {
                PixelSize(width: max($0.width, shown.width), height: max($0.height, shown.height))
            }
        }
        if let preview {
            let lying = preview.decoder.size
            // Some cameras turn the preview and not the sensor's data: then it stands where they lie.
            let isUpright =
                turned.swapsSides && sensor.map { ($0.width < $0.height) != (lying.width < lying.height) } ?? false
            (size, orientation) = (lying, isUpright ? .upright : turned)
            uprightSourceSize = whole(lying.upright(isUpright ? .upright : turned))
            shown = .preview(preview.decoder)
        } else if let file, let header {
            // LibRaw shows what is not there as black, and says nothing of it.
            if let missing { throw .damaged(missing) }
            try ImageLimits.check(width: Int(header.stored_width), height: Int(header.stored_height))
            let lying = PixelSize(width: Int(header.developed_width), height: Int(header.developed_height))
            try ImageLimits.check(width: lying.width, height: lying.height)
            (size, orientation) = (lying, turned)
            uprightSourceSize = whole(lying.upright(turned))
            shown = .development(file, header)
        } else {
            throw failure ?? .damaged("its raw data cannot be read")
        }
    }

    /// A preview's lines as they come. A development, measured in bytes a pixel of the sensor: 3.4 to 5 of a mosaic,
    /// whose data some cameras' decoders hold twice; whole pixels are not halved, and are there as read, as 16 bits of
    /// four colours, and as they come out.
    var memory: Int {
        switch shown {
        case .preview(let decoder):
            decoder.header.holds_coefficients != 0 ? Int(clamping: decoder.header.coefficient_bytes) : 0
        case .development(_, let header): Self.developmentMemory(header)
        }
    }

    private static func developmentMemory(_ header: craw_header) -> Int {
        Int(header.stored_width) * Int(header.stored_height) * (header.is_mosaic != 0 ? 8 : 24) + 16 << 20
    }

    var inks: ColourTransform.Inks {
        if case .preview(let decoder) = shown, decoder.isGrey { .grey } else { .rgb }
    }

    var shortfall: String? {
        // A preview that is whole is shown all the same, and the line says what is lost.
        if case .preview(let decoder) = shown { decoder.shortfall ?? missing } else { nil }
    }

    func lines(atLeast side: Int, inks: RowConverter?) throws(ImagingError) -> any LineSource {
        switch shown {
        case .preview(let decoder): return try decoder.lines(atLeast: side, inks: inks)
        case .development(let file, let header):
            let (size, pixels, colours) = try file.develop(upTo: Self.developmentMemory(header))
            let count = size.width * colours
            return RowLines(size: size, format: colours == 1 ? .grey : .rgb) { line, row in
                row.update(from: pixels + line * count, count: count)
                withExtendedLifetime(file) {}
            }
        }
    }

    /// Nil where all samples that the directories tell of are there, or, as of a JPEG, nearly all.
    private static func missing(_ bytes: ByteView, _ type: PictureType) -> String? {
        guard type != .cr3, type != .raf else { return nil }
        let directories = RawDirectories(bytes)
        let (all, missing) = (directories.sampleBytes, directories.missingBytes)
        return missing * 16 > all ? "it ends early: \(missing) of \(all) bytes of its sensor's data are missing" : nil
    }

    private static func open(_ source: SourceFile) -> (RawFile?, ImagingError?) {
        do throws(ImagingError) { return (try RawFile(source), nil) } catch { return (nil, error) }
    }

    /// The largest one that can be shown.
    private static func preview(
        _ source: SourceFile, _ file: RawFile?, _ type: PictureType
    ) -> (decoder: JPEGDecoder, bytes: ByteView)? {
        var best: (decoder: JPEGDecoder, bytes: ByteView)?
        func consider(_ bytes: ByteView, _ owner: AnyObject) {
            guard let decoder = try? JPEGDecoder(bytes, owner: owner), !decoder.isCMYK,
                decoder.size.longSide >= max(smallestPreview, (best?.decoder.size.longSide ?? 0) + 1)
            else { return }
            best = (decoder, bytes)
        }
        if let found = file?.preview { consider(found, file ?? source) }
        for found in RawMetadata.previews(source.bytes, type) { consider(found, source) }
        return best
    }
}

/// LibRaw's state, and the bytes it reads.
final class RawFile {
    private let handle: OpaquePointer
    private let source: SourceFile

    init(_ source: SourceFile) throws(ImagingError) {
        var status: Int32 = 0
        guard let handle = craw_open(source.bytes.base, source.count, &status) else { throw Self.error(status) }
        self.handle = handle
        self.source = source
    }

    deinit { craw_free(handle) }

    var header: craw_header {
        var header = craw_header()
        craw_read_header(handle, &header)
        return header
    }

    /// The JPEG that LibRaw takes for the best. It belongs to this value.
    var preview: ByteView? {
        var (bytes, length): (UnsafePointer<UInt8>?, Int) = (nil, 0)
        // Nobody's preview is longer than its file.
        guard craw_read_preview(handle, source.count, &bytes, &length) != 0 else { return nil }
        return ByteView(UnsafeRawBufferPointer(start: bytes, count: length))
    }

    /// Rows of three colours, or of one; they belong to this value.
    func develop(upTo memory: Int) throws(ImagingError) -> (PixelSize, UnsafePointer<UInt8>, colours: Int) {
        var (width, height, colours): (UInt32, UInt32, UInt32) = (0, 0, 0)
        var pixels: UnsafePointer<UInt8>?
        let status = craw_develop(handle, memory, &width, &height, &colours, &pixels)
        guard Int(status) == craw_ok else { throw Self.error(status) }
        guard let pixels, width > 0, height > 0 else { throw .damaged("nothing was developed") }
        let size = PixelSize(width: Int(width), height: Int(height))
        try ImageLimits.check(width: size.width, height: size.height)
        return (size, pixels, Int(colours))
    }

    private static func error(_ status: Int32) -> ImagingError {
        switch Int(status) {
        case craw_unsupported: .unsupported("a raw file of a camera or a kind that LibRaw does not know")
        case craw_no_memory: .lackOfMemory
        default: .damaged("its raw data cannot be read")
        }
    }
}
