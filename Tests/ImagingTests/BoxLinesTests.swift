import ImageWorkerProtocol
import Testing

@testable import PhotoConversion

/// Means of squares, for pictures that are too big for the filter alone.
@Suite struct BoxLinesTests {
    /// Lines that are computed: nothing of a big picture is held.
    private final class Computed: LineSource {
        let size: PixelSize
        let kind: PixelKind
        let linesPerStep = 1
        private let value: (Int, Int) -> Int
        private var next = 0
        private(set) var isFinished = false

        init(_ size: PixelSize, _ kind: PixelKind, _ value: @escaping (Int, Int) -> Int) {
            self.size = size
            self.kind = kind
            self.value = value
        }

        func decode(through line: Int, into ring: PlanarPicture) throws(ImagingError) {
            while next <= line {
                for plane in ring.planes {
                    let target = UnsafeMutableRawPointer(plane.line(next))
                    for x in 0..<size.width {
                        if kind.bytesPerSample == 1 {
                            target.storeBytes(of: UInt8(value(x, next)), toByteOffset: x, as: UInt8.self)
                        } else {
                            target.storeBytes(of: UInt16(value(x, next)), toByteOffset: x * 2, as: UInt16.self)
                        }
                    }
                }
                next += 1
            }
        }

        func finish() throws(ImagingError) { isFinished = true }
    }

    private func reduced(_ lines: Computed, side: Int) throws -> PlanarPicture {
        let box = try BoxLines(lines, side: side)
        let picture = try PlanarPicture(size: box.size, kind: box.kind)
        try box.decode(through: box.size.height - 1, into: picture)
        try box.finish()
        #expect(lines.isFinished)
        return picture
    }

    @Test func everyPixelIsTheMeanOfItsSquare() throws {
        // 7 x 5 by 3: the last column and the last line are of smaller squares.
        let picture = try reduced(Computed(PixelSize(width: 7, height: 5), .grey) { $0 * 10 + $1 }, side: 3)
        #expect(picture.size == PixelSize(width: 3, height: 2))
        let rows = (0..<2).map { line in (0..<3).map { Int(picture.planes[0].line(line)[$0]) } }
        #expect(rows == [[11, 41, 61], [14, 44, 64]])
    }

    @Test func deepSamplesStayDeep() throws {
        let lines = Computed(PixelSize(width: 512, height: 510), .deepRGB(bits: 16)) { _, _ in 65_535 }
        let picture = try reduced(lines, side: 255)
        #expect(picture.size == PixelSize(width: 3, height: 2))
        for plane in picture.planes {
            let line = UnsafeRawPointer(plane.line(1))
            #expect((0..<3).allSatisfy { line.load(fromByteOffset: $0 * 2, as: UInt16.self) == 65_535 })
        }
    }

    @Test func onlyWhatIsTooBigForTheFilterIsReducedBefore() throws {
        let target = PixelSize(width: 2048, height: 1536)
        let small = Computed(PixelSize(width: 8000, height: 8000), .rgb) { _, _ in 0 }
        #expect(try BoxLines.covering(target, of: small).size == small.size)
        let big = Computed(PixelSize(width: 16_320, height: 12_240), .rgb) { _, _ in 0 }
        #expect(try BoxLines.covering(target, of: big).size == PixelSize(width: 5440, height: 4080))
        let wide = Computed(PixelSize(width: 65_535, height: 900), .rgb) { _, _ in 0 }
        #expect(try BoxLines.covering(PixelSize(width: 2048, height: 28), of: wide).size.width == 4369)
        let planes = Computed(big.size, .ycc(subsampleWidth: 1, subsampleHeight: 1)) { _, _ in 0 }
        #expect(try BoxLines.covering(target, of: planes).size == big.size, "chroma has other sizes")
    }

    /// So wide that the filter works in columns on every machine: 54 megabytes in memory would be the answer to that.
    @Test func aVeryWidePictureIsReducedFromItsLines() throws {
        let lines = Computed(PixelSize(width: 60_000, height: 900), .grey) { x, _ in x < 30_000 ? 60 : 180 }
        let target = PixelSize(width: 2048, height: 31)
        let shape = Reduction.Shape(source: lines.size, sourceKind: .grey, target: target, targetKind: .grey)
        let picture = try Reduction(shape).run(lines)
        #expect(lines.isFinished && picture.size == target)
        for line in [0, 15, 30] {
            let pixels = picture.planes[0].line(line)
            #expect(pixels[100] == 60 && pixels[900] == 60 && pixels[1100] == 180 && pixels[1947] == 180)
        }
    }
}
