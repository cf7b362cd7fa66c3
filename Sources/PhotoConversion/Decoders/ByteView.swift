/// Bytes that somebody else owns and that may say anything: every read is checked, and past the end reads as zero.
///
/// Zero rather than an optional, because a parser of a damaged file then stops by its own rules (a length of
/// zero, a missing name) and no arithmetic on an offset can trap. Where absence matters, ask ``count`` first.
struct ByteView {
    /// Nil only where ``count`` is zero.
    let base: UnsafePointer<UInt8>?
    let count: Int

    init(_ buffer: UnsafeRawBufferPointer) {
        base = buffer.baseAddress?.assumingMemoryBound(to: UInt8.self)
        count = buffer.count
    }

    private init(base: UnsafePointer<UInt8>?, count: Int) {
        self.base = base
        self.count = count
    }

    subscript(offset: Int) -> UInt8 {
        guard let base, offset >= 0, offset < count else { return 0 }
        return base[offset]
    }

    func bigEndian16(at offset: Int) -> UInt16 { UInt16(self[offset]) << 8 | UInt16(self[offset &+ 1]) }

    func littleEndian16(at offset: Int) -> UInt16 { bigEndian16(at: offset).byteSwapped }

    func bigEndian32(at offset: Int) -> UInt32 {
        UInt32(bigEndian16(at: offset)) << 16 | UInt32(bigEndian16(at: offset &+ 2))
    }

    func littleEndian32(at offset: Int) -> UInt32 { bigEndian32(at: offset).byteSwapped }

    func starts(with prefix: [UInt8]) -> Bool {
        count >= prefix.count && prefix.indices.allSatisfy { self[$0] == prefix[$0] }
    }

    /// `count` bytes as Latin-1 text, for four-letter names.
    func text(at offset: Int, count: Int) -> String {
        String(String.UnicodeScalarView((0..<count).map { Unicode.Scalar(self[offset &+ $0]) }))
    }

    /// The part from `offset`, at most `length` bytes, shortened to what exists.
    func part(from offset: Int, count length: Int = .max) -> ByteView {
        guard offset >= 0, offset <= count, length >= 0 else { return ByteView(base: nil, count: 0) }
        return ByteView(base: base.map { $0 + offset }, count: min(length, count - offset))
    }

    var array: [UInt8] { Array(UnsafeBufferPointer(start: base, count: count)) }

    var buffer: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: base, count: count) }
}
