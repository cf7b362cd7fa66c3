/// A PNG of any kind that the format has, which gd writes two of. Its data are stored, not deflated.
struct PNGMaker {
    var size = (width: 16, height: 16)
    /// Bits of a sample.
    var depth: Int
    /// As the format numbers them: 0 grey, 2 red, green, blue, 3 palette, 4 and 6 with opacity.
    var colours: Int
    /// Of every pixel.
    var samples: [Int]
    /// Chunks before the data: name and content.
    var chunks: [(String, [UInt8])] = []
    /// Lines that are there.
    var lines: Int?

    func file() -> [UInt8] {
        var bits: [Int] = []
        for _ in 0..<size.width {
            for sample in samples { bits += (0..<depth).map { sample >> (depth - 1 - $0) & 1 } }
        }
        while bits.count % 8 != 0 { bits.append(0) }
        let line: [UInt8] =
            [0]
            + stride(from: 0, to: bits.count, by: 8).map { first in
                bits[first..<first + 8].reduce(0) { $0 << 1 | UInt8($1) }
            }
        let raw = [[UInt8]](repeating: line, count: lines ?? size.height).flatMap { $0 }
        let header = Self.big32(UInt32(size.width)) + Self.big32(UInt32(size.height))
        return [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
            + Self.chunk("IHDR", header + [UInt8(depth), UInt8(colours), 0, 0, 0])
            + chunks.flatMap { Self.chunk($0.0, $0.1) } + Self.chunk("IDAT", Self.stored(raw)) + Self.chunk("IEND", [])
    }

    static func chunk(_ name: String, _ content: [UInt8]) -> [UInt8] {
        let body = Array(name.utf8) + content
        return big32(UInt32(content.count)) + body + big32(checksum(body))
    }

    /// Blocks of at most 65,535 bytes.
    static func stored(_ bytes: [UInt8]) -> [UInt8] {
        var (first, second): (UInt32, UInt32) = (1, 0)
        for byte in bytes {
            first = (first + UInt32(byte)) % 65_521
            second = (second + first) % 65_521
        }
        var blocks: [UInt8] = []
        for start in stride(from: 0, to: bytes.count, by: 65_535) {
            let block = bytes[start..<min(bytes.count, start + 65_535)]
            let count = UInt16(block.count)
            blocks.append(block.endIndex == bytes.count ? 1 : 0)
            blocks += [count, ~count].flatMap { [UInt8($0 & 255), UInt8($0 >> 8)] } + block
        }
        return [0x78, 1] + blocks + big32(second << 16 | first)
    }

    private static func checksum(_ bytes: [UInt8]) -> UInt32 {
        var sum = UInt32.max
        for byte in bytes {
            sum ^= UInt32(byte)
            for _ in 0..<8 { sum = sum & 1 == 0 ? sum >> 1 : (sum >> 1) ^ 0xEDB8_8320 }
        }
        return ~sum
    }

    private static func big32(_ value: UInt32) -> [UInt8] {
        (0..<4).map { UInt8(truncatingIfNeeded: value >> (24 - 8 * $0)) }
    }
}
