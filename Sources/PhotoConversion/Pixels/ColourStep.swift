import ImageWorkerProtocol

/// What a picture's profile asks for: nothing, a conversion of the reduced picture, or of four-ink rows.
struct ColourStep {
    private let transform: ColourTransform?
    private let toneMapping: ToneMapping?
    let rowConverter: RowConverter?

    init(_ decoder: any PictureDecoder) {
        let inks = decoder.inks
        toneMapping = decoder.highRange.map(ToneMapping.init)
        let found = toneMapping == nil ? decoder.metadata.profile.flatMap { ColourTransform($0, for: inks) } : nil
        switch inks {
        case .grey, .rgb:
            transform = found
            rowConverter = nil
        case .cmyk, .cmykInverted:
            // Four inks cannot be reduced by zimg and are rare: each row becomes RGB as it is decoded.
            transform = nil
            rowConverter =
                found.map { transform in { transform.convert($0, $1, $2) } }
                ?? Self.plain(inverted: inks == .cmykInverted)
        }
    }

    /// What a picture of `kind` is reduced to; nil for what its kind says. Light in 8 bits of PQ or HLG is in coarser steps than
    /// those that it is shown in.
    func deepKind(of kind: PixelKind) -> PixelKind? {
        guard toneMapping != nil else { return nil }
        switch kind {
        case .rgb, .deepRGB: return .deepRGB(bits: 16)
        case .grey, .ycc: return nil
        }
    }

    /// Bytes that the reduced picture of so many bits takes.
    static func memory(_ decoder: any PictureDecoder) -> Int {
        decoder.highRange == nil ? 0 : decoder.size.fitting(ImageLimits.photoSide).pixels * 6
    }

    /// The picture in sRGB, as it lies: what is not turned yet may have two bytes a sample.
    func apply(to picture: PlanarPicture) throws(ImagingError) -> PlanarPicture {
        if let toneMapping { return try toneMapping.convert(picture) }
        guard let transform else { return picture }
        return try picture.converted(by: transform)
    }

    /// Inks without a profile: paper times what each ink lets through.
    private static func plain(inverted: Bool) -> RowConverter {
        let flip: UInt8 = inverted ? 0 : 0xFF
        return { source, target, count in
            for x in 0..<count {
                let light = UInt32(source[x &* 4 &+ 3] ^ flip)
                for ink in 0..<3 {
                    target[x &* 3 &+ ink] = UInt8(
                        truncatingIfNeeded: (UInt32(source[x &* 4 &+ ink] ^ flip) &* light &+ 127) / 255)
                }
            }
        }
    }
}

extension PictureDecoder {
    /// How it codes more light than a screen shows; nil where it does not. Not of inks.
    var highRange: HighRange? {
        guard inks == .rgb || inks == .grey else { return nil }
        return switch metadata.profile {
        case .highRange(let range): range
        case .icc(let bytes): HighRange(icc: bytes)
        case .primaries, .measured, nil: nil
        }
    }
}
