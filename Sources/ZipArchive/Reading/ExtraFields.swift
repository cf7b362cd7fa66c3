/// The extra fields of one header: what the reader needs of them, and whether they are whole.
struct ExtraFields {
    private(set) var zip64: RecordView?
    private(set) var unicodePath: RecordView?
    private(set) var timestamp: RecordView?
    private(set) var isAES = false
    /// A field that decides about sizes occurs twice: readers would disagree about which one counts.
    private(set) var isAmbiguous = false
    /// The first field that does not fit, or that lacks what readers need of it. Some refuse the entry then, some the
    /// whole archive, and others read what comes after in a way of their own.
    private(set) var damage: Damage?

    enum Damage: Hashable {
        /// The field with this id reaches past the end of all fields, or is too short for what it is.
        case field(UInt16)
        /// Bytes behind the last field that are not zero.
        case remainder
        /// The field with this id replaces what the header says, for those who know it.
        case replacing(UInt16)
    }

    /// Bytes of the fields' fixed parts, of those that other readers look into: flags (Info-ZIP's times), version and
    /// checksum (its Unicode names), all of it (AES).
    private static let fixedParts: [UInt16: Int] = [0x5455: 1, 0x7075: 5, 0x6375: 5, 0x9901: 7]

    /// libarchive's "xl", an experiment: attributes that go before the header's, so that a file becomes a folder or a link.
    private static let replacing: Set<UInt16> = [0x6C78]

    /// Up to three zero bytes may be left, too few for a field: older versions of zipalign filled up with such.
    init(_ bytes: ArraySlice<UInt8>) {
        let view = RecordView(bytes)
        var offset = 0
        while let kind = view.u16(offset), let length = view.u16(offset + 2) {
            guard let body = view.slice(offset + 4, Int(length)), body.count >= Self.fixedParts[kind] ?? 0 else {
                damage = .field(kind)
                return
            }
            if Self.replacing.contains(kind) { damage = .replacing(kind) }
            take(kind, body)
            offset += 4 + Int(length)
        }
        let rest = view.slice(offset, view.count - offset) ?? []
        if rest.contains(where: { $0 != 0 }) { damage = .remainder }
    }

    private mutating func take(_ kind: UInt16, _ body: ArraySlice<UInt8>) {
        switch kind {
        case 0x0001:
            isAmbiguous = isAmbiguous || zip64 != nil
            zip64 = RecordView(body)
        case 0x7075: unicodePath = RecordView(body)
        case 0x5455: timestamp = RecordView(body)
        case 0x9901: isAES = true
        default: break
        }
    }
}
