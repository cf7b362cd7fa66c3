import CZimg
import Glibc
import ImageWorkerProtocol

/// Lanczos reduction by zimg: planar, SIMD, line by line.
///
/// The source is pulled through a small ring as zimg asks for it, so a 12-megapixel photo needs under a megabyte
/// of full-size lines. `gdImageCopyResampled` was rejected: twenty times slower for the same quality. Building a
/// graph costs as much as running it, and the photos of one camera share their size: see ``ReductionCache``.
final class Reduction {
    struct Shape: Hashable {
        var source: PixelSize
        var sourceKind: PixelKind
        var target: PixelSize
        var targetKind: PixelKind

        var sourceChroma: PixelSize { source.subsampled(sourceKind) }
        var targetChroma: PixelSize { target.subsampled(targetKind) }
    }

    let shape: Shape
    private let graph: OpaquePointer
    private let scratch: UnsafeMutableRawPointer
    private let inputLines: Int

    init(_ shape: Shape) throws(ImagingError) {
        self.shape = shape
        var from = Self.format(shape.source, shape.sourceKind)
        var into = Self.format(shape.target, shape.targetKind)
        Self.exclude(paddingOf: shape, from: &from, into: into)
        var parameters = zimg_graph_builder_params()
        zimg_graph_builder_params_default(&parameters, czimg_version)
        parameters.resample_filter = ZIMG_RESIZE_LANCZOS
        parameters.filter_param_a = 3
        // Chroma that was stored small is enlarged as decoders do it, without a negative lobe: ringing would colour every
        // edge. Decoders double it with weights of 3/4 and 1/4. This cubic is what becomes of that where a sample lies on
        // a stored one (1/8, 3/4, 1/8) and halfway between two (1/2, 1/2); bilinear is sharp at the first and soft at the
        // second, which shows as a pattern along the picture.
        let (small, large) = (shape.sourceChroma, shape.targetChroma)
        let enlargesChroma = small.width <= large.width && small.height <= large.height
        if enlargesChroma {
            parameters.resample_filter_uv = ZIMG_RESIZE_BICUBIC
            (parameters.filter_param_a_uv, parameters.filter_param_b_uv) = (0.75, 0.125)
        } else {
            parameters.resample_filter_uv = ZIMG_RESIZE_LANCZOS
            parameters.filter_param_a_uv = 3
        }
        parameters.cpu_type = ZIMG_CPU_AUTO_64B
        guard let graph = zimg_filter_graph_build(&from, &into, &parameters) else { throw Self.lastError() }
        var bytes = 0
        var lines: UInt32 = 0
        guard zimg_filter_graph_get_tmp_size(graph, &bytes) == ZIMG_ERROR_SUCCESS,
            zimg_filter_graph_get_input_buffering(graph, &lines) == ZIMG_ERROR_SUCCESS
        else {
            zimg_filter_graph_free(graph)
            throw Self.lastError()
        }
        var address: UnsafeMutableRawPointer?
        guard posix_memalign(&address, 64, max(bytes, 64)) == 0, let address else {
            zimg_filter_graph_free(graph)
            throw .lackOfMemory
        }
        self.graph = graph
        scratch = address
        inputLines = min(Int(lines), shape.source.height + 1)
    }

    deinit {
        free(scratch)
        zimg_filter_graph_free(graph)
    }

    /// Reduces what `lines` decodes, with as little of it in memory as possible.
    func run(_ lines: any LineSource) throws(ImagingError) -> PlanarPicture {
        if let output = try stream(lines) { return output }
        if shape.source.width > shape.target.width, shape.source.height > shape.target.height {
            let (first, rest) = narrowed
            if let between = try Reduction(first).stream(lines) { return try Reduction(rest).run(between) }
        }
        if BoxLines.isPossible(shape.sourceKind), shape.source.longSide >= shape.target.longSide * 2 {
            let fewer = try BoxLines(lines, side: 2)
            var smaller = shape
            smaller.source = fewer.size
            return try Reduction(smaller).run(fewer)
        }
        let whole = try PlanarPicture(
            size: shape.source, kind: shape.sourceKind, padding: lines.padding, extraLines: lines.linesPerStep)
        try LineFeeder(lines: lines, picture: whole).decodeAll()
        try lines.finish()
        return try run(whole, nil)
    }

    /// Reduces what `lines` decodes through a ring, or answers nil before anything is decoded: where the processor's
    /// cache is small for the width, zimg works in columns, for which every line is needed again and again.
    private func stream(_ lines: any LineSource) throws(ImagingError) -> PlanarPicture? {
        var room = 2
        while room < inputLines + lines.linesPerStep { room *= 2 }
        let ring = try PlanarPicture(
            size: shape.source, kind: shape.sourceKind, ringLines: room, padding: lines.padding)
        let feeder = LineFeeder(lines: lines, picture: ring)
        do throws(ImagingError) {
            let output = try run(ring, feeder)
            try lines.finish()
            return output
        } catch {
            if let failure = feeder.failure { throw failure }
            guard feeder.wantsWholePicture else { throw error }
            return nil
        }
    }

    /// Two steps, the first of which only makes lines shorter. It needs no more than one at a time, and what lies between
    /// the steps is as much smaller than the source as the target is narrower. Samples are rounded once more on the way,
    /// which costs a hundredth of a decibel; means of 2 x 2 pixels cost up to a whole one.
    private var narrowed: (first: Shape, rest: Shape) {
        let size = PixelSize(width: shape.target.width, height: shape.source.height)
        var kind = shape.sourceKind
        if case .ycc(_, let height) = kind {
            kind = .ycc(subsampleWidth: shape.targetKind.subsampling(ofPlane: 1).width, subsampleHeight: height)
        }
        return (
            Shape(source: shape.source, sourceKind: shape.sourceKind, target: size, targetKind: kind),
            Shape(source: size, sourceKind: kind, target: shape.target, targetKind: shape.targetKind)
        )
    }

    /// Reduces a picture that is whole in memory.
    func run(_ picture: PlanarPicture) throws(ImagingError) -> PlanarPicture {
        picture.padEdges()
        return try run(picture, nil)
    }

    private func run(_ picture: PlanarPicture, _ feeder: LineFeeder?) throws(ImagingError) -> PlanarPicture {
        let output = try PlanarPicture(size: shape.target, kind: shape.targetKind)
        var input = zimg_image_buffer_const()
        var result = zimg_image_buffer()
        for (index, plane) in picture.planes.enumerated() {
            czimg_set_source(
                &input, Int32(index), plane.base, plane.stride, UInt32(truncatingIfNeeded: plane.mask))
        }
        for (index, plane) in output.planes.enumerated() {
            czimg_set_target(
                &result, Int32(index), plane.base, plane.stride, UInt32(truncatingIfNeeded: plane.mask))
        }
        let status: zimg_error_code_e
        if let feeder {
            status = withExtendedLifetime(feeder) {
                zimg_filter_graph_process(
                    graph, &input, &result, scratch,
                    { user, line, left, right in
                        guard let user else { return 1 }
                        let feeder = Unmanaged<LineFeeder>.fromOpaque(user).takeUnretainedValue()
                        return feeder.feed(line: Int(line), columns: Int(left)..<Int(right)) ? 0 : 1
                    }, Unmanaged.passUnretained(feeder).toOpaque(), nil, nil)
            }
        } else {
            status = zimg_filter_graph_process(graph, &input, &result, scratch, nil, nil, nil, nil)
        }
        guard status == ZIMG_ERROR_SUCCESS else { throw Self.lastError() }
        return output
    }

    private static func format(_ size: PixelSize, _ kind: PixelKind) -> zimg_image_format {
        var format = zimg_image_format()
        zimg_image_format_default(&format, czimg_version)
        let chroma = kind.subsampling(ofPlane: 1)
        // zimg wants dimensions that chroma divides.
        format.width = UInt32(((size.width + (1 << chroma.width) - 1) >> chroma.width) << chroma.width)
        format.height = UInt32(((size.height + (1 << chroma.height) - 1) >> chroma.height) << chroma.height)
        format.pixel_type = ZIMG_PIXEL_BYTE
        format.depth = 8
        format.pixel_range = ZIMG_RANGE_FULL
        format.subsample_w = UInt32(chroma.width)
        format.subsample_h = UInt32(chroma.height)
        format.chroma_location = ZIMG_CHROMA_CENTER
        switch kind {
        case .grey: format.color_family = ZIMG_COLOR_GREY
        case .rgb:
            format.color_family = ZIMG_COLOR_RGB
            format.matrix_coefficients = ZIMG_MATRIX_RGB
        case .deepRGB(let bits):
            format.color_family = ZIMG_COLOR_RGB
            format.matrix_coefficients = ZIMG_MATRIX_RGB
            format.pixel_type = ZIMG_PIXEL_WORD
            format.depth = UInt32(bits)
        case .ycc: format.color_family = ZIMG_COLOR_YUV
        }
        return format
    }

    /// Where a size was rounded up for chroma's sake, the extra line or column of the source is left out, and that
    /// of the target is sampled from beyond the edge: every other pixel lies where it would without padding.
    private static func exclude(paddingOf shape: Shape, from: inout zimg_image_format, into: zimg_image_format) {
        if Int(into.width) != shape.target.width || Int(from.width) != shape.source.width {
            from.active_region.left = 0
            from.active_region.width =
                Double(shape.source.width) * Double(into.width) / Double(shape.target.width)
        }
        if Int(into.height) != shape.target.height || Int(from.height) != shape.source.height {
            from.active_region.top = 0
            from.active_region.height =
                Double(shape.source.height) * Double(into.height) / Double(shape.target.height)
        }
    }

    private static func lastError() -> ImagingError {
        var text = [CChar](repeating: 0, count: 256)
        let code = zimg_get_last_error(&text, text.count)
        if code == ZIMG_ERROR_OUT_OF_MEMORY { return .lackOfMemory }
        let end = text.firstIndex(of: 0) ?? text.endIndex
        let words = String(decoding: text[..<end].map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return .unsupported("reducing it failed: \(words)")
    }
}

/// The latest few reductions, so that photos of one size share a graph. One process, one thread, one cache; a worker begins with
/// what its nursery has prepared.
final class ReductionCache {
    private var kept: [Reduction] = []
    /// Shapes that were asked for and were not there, the latest ``ImageWorkerProtocol/ReductionShape/most``.
    private(set) var made: [ReductionShape] = []
    private let most: Int

    init(most: Int = ReductionShape.most) { self.most = most }

    func reduction(_ shape: Reduction.Shape) throws(ImagingError) -> Reduction {
        if let index = kept.firstIndex(where: { $0.shape == shape }) {
            let found = kept.remove(at: index)
            kept.append(found)
            return found
        }
        let reduction = try Reduction(shape)
        if kept.count == most { kept.removeFirst() }
        kept.append(reduction)
        if made.count == most { made.removeFirst() }
        made.append(ReductionShape(shape))
        return reduction
    }

    /// Has these ready for the copies of this process. What cannot be prepared is left to whoever needs it.
    func prepare(_ shapes: [ReductionShape]) {
        for shape in shapes.suffix(most) { _ = try? reduction(Reduction.Shape(shape)) }
        made = []
    }
}

extension ReductionShape {
    init(_ shape: Reduction.Shape) {
        self.init(
            sourceWidth: shape.source.width, sourceHeight: shape.source.height, sourceKind: Kind(shape.sourceKind),
            width: shape.target.width, height: shape.target.height, kind: Kind(shape.targetKind))
    }
}

extension Reduction.Shape {
    init(_ shape: ReductionShape) {
        self.init(
            source: PixelSize(width: shape.sourceWidth, height: shape.sourceHeight),
            sourceKind: PixelKind(shape.sourceKind),
            target: PixelSize(width: shape.width, height: shape.height), targetKind: PixelKind(shape.kind))
    }
}

extension ReductionShape.Kind {
    fileprivate init(_ kind: PixelKind) {
        self =
            switch kind {
            case .grey: .grey
            case .rgb: .rgb
            case .deepRGB(let bits): .deepRGB(bits: bits)
            case .ycc(let width, let height): .ycc(subsampleWidth: width, subsampleHeight: height)
            }
    }
}

extension PixelKind {
    fileprivate init(_ kind: ReductionShape.Kind) {
        self =
            switch kind {
            case .grey: .grey
            case .rgb: .rgb
            case .deepRGB(let bits): .deepRGB(bits: bits)
            case .ycc(let width, let height): .ycc(subsampleWidth: width, subsampleHeight: height)
            }
    }
}
