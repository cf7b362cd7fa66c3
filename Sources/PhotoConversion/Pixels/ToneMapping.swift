import Glibc
import ImageWorkerProtocol

/// Brings a picture with more light than a screen shows into sRGB.
///
/// White of 203 candela is sRGB's white. Where the picture has more light than that, the curve of ITU-R BT.2390 (5.4.1, which BT.2408
/// recommends for screens that are darker than the picture) presses what is above a knee together up to the picture's own peak,
/// so that nothing is cut off, and leaves everything darker as it is. The largest of the three colours is taken through it
/// and the two others go with it, so that no colour changes its hue.
///
/// Of a picture whose peak is 1,000 candela, white of 203 comes out at 229 of 255, and up to 92 candela nothing changes; of one of
/// 10,000 at 196, and up to 28. Of a picture without highlights white is 255.
///
/// Rejected: one curve for all pictures, made for a peak of 10,000 candela, which makes every evening at home dark; a transform of
/// lcms2, which has no such curve; Reinhard's curve, which makes white grey also where nothing is brighter than it.
final class ToneMapping {
    private let range: HighRange
    /// See ``HighRange/light``.
    private let light: [Float]
    private let matrix: [SIMD3<Float>]

    /// The part of a picture's pixels that may be brighter than its peak: a few that sparkle are not to darken all others.
    private static let beyondPeak = 0.000_5

    init(_ range: HighRange) {
        self.range = range
        light = range.light
        matrix = range.colours.toStandard
    }

    /// This picture in sRGB.
    func convert(_ picture: PlanarPicture) throws(ImagingError) -> PlanarPicture {
        let curve = ToneCurve(peak: peak(of: picture))
        let result = try PlanarPicture(size: picture.size, kind: .rgb)
        forEachLine(of: picture) { y, line in
            let (red, green, blue) = (result.planes[0].line(y), result.planes[1].line(y), result.planes[2].line(y))
            for x in 0..<picture.size.width {
                let light = standardLight(line, x)
                let shown = light * curve.factor(of: light.max())
                red[x] = StandardCurve.sample(of: shown.x)
                green[x] = StandardCurve.sample(of: shown.y)
                blue[x] = StandardCurve.sample(of: shown.z)
            }
        }
        return result
    }

    /// As a multiple of white.
    private func peak(of picture: PlanarPicture) -> Float {
        var counts = [Int](repeating: 0, count: LightScale.count)
        forEachLine(of: picture) { _, line in
            for x in 0..<picture.size.width {
                counts[LightScale.step(of: standardLight(line, x).max())] += 1
            }
        }
        var beyond = Int(Double(picture.size.pixels) * Self.beyondPeak)
        var step = counts.count - 1
        while step > 0, beyond >= counts[step] {
            beyond -= counts[step]
            step -= 1
        }
        return LightScale.light(of: step + 1)
    }

    /// Light in sRGB's colours as a multiple of white; colours that sRGB has not are the nearest that it has.
    private func standardLight(_ line: UnsafePointer<UInt16>, _ x: Int) -> SIMD3<Float> {
        var colours = SIMD3(light[Int(line[x &* 3])], light[Int(line[x &* 3 &+ 1])], light[Int(line[x &* 3 &+ 2])])
        if range.transfer == .hlg {
            let parts = range.colours.brightness
            let brightness = colours.x * parts.red + colours.y * parts.green + colours.z * parts.blue
            colours *= HighRange.hlgSystem(brightness: brightness)
        }
        let red = (matrix[0] * colours).sum()
        let green = (matrix[1] * colours).sum()
        let blue = (matrix[2] * colours).sum()
        return SIMD3(max(red, 0), max(green, 0), max(blue, 0))
    }

    /// Each line as interleaved samples of 16 bits.
    private func forEachLine(of picture: PlanarPicture, _ body: (Int, UnsafePointer<UInt16>) -> Void) {
        let width = picture.size.width
        let line = UnsafeMutablePointer<UInt16>.allocate(capacity: width * 3)
        let bytes = UnsafeMutablePointer<UInt8>.allocate(capacity: width * 3)
        defer {
            line.deallocate()
            bytes.deallocate()
        }
        for y in 0..<picture.size.height {
            switch picture.kind {
            case .deepRGB(let bits):
                let most = UInt32(1) << UInt32(bits) - 1
                for ink in 0..<3 {
                    let samples = UnsafeRawPointer(picture.planes[ink].line(y)).assumingMemoryBound(to: UInt16.self)
                    for x in 0..<width {
                        let sample = min(UInt32(samples[x]), most)
                        line[x &* 3 &+ ink] = UInt16(truncatingIfNeeded: (sample &* 65_535 &+ most / 2) / most)
                    }
                }
            case .grey, .rgb, .ycc:
                if case .ycc = picture.kind { picture.interleaveFromYCC(line: y, into: bytes) }
                if case .rgb = picture.kind { picture.interleave(line: y, into: bytes) }
                if case .grey = picture.kind {
                    for x in 0..<width * 3 { bytes[x] = picture.planes[0].line(y)[x / 3] }
                }
                for x in 0..<width * 3 { line[x] = UInt16(bytes[x]) &* 257 }
            }
            body(y, line)
        }
    }
}

/// How much light becomes of light, where there is up to a peak of it and 1 can be shown.
private struct ToneCurve {
    /// At the beginnings of ``LightScale``'s steps, and at the end of the last.
    private let factors: [Float]

    init(peak: Float) {
        let first = HighRange.pqSample(of: HighRange.white * peak)
        let shown = HighRange.pqSample(of: HighRange.white) / first
        factors = (0...LightScale.count).map { step in
            guard peak > 1 else { return 1 }
            let light = LightScale.light(of: step)
            let sample = min(HighRange.pqSample(of: HighRange.white * light) / first, 1)
            return min(HighRange.pqLight(of: Self.pressed(sample, shown) * first) / HighRange.white, 1) / light
        }
    }

    /// BT.2390's spline: samples of PQ as parts of the peak's, of which the screen shows so much.
    private static func pressed(_ sample: Float, _ shown: Float) -> Float {
        let knee = 1.5 * shown - 0.5
        guard sample > knee else { return sample }
        let place = (sample - knee) / (1 - knee)
        let (square, cube) = (place * place, place * place * place)
        return (2 * cube - 3 * square + 1) * knee + (cube - 2 * square + place) * (1 - knee)
            + (3 * square - 2 * cube) * shown
    }

    /// Between two steps on a straight line: in steps alone, two neighbours of a gradient could change places.
    func factor(of light: Float) -> Float {
        let (step, part) = LightScale.place(of: light)
        return factors[step] + (factors[step + 1] - factors[step]) * part
    }
}

/// Light from 1/1,024 to 64 times white in steps that are equal parts of it, 256 for each doubling. What is darker is at the beginning of
/// the first; brighter than 50 times white PQ has nothing.
private enum LightScale {
    private static let doublings = 16
    private static let darkest: Float = 1 / 1_024
    /// Bits of a Float that tell where in a step it lies.
    private static let partBits: UInt32 = 15

    static let count = doublings << (23 - Int(partBits))

    static func step(of light: Float) -> Int { place(of: light).step }

    /// The step, and how far it lies between its beginning and the next one's: 0 to 1.
    static func place(of light: Float) -> (step: Int, part: Float) {
        guard light > darkest else { return (0, 0) }
        let place = light.bitPattern &- darkest.bitPattern
        let step = Int(place &>> partBits)
        guard step < count else { return (count - 1, 1) }
        return (step, Float(place & (1 &<< partBits &- 1)) / Float(1 &<< partBits))
    }

    /// Where a step begins.
    static func light(of step: Int) -> Float {
        Float(bitPattern: darkest.bitPattern &+ UInt32(step) &<< partBits)
    }
}

/// sRGB's curve.
private enum StandardCurve {
    private static let steps: Float = 16_383
    private static let samples: [UInt8] = (0...Int(steps)).map { step in
        let light = Float(step) / steps
        let sample = light <= 0.003_130_8 ? light * 12.92 : 1.055 * powf(light, 1 / 2.4) - 0.055
        return UInt8((sample * 255).rounded())
    }

    /// Of light from 0 to 1.
    static func sample(of light: Float) -> UInt8 { samples[Int(min(light, 1) * steps + 0.5)] }
}
