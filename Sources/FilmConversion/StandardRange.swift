import CFilm
import Glibc
import PhotoConversion

/// Brings the light of a film that has more of it than a screen (HLG, PQ; in BT.2020's colours) into sRGB: what a person sees as white
/// stays nearly white, and highlights above it are pressed together and not cut.
///
/// Each colour by itself, from tables: a poster is looked at, and not measured, and its samples have 8 bits, too few for the curve of
/// pictures (`ToneMapping`). Rejected: zimg's conversion of transfers, which cuts what is above its peak.
struct StandardRange {
    /// Of a sample of 8 bits: light, as a multiple of white.
    private let light: [Float]

    /// Nil for ordinary light, which needs nothing.
    init?(_ kind: cfilm_light) {
        switch kind {
        case cfilm_hlg:
            light = Self.table { powf(HighRange.hlgScene(of: $0), 1.2) * HighRange.hlgPeak / HighRange.white }
        case cfilm_pq: light = Self.table { HighRange.pqLight(of: $0) / HighRange.white }
        default: return nil
        }
    }

    private static func table(_ light: (Float) -> Float) -> [Float] { (0...255).map { light(Float($0) / 255) } }

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

    private static let toStandard = HighRange.Colours.bt2020.toStandard

    /// A row of RGB.
    func convert(_ row: UnsafePointer<UInt8>, into target: UnsafeMutablePointer<UInt8>, pixels: Int) {
        for x in 0..<pixels {
            let colours = SIMD3(light[Int(row[x * 3])], light[Int(row[x * 3 + 1])], light[Int(row[x * 3 + 2])])
            for ink in 0..<3 { target[x * 3 + ink] = Self.shown((Self.toStandard[ink] * colours).sum()) }
        }
    }
}
