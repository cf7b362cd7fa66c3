import Glibc
import ImageWorkerProtocol

/// What the samples of a picture mean that holds more light than a screen shows: PQ (SMPTE ST 2084) or HLG (ITU-R BT.2100), in the
/// colours that its container names by their numbers in ITU-T H.273.
package struct HighRange: Equatable {
    enum Transfer: UInt32 {
        case pq = 16
        case hlg = 18
    }

    let transfer: Transfer
    let colours: Colours

    package enum Colours {
        case bt2020, displayP3, standard
    }

    /// Nil where the transfer is an ordinary one. Colours without a number are BT.2020's, which both transfers were made for.
    init?(transfer: UInt32, primaries: UInt32) {
        guard let transfer = Transfer(rawValue: transfer) else { return nil }
        self.transfer = transfer
        colours =
            switch primaries {
            case 1: .standard
            case 11, 12: .displayP3
            default: .bt2020
            }
    }

    /// White of graphics and of paper in such a picture, in candela a square metre (ITU-R BT.2408).
    package static let white: Float = 203
    /// Light of HLG's largest sample, and of PQ's.
    package static let hlgPeak: Float = 1_000
    static let pqPeak: Float = 10_000

    /// The sample of ``white``, 0 to 65,535: HLG's is 75 percent, PQ's 58.
    var whiteSample: UInt16 {
        switch transfer {
        case .hlg: 49_151
        case .pq: UInt16((Self.pqSample(of: Self.white) * 65_535).rounded())
        }
    }

    /// Of every sample, as a multiple of ``white``; of HLG the scene's light from 0 to 1, which the screen's is made of.
    var light: [Float] {
        switch transfer {
        case .pq: (0...65_535).map { Self.pqLight(of: Float($0) / 65_535) / Self.white }
        case .hlg: (0...65_535).map { Self.hlgScene(of: Float($0) / 65_535) }
        }
    }

    /// What makes a screen's light of the scene's (the system gamma of 1.2 of a screen of 1,000 candela): a factor for all three
    /// colours, by the brightness of all, as a multiple of ``white``.
    static func hlgSystem(brightness: Float) -> Float { powf(max(brightness, 0), 0.2) * hlgPeak / white }

    /// Candela of a sample from 0 to 1.
    package static func pqLight(of sample: Float) -> Float {
        let root = powf(max(sample, 0), 1 / 78.843_75)
        return pqPeak * powf(max(root - 0.835_937_5, 0) / (18.851_562_5 - 18.687_5 * root), 1 / 0.159_301_757_8)
    }

    /// The sample from 0 to 1 of so many candela.
    static func pqSample(of light: Float) -> Float {
        let root = powf(min(max(light, 0) / pqPeak, 1), 0.159_301_757_8)
        return powf((0.835_937_5 + 18.851_562_5 * root) / (1 + 18.687_5 * root), 78.843_75)
    }

    /// The light of the scene, 0 to 1, of a sample from 0 to 1.
    package static func hlgScene(of sample: Float) -> Float {
        sample <= 0.5 ? sample * sample / 3 : (expf((sample - 0.559_910_73) / 0.178_832_77) + 0.284_668_92) / 12
    }
}

extension HighRange.Colours {
    /// How bright red, green and blue of the same light are, all together 1.
    var brightness: (red: Float, green: Float, blue: Float) {
        switch self {
        case .bt2020: (0.262_7, 0.678_0, 0.059_3)
        case .displayP3: (0.229_0, 0.691_7, 0.079_3)
        case .standard: (0.212_6, 0.715_2, 0.072_2)
        }
    }

    /// From light in these colours to light in sRGB's: lines for red, green and blue.
    package var toStandard: [SIMD3<Float>] {
        switch self {
        case .bt2020: [[1.660_5, -0.587_6, -0.072_8], [-0.124_6, 1.132_9, -0.008_3], [-0.018_2, -0.100_6, 1.118_7]]
        case .displayP3: [[1.224_9, -0.224_7, 0], [-0.042_0, 1.041_9, 0], [-0.019_7, -0.078_6, 1.097_9]]
        case .standard: [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
        }
    }
}

extension HighRange {
    /// By the tag `cicp` of an ICC profile (ICC.1:2022, 9.2.17), which counts for more than the profile's curves: those cannot say
    /// how bright white is. Nil where there is none.
    init?(icc profile: [UInt8]) {
        let found: (UInt8, UInt8)? = profile.withUnsafeBytes { raw in
            let bytes = ByteView(raw)
            // A profile has some twenty; what it says of them may be anything.
            for tag in 0..<min(100, Int(bytes.bigEndian32(at: 128)))
            where bytes.text(at: 132 + tag * 12, count: 4) == "cicp" {
                let body = bytes.part(from: Int(bytes.bigEndian32(at: 136 + tag * 12)))
                guard body.count >= 12, body.text(at: 0, count: 4) == "cicp" else { return nil }
                return (body[8], body[9])
            }
            return nil
        }
        guard let (primaries, transfer) = found else { return nil }
        self.init(transfer: UInt32(transfer), primaries: UInt32(primaries))
    }
}
