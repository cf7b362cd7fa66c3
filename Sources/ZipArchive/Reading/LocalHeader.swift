/// The header in front of an entry's bytes (APPNOTE 4.3.7).
struct LocalHeader {
    static let signature: UInt32 = 0x0403_4B50
    static let fixedSize = 30
    /// Enough for a header without padding; a longer one is read again in full.
    private static let firstRead = 512

    enum Reading {
        case header(LocalHeader)
        case missing
        /// Its lengths lead past the limit.
        case pastTheEnd
    }

    /// All of it.
    let bytes: ArraySlice<UInt8>
    /// Of its first byte, and of the entry's, from the start of the file.
    let start: Int64
    let data: Int64
    let version: UInt16
    let flags: UInt16
    let method: UInt16
    let time: UInt16
    let date: UInt16
    let crc32: UInt32
    let size: UInt64
    let compressedSize: UInt64
    /// A size is said to be in a field that does not have it.
    let isShort: Bool
    let rawName: ArraySlice<UInt8>
    let extra: ExtraFields

    /// - Parameters:
    ///   - limit: where headers and data end.
    ///   - signed: whether it has to begin as headers do.
    static func read(
        _ descriptor: Int32, at start: Int64, before limit: Int64, signed: Bool = true
    ) throws(ZipError) -> Reading {
        guard start >= 0, start <= limit - Int64(fixedSize) else { return .missing }
        var bytes = try ZipDirectory.bytes(of: descriptor, start..<min(limit, start + Int64(firstRead)))
        let view = RecordView(bytes[...])
        guard let nameLength = view.u16(26), let extraLength = view.u16(28), !signed || view.u32(0) == signature
        else { return .missing }
        let size = fixedSize + Int(nameLength) + Int(extraLength)
        guard start + Int64(size) <= limit else { return .pastTheEnd }
        if size > bytes.count { bytes = try ZipDirectory.bytes(of: descriptor, start..<start + Int64(size)) }
        return LocalHeader(bytes.prefix(size), at: start, nameLength: Int(nameLength)).map(Reading.header) ?? .missing
    }

    private init?(_ bytes: ArraySlice<UInt8>, at start: Int64, nameLength: Int) {
        let view = RecordView(bytes)
        let extraStart = Self.fixedSize + nameLength
        guard let version = view.u16(4), let flags = view.u16(6), let method = view.u16(8), let time = view.u16(10),
            let date = view.u16(12), let crc32 = view.u32(14), let compressed = view.u32(18), let size = view.u32(22),
            let name = view.slice(Self.fixedSize, nameLength),
            let rawExtra = view.slice(extraStart, view.count - extraStart)
        else { return nil }
        let extra = ExtraFields(rawExtra)
        var wide = Zip64Values(extra.zip64)
        self.size = wide.value(size)
        compressedSize = wide.value(compressed)
        (isShort, self.extra, rawName) = (wide.isShort, extra, name)
        (self.bytes, self.start, data) = (bytes, start, start + Int64(bytes.count))
        (self.version, self.flags, self.method, self.crc32) = (version, flags, method, crc32)
        (self.time, self.date) = (time, date)
    }

    var name: NameText {
        NameText(rawName, isUTF8: flags & EntryFlags.utf8Name != 0, unicodePath: extra.unicodePath)
    }
}
