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

/// The extra fields of one header: what the reader needs of them.
struct ExtraFields {
    private(set) var zip64: RecordView?
    private(set) var unicodePath: RecordView?
    private(set) var timestamp: RecordView?
    private(set) var isAES = false
    /// A field that decides about sizes occurs twice: readers would disagree about which one counts.
    private(set) var isAmbiguous = false

    /// Stops at the first field that does not fit: older versions of zipalign filled up with single zero bytes.
    init(_ bytes: ArraySlice<UInt8>) {
        let view = RecordView(bytes)
        var offset = 0
        while let kind = view.u16(offset), let length = view.u16(offset + 2),
            let body = view.slice(offset + 4, Int(length))
        {
            switch kind {
            case 0x0001:
                isAmbiguous = isAmbiguous || zip64 != nil
                zip64 = RecordView(body)
            case 0x7075: unicodePath = RecordView(body)
            case 0x5455: timestamp = RecordView(body)
            case 0x9901: isAES = true
            default: break
            }
            offset += 4 + Int(length)
        }
    }
}
