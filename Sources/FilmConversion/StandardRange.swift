import CFilm
import Glibc

/// Brings the light of a film that has more of it than a screen (HLG, PQ; in BT.2020's colours) into sRGB: what a person sees as white
/// stays nearly white, and highlights above it are pressed together and not cut.
///
/// Each colour by itself, from tables: a poster is looked at, and not measured. Rejected: zimg's conversion of transfers, which cuts
/// what is above its peak.
struct StandardRange {
    /// Of a sample of 8 bits: light, as a multiple of white.
    private let light: [Float]

    /// White of graphics in a picture with highlights, in candela a square metre, and the peaks of the two curves (ITU-R BT.2408).
    private static let white: Float = 203
    private static let hlgPeak: Float = 1_000
    private static let pqPeak: Float = 10_000

    /// Nil for ordinary light, which needs nothing.
    init?(_ kind: cfilm_light) {
        switch kind {
        case cfilm_hlg: light = Self.table { powf(Self.hlgScene($0), 1.2) * Self.hlgPeak / Self.white }
        case cfilm_pq: light = Self.table { Self.pq($0) * Self.pqPeak / Self.white }
        default: return nil
        }
    }

    private static func table(_ light: (Float) -> Float) -> [Float] { (0...255).map { light(Float($0) / 255) } }

    /// The inverse of HLG's curve (ITU-R BT.2100): the light of the scene, 0 to 1.
    private static func hlgScene(_ signal: Float) -> Float {
        signal <= 0.5 ? signal * signal / 3 : (expf((signal - 0.559_910_73) / 0.178_832_77) + 0.284_668_92) / 12
    }

    /// PQ's curve (SMPTE ST 2084): of its peak.
    private static func pq(_ signal: Float) -> Float {
        let root = powf(signal, 1 / 78.843_75)
        return powf(max(root - 0.835_937_5, 0) / (18.851_562_5 - 18.687_5 * root), 1 / 0.159_301_757_8)
    }

    /// Up to here light stays what it is.
    private static let knee: Float = 0.75
    private static let steps: Float = 4_095
    /// sRGB of light from 0 to 1.
    private static let shown: [UInt8] = (0...Int(steps)).map { step in
        let light = Float(step) / steps
        let signal = light <= 0.003_130_8 ? light * 12.92 : 1.055 * powf(light, 1 / 2.4) - 0.055
        return UInt8((signal * 255).rounded())
    }

    private static func shown(_ light: Float) -> UInt8 {
        var light = max(light, 0)
        if light > knee { light = knee + (1 - knee) * (1 - expf((knee - light) / (1 - knee))) }
        return shown[Int(min(light, 1) * steps)]
    }

    /// A row of RGB.
    func convert(_ row: UnsafePointer<UInt8>, into target: UnsafeMutablePointer<UInt8>, pixels: Int) {
        for x in 0..<pixels {
            let (red, green, blue) = (light[Int(row[x * 3])], light[Int(row[x * 3 + 1])], light[Int(row[x * 3 + 2])])
            // From BT.2020's colours to sRGB's.
            target[x * 3] = Self.shown(1.660_5 * red - 0.587_6 * green - 0.072_8 * blue)
            target[x * 3 + 1] = Self.shown(-0.124_6 * red + 1.132_9 * green - 0.008_3 * blue)
            target[x * 3 + 2] = Self.shown(-0.018_2 * red - 0.100_6 * green + 1.118_7 * blue)
        }
    }
}
