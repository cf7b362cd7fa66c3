import CJ2K
import ImageWorkerProtocol

/// JPEG 2000, a codestream or its container, by OpenJPEG.
struct J2KPicture: PictureDecoder {
    static let container: [UInt8] = [0, 0, 0, 0x0C] + Array("jP  \r\n\u{87}\n".unicodeScalars.map { UInt8($0.value) })
    static let codestream: [UInt8] = [0xFF, 0x4F, 0xFF, 0x51]

    let size: PixelSize
    let metadata: EmbeddedMetadata
    private let session: Session
    private let header: cj2k_header
    private let samples: J2KSamples
    private let sourceBytes: Int

    init(_ source: SourceFile) throws(ImagingError) {
        let bytes = source.bytes
        let isContainer = bytes.starts(with: Self.container)
        let description = try isContainer ? J2KContainer(bytes) : J2KContainer(codestream: bytes)
        session = try Session(source, isContainer: isContainer)
        var header = cj2k_header()
        try session.check(cj2k_decoder_read_header(session.handle, &header))
        self.header = header
        size = PixelSize(width: Int(header.width), height: Int(header.height))
        try ImageLimits.check(width: size.width, height: size.height)
        samples = try J2KSamples(description, header)
        sourceBytes = source.count
        metadata = EmbeddedMetadata(
            exif: description.exif, xmp: description.xmp, iptc: description.iptc, profile: description.profile)
    }

    var inks: ColourTransform.Inks {
        switch (samples.colours, samples.opacity) {
        case (.grey, nil): .grey
        case (.inks, _): .cmyk
        default: .rgb
        }
    }

    /// Measured: 4 bytes for each sample that is decoded and 400 for each block, and what is stored once more.
    var memory: Int {
        let reduced = reduced(Self.halvings(size, header, atLeast: ImageLimits.photoSide))
        let (decoded, blocks) = (reduced.pixels * samples.count, size.pixels / Int(header.block_samples))
        return decoded * 5 + (blocks + 1) * Int(header.components) * 400 + sourceBytes
    }

    /// What a picture comes to that is halved some times, whatever its rounding.
    private func reduced(_ halvings: Int) -> PixelSize {
        PixelSize(width: (size.width >> halvings) + 1, height: (size.height >> halvings) + 1)
    }

    /// Twice what is needed stays for the real filter, as of a JPEG.
    private static func halvings(_ size: PixelSize, _ header: cj2k_header, atLeast side: Int) -> Int {
        (0...Int(header.halvings)).last { size.longSide >> $0 >= side * 2 } ?? 0
    }

    func lines(atLeast side: Int, inks: RowConverter?) throws(ImagingError) -> any LineSource {
        let halvings = Self.halvings(size, header, atLeast: side)
        var (width, height, components): (UInt32, UInt32, UInt32) = (0, 0, 0)
        try session.check(
            cj2k_decoder_read_all(session.handle, UInt32(halvings), &width, &height, &components))
        let decoded = PixelSize(width: Int(width), height: Int(height))
        // The header has said so; a decoder that disagrees would be read past its end.
        guard decoded.width <= reduced(halvings).width, decoded.height <= reduced(halvings).height,
            samples.order.allSatisfy({ $0 < components })
        else { throw .damaged("its picture is not as large as it says") }
        let session = session
        let samples = samples
        let format = try samples.format(inks, isMultiplied: samples.opacity.map(session.isMultiplied) ?? false)
        let held = UnsafeRow(decoded.width * samples.order.count)
        return RowLines(size: decoded, format: format) { line, row in
            cj2k_read_row(session.handle, UInt32(line), samples.order, UInt32(samples.order.count), held.bytes)
            samples.convert(held.bytes, row, decoded.width)
        }
    }

    /// OpenJPEG's state, and the bytes it reads.
    private final class Session {
        let handle: OpaquePointer
        private let source: SourceFile

        init(_ source: SourceFile, isContainer: Bool) throws(ImagingError) {
            guard let handle = cj2k_decoder_create(source.bytes.base, source.count, isContainer ? 1 : 0) else {
                throw .lackOfMemory
            }
            self.handle = handle
            self.source = source
        }

        deinit { cj2k_decoder_free(handle) }

        func check(_ status: Int32) throws(ImagingError) {
            if Int(status) != cj2k_ok { throw .damaged("its JPEG 2000 data cannot be decoded, or end early") }
        }

        func isMultiplied(_ component: UInt32) -> Bool { cj2k_opacity(handle, component) == 2 }
    }

    private final class UnsafeRow {
        let bytes: UnsafeMutablePointer<UInt8>

        init(_ count: Int) { bytes = .allocate(capacity: count) }
        deinit { bytes.deallocate() }
    }
}

/// Which of a JPEG 2000's components are shown, and what they mean.
struct J2KSamples {
    enum Colours { case grey, rgb, ycc, inks }

    let colours: Colours
    /// Of the component that is opacity.
    let opacity: UInt32?
    /// Components by their numbers, colours first.
    let order: [UInt32]
    /// All there are once palettes are resolved, shown or not.
    let count: Int

    init(_ container: J2KContainer, _ header: cj2k_header) throws(ImagingError) {
        count = max(Int(header.components), container.paletteColumns ?? 0)
        let channels = container.paletteColumns ?? Int(header.components)
        let opacity = container.opacity.flatMap { (1..<channels).contains($0) ? UInt32($0) : nil }
        let shown = channels - (opacity == nil ? 0 : 1)
        colours =
            switch container.meaning {
            case .grey: .grey
            case .inks where shown >= 4: .inks
            case .ycc where shown >= 3: .ycc
            // Brightness has all samples, and the differences some of them.
            case .unknown where shown >= 3 && header.is_subsampled != 0: .ycc
            case .colours where shown >= 3, .unknown where shown >= 3: .rgb
            case .unknown, .colours: .grey
            case .ycc, .inks: throw .damaged("a JPEG 2000 with fewer components than its colours have")
            case .other(let found): throw .unsupported("a JPEG 2000 of colour space \(found)")
            }
        self.opacity = opacity
        let used = colours == .grey ? 1 : colours == .inks ? 4 : 3
        let numbers = (0..<UInt32(channels)).filter { $0 != opacity }.prefix(used)
        order = numbers + (colours == .inks ? [] : [opacity].compactMap { $0 })
    }

    func format(_ inks: RowConverter?, isMultiplied: Bool) throws(ImagingError) -> RowFormat {
        switch (colours, opacity) {
        case (.inks, _):
            guard let inks else { throw .unsupported("a JPEG 2000 in printing inks") }
            return .inks(inks)
        case (.grey, nil): return .grey
        case (_, nil): return .rgb
        default: return isMultiplied ? .rgbaPremultiplied : .rgba
        }
    }

    /// A row of the components in ``order`` as the row format has it.
    func convert(_ stored: UnsafePointer<UInt8>, _ row: UnsafeMutablePointer<UInt8>, _ width: Int) {
        let step = order.count
        switch colours {
        case .grey where opacity != nil:
            for x in 0..<width {
                for ink in 0..<3 { row[x &* 4 &+ ink] = stored[x &* 2] }
                row[x &* 4 &+ 3] = stored[x &* 2 &+ 1]
            }
        case .ycc:
            for x in 0..<width {
                let (from, into) = (stored + x &* step, row + x &* step)
                let y = Int32(from[0]) &<< 16 &+ 32_768
                let (b, r) = (Int32(from[1]) &- 128, Int32(from[2]) &- 128)
                into[0] = Self.clamped(y &+ 91_881 &* r)
                into[1] = Self.clamped(y &- 22_554 &* b &- 46_802 &* r)
                into[2] = Self.clamped(y &+ 116_130 &* b)
                if step == 4 { into[3] = from[3] }
            }
        case .grey, .rgb, .inks: row.update(from: stored, count: width * step)
        }
    }

    private static func clamped(_ value: Int32) -> UInt8 {
        UInt8(truncatingIfNeeded: min(255, max(0, value &>> 16)))
    }
}
