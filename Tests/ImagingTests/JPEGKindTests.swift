import Foundation
import ImageWorkerProtocol
import TestSupport
import Testing

@testable import PhotoConversion

/// JPEGs that end early, and JPEGs in printing inks.
@Suite struct JPEGKindTests {
    private static let size = PixelSize(width: 400, height: 304)

    /// Where each scan's data begin and end.
    private static func scans(_ bytes: [UInt8]) -> [Range<Int>] {
        var scans: [Range<Int>] = []
        var place = 2
        while place + 4 <= bytes.count, bytes[place] == 0xFF {
            let isScan = bytes[place + 1] == 0xDA
            place += 2 + Int(bytes[place + 2]) << 8 + Int(bytes[place + 3])
            guard isScan else { continue }
            let start = place
            while place + 1 < bytes.count, bytes[place] != 0xFF || bytes[place + 1] == 0 { place += 1 }
            scans.append(start..<place)
        }
        return scans
    }

    private static func progressive() throws -> [UInt8] {
        Array(try Pictures.file(.jpeg, size, isInterlaced: true))
    }

    /// What is said to be missing of it.
    private static func shortfall(_ bytes: some Sequence<UInt8>) throws -> String? {
        let folder = try TemporaryFolder("cut")
        let converted = try convertHere(bytes, folder)
        let seen = try Pictures.look(atJPEG: folder.file("thumbnail"))
        #expect(Pictures.difference(seen.quadrants, Pictures.quadrants) <= 12)
        return converted.shortfall
    }

    private static let softened = "it ends early, and is a little less sharp than it was"
    private static let coarse = "it ends early, and is much less sharp than it was"

    @Test func aProgressiveFileIsShownOnceItsFirstScanIsWhole() throws {
        let bytes = try Self.progressive()
        let scans = Self.scans(bytes)
        try #require(scans.count == 10)
        let whole = try Self.shortfall(bytes)
        #expect(whole == nil)
        // Only the end marker is missing.
        #expect(try Self.shortfall(bytes.dropLast(2)) == nil)
        for scan in scans[6...] {
            // In its data, at its end, and in whatever comes before it: tables, a header.
            for end in [
                scan.lowerBound - 9, scan.lowerBound - 3, scan.lowerBound, (scan.lowerBound + scan.upperBound) / 2,
            ] {
                #expect(try Self.shortfall(bytes.prefix(end)) == Self.softened, "cut at \(end) of \(bytes.count)")
            }
        }
        // Detail is in scans 2 and 5, counted from 1.
        for end in [scans[0].upperBound, scans[0].upperBound + 5, scans[1].lowerBound + 20, scans[3].lowerBound + 1] {
            #expect(try Self.shortfall(bytes.prefix(end)) == Self.coarse, "cut at \(end) of \(bytes.count)")
        }
        for end in [scans[0].lowerBound, scans[0].lowerBound + scans[0].count * 97 / 100] {
            #expect(throws: ImagingError.self, "cut at \(end)") { try Self.shortfall(bytes.prefix(end)) }
        }
    }

    /// What recovery programs make of it.
    @Test func anEndMarkerBehindACutIsNoEnd() throws {
        let bytes = try Self.progressive()
        let scans = Self.scans(bytes)
        let cut = bytes.prefix((scans[8].lowerBound + scans[8].upperBound) / 2) + [0xFF, 0xD9]
        #expect(try Self.shortfall(cut) == Self.softened)
        let early = bytes.prefix(scans[0].lowerBound + scans[0].count / 2) + [0xFF, 0xD9]
        #expect(throws: ImagingError.self) { try Self.shortfall(early) }
    }

    @Test func aBaselineFileLacksTheLinesThatAreCut() throws {
        let bytes = Array(try Pictures.noise(PixelSize(width: 400, height: 400)))
        let scan = try #require(Self.scans(bytes).first)
        func shortfall(_ parts: Int) throws -> String? {
            try convertHere(bytes.prefix(scan.lowerBound + scan.count * parts / 100), TemporaryFolder("lines"))
                .shortfall
        }
        #expect(try shortfall(100) == nil)
        #expect(try shortfall(97) == "it ends early: 16 of 400 lines are missing")
        #expect(throws: ImagingError.self) { try shortfall(50) }
    }

    /// Each component in a scan of its own: without one of them there are no colours, whatever the others have.
    @Test func everyComponentHasToBeThere() throws {
        let maker = JPEGMaker(square: { [$0 * 20, 100 + $1, 150 + $0] }, isInterleaved: false)
        let bytes = maker.file()
        let scans = Self.scans(bytes)
        try #require(scans.count == 3)
        #expect(try refusal(bytes) == nil)
        #expect(try refusal(bytes.dropLast(2)) == nil)
        for end in [scans[0].upperBound, scans[1].lowerBound, scans[1].lowerBound + 2, scans[2].lowerBound - 2] {
            guard case .damaged = try refusal(bytes.prefix(end)) else {
                Issue.record("cut at \(end) of \(bytes.count): taken")
                continue
            }
        }
    }

    // MARK: Inks

    /// Inks as JPEGs have them, 255 for none, of the quadrants.
    private static func inks(_ x: Int, _ y: Int) -> [Int] {
        let colour = Pictures.quadrants[y / 4 * 2 + x / 4]
        let black = colour.max() ?? 255
        return colour.map { ($0 * 255 + black / 2) / black } + [black]
    }

    /// The same, with the three colours as brightness and two differences.
    private static func turnedInks(_ x: Int, _ y: Int) -> [Int] {
        let inks = inks(x, y)
        let light = inks.map { Double(255 - $0) }
        let brightness: Double = 0.299 * light[0] + 0.587 * light[1] + 0.114 * light[2]
        let blueness: Double = (light[2] - brightness) / 1.772 + 128
        let redness: Double = (light[0] - brightness) / 1.402 + 128
        return [Int(brightness.rounded()), Int(blueness.rounded()), Int(redness.rounded()), inks[3]]
    }

    /// By no marker, by one that says nothing of the colours, and by one that says they are turned.
    @Test(arguments: [nil, 0, 2] as [UInt8?])
    func inksAreShownWhetherAdobeIsNamedOrNot(_ transform: UInt8?) throws {
        let folder = try TemporaryFolder("inks")
        let maker = JPEGMaker(
            square: { transform == 2 ? Self.turnedInks($0, $1) : Self.inks($0, $1) }, transform: transform)
        #expect(try convertHere(maker.file(), folder).keptOriginal)
        let seen = try Pictures.look(atJPEG: folder.file("thumbnail"))
        #expect(Pictures.difference(seen.quadrants, Pictures.quadrants) <= 8)
    }
}
