/// What happened in a run, as a number to compare and as words to read.
///
/// The number is FNV-1a, 64 bits, over every choice and every note in order: two runs with the same digest took the
/// same way. The words are the newest notes only, because most runs are never read.
struct Trace {
    private(set) var digest: UInt64 = 0xCBF2_9CE4_8422_2325
    private(set) var notes: [String] = []
    private static let kept = 400

    mutating func add(_ number: Int) {
        var rest = UInt64(bitPattern: Int64(number))
        for _ in 0..<8 {
            add(byte: UInt8(truncatingIfNeeded: rest))
            rest >>= 8
        }
    }

    mutating func add(note: String) {
        for byte in note.utf8 { add(byte: byte) }
        add(byte: 0xFF)  // in no UTF-8, so that "a", "b" and "ab" differ
        if notes.count >= Self.kept { notes.removeFirst(Self.kept / 2) }
        notes.append(note)
    }

    private mutating func add(byte: UInt8) { digest = (digest ^ UInt64(byte)) &* 0x0000_0100_0000_01B3 }
}
