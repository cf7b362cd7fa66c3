/// A baseline JPEG of flat squares of 8 x 8 pixels, in any number of components, which no encoder here writes.
struct JPEGMaker {
    /// Squares across and down.
    var size = (width: 8, height: 8)
    /// Samples of the square in a column and a row, one for each component.
    var square: (Int, Int) -> [Int]
    /// Of Adobe's marker; none where nil.
    var transform: UInt8?
    /// Whether the components share one scan.
    var isInterleaved = true

    func file() -> [UInt8] {
        let components = square(0, 0).count
        let ids = (1...components).map(UInt8.init)
        var bytes: [UInt8] = [0xFF, 0xD8]
        if let transform { bytes += Self.segment(0xEE, Array("Adobe".utf8) + [0, 100, 0, 0, 0, 0, transform]) }
        // A mean of 8 x 8 samples is an eighth of its coefficient.
        bytes += Self.segment(0xDB, [0] + [UInt8](repeating: 8, count: 64))
        let sides = [size.height * 8, size.width * 8].flatMap { [UInt8($0 >> 8), UInt8($0 & 255)] }
        bytes += Self.segment(0xC0, [8] + sides + [UInt8(components)] + ids.flatMap { [$0, 0x11, 0] })
        // Means: twelve codes of four bits, for as many lengths. Details: one code, which ends them.
        let lengths = (1...16).map { UInt8($0 == 4 ? 12 : 0) }
        bytes += Self.segment(0xC4, [0x00] + lengths + (0..<12).map(UInt8.init))
        bytes += Self.segment(0xC4, [0x10, 1] + [UInt8](repeating: 0, count: 15) + [0])
        for scan in isInterleaved ? [ids] : ids.map({ [$0] }) {
            bytes += Self.segment(0xDA, [UInt8(scan.count)] + scan.flatMap { [$0, 0] } + [0, 63, 0])
            bytes += coded(scan.map { Int($0) - 1 })
        }
        return bytes + [0xFF, 0xD9]
    }

    private func coded(_ components: [Int]) -> [UInt8] {
        var bits: [Int] = []
        var last = [Int](repeating: 0, count: components.count)
        for y in 0..<size.height {
            for x in 0..<size.width {
                for (index, component) in components.enumerated() {
                    let mean = square(x, y)[component] - 128
                    let step = mean - last[index]
                    last[index] = mean
                    let length = Int.bitWidth - abs(step).leadingZeroBitCount
                    let code = step < 0 ? step + (1 << length) - 1 : step
                    bits += (0..<4).map { length >> (3 - $0) & 1 }
                    bits += (0..<length).map { code >> (length - 1 - $0) & 1 }
                    bits.append(0)
                }
            }
        }
        while bits.count % 8 != 0 { bits.append(1) }
        return stride(from: 0, to: bits.count, by: 8).flatMap { first in
            let byte = bits[first..<first + 8].reduce(0) { $0 << 1 | UInt8($1) }
            return byte == 0xFF ? [0xFF, 0] : [byte]
        }
    }

    private static func segment(_ marker: UInt8, _ content: [UInt8]) -> [UInt8] {
        [0xFF, marker, UInt8((content.count + 2) >> 8), UInt8((content.count + 2) & 255)] + content
    }
}
