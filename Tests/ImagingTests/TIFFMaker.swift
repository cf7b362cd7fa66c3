/// A big-endian TIFF, not compressed, of any samples: 32 x 32 pixels, each quadrant of one colour.
struct TIFFMaker {
    static let side = 32

    var bits: Int
    /// What the samples mean, as the format numbers it: 0 and 1 grey, 2 red, green, blue, 5 inks, 8 and 9 L*a*b*.
    var meaning: Int
    /// As the format numbers it: 1 without a sign, 2 with one, 3 floating-point.
    var format = 1
    var compression = 1
    var isTiled = false
    var isInPlanes = false
    /// What the last sample means beyond the colours.
    var extra: Int?
    /// Of each quadrant, in the order of ``Pictures/quadrants``: the lowest bits are taken.
    var quadrants: [[UInt64]]

    func file() -> [UInt8] {
        let count = quadrants[0].count
        func repeated(_ tag: UInt16, _ value: Int) -> ExifMaker.Entry {
            .init(
                tag: tag, type: 3, count: UInt32(count), data: (0..<count).flatMap { _ in ExifMaker.bytes16(value) })
        }
        func longs(_ tag: UInt16, _ values: [Int]) -> ExifMaker.Entry {
            .init(tag: tag, type: 4, count: UInt32(values.count), data: values.flatMap(ExifMaker.bytes32))
        }
        let parts = parts()
        func block(_ start: Int) -> [UInt8] {
            let places = parts.indices.map { index in start + parts[..<index].reduce(0) { $0 + $1.count } }
            var entries: [ExifMaker.Entry] = [
                .long(0x0100, Self.side), .long(0x0101, Self.side), repeated(0x0102, bits), .short(0x0103, compression),
                .short(0x0106, meaning), .short(0x0115, count), .short(0x011C, isInPlanes ? 2 : 1),
                repeated(0x0153, format), longs(isTiled ? 0x0144 : 0x0111, places),
                longs(isTiled ? 0x0145 : 0x0117, parts.map(\.count)),
            ]
            entries += isTiled ? [.short(0x0142, 16), .short(0x0143, 16)] : [.long(0x0116, 4)]
            if let extra { entries.append(.short(0x0152, extra)) }
            return ExifMaker.block(main: entries)
        }
        return block(block(0).count) + parts.flatMap { $0 }
    }

    /// Strips of 4 lines, or tiles that are each a quadrant.
    private func parts() -> [[UInt8]] {
        let samples = quadrants[0].indices
        return (isInPlanes ? samples.map { [$0] } : [Array(samples)]).flatMap { samples in
            isTiled
                ? quadrants.map { colour in
                    (0..<16).flatMap { _ in
                        line([UInt64](repeating: 0, count: 16).flatMap { _ in samples.map { colour[$0] } })
                    }
                }
                : (0..<Self.side / 4).map { strip in
                    let (left, right) = (quadrants[strip / 4 * 2], quadrants[strip / 4 * 2 + 1])
                    let values = (0..<Self.side).flatMap { x in samples.map { (x < 16 ? left : right)[$0] } }
                    return (0..<4).flatMap { _ in line(values) }
                }
        }
    }

    private func line(_ values: [UInt64]) -> [UInt8] {
        var bytes: [UInt8] = []
        var (held, count) = (UInt64(0), 0)
        for value in values {
            for bit in (0..<bits).reversed() {
                held = held << 1 | value >> UInt64(bit) & 1
                count += 1
                guard count == 8 else { continue }
                bytes.append(UInt8(held))
                (held, count) = (0, 0)
            }
        }
        if count > 0 { bytes.append(UInt8(held << UInt64(8 - count))) }
        return bytes
    }
}
