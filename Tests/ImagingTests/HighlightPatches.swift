import Foundation
import TestSupport

@testable import PhotoConversion

/// Pictures of plain columns in PQ or HLG, and what they are to look like, in formulas of their own.
struct HighlightPatches {
    enum Transfer: UInt8, CaseIterable {
        case pq = 16
        case hlg = 18
    }

    var transfer = Transfer.pq
    /// Red, green and blue of each column, in candela a square metre on a screen of 1,000.
    var light: [[Double]]
    /// As ITU-T H.273 numbers them.
    var primaries: UInt8 = 9
    var size = (width: 256, height: 64)
    /// Of every pixel, 0 to 1; nil for no such channel.
    var opacity: Double?
    var isGrey = false

    static func greys(_ transfer: Transfer, _ light: [Double]) -> HighlightPatches {
        HighlightPatches(transfer: transfer, light: light.map { [$0, $0, $0] })
    }

    /// A PNG of 16 bits, which says what its samples mean if it is to.
    func png(isNumbered: Bool = true) -> [UInt8] {
        let columns = light.map { colour -> [UInt8] in
            let samples = Array(samples(colour).prefix(isGrey ? 1 : 3)) + (opacity.map { [$0] } ?? [])
            return samples.flatMap(Self.big16)
        }
        let line: [UInt8] = [0] + (0..<size.width).flatMap { columns[$0 * columns.count / size.width] }
        let header = ExifMaker.bytes32(size.width) + ExifMaker.bytes32(size.height)
        let kind: UInt8 = (isGrey ? 0 : 2) + (opacity == nil ? 0 : 4)
        return [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
            + PNGMaker.chunk("IHDR", header + [16, kind, 0, 0, 0])
            + (isNumbered ? PNGMaker.chunk("cICP", [primaries, transfer.rawValue, 0, 1]) : [])
            + PNGMaker.chunk("IDAT", PNGMaker.stored((0..<size.height).flatMap { _ in line }))
            + PNGMaker.chunk("IEND", [])
    }

    private static func big16(_ sample: Double) -> [UInt8] {
        let value = UInt16((min(max(sample, 0), 1) * 65_535).rounded())
        return [UInt8(value >> 8), UInt8(value & 255)]
    }

    /// Of a colour, 0 to 1.
    func samples(_ colour: [Double]) -> [Double] {
        switch transfer {
        case .pq: return colour.map(Self.pq)
        case .hlg:
            // The screen's light is the scene's times its brightness to the power of 0.2.
            let parts = colour.map { $0 / 1_000 }
            let brightness = 0.262_7 * parts[0] + 0.678 * parts[1] + 0.059_3 * parts[2]
            return parts.map { part in
                guard part > 0 else { return 0 }
                let scene = part / pow(brightness, 1 - 1 / 1.2)
                return scene <= 1.0 / 12
                    ? sqrt(3 * scene) : 0.178_832_77 * log(12 * scene - 0.284_668_92) + 0.559_910_73
            }
        }
    }

    static func pq(_ light: Double) -> Double {
        let power = pow(light / 10_000, 0.159_301_757_812_5)
        return pow((0.835_937_5 + 18.851_562_5 * power) / (1 + 18.687_5 * power), 78.843_75)
    }

    /// The greys that sRGB shows of greys of so much light, where a picture has no more than `peak` candela: BT.2390's curve to a screen whose
    /// white is 203.
    static func shown(_ light: [Double], peak: Double) -> [[Int]] {
        light.map { light in
            var part = light
            if peak > 203 {
                let (sample, most) = (pq(light) / pq(peak), pq(203) / pq(peak))
                let knee = 1.5 * most - 0.5
                if sample > knee {
                    let place = (sample - knee) / (1 - knee)
                    let pressed =
                        (2 * pow(place, 3) - 3 * pow(place, 2) + 1) * knee
                        + (pow(place, 3) - 2 * pow(place, 2) + place) * (1 - knee)
                        + (-2 * pow(place, 3) + 3 * pow(place, 2)) * most
                    part = candela(ofPQ: pressed * pq(peak))
                }
            }
            let grey = standard(part / 203)
            return [grey, grey, grey]
        }
    }

    /// The inverse of ``pq(_:)``, by halving.
    private static func candela(ofPQ sample: Double) -> Double {
        var (low, high) = (0.0, 10_000.0)
        for _ in 0..<60 {
            let middle = (low + high) / 2
            if pq(middle) < sample { low = middle } else { high = middle }
        }
        return low
    }

    /// sRGB's sample of so much light.
    static func standard(_ light: Double) -> Int {
        let sample = light <= 0.003_130_8 ? light * 12.92 : 1.055 * pow(min(light, 1), 1 / 2.4) - 0.055
        return Int((sample * 255).rounded())
    }
}
