import ImageWorkerProtocol

/// JPEG, by libjpeg-turbo directly: gd accepts half a file in silence and converts inks poorly.
struct JPEGPicture: PictureDecoder {
    let metadata: EmbeddedMetadata
    private let decoder: JPEGDecoder

    /// Lines as they come, unless all coefficients have to be there first.
    var memory: Int { decoder.header.holds_coefficients != 0 ? Int(clamping: decoder.header.coefficient_bytes) : 0 }

    init(_ source: SourceFile) throws(ImagingError) {
        decoder = try JPEGDecoder(source)
        metadata = EmbeddedMetadata(jpeg: source.bytes)
    }

    var size: PixelSize { decoder.size }

    var shortfall: String? { decoder.shortfall }

    var inks: ColourTransform.Inks {
        // Whoever writes four inks into a JPEG writes them as Adobe does, ink as its absence, and programs show all of them so,
        // whether Adobe's marker is there or not. Rejected: to go by the marker, which tools drop that tidy files.
        if decoder.isCMYK { return .cmykInverted }
        return decoder.isGrey ? .grey : .rgb
    }

    func lines(atLeast side: Int, inks: RowConverter?) throws(ImagingError) -> any LineSource {
        try decoder.lines(atLeast: side, inks: inks)
    }
}
