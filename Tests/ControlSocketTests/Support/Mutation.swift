import Randomness

extension SplitMix64 {
    /// `bytes` with up to four of: a byte changed, removed, doubled, a piece repeated, a byte that JSON cares about
    /// put in.
    mutating func mutate(_ bytes: [UInt8]) -> [UInt8] {
        var bytes = bytes
        let telling = Array("{}[]\",:\\u0e-+.ntf \r\u{1}".utf8) + [0x80, 0xC3, 0xED, 0xFF]
        for _ in 0..<below(5) where !bytes.isEmpty {
            let at = below(bytes.count)
            switch below(5) {
            case 0: bytes[at] = UInt8(truncatingIfNeeded: next())
            case 1: bytes.remove(at: at)
            case 2: bytes.insert(bytes[at], at: at)
            case 3:
                let end = min(bytes.count, at + 1 + below(20))
                bytes.insert(contentsOf: bytes[at..<end], at: below(bytes.count))
            default: bytes.insert(telling[below(telling.count)], at: at)
            }
        }
        return bytes
    }
}
