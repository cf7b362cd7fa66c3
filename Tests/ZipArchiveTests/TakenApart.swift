import Foundation

@testable import ZipArchive

/// A good archive taken apart, so that each field can be made to lie and all others still fit.
struct TakenApart {
    struct Part {
        /// The directory's record and the local header without what follows them.
        var central: [UInt8]
        var local: [UInt8]
        var name: [UInt8]
        var centralExtra: [UInt8]
        var localExtra: [UInt8]
        var comment: [UInt8] = []
        var data: [UInt8]
        var behind: [UInt8] = []
        var keepsOffset = false
        /// Added to the length of the extra fields that the record, or the local header, declares.
        var centralExtraError = 0
        var localExtraError = 0
    }

    var parts: [Part]
    var prefix: [UInt8] = []
    var comment: [UInt8] = []
    /// Written over fields of the end record, the ZIP64 record and its locator, by offset.
    var end: [Int: [UInt8]] = [:]
    var hasZIP64 = false
    var zip64: [Int: [UInt8]] = [:]
    var zip64More: [UInt8] = []
    var locator: [Int: [UInt8]] = [:]

    /// - Parameter archive: of our own writer, small.
    init(_ archive: [UInt8]) {
        let view = RecordView(archive[...])
        func number(_ offset: Int) -> Int { Int(view.u32(offset) ?? 0) }
        func short(_ offset: Int) -> Int { Int(view.u16(offset) ?? 0) }
        func slice(_ offset: Int, _ length: Int) -> [UInt8] { view.slice(offset, length).map(Array.init) ?? [] }
        parts = []
        var position = number(archive.count - 6)
        for _ in 0..<short(archive.count - 12) {
            let (name, extra) = (short(position + 28), short(position + 30))
            let local = number(position + 42)
            let localExtra = short(local + 28)
            parts.append(
                Part(
                    central: slice(position, 46), local: slice(local, 30), name: slice(position + 46, name),
                    centralExtra: slice(position + 46 + name, extra), localExtra: slice(local + 30 + name, localExtra),
                    data: slice(local + 30 + name + localExtra, number(position + 20))))
            position += 46 + name + extra
        }
    }

    var bytes: [UInt8] {
        var bytes = prefix
        var directory: [UInt8] = []
        for var part in parts {
            if !part.keepsOffset { part.central.put(UInt32(bytes.count - prefix.count), at: 42) }
            part.central.put(UInt16(part.centralExtra.count + part.centralExtraError), at: 30)
            part.central.put(UInt16(part.comment.count), at: 32)
            part.local.put(UInt16(part.localExtra.count + part.localExtraError), at: 28)
            directory += part.central + part.name + part.centralExtra + part.comment
            bytes += part.local + part.name + part.localExtra + part.data + part.behind
        }
        let start = bytes.count - prefix.count
        bytes += directory
        if hasZIP64 {
            let place = bytes.count - prefix.count
            var record = RecordBytes()
            record.append(UInt32(0x0606_4B50))
            record.append(UInt64(44 + zip64More.count))
            record.append(UInt32(45 << 16 | 3 << 8 | 45))
            record.append(UInt64(0))
            for number in [parts.count, parts.count, directory.count, start] { record.append(UInt64(number)) }
            bytes += record.bytes.overwritten(zip64) + zip64More
            var located = RecordBytes()
            located.append(UInt32(0x0706_4B50))
            located.append(UInt32(0))
            located.append(UInt64(place))
            located.append(UInt32(1))
            bytes += located.bytes.overwritten(locator)
        }
        var record = RecordBytes()
        record.append(UInt32(0x0605_4B50))
        record.append(UInt32(0))
        record.append(UInt16(parts.count))
        record.append(UInt16(parts.count))
        record.append(UInt32(directory.count))
        record.append(UInt32(start))
        record.append(UInt16(comment.count))
        return bytes + record.bytes.overwritten(end) + comment
    }
}

extension [UInt8] {
    /// Writes a number over what is there, little-endian.
    mutating func put(_ number: some FixedWidthInteger, at offset: Int) {
        replaceSubrange(offset..<offset + number.bitWidth / 8, with: RawArchive.little(number))
    }

    fileprivate func overwritten(_ fields: [Int: [UInt8]]) -> [UInt8] {
        var bytes = self
        for (offset, field) in fields { bytes.replaceSubrange(offset..<offset + field.count, with: field) }
        return bytes
    }
}
