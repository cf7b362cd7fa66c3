import Foundation
import ImageWorkerProtocol
import TestSupport
import Testing

@testable import Imaging
@testable import PhotoConversion

/// TIFFs of samples that cameras do not write: each is shown as it is, or refused for what it is.
@Suite struct TIFFKindTests {
    struct Kind: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let maker: TIFFMaker
        var isGrey = false

        init(_ name: String, _ maker: TIFFMaker, isGrey: Bool = false) {
            (testDescription, self.maker, self.isGrey) = (name, maker, isGrey)
        }
    }

    private static func scaled(_ value: Int, _ bits: Int) -> UInt64 {
        (UInt64(value) * (UInt64.max >> UInt64(64 - min(bits, 56))) / 255) << UInt64(max(0, bits - 56))
    }

    private static func colours(_ bits: Int) -> [[UInt64]] {
        Pictures.quadrants.map { colour in colour.map { scaled($0, bits) } }
    }

    private static let greys = [0, 200, 90, 255]

    private static func grey(_ bits: Int, isInverted: Bool = false) -> [[UInt64]] {
        greys.map { [scaled(isInverted ? 255 - $0 : $0, bits)] }
    }

    /// As inks: nothing of one of them, and as much black as leaves the brightest.
    private static func inks(_ bits: Int) -> [[UInt64]] {
        Pictures.quadrants.map { colour in
            let light = colour.max() ?? 255
            return (colour.map { 255 - $0 * 255 / light } + [255 - light]).map { scaled($0, bits) }
        }
    }

    /// The quadrants' colours by the equations of L*a*b* under D50.
    private static let lab: [[Double]] = [
        [44.9, 61.6, 42.5], [64.5, -55.4, 48.2], [35.2, 29.0, -71.3], [83.1, -8.4, 70.4],
    ]

    private static func lab(_ bits: Int, isSigned: Bool) -> [[UInt64]] {
        lab.map { colour in
            colour.enumerated().map { index, value in
                let whole = bits == 8 ? 255.0 : isSigned ? 65_535 : 65_280
                let number =
                    index == 0 ? value / 100 * whole : (value + (isSigned ? 0 : 128)) * (bits == 8 ? 1 : 256)
                return UInt64(truncatingIfNeeded: Int(number.rounded()))
            }
        }
    }

    private static let shown: [Kind] = [
        Kind("inks of 16 bits", TIFFMaker(bits: 16, meaning: 5, quadrants: inks(16))),
        Kind("inks of 8 bits", TIFFMaker(bits: 8, meaning: 5, quadrants: inks(8))),
        Kind("inks of 8 bits in planes", TIFFMaker(bits: 8, meaning: 5, isInPlanes: true, quadrants: inks(8))),
        Kind("inks of 16 bits in tiles", TIFFMaker(bits: 16, meaning: 5, isTiled: true, quadrants: inks(16))),
        Kind("colours of 12 bits", TIFFMaker(bits: 12, meaning: 2, quadrants: colours(12))),
        Kind("colours of 24 bits", TIFFMaker(bits: 24, meaning: 2, quadrants: colours(24))),
        Kind("colours of 32 bits", TIFFMaker(bits: 32, meaning: 2, quadrants: colours(32))),
        Kind("colours of 32 bits in tiles", TIFFMaker(bits: 32, meaning: 2, isTiled: true, quadrants: colours(32))),
        Kind(
            "colours of 32 bits with opacity",
            TIFFMaker(bits: 32, meaning: 2, extra: 2, quadrants: colours(32).map { $0 + [.max] })),
        Kind(
            "colours of 32 bits and something else",
            TIFFMaker(bits: 32, meaning: 2, extra: 0, quadrants: colours(32).map { $0 + [7] })),
        Kind("grey of 10 bits", TIFFMaker(bits: 10, meaning: 1, quadrants: grey(10)), isGrey: true),
        Kind("grey of 32 bits", TIFFMaker(bits: 32, meaning: 1, quadrants: grey(32)), isGrey: true),
        Kind("grey of 64 bits", TIFFMaker(bits: 64, meaning: 1, quadrants: grey(64)), isGrey: true),
        Kind(
            "grey of 32 bits, white is 0", TIFFMaker(bits: 32, meaning: 0, quadrants: grey(32, isInverted: true)),
            isGrey: true),
        Kind(
            "grey of 32 bits with opacity",
            TIFFMaker(bits: 32, meaning: 1, extra: 2, quadrants: grey(32).map { $0 + [.max] }), isGrey: true),
        Kind("L*a*b* of 8 bits", TIFFMaker(bits: 8, meaning: 8, quadrants: lab(8, isSigned: true))),
        Kind("L*a*b* of 16 bits", TIFFMaker(bits: 16, meaning: 8, quadrants: lab(16, isSigned: true))),
        Kind("a profile's L*a*b* of 8 bits", TIFFMaker(bits: 8, meaning: 9, quadrants: lab(8, isSigned: false))),
        Kind("a profile's L*a*b* of 16 bits", TIFFMaker(bits: 16, meaning: 9, quadrants: lab(16, isSigned: false))),
    ]

    @Test(arguments: shown)
    func whatCanBeShownIs(_ kind: Kind) throws {
        let folder = try TemporaryFolder("kind")
        _ = try convertHere(kind.maker.file(), folder)
        let seen = try Pictures.look(atJPEG: folder.file("photo"))
        let expected = kind.isGrey ? Self.greys.map { [$0, $0, $0] } : Pictures.quadrants
        #expect(Pictures.difference(seen.quadrants, expected) <= 10, "\(seen.quadrants)")
    }

    /// By real workers: one that dies of it is seen as such.
    @Test(
        arguments: [
            Kind("floating-point grey", TIFFMaker(bits: 32, meaning: 1, format: 3, quadrants: grey(32))),
            Kind("floating-point colours", TIFFMaker(bits: 32, meaning: 2, format: 3, quadrants: colours(32))),
            Kind("floating-point grey of 16 bits", TIFFMaker(bits: 16, meaning: 1, format: 3, quadrants: grey(16))),
            Kind("floating-point grey of 64 bits", TIFFMaker(bits: 64, meaning: 1, format: 3, quadrants: grey(64))),
            Kind("32 bits with a sign", TIFFMaker(bits: 32, meaning: 1, format: 2, quadrants: grey(32))),
            Kind("complex numbers", TIFFMaker(bits: 32, meaning: 1, format: 5, quadrants: grey(32))),
            Kind("32 bits in planes", TIFFMaker(bits: 32, meaning: 2, isInPlanes: true, quadrants: colours(32))),
            Kind("brightness of 32 bits", TIFFMaker(bits: 32, meaning: 6, quadrants: colours(32))),
            Kind("JPEG 2000", TIFFMaker(bits: 8, meaning: 2, compression: 34_712, quadrants: colours(8))),
            Kind("JPEG of 12 bits", TIFFMaker(bits: 12, meaning: 1, compression: 7, quadrants: grey(12))),
            Kind("a colour filter's mosaic", TIFFMaker(bits: 16, meaning: 32_803, quadrants: grey(16))),
        ])
    func whatCannotIsUnsupported(_ kind: Kind) async throws {
        let folder = try TemporaryFolder("kind")
        let pool = ImageWorkerPool(executable: try workerExecutable(), workers: 1)
        let path = try folder.write(kind.maker.file())
        do {
            _ = try await convert(pool, path, folder)
            Issue.record("taken")
        } catch {
            guard case .unsupported = error else {
                Issue.record("\(error)")
                return
            }
        }
        await pool.shutDown()
    }

    @Test func samplesThatAreNotThereAreDamage() throws {
        for maker in [Self.shown[0].maker, Self.shown[3].maker, Self.shown[6].maker] {
            let file = maker.file()
            guard case .damaged = try refusal(file.dropLast(file.count / 3)) else {
                Issue.record("taken")
                continue
            }
        }
    }
}
