import ImageWorkerProtocol

/// One file of one type: its header read and its limits checked, nothing decoded yet.
protocol PictureDecoder {
    /// As lines come, before any turning.
    var size: PixelSize { get }
    var metadata: EmbeddedMetadata { get }
    /// How the container wants the lines turned, where EXIF has no say in it (``EmbeddedMetadata/isUpright``).
    var orientation: Orientation { get }
    /// Bytes that decoding takes at most beside the source, by what the header says.
    var memory: Int { get }
    /// What the pixels mean before conversion, for the profile to match.
    var inks: ColourTransform.Inks { get }

    /// Pixels of what the file holds, upright, where lines are of something smaller that it shows for it: of a raw file the sensor's.
    var uprightSourceSize: PixelSize? { get }

    /// What is missing of a file that is shown all the same, in a few words; known once its lines are decoded.
    var shortfall: String? { get }

    /// Starts decoding. Types that cannot decode scaled give full-size lines.
    /// - Parameters:
    ///   - side: the long side that is still needed.
    ///   - inks: converts four-ink rows, for decoders whose ``inks`` are four.
    func lines(atLeast side: Int, inks: RowConverter?) throws(ImagingError) -> any LineSource
}

extension PictureDecoder {
    var inks: ColourTransform.Inks { .rgb }
    var orientation: Orientation { .upright }
    var shortfall: String? { nil }
    var uprightSourceSize: PixelSize? { nil }
}

/// The decoder for the content of `source`.
func pictureDecoder(_ type: PictureType, _ source: SourceFile) throws(ImagingError) -> any PictureDecoder {
    switch type {
    case .jpeg: try JPEGPicture(source)
    case .png: try PNGPicture(source)
    case .gif: try GIFPicture(source)
    case .bmp: try BMPPicture(source)
    case .webp: try WebPPicture(source)
    case .tiff: try TIFFPicture(source)
    case .heic, .avif: try HEIFPicture(source)
    case .jpegXL: try JXLPicture(source)
    case .jpeg2000: try J2KPicture(source)
    case .dng, .cr2, .cr3, .nef, .arw, .raf, .orf, .rw2, .pef, .srw, .otherRaw: try RawPicture(source, type)
    }
}
