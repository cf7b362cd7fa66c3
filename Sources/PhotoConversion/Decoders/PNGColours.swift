import ImageWorkerProtocol

extension ColourProfile {
    /// The chunk cICP of a PNG, which counts for more than all others (PNG 3, 4.3); nil where there is none of colours in full range, or
    /// one that says sRGB.
    init?(pngNumbers bytes: ByteView) {
        guard let numbers = Self.pngNumbers(bytes) else { return nil }
        self.init(primaries: numbers.primaries, transfer: numbers.transfer)
        if case .primaries(let number) = self, Chromaticities.numbered(number) == nil { return nil }
    }

    /// Whether there is such a chunk.
    static func hasNumbers(_ bytes: ByteView) -> Bool { pngNumbers(bytes) != nil }

    private static func pngNumbers(_ bytes: ByteView) -> (primaries: UInt32, transfer: UInt32)? {
        var offset = 8
        while offset + 12 <= bytes.count {
            let length = Int(bytes.bigEndian32(at: offset))
            switch bytes.text(at: offset + 4, count: 4) {
            case "cICP" where length == 4:
                // Two that are not said say nothing, and samples of brightness and two colours are none of a PNG's.
                let (primaries, transfer) = (bytes[offset + 8], bytes[offset + 9])
                guard transfer != 2, bytes[offset + 10] == 0, bytes[offset + 11] == 1 else { return nil }
                return (UInt32(primaries), UInt32(transfer))
            case "IDAT", "IEND": return nil
            default: offset += 12 + length
            }
        }
        return nil
    }

    /// Chunks of a PNG that say what its colours mean: gAMA and cHRM, where none of those that overrule them stands there
    /// (iCCP is for the caller to look for). Nil where they say sRGB, nothing, or what cannot be.
    init?(pngColours bytes: ByteView) {
        var exponent: Double?
        var chromaticities: Chromaticities?
        var offset = 8
        chunks: while offset + 12 <= bytes.count {
            let length = Int(bytes.bigEndian32(at: offset))
            func number(_ index: Int) -> Double { Double(bytes.bigEndian32(at: offset + 8 + index * 4)) / 100_000 }
            switch bytes.text(at: offset + 4, count: 4) {
            case "sRGB", "cICP": return nil
            case "gAMA" where length == 4 && exponent == nil: exponent = number(0)
            case "cHRM" where length == 32 && chromaticities == nil:
                chromaticities = Chromaticities((0..<8).map(number))
            case "IDAT", "IEND": break chunks
            default: break
            }
            offset += 12 + length
        }
        // A test picture for viewers has 2.5; nothing that anybody took is beyond these.
        if let found = exponent, !(0.1...5).contains(found) { exponent = nil }
        guard exponent != nil || chromaticities != nil else { return nil }
        let isUsual = exponent.map { (0.4318...0.4773).contains($0) } ?? true
        // 1/2.2 is what writers of sRGB say of it, for want of another number: its real curve is no power. Within a twentieth of
        // that nobody sees a difference, as libpng has it.
        if isUsual, chromaticities?.isStandard ?? true { return nil }
        self = .measured(gamma: exponent.map { 1 / $0 }, chromaticities ?? .standard)
    }
}

/// Where white, red, green and blue lie in CIE's diagram of x and y.
struct Chromaticities: Equatable {
    let white: Point
    let red: Point
    let green: Point
    let blue: Point

    struct Point: Equatable {
        let x: Double
        let y: Double

        /// Twice the area of a triangle, positive where its corners go anticlockwise.
        static func area(_ first: Point, _ second: Point, _ third: Point) -> Double {
            (second.x - first.x) * (third.y - first.y) - (third.x - first.x) * (second.y - first.y)
        }
    }

    /// Of sRGB.
    static let standard = Chromaticities(
        white: Point(x: 0.3127, y: 0.3290), red: Point(x: 0.64, y: 0.33), green: Point(x: 0.30, y: 0.60),
        blue: Point(x: 0.15, y: 0.06))

    init(white: Point, red: Point, green: Point, blue: Point) {
        self.white = white
        self.red = red
        self.green = green
        self.blue = blue
    }

    /// From x and y of each, in the order of the properties; nil where no light is like that.
    init?(_ numbers: [Double]) {
        guard numbers.count == 8 else { return nil }
        let points = (0..<4).map { Point(x: numbers[$0 * 2], y: numbers[$0 * 2 + 1]) }
        guard points.allSatisfy({ (0...1).contains($0.x) && (0.00001...1).contains($0.y) && $0.x + $0.y <= 1.0001 })
        else { return nil }
        self.init(white: points[0], red: points[1], green: points[2], blue: points[3])
        // White is a mixture of the three, so it lies between them; and they have to be three. sRGB's triangle has 0.22.
        let parts = [
            Point.area(red, green, white), Point.area(green, blue, white), Point.area(blue, red, white),
        ]
        guard parts.allSatisfy({ $0 > 0.001 }) || parts.allSatisfy({ $0 < -0.001 }), white.y > 0.05 else { return nil }
    }

    /// Whether they are those of sRGB, as writers round them.
    var isStandard: Bool {
        let pairs = [
            (white, Self.standard.white), (red, Self.standard.red), (green, Self.standard.green),
            (blue, Self.standard.blue),
        ]
        return pairs.allSatisfy { abs($0.x - $1.x) < 0.005 && abs($0.y - $1.y) < 0.005 }
    }
}
