import ImageWorkerProtocol

/// Turns a row of one colour space into interleaved RGB: source, target, pixels.
typealias RowConverter = (UnsafePointer<UInt8>, UnsafeMutablePointer<UInt8>, Int) -> Void

/// How a decoder's interleaved rows are laid out.
enum RowFormat {
    case grey
    case rgb
    /// Straight alpha, composited over white here.
    case rgba
    /// Colours already multiplied by alpha.
    case rgbaPremultiplied
    /// Four inks and what makes RGB of them.
    case inks(RowConverter)

    var bytesPerPixel: Int {
        switch self {
        case .grey: 1
        case .rgb: 3
        case .rgba, .rgbaPremultiplied, .inks: 4
        }
    }

    var kind: PixelKind {
        if case .grey = self { return .grey }
        return .rgb
    }
}

/// Lines from a decoder that gives interleaved rows, split into planes on the way.
final class RowLines: LineSource {
    typealias Read = (_ line: Int, _ row: UnsafeMutablePointer<UInt8>) throws(ImagingError) -> Void

    let size: PixelSize
    let format: RowFormat
    private let read: Read
    private let finishReading: () throws(ImagingError) -> Void
    /// One row as decoded, and one converted to RGB.
    private let row: UnsafeMutablePointer<UInt8>
    private let converted: UnsafeMutablePointer<UInt8>
    private var next = 0

    /// - Parameters:
    ///   - read: decodes one row, in order, into `width * bytesPerPixel` bytes.
    ///   - finish: called after the last row.
    init(
        size: PixelSize, format: RowFormat, read: @escaping Read,
        finish: @escaping () throws(ImagingError) -> Void = { () throws(ImagingError) in }
    ) {
        self.size = size
        self.format = format
        self.read = read
        finishReading = finish
        row = .allocate(capacity: size.width * 4)
        converted = .allocate(capacity: size.width * 3)
    }

    deinit {
        row.deallocate()
        converted.deallocate()
    }

    var kind: PixelKind { format.kind }
    var linesPerStep: Int { 1 }

    func decode(through line: Int, into ring: PlanarPicture) throws(ImagingError) {
        while next <= line {
            try decode(next, into: ring)
            next += 1
        }
    }

    private func decode(_ line: Int, into ring: PlanarPicture) throws(ImagingError) {
        if case .grey = format {
            try read(line, ring.planes[0].line(line))
            return
        }
        let (red, green, blue) = (ring.planes[0].line(line), ring.planes[1].line(line), ring.planes[2].line(line))
        let width = size.width
        let pixels = row
        try read(line, pixels)
        switch format {
        case .grey: break
        case .rgb: split(pixels, red, green, blue)
        case .rgba:
            for x in 0..<width {
                let alpha = UInt32(pixels[x * 4 + 3])
                red[x] = overWhite(pixels[x * 4], alpha)
                green[x] = overWhite(pixels[x * 4 + 1], alpha)
                blue[x] = overWhite(pixels[x * 4 + 2], alpha)
            }
        case .rgbaPremultiplied:
            for x in 0..<width {
                let white = UInt16(255 - pixels[x * 4 + 3])
                red[x] = UInt8(min(255, UInt16(pixels[x * 4]) + white))
                green[x] = UInt8(min(255, UInt16(pixels[x * 4 + 1]) + white))
                blue[x] = UInt8(min(255, UInt16(pixels[x * 4 + 2]) + white))
            }
        case .inks(let convert):
            convert(UnsafePointer(pixels), converted, width)
            split(converted, red, green, blue)
        }
    }

    private func split(
        _ pixels: UnsafeMutablePointer<UInt8>, _ red: UnsafeMutablePointer<UInt8>,
        _ green: UnsafeMutablePointer<UInt8>, _ blue: UnsafeMutablePointer<UInt8>
    ) {
        for x in 0..<size.width {
            red[x] = pixels[x &* 3]
            green[x] = pixels[x &* 3 &+ 1]
            blue[x] = pixels[x &* 3 &+ 2]
        }
    }

    private func overWhite(_ value: UInt8, _ alpha: UInt32) -> UInt8 {
        UInt8(truncatingIfNeeded: (UInt32(value) &* alpha &+ 255 &* (255 &- alpha) &+ 127) / 255)
    }

    func finish() throws(ImagingError) { try finishReading() }
}
