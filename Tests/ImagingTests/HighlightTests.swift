import Foundation
import ImageWorkerProtocol
import TestSupport
import Testing

@testable import Imaging
@testable import PhotoConversion

/// Pictures with more light than a screen shows, in each of the types that have them.
@Suite struct HighlightTests {
    private static let light: [Double] = [0, 5, 26, 50, 100, 203, 400, 1_000]

    /// The columns of a picture as they are shown.
    private func shown(_ source: some Sequence<UInt8>, _ columns: Int = 8) throws -> [[Int]] {
        let folder = try TemporaryFolder("highlights")
        let converted = try convertHere(source, folder)
        #expect(!converted.keptOriginal)
        return try Pictures.columns(ofJPEG: folder.file("photo"), columns)
    }

    private func expectGreys(_ seen: [[Int]], peak: Double = 1_000, within steps: Int = 3) {
        let expected = HighlightPatches.shown(Self.light, peak: peak)
        #expect(Pictures.difference(seen, expected) <= steps, "\(seen) of \(expected)")
    }

    // MARK: What is shown

    @Test func whiteIsNearlyWhiteAndHighlightsAreBrighter() throws {
        let seen = try shown(HighlightPatches.greys(.pq, Self.light).png()).map { $0[1] }
        // As documented: 203 candela of 1,000, what lies under the knee, and no two that are the same.
        #expect(abs(seen[5] - 229) <= 2 && abs(seen[3] - 136) <= 2 && seen[7] >= 254, "\(seen)")
        #expect(zip(seen, seen.dropFirst()).allSatisfy { $0 < $1 }, "\(seen)")
        // A picture without highlights has nothing pressed together.
        let dim = try shown(HighlightPatches.greys(.pq, [0, 50, 100, 203]).png(), 4).map { $0[1] }
        #expect(abs(dim[1] - 136) <= 2 && abs(dim[2] - 186) <= 2 && dim[3] >= 253, "\(dim)")
        // And one with the brightest that there are is not half as bright.
        let bright = try shown(HighlightPatches.greys(.pq, [26, 203, 4_000, 10_000]).png(), 4).map { $0[1] }
        #expect(abs(bright[0] - 100) <= 2 && abs(bright[1] - 196) <= 3 && bright[2] < bright[3], "\(bright)")
    }

    @Test(arguments: HighlightPatches.Transfer.allCases)
    func aPNGSaysItInNumbers(_ transfer: HighlightPatches.Transfer) throws {
        var patches = HighlightPatches.greys(transfer, Self.light)
        try expectGreys(shown(patches.png()))
        patches.isGrey = true
        try expectGreys(shown(patches.png()))
    }

    @Test func threeQuartersOfHLGAreWhite() {
        let patches = HighlightPatches.greys(.hlg, [203])
        #expect(abs(patches.samples([203, 203, 203])[0] - 0.75) < 0.001)
        let white = HighRange(transfer: 18, primaries: 9)?.whiteSample
        #expect(white == 49_151)
    }

    @Test func coloursKeepTheirHue() throws {
        // BT.2020's own red, green and blue, a red beyond white, and skin.
        let colours: [[Double]] = [
            [150, 0, 0], [0, 150, 0], [0, 0, 150], [1_000, 0, 0], [120, 70, 50], [1_000, 1_000, 1_000],
        ]
        for transfer in HighlightPatches.Transfer.allCases {
            var patches = HighlightPatches(transfer: transfer, light: colours)
            patches.size.width = 240
            let seen = try shown(patches.png(), colours.count)
            for (index, colour) in seen[...2].enumerated() {
                let others = colour.indices.filter { $0 != index }.map { colour[$0] }
                #expect(colour[index] >= 180 && others.allSatisfy { $0 < 40 }, "\(transfer): \(seen)")
            }
            #expect(seen[3][0] >= 250 && seen[3][1] < 40 && seen[3][2] < 40, "\(transfer): \(seen)")
            #expect(seen[4][0] > seen[4][1] && seen[4][1] > seen[4][2], "\(transfer): \(seen)")
        }
        // The same light in P3's colours and in sRGB's own is another colour.
        let skin = try [UInt8(9), 12, 1].map { primaries -> [Int] in
            var patches = HighlightPatches(light: [[120, 70, 50]])
            patches.primaries = primaries
            return try shown(patches.png(), 1)[0]
        }
        #expect(skin[0][0] > skin[1][0] + 5 && skin[1][0] > skin[2][0] + 5, "\(skin)")
        let exact = [120.0, 70, 50].map { HighlightPatches.standard($0 / 203) }
        #expect(Pictures.difference([skin[2]], [exact]) <= 4, "\(skin[2]) of \(exact)")
    }

    /// As many steps as 8 bits have, none of them back, and none left out but where samples of the source are coarser.
    @Test(arguments: [16, 18] as [UInt32])
    func aGradientHasNoBands(_ transfer: UInt32) throws {
        let mapping = try ToneMapping(#require(HighRange(transfer: transfer, primaries: 9)))
        let ramp = try PlanarPicture(size: PixelSize(width: 4_096, height: 1), kind: .deepRGB(bits: 12))
        for plane in ramp.planes {
            let line = UnsafeMutableRawPointer(plane.line(0)).assumingMemoryBound(to: UInt16.self)
            for x in 0..<4_096 { line[x] = UInt16(x) }
        }
        let shown = try mapping.convert(ramp)
        let greys = (0..<4_096).map { Int(shown.planes[1].line(0)[$0]) }
        #expect(greys.first == 0 && greys.last == 255 && Set(greys).count == 256)
        let steps = zip(greys, greys.dropFirst()).map { $1 - $0 }
        #expect(steps.allSatisfy { (0...1).contains($0) }, "\(steps.enumerated().filter { !(0...1).contains($1) })")
    }

    /// A highlight of few pixels is what is cut off, and not what makes all others darker.
    @Test func aSparkDarkensNothing() throws {
        let mapping = try ToneMapping(#require(HighRange(transfer: 16, primaries: 9)))
        let picture = try PlanarPicture(size: PixelSize(width: 100, height: 100), kind: .deepRGB(bits: 16))
        for plane in picture.planes {
            for y in 0..<100 {
                let line = UnsafeMutableRawPointer(plane.line(y)).assumingMemoryBound(to: UInt16.self)
                for x in 0..<100 { line[x] = UInt16(HighlightPatches.pq(200) * 65_535) }
            }
            UnsafeMutableRawPointer(plane.line(50)).assumingMemoryBound(to: UInt16.self)[50] = .max
        }
        let converted = try mapping.convert(picture)
        let shown = converted.planes[0]
        #expect(shown.line(0)[0] >= 252 && shown.line(50)[50] == 255, "\(shown.line(0)[0])")
        withExtendedLifetime(converted) {}
    }

    @Test func whatShowsThroughIsWhite() throws {
        for (opacity, expected) in [(1, 136), (0, 255)] as [(Double, Int)] {
            for isGrey in [false, true] {
                var patches = HighlightPatches.greys(.pq, [50])
                (patches.opacity, patches.isGrey) = (opacity, isGrey)
                let seen = try shown(patches.png(), 1)[0]
                #expect(seen.allSatisfy { abs($0 - expected) <= 3 }, "\(opacity): \(seen)")
            }
        }
        #expect(DeepRowLines.over(38_055, 0, 65_535, isPremultiplied: false) == 0)
        #expect(DeepRowLines.over(65_535, 65_535, 65_535, isPremultiplied: false) == 65_535)
        #expect(DeepRowLines.over(65_535, 65_535, 0, isPremultiplied: true) == 65_535)
        #expect(DeepRowLines.over(1_000, 500, 32_768, isPremultiplied: true) == 1_000)
    }

    // MARK: The other types

    @Test(
        .enabled(if: Tool.ffmpeg.isPresent, "ffmpeg writes AVIF"), arguments: HighlightPatches.Transfer.allCases,
        [10, 12])
    func avif(_ transfer: HighlightPatches.Transfer, _ bits: Int) throws {
        let folder = try TemporaryFolder("avif")
        let png = try folder.write(HighlightPatches.greys(transfer, Self.light).png(isNumbered: false), "drawn.png")
        try Tool.ffmpeg.run([
            "-v", "error", "-i", png, "-vf",
            "scale=out_color_matrix=bt2020nc:out_range=full,format=yuv444p\(bits)", "-color_primaries", "bt2020",
            "-color_trc", transfer == .pq ? "smpte2084" : "arib-std-b67", "-colorspace", "bt2020nc", "-color_range",
            "pc", "-c:v", "libaom-av1", "-still-picture", "1", "-crf", "5", "-cpu-used", "8", folder.file("made.avif"),
        ])
        try expectGreys(shown(folder.bytes("made.avif")), within: 4)
    }

    /// A tile of 10 bits, as phones write them; and one whose container says nothing of its light.
    @Test(
        .enabled(if: Tool.heifEncoder.isPresent, "heif-enc writes HEIC"), arguments: HighlightPatches.Transfer.allCases)
    func heic(_ transfer: HighlightPatches.Transfer) throws {
        let folder = try TemporaryFolder("heic")
        let png = try folder.write(HighlightPatches.greys(transfer, Self.light).png(isNumbered: false), "drawn.png")
        try Tool.heifEncoder.run(["-b", "10", "-q", "95", "-p", "chroma=444", png, "-o", folder.file("made.heic")])
        var tile = try GridMaker.tile(of: Array(folder.bytes("made.heic")), "hvc1")
        tile.properties.removeAll { Array($0[4..<8]) == Array("colr".utf8) }
        var maker = try GridMaker()
        (maker.columns, maker.rows, maker.tileSize) = (1, 1, PixelSize(width: 256, height: 64))
        maker.tiles = [tile]
        let plain = try shown(maker.file()).map { $0[1] }
        maker.tiles[0].properties.append(
            GridMaker.box("colr", Array("nclx".utf8) + [0, 9, 0, transfer.rawValue, 0, 6, 0x80]))
        let seen = try shown(maker.file())
        expectGreys(seen, within: 4)
        #expect(
            plain[7] < seen[7][1] - 40 || transfer == .hlg, "it is dark where nothing says how bright it is: \(plain)")
    }

    /// What is no grid: with opacity, and in grey alone.
    @Test(.enabled(if: Tool.heifEncoder.isPresent, "heif-enc writes HEIC"), arguments: ["opacity", "grey"])
    func heicInOnePiece(_ what: String) throws {
        let folder = try TemporaryFolder("heic")
        var patches = HighlightPatches.greys(.pq, Self.light)
        if what == "grey" { patches.isGrey = true } else { patches.opacity = 1 }
        let png = try folder.write(patches.png(isNumbered: false), "drawn.png")
        try Tool.heifEncoder.run(["-b", "10", "-q", "95", "-p", "chroma=444", png, "-o", folder.file("made.heic")])
        let made = try Array(folder.bytes("made.heic"))
        let property = GridMaker.box("colr", Array("nclx".utf8) + [0, 9, 0, 16, 0, 6, 0x80])
        try expectGreys(shown(HEIFEditor.adding(property, toPrimaryOf: made)), within: 5)
    }

    @Test(
        .enabled(if: Tool.cjxl.isPresent, "cjxl writes JPEG XL"), arguments: HighlightPatches.Transfer.allCases,
        ["0", "0.5"])
    func jpegXL(_ transfer: HighlightPatches.Transfer, _ distance: String) throws {
        let folder = try TemporaryFolder("jxl")
        let png = try folder.write(HighlightPatches.greys(transfer, Self.light).png(isNumbered: false), "drawn.png")
        try Tool.cjxl.run([
            png, folder.file("made.jxl"), "--quiet", "-d", distance, "-x",
            "color_space=RGB_D65_202_Rel_" + (transfer == .pq ? "PeQ" : "HLG"),
        ])
        try expectGreys(shown(folder.bytes("made.jxl")), within: 5)
    }

    // MARK: Numbers

    private static func profile(_ numbers: [UInt8]) -> ColourProfile? {
        PNGMaker(depth: 8, colours: 2, samples: [1, 2, 3], chunks: [("cICP", numbers)]).file().withUnsafeBytes {
            ColourProfile(pngNumbers: ByteView($0))
        }
    }

    @Test func numbersThatSayNothingChangeNothing() {
        for numbers in [
            [], [9], [9, 16, 0], [9, 2, 0, 1], [9, 16, 9, 1], [9, 16, 0, 0], [1, 13, 0, 1], [2, 1, 0, 1],
        ]
            as [[UInt8]]
        {
            #expect(Self.profile(numbers) == nil, "\(numbers)")
        }
        for (numbers, expected) in [([9, 16, 0, 1], 16), ([12, 18, 0, 1], 18)] as [([UInt8], UInt32)] {
            guard case .highRange(let range)? = Self.profile(numbers) else {
                Issue.record("\(numbers)")
                continue
            }
            #expect(range.transfer.rawValue == expected)
        }
        if case .primaries(12)? = Self.profile([12, 13, 0, 1]) {} else { Issue.record("P3 with sRGB's curve") }
        if case .measured(1, .standard)? = Self.profile([1, 8, 0, 1]) {} else { Issue.record("light itself") }
    }

    /// A profile with some tags, of which each has a name, where it stands, and what stands there.
    private static func icc(_ tags: [(String, Int?, [UInt8])], count: UInt32? = nil) -> [UInt8] {
        var table = ExifMaker.bytes32(Int(count ?? UInt32(tags.count)))
        var bodies: [UInt8] = []
        for (name, place, body) in tags {
            table += Array(name.utf8) + ExifMaker.bytes32(place ?? 132 + tags.count * 12 + bodies.count)
            table += ExifMaker.bytes32(body.count)
            bodies += body
        }
        return [UInt8](repeating: 0, count: 128) + table + bodies
    }

    @Test func aProfileMaySayItToo() throws {
        let body = Array("cicp".utf8) + [0, 0, 0, 0, 12, 16, 0, 1]
        let found = try #require(HighRange(icc: Self.icc([("rTRC", nil, [1, 2, 3, 4]), ("cicp", nil, body)])))
        #expect(found.transfer == .pq && found.colours == .displayP3)
        let odd: [[UInt8]] = [
            [], Self.icc([]), Self.icc([], count: .max), Self.icc([("cicp", nil, Array(body.prefix(10)))]),
            Self.icc([("cicp", Int(Int32.max), body)]), Self.icc([("cicp", 0, body)]), Self.icc([("rTRC", nil, body)]),
            Self.icc([("cicp", nil, Array("cicp".utf8) + [0, 0, 0, 0, 1, 13, 0, 1])]),
        ]
        for profile in odd { #expect(HighRange(icc: profile) == nil, "\(profile.count)") }
    }

    @Test func whatIsCutOffIsDamaged() throws {
        let whole = HighlightPatches.greys(.pq, Self.light).png()
        for count in [60, whole.count / 2, whole.count - 2_000] {
            guard case .damaged? = try refusal(whole.prefix(count)) else {
                Issue.record("\(count) of \(whole.count) bytes were taken")
                continue
            }
        }
    }
}
