import CTIFF
import ImageWorkerProtocol

/// How samples lie in a TIFF and what they mean, where libtiff does not show them (more than 16 bits, odd numbers of bits, inks in
/// 16 bits) or shows them in other colours than they have (L*a*b*; inks with a profile).
struct TIFFSamples {
    enum Meaning {
        case grey(isInverted: Bool)
        case rgb
        case inks
        /// With signed or with shifted colours.
        case lab(isSigned: Bool)
    }

    let meaning: Meaning
    let bits: Int
    /// Samples of a pixel, those that mean nothing here among them.
    let count: Int
    /// Whether one of them is opacity, and whether colours are multiplied by it.
    let opacity: Opacity?
    let isTiled: Bool
    /// Pixels of a tile, or the picture's width and one line.
    let part: PixelSize
    /// Bytes of a tile or a line, and of one line of it.
    let partBytes: Int
    let lineBytes: Int

    enum Opacity { case straight, multiplied }

    /// Samples that go into the picture: the rest of a pixel is passed over.
    var used: Int {
        let colours =
            switch meaning {
            case .grey: 1
            case .rgb, .lab: 3
            case .inks: 4
            }
        return opacity == nil ? colours : colours + 1
    }

    /// Nil where libtiff shows them as they are.
    /// - Throws: ``ImagingError/unsupported`` where nothing here can show them.
    init?(_ file: TIFFFile, _ size: PixelSize) throws(ImagingError) {
        let handle = file.handle
        func value(_ tag: Int32) -> Int {
            var value: UInt16 = 0
            return ctiff_uint16(handle, UInt32(tag), &value) != 0 ? Int(value) : -1
        }
        let compression = value(TIFFTAG_COMPRESSION)
        guard TIFFIsCODECConfigured(UInt16(clamping: compression)) != 0 else {
            throw .unsupported("a TIFF of compression \(compression)")
        }
        let bits = value(TIFFTAG_BITSPERSAMPLE)
        let count = value(TIFFTAG_SAMPLESPERPIXEL)
        let photometric = value(TIFFTAG_PHOTOMETRIC)
        // Its codecs make bytes of these themselves.
        if photometric == PHOTOMETRIC_LOGL || photometric == PHOTOMETRIC_LOGLUV { return nil }
        let isUsual = [1, 2, 4, 8, 16].contains(bits)
        switch value(TIFFTAG_SAMPLEFORMAT) {
        case Int(SAMPLEFORMAT_IEEEFP):
            // Rejected: to take 0…1 for black to white. Some writers mean 0…255, others light without an upper end.
            throw .unsupported("a TIFF of floating-point samples, which do not say what is white")
        case Int(SAMPLEFORMAT_COMPLEXINT), Int(SAMPLEFORMAT_COMPLEXIEEEFP):
            throw .unsupported("a TIFF of complex numbers")
        case Int(SAMPLEFORMAT_INT) where !isUsual: throw .unsupported("a TIFF of \(bits)-bit numbers with a sign")
        default: break
        }
        switch photometric {
        case Int(PHOTOMETRIC_MINISWHITE) where !isUsual: meaning = .grey(isInverted: true)
        case Int(PHOTOMETRIC_MINISBLACK) where !isUsual: meaning = .grey(isInverted: false)
        case Int(PHOTOMETRIC_RGB) where !isUsual: meaning = .rgb
        case Int(PHOTOMETRIC_SEPARATED) where value(TIFFTAG_INKSET) == INKSET_CMYK: meaning = .inks
        case Int(PHOTOMETRIC_CIELAB): meaning = .lab(isSigned: true)
        case Int(PHOTOMETRIC_ICCLAB): meaning = .lab(isSigned: false)
        default: return nil
        }
        self.bits = bits
        self.count = count
        var extra: UInt16 = 0
        let hasExtra = ctiff_extra_sample(handle, &extra) != 0
        opacity =
            switch (meaning, Int32(extra)) {
            case (.inks, _), (.lab, _): nil
            case (_, EXTRASAMPLE_ASSOCALPHA) where hasExtra: .multiplied
            case (_, EXTRASAMPLE_UNASSALPHA) where hasExtra: .straight
            default: nil
            }
        isTiled = TIFFIsTiled(handle) != 0
        var (tileWidth, tileHeight): (UInt32, UInt32) = (0, 0)
        if isTiled {
            _ = ctiff_uint32(handle, UInt32(TIFFTAG_TILEWIDTH), &tileWidth)
            _ = ctiff_uint32(handle, UInt32(TIFFTAG_TILELENGTH), &tileHeight)
        }
        part =
            isTiled
            ? PixelSize(width: Int(tileWidth), height: Int(tileHeight)) : PixelSize(width: size.width, height: 1)
        // A hostile header says anything; past this there is never so much.
        lineBytes = Int(min(isTiled ? TIFFTileRowSize64(handle) : TIFFScanlineSize64(handle), 1 << 40))
        partBytes = isTiled ? Int(min(TIFFTileSize64(handle), 1 << 40)) : lineBytes
        guard value(TIFFTAG_PLANARCONFIG) == PLANARCONFIG_CONTIG else {
            if bits == 8 { return nil }
            throw .unsupported("a TIFF of \(bits)-bit samples in planes of their own")
        }
        try Self.check(bits, meaning, compression)
        guard count >= used else { throw .damaged("a TIFF with fewer samples than its colours have") }
        guard part.width > 0, part.height > 0, part.width <= ImageLimits.side, part.height <= ImageLimits.side,
            lineBytes >= (part.width * count * bits + 7) / 8, partBytes >= lineBytes * part.height
        else { throw .damaged("its TIFF structure is broken") }
    }

    private static func check(_ bits: Int, _ meaning: Meaning, _ compression: Int) throws(ImagingError) {
        let isKnown =
            switch meaning {
            case .grey, .rgb: (3...32).contains(bits) || bits == 64
            case .inks, .lab: bits == 8 || bits == 16
            }
        guard isKnown else { throw .unsupported("a TIFF of \(bits)-bit samples") }
        // Codecs of bytes, whose libraries refuse the others.
        let ofBytes = [COMPRESSION_JPEG, COMPRESSION_OJPEG, COMPRESSION_WEBP, COMPRESSION_JBIG].map(Int.init)
        guard bits == 8 || !ofBytes.contains(compression) else {
            throw .unsupported("a TIFF of \(bits)-bit samples in compression \(compression)")
        }
    }

    /// Parts that lie side by side.
    func partsAcross(_ size: PixelSize) -> Int { (size.width + part.width - 1) / part.width }

    /// Bytes that decoding takes.
    func memory(_ size: PixelSize) -> Int {
        min(1 << 50, partBytes * partsAcross(size)) + size.width * (used * 2 + 4)
    }

    /// The sample of some number in a line, as if it had 16 bits.
    func sample(_ line: UnsafeRawPointer, _ index: Int) -> UInt16 {
        switch bits {
        case 8: return UInt16(line.load(fromByteOffset: index, as: UInt8.self)) &* 257
        case 16: return line.loadUnaligned(fromByteOffset: index * 2, as: UInt16.self)
        // Of whole bytes libtiff makes the machine's own order.
        case 24: return line.loadUnaligned(fromByteOffset: index * 3 + 1, as: UInt16.self)
        case 32: return line.loadUnaligned(fromByteOffset: index * 4 + 2, as: UInt16.self)
        case 64: return line.loadUnaligned(fromByteOffset: index * 8 + 6, as: UInt16.self)
        default:
            var value: UInt64 = 0
            for bit in index * bits..<(index + 1) * bits {
                let byte = line.load(fromByteOffset: bit >> 3, as: UInt8.self)
                value = value << 1 | UInt64(byte >> UInt8(7 - bit & 7) & 1)
            }
            return UInt16(truncatingIfNeeded: value * 65_535 / (1 << UInt64(bits) - 1))
        }
    }
}
