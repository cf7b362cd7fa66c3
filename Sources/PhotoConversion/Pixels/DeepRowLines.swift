import ImageWorkerProtocol

/// Lines from a decoder that gives interleaved rows of two bytes a sample, in the processor's order, split into planes on the way.
final class DeepRowLines: LineSource {
    typealias Read = (_ line: Int, _ row: UnsafeMutablePointer<UInt16>) throws(ImagingError) -> Void

    /// Samples of a pixel: grey, grey and opacity, colours, colours and opacity.
    enum Channels: Int {
        case grey = 1
        case greyAndOpacity, colours, coloursAndOpacity
    }

    let size: PixelSize
    let kind = PixelKind.deepRGB(bits: 16)
    let linesPerStep = 1
    private let channels: Channels
    private let isPremultiplied: Bool
    private let white: UInt32
    private let read: Read
    private let row: UnsafeMutablePointer<UInt16>
    private var next = 0

    /// - Parameters:
    ///   - isPremultiplied: whether colours are multiplied by opacity already.
    ///   - white: the sample of what shows through, where the picture is not opaque.
    ///   - read: decodes one row, in order.
    init(size: PixelSize, channels: Channels, isPremultiplied: Bool = false, white: UInt16, read: @escaping Read) {
        self.size = size
        self.channels = channels
        self.isPremultiplied = isPremultiplied
        self.white = UInt32(white)
        self.read = read
        row = .allocate(capacity: size.width * channels.rawValue)
    }

    deinit { row.deallocate() }

    func decode(through line: Int, into ring: PlanarPicture) throws(ImagingError) {
        while next <= line {
            try read(next, row)
            for (ink, plane) in ring.planes.enumerated() { split(ink, into: plane.line(next)) }
            next += 1
        }
    }

    private func split(_ ink: Int, into line: UnsafeMutablePointer<UInt8>) {
        let samples = UnsafeMutableRawPointer(line).assumingMemoryBound(to: UInt16.self)
        let count = channels.rawValue
        let place = count < 3 ? 0 : ink
        guard count % 2 == 0 else {
            for x in 0..<size.width { samples[x] = row[x &* count &+ place] }
            return
        }
        for x in 0..<size.width {
            let opacity = UInt32(row[x &* count &+ count &- 1])
            samples[x] = Self.over(
                white, UInt32(row[x &* count &+ place]), opacity, isPremultiplied: isPremultiplied)
        }
    }

    /// A sample over one that shows through; all of them 0 to 65,535.
    static func over(_ white: UInt32, _ sample: UInt32, _ opacity: UInt32, isPremultiplied: Bool) -> UInt16 {
        let own = isPremultiplied ? sample : (sample &* opacity &+ 32_767) / 65_535
        return UInt16(min(own &+ (white &* (65_535 &- opacity) &+ 32_767) / 65_535, 65_535))
    }
}
