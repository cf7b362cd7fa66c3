import Foundation
import ImageWorkerProtocol
import TestSupport
import Testing

@testable import PhotoConversion

/// GIFs whose first frame is not as large as the canvas, or not within it.
@Suite struct GIFCanvasTests {
    /// A frame of 64 x 64, all in one red, put at a place on a screen.
    private static func gif(screen: (Int, Int), at place: (Int, Int)) throws -> [UInt8] {
        var bytes = Array(try Pictures.plain(.gif, PixelSize(width: 64, height: 64), [255, 0, 0]))
        func set(_ offset: Int, _ value: Int) {
            (bytes[offset], bytes[offset + 1]) = (UInt8(value & 255), UInt8(value >> 8))
        }
        // Behind the screen's colours, and an extension where one stands before the frame.
        var frame = 13 + (bytes[10] & 0x80 != 0 ? 3 << (Int(bytes[10] & 7) + 1) : 0)
        while bytes[frame] == 0x21 { frame = frame + 2 + Int(bytes[frame + 2]) + 2 }
        try #require(bytes[frame] == 0x2C)
        set(6, screen.0)
        set(8, screen.1)
        set(frame + 1, place.0)
        set(frame + 3, place.1)
        return bytes
    }

    struct Case: Sendable {
        var screen: (Int, Int)
        var place: (Int, Int)
        var canvas: PixelSize
        /// Red or white, by quadrants.
        var isRed: [Bool]
    }

    @Test(
        arguments: [
            Case(
                screen: (64, 64), place: (0, 0), canvas: PixelSize(width: 64, height: 64),
                isRed: [true, true, true, true]),
            Case(
                screen: (0, 0), place: (0, 0), canvas: PixelSize(width: 64, height: 64),
                isRed: [true, true, true, true]),
            Case(
                screen: (40, 60), place: (0, 0), canvas: PixelSize(width: 64, height: 64),
                isRed: [true, true, true, true]),
            Case(
                screen: (128, 128), place: (0, 0), canvas: PixelSize(width: 128, height: 128),
                isRed: [true, false, false, false]),
            Case(
                screen: (128, 128), place: (64, 64), canvas: PixelSize(width: 128, height: 128),
                isRed: [false, false, false, true]),
            Case(
                screen: (128, 64), place: (64, 0), canvas: PixelSize(width: 128, height: 64),
                isRed: [false, true, false, true]),
            Case(
                screen: (100, 90), place: (64, 64), canvas: PixelSize(width: 128, height: 128),
                isRed: [false, false, false, true]),
        ])
    func theFirstFrameIsComposedAndAllOfItIsShown(_ test: Case) throws {
        let folder = try TemporaryFolder("canvas")
        let converted = try convertHere(Self.gif(screen: test.screen, at: test.place), folder)
        #expect(PixelSize(width: converted.width, height: converted.height) == test.canvas)
        let seen = try Pictures.look(atJPEG: folder.file("photo"))
        let expected = test.isRed.map { $0 ? [255, 0, 0] : [255, 255, 255] }
        #expect(Pictures.difference(seen.quadrants, expected) <= 12, "\(seen.quadrants)")
    }

    @Test func aFrameIsWithinTheLimitsToo() throws {
        var bytes = try Self.gif(screen: (16, 16), at: (65_535, 65_535))
        #expect(throws: ImagingError.self) { try convertHere(bytes, TemporaryFolder("far")) }
        bytes = try Self.gif(screen: (16, 16), at: (0, 0))
        let frame = try #require(bytes.firstIndex(of: 0x2C))
        for offset in 5...8 { bytes[frame + offset] = 0xFF }
        switch try refusal(bytes) {
        case .tooLarge, .needsMemory: break
        case let other: Issue.record("\(String(describing: other))")
        }
    }

    @Test func aGIFWithoutAFrameIsDamaged() throws {
        let bytes = Array("GIF89a".utf8) + [16, 0, 16, 0, 0, 0, 0, 0x21, 0xFE, 1, 65, 0, 0x3B]
        #expect(try refusal(bytes) == .damaged("a GIF without a picture"))
    }
}
