import Foundation
import ImageWorkerProtocol
import TestSupport
import Testing

@testable import PhotoConversion

/// What gAMA and cHRM say of a PNG's colours, where no profile does.
@Suite struct PNGColourTests {
    private static func numbers(_ values: [UInt32]) -> [UInt8] {
        values.flatMap { value in (0..<4).map { UInt8(truncatingIfNeeded: value >> (24 - 8 * $0)) } }
    }

    private static func gamma(_ value: UInt32) -> (String, [UInt8]) { ("gAMA", numbers([value])) }

    private static let standard: [UInt32] = [31_270, 32_900, 64_000, 33_000, 30_000, 60_000, 15_000, 6_000]
    private static let adobe: [UInt32] = [31_270, 32_900, 64_000, 33_000, 21_000, 71_000, 15_000, 6_000]

    /// The colour that comes out of a PNG of one.
    private static func shown(_ samples: [Int], _ chunks: [(String, [UInt8])]) throws -> [Int] {
        let folder = try TemporaryFolder("colours")
        let maker = PNGMaker(depth: 8, colours: samples.count == 1 ? 0 : 2, samples: samples, chunks: chunks)
        _ = try convertHere(maker.file(), folder)
        return try Pictures.look(atJPEG: folder.file("photo")).quadrants[0]
    }

    private static func profile(_ chunks: [(String, [UInt8])]) -> ColourProfile? {
        PNGMaker(depth: 8, colours: 2, samples: [1, 2, 3], chunks: chunks).file().withUnsafeBytes {
            ColourProfile(pngColours: ByteView($0))
        }
    }

    /// A sample of so much light in sRGB, 0 to 255.
    private static func standard(_ light: Double) -> Int {
        let value = light <= 0.003_130_8 ? light * 12.92 : 1.055 * pow(light, 1 / 2.4) - 0.055
        return Int((value * 255).rounded())
    }

    @Test(arguments: [100_000, 55_556, 70_000, 35_000] as [UInt32])
    func aGammaIsApplied(_ gamma: UInt32) throws {
        let exponent = 100_000 / Double(gamma)
        let samples = [200, 90, 40]
        let expected = samples.map { Self.standard(pow(Double($0) / 255, exponent)) }
        #expect(try Pictures.difference([Self.shown(samples, [Self.gamma(gamma)])], [expected]) <= 4)
        let grey = Self.standard(pow(120.0 / 255, exponent))
        #expect(try Pictures.difference([Self.shown([120], [Self.gamma(gamma)])], [[grey, grey, grey]]) <= 4)
        #expect(try Pictures.difference([Self.shown([255, 255, 255], [Self.gamma(gamma)])], [[255, 255, 255]]) <= 2)
    }

    @Test func chromaticitiesAreApplied() throws {
        // Adobe's green lies farther out than sRGB's, so its muted red is a stronger one there.
        for chunks in [[("cHRM", Self.numbers(Self.adobe))], [Self.gamma(45_455), ("cHRM", Self.numbers(Self.adobe))]] {
            let seen = try Self.shown([180, 100, 90], chunks)
            #expect(seen[0] >= 200 && seen[1] <= 102, "\(seen)")
        }
        // Grey has no chromaticities.
        #expect(
            try Pictures.difference([Self.shown([120], [("cHRM", Self.numbers(Self.adobe))])], [[120, 120, 120]]) <= 2)
    }

    @Test func whatSaysStandardOrNothingThatCanBeIsLeftAlone() {
        let standard = ("cHRM", Self.numbers(Self.standard))
        let rounded = ("cHRM", Self.numbers([31_269, 32_899, 63_999, 33_001, 30_000, 60_000, 15_000, 5_999]))
        let adobe = ("cHRM", Self.numbers(Self.adobe))
        var sets: [[(String, [UInt8])]] = [
            [], [Self.gamma(45_455)], [Self.gamma(45_455), standard], [Self.gamma(45_000), rounded], [standard],
            // Overruled.
            [("sRGB", [0]), Self.gamma(100_000)], [Self.gamma(100_000), adobe, ("sRGB", [0])],
            [("cICP", [1, 13, 0, 1]), Self.gamma(100_000)],
            // Absurd.
            [Self.gamma(0)], [Self.gamma(1)], [Self.gamma(.max)], [("gAMA", [])], [("gAMA", [0, 1])], [("cHRM", [])],
        ]
        let absurd: [(inout [UInt32]) -> Void] = [
            { $0 = [UInt32](repeating: 0, count: 8) }, { $0 = [UInt32](repeating: .max, count: 8) },
            { $0 = [UInt32](repeating: 33_333, count: 8) }, { $0[1] = 0 }, { $0[3] = 0 },
            // Two corners in one place, a line, and white outside.
            { ($0[4], $0[5]) = ($0[2], $0[3]) }, { ($0[4], $0[5]) = (39_500, 19_500) },
            { ($0[0], $0[1]) = (70_000, 25_000) }, { ($0[2], $0[3]) = (80_000, 80_000) },
        ]
        for change in absurd {
            var values = Self.adobe
            change(&values)
            sets.append([("cHRM", Self.numbers(values))])
        }
        for chunks in sets { #expect(Self.profile(chunks) == nil, "\(chunks)") }
        #expect(Self.profile([Self.gamma(100_000)]) != nil && Self.profile([adobe]) != nil)
        // One that cannot be takes nothing from the other.
        #expect(Self.profile([Self.gamma(0), adobe]) != nil)
    }
}
