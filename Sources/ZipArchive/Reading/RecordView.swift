/// Bytes of somebody else's record: every access is checked, and all numbers are little-endian.
struct RecordView {
    private let bytes: ArraySlice<UInt8>

    init(_ bytes: ArraySlice<UInt8>) { self.bytes = bytes }

    var count: Int { bytes.count }

    /// The `length` bytes from `offset` (from the record's start), or nil where they are not all there.
    func slice(_ offset: Int, _ length: Int) -> ArraySlice<UInt8>? {
        guard offset >= 0, length >= 0, offset <= bytes.count, length <= bytes.count - offset else { return nil }
        let start = bytes.startIndex + offset
        return bytes[start..<start + length]
    }

    func number<N: FixedWidthInteger & UnsignedInteger>(_ offset: Int, as type: N.Type) -> N? {
        guard let part = slice(offset, N.bitWidth / 8) else { return nil }
        return part.reversed().reduce(0) { $0 << 8 | N($1) }
    }

    func u16(_ offset: Int) -> UInt16? { number(offset, as: UInt16.self) }
    func u32(_ offset: Int) -> UInt32? { number(offset, as: UInt32.self) }
    func u64(_ offset: Int) -> UInt64? { number(offset, as: UInt64.self) }
}
