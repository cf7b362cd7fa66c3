import CJPEG
import ImageWorkerProtocol

/// A JPEG's header, and its lines as raw planes wherever that can be.
final class JPEGDecoder {
    let header: cjpeg_header
    private let session: Session
    private let owner: AnyObject

    /// libjpeg's state. Its bytes belong to `owner`, which lives as long.
    fileprivate final class Session {
        let handle: OpaquePointer
        /// What is missing of the picture; known at its end.
        var shortfall: String?

        init(_ handle: OpaquePointer) { self.handle = handle }
        deinit { cjpeg_decoder_free(handle) }

        func check(_ status: Int32) throws(ImagingError) {
            switch Int(status) {
            case cjpeg_ok: return
            case cjpeg_no_memory: throw .lackOfMemory
            case cjpeg_too_many_scans: throw .tooLarge("its data come in \(message)")
            default: throw .damaged(message)
            }
        }

        var message: String { String(cString: cjpeg_decoder_message(handle)) }
    }

    convenience init(_ source: SourceFile) throws(ImagingError) { try self.init(source.bytes, owner: source) }

    /// - Parameter owner: whose memory the bytes are.
    init(_ bytes: ByteView, owner: AnyObject) throws(ImagingError) {
        self.owner = owner
        guard let handle = cjpeg_decoder_create(bytes.base, bytes.count, Int32(ImageLimits.scans)) else {
            throw .lackOfMemory
        }
        session = Session(handle)
        var header = cjpeg_header()
        try session.check(cjpeg_decoder_read_header(handle, &header))
        self.header = header
        try ImageLimits.check(width: Int(header.width), height: Int(header.height))
        guard Int(header.colour) != cjpeg_other else { throw .unsupported("a JPEG of unknown colours") }
    }

    var size: PixelSize { PixelSize(width: Int(header.width), height: Int(header.height)) }

    var isGrey: Bool { Int(header.colour) == cjpeg_grey }

    /// Whether rows come out as four inks, for which ``lines(atLeast:inks:)`` needs to be told what they mean.
    var isCMYK: Bool { Int(header.colour) == cjpeg_cmyk || Int(header.colour) == cjpeg_ycck }

    /// What was missing of the picture that was decoded last, in a few words; nil where nothing was.
    var shortfall: String? { session.shortfall }

    /// Starts decoding, scaled down in the DCT as far as the long side stays at least `side`.
    /// - Parameter inks: converts a row of CMYK as stored; needed where ``isCMYK``.
    func lines(atLeast side: Int, inks: RowConverter?) throws(ImagingError) -> any LineSource {
        let eighths = Self.eighths(size.longSide, atLeast: side)
        switch Int(header.colour) {
        case cjpeg_grey, cjpeg_ycc:
            var plan = cjpeg_layout()
            try session.check(cjpeg_decoder_plan(session.handle, Int32(eighths), &plan))
            if let kind = Self.planar(plan) {
                var layout = cjpeg_layout()
                try session.check(cjpeg_decoder_start(session.handle, Int32(eighths), 0, &layout))
                return JPEGPlanes(session, owner, layout, kind, height: Int(header.height))
            }
            return header.components == 1
                ? try rows(eighths, cjpeg_grey, .grey) : try rows(eighths, cjpeg_rgb, .rgb)
        case cjpeg_rgb: return try rows(eighths, cjpeg_rgb, .rgb)
        default:
            guard let inks else { throw .unsupported("a JPEG in printing inks") }
            return try rows(eighths, cjpeg_cmyk, .inks(inks))
        }
    }

    /// The scales between these are slower than decoding all of it: libjpeg-turbo has SIMD for these alone (measured
    /// on 12 megapixels: 8/8 in 54 ms, 5/8 in 70, 4/8 in 46). Twice what is needed stays for the real filter, because the
    /// DCT's own reduction costs up to 3 dB where it does all the work, and 0.7 dB where a third more stayed.
    private static func eighths(_ longSide: Int, atLeast side: Int) -> Int {
        [1, 2, 4].first { longSide * $0 / 8 >= side * 2 } ?? 8
    }

    private func rows(_ eighths: Int, _ colour: Int, _ format: RowFormat) throws(ImagingError) -> any LineSource {
        var layout = cjpeg_layout()
        try session.check(cjpeg_decoder_start(session.handle, Int32(eighths), Int32(colour), &layout))
        let session = session
        let owner = owner
        let height = Int(header.height)
        return RowLines(
            size: PixelSize(width: Int(layout.width), height: Int(layout.height)), format: format,
            read: { (_, row) throws(ImagingError) in
                try session.check(cjpeg_decoder_read_row(session.handle, row))
            },
            finish: { () throws(ImagingError) in
                try session.finish(height: height)
                withExtendedLifetime(owner) {}
            })
    }

    /// The planes' kind, if zimg can take them as they are.
    private static func planar(_ layout: cjpeg_layout) -> PixelKind? {
        if layout.planes == 1 {
            return layout.plane_width.0 == layout.width && layout.plane_height.0 == layout.height ? .grey : nil
        }
        guard layout.planes == 3, layout.plane_width.0 == layout.width, layout.plane_height.0 == layout.height,
            layout.plane_width.1 == layout.plane_width.2, layout.plane_height.1 == layout.plane_height.2,
            layout.plane_lines_per_group.1 == layout.plane_lines_per_group.2
        else { return nil }
        for width in 0...2 {
            for height in 0...2 {
                let wide = (layout.width + (1 << width) - 1) >> width == layout.plane_width.1
                let high = (layout.height + (1 << height) - 1) >> height == layout.plane_height.1
                let grouped = layout.plane_lines_per_group.1 << height == layout.lines_per_group
                if wide, high, grouped, layout.plane_lines_per_group.0 == layout.lines_per_group {
                    return .ycc(subsampleWidth: width, subsampleHeight: height)
                }
            }
        }
        return nil
    }
}

extension JPEGDecoder.Session {
    /// Reads to the end, and decides whether what was there is still the photo.
    fileprivate func finish(height: Int) throws(ImagingError) {
        var presence = cjpeg_presence()
        try check(cjpeg_decoder_finish(handle, &presence))
        let missing = height - Int(presence.lines)
        // A few missing lines at the bottom are a photo still; more are a copy that broke off. Without its detail, what there
        // is has to have all lines.
        let isCoarse = Int(presence.sharpness) == cjpeg_coarse
        guard missing * 16 <= (isCoarse ? 0 : height) else {
            throw .damaged("it ends early: \(missing) of \(height) lines are missing")
        }
        shortfall =
            switch Int(presence.sharpness) {
            case cjpeg_coarse: "it ends early, and is much less sharp than it was"
            case cjpeg_softened: "it ends early, and is a little less sharp than it was"
            default: missing > 0 ? "it ends early: \(missing) of \(height) lines are missing" : nil
            }
    }
}

/// Raw planes, a row of MCUs at a time, straight into zimg's ring.
private final class JPEGPlanes: LineSource {
    let size: PixelSize
    let kind: PixelKind
    let linesPerStep: Int
    let padding: Int
    private let session: JPEGDecoder.Session
    private let owner: AnyObject
    private let height: Int
    private var decoded = 0

    init(_ session: JPEGDecoder.Session, _ owner: AnyObject, _ layout: cjpeg_layout, _ kind: PixelKind, height: Int) {
        self.session = session
        self.owner = owner
        self.kind = kind
        self.height = height
        size = PixelSize(width: Int(layout.width), height: Int(layout.height))
        linesPerStep = Int(layout.lines_per_group)
        padding = max(
            Int(layout.plane_padded_width.0) - Int(layout.plane_width.0),
            Int(layout.plane_padded_width.1) - Int(layout.plane_width.1), 0)
    }

    func decode(through line: Int, into ring: PlanarPicture) throws(ImagingError) {
        var target = cjpeg_ring()
        withUnsafeMutableBytes(of: &target.data) { data in
            let pointers = data.assumingMemoryBound(to: UnsafeMutablePointer<UInt8>?.self)
            for (index, plane) in ring.planes.enumerated() { pointers[index] = plane.base }
        }
        withUnsafeMutableBytes(of: &target.stride) { data in
            let strides = data.assumingMemoryBound(to: Int.self)
            for (index, plane) in ring.planes.enumerated() { strides[index] = plane.stride }
        }
        withUnsafeMutableBytes(of: &target.mask) { data in
            let masks = data.assumingMemoryBound(to: UInt32.self)
            for (index, plane) in ring.planes.enumerated() { masks[index] = UInt32(truncatingIfNeeded: plane.mask) }
        }
        while decoded <= line {
            try session.check(cjpeg_decoder_read_group(session.handle, &target, UInt32(decoded)))
            decoded += linesPerStep
        }
    }

    func finish() throws(ImagingError) { try session.finish(height: height) }
}
