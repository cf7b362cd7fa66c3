import Glibc
import ImageWorkerProtocol

/// Lines whose pixels are the means of squares of a bigger picture's, for kinds whose planes are equally large.
///
/// The filter's ring grows with the width and with how much is reduced, and past what the processor's cache holds zimg
/// works in columns, for which the whole picture would have to stand in memory. A first step that leaves twice what is
/// needed keeps the ring at a few megabytes. It is not free: two pictures of 48 million pixels came
/// within 46 dB, and with much fine detail 39 dB, of what the filter alone makes of them, which took 80 MB more.
final class BoxLines: LineSource {
    let size: PixelSize
    let linesPerStep = 1
    private let lines: any LineSource
    private let side: Int
    private let ring: PlanarPicture
    /// Of each column of the bigger picture.
    private let sums: UnsafeMutablePointer<UInt32>
    private var next = 0

    var kind: PixelKind { lines.kind }

    /// Pixels up to which the filter sees all there are, which is what its quality was measured with.
    private static let mostPixels = 64_000_000
    /// Bytes of lines up to which the filter may want them at once. A picture can be wide without being big.
    private static let mostBytes = 8 << 20

    /// `lines`, or their reduction where there are more of them than the filter should see.
    static func covering(_ target: PixelSize, of lines: any LineSource) throws(ImagingError) -> any LineSource {
        guard isPossible(lines.kind) else { return lines }
        // The filter is three lines of the target high, to both sides.
        let height = 6 * lines.size.longSide / max(1, target.longSide)
        let bytes = lines.size.width * height * lines.kind.planes * lines.kind.bytesPerSample
        guard lines.size.pixels > mostPixels || bytes > mostBytes else { return lines }
        let side = lines.size.longSide / (target.longSide * 2)
        return side > 1 ? try BoxLines(lines, side: side) : lines
    }

    /// Whether all planes are equally large.
    static func isPossible(_ kind: PixelKind) -> Bool {
        if case .ycc = kind { return false }
        return true
    }

    /// - Parameter side: of the squares, 2 to 255: their sum has room in 32 bits even for deep samples.
    init(_ lines: any LineSource, side: Int) throws(ImagingError) {
        self.lines = lines
        self.side = min(255, max(2, side))
        size = PixelSize(
            width: (lines.size.width + self.side - 1) / self.side,
            height: (lines.size.height + self.side - 1) / self.side)
        var room = 2
        while room < self.side + lines.linesPerStep { room *= 2 }
        ring = try PlanarPicture(size: lines.size, kind: lines.kind, ringLines: room, padding: lines.padding)
        guard let memory = malloc(lines.size.width * 4) else { throw .lackOfMemory }
        sums = memory.assumingMemoryBound(to: UInt32.self)
    }

    deinit { free(sums) }

    func decode(through line: Int, into target: PlanarPicture) throws(ImagingError) {
        while next <= line {
            let covered = next * side..<min((next + 1) * side, lines.size.height)
            try lines.decode(through: covered.upperBound - 1, into: ring)
            for (from, into) in zip(ring.planes, target.planes) {
                if kind.bytesPerSample == 1 {
                    average(covered.map(from.line), into: into.line(next))
                } else {
                    average(covered.map { Self.deep(from.line($0)) }, into: Self.deep(into.line(next)))
                }
            }
            next += 1
        }
    }

    func finish() throws(ImagingError) { try lines.finish() }

    private static func deep(_ line: UnsafeMutablePointer<UInt8>) -> UnsafeMutablePointer<UInt16> {
        UnsafeMutableRawPointer(line).assumingMemoryBound(to: UInt16.self)
    }

    /// The last square of a line, and the squares of the last lines, may be smaller.
    private func average<Sample: FixedWidthInteger & UnsignedInteger>(
        _ rows: [UnsafeMutablePointer<Sample>], into target: UnsafeMutablePointer<Sample>
    ) {
        let width = lines.size.width
        sums.update(repeating: 0, count: width)
        for row in rows { for x in 0..<width { sums[x] &+= UInt32(truncatingIfNeeded: row[x]) } }
        for x in 0..<size.width {
            let columns = x &* side..<min((x &+ 1) &* side, width)
            var sum: UInt32 = 0
            for column in columns { sum &+= sums[column] }
            let count = UInt32(truncatingIfNeeded: columns.count &* rows.count)
            target[x] = Sample(truncatingIfNeeded: (sum &+ count / 2) / count)
        }
    }
}
