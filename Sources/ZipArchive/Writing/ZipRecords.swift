import Foundation

/// The records of a stored-only archive as bytes (PKWARE APPNOTE 6.3.10, sections 4.3 to 4.5).
///
/// Java's `ZipInputStream` refuses stored entries with a data descriptor, so sizes and CRC-32 stand in the local
/// header. The ZIP64 field comes first, because some readers look only there; the UT field (Info-ZIP's extended
/// timestamp) next; the padding last, and only in the local header.
enum ZipRecords {
    static let leastPadding = 6
    private static let sentinel32: UInt32 = .max
    private static let zip64Local = 4 + 16

    static func localHeaderSize(_ entry: ZipLayout.Entry, padding: Int) -> Int {
        30 + entry.name.utf8.count + (isLarge(entry) ? zip64Local : 0) + timestamp(entry).count + padding
    }

    static func localHeader(_ entry: ZipLayout.Entry, place: ZipLayout.Place, crc32: UInt32) -> [UInt8] {
        var extra = RecordBytes()
        if isLarge(entry) {
            extra.append(UInt16(0x0001))
            extra.append(UInt16(16))
            extra.append(UInt64(entry.size))
            extra.append(UInt64(entry.size))
        }
        extra.append(timestamp(entry))
        if place.padding > 0 {
            extra.append(UInt16(0xD935))
            extra.append(UInt16(place.padding - 4))
            extra.append(UInt16(ZipLayout.alignment))
            extra.append([UInt8](repeating: 0, count: place.padding - leastPadding))
        }
        var record = RecordBytes()
        record.append(UInt32(0x0403_4B50))
        appendCommon(to: &record, entry, needs45: isLarge(entry), crc32: crc32, extra: extra.bytes.count)
        record.append(Array(entry.name.utf8))
        record.append(extra.bytes)
        return record.bytes
    }

    static func centralHeaderSize(_ entry: ZipLayout.Entry, place: ZipLayout.Place) -> Int {
        46 + entry.name.utf8.count + centralExtra(entry, place: place).count
    }

    static func centralHeader(_ entry: ZipLayout.Entry, place: ZipLayout.Place, crc32: UInt32) -> [UInt8] {
        let extra = centralExtra(entry, place: place)
        let isFar = place.header >= Int64(sentinel32)
        var record = RecordBytes()
        record.append(UInt32(0x0201_4B50))
        // Made by: Unix (3), so that the upper half of the attributes is a mode; version 4.5.
        record.append(UInt16(3 << 8 | 45))
        appendCommon(to: &record, entry, needs45: isLarge(entry) || isFar, crc32: crc32, extra: extra.count)
        record.append(UInt16(0))  // comment
        record.append(UInt16(0))  // disk
        record.append(UInt16(0))  // internal attributes
        record.append(UInt32(0o100644) << 16)
        record.append(isFar ? sentinel32 : UInt32(place.header))
        record.append(Array(entry.name.utf8))
        record.append(extra)
        return record.bytes
    }

    static func endSize(count: Int, directoryOffset: Int64, directorySize: Int64) -> Int {
        end(count: count, directoryOffset: directoryOffset, directorySize: directorySize).count
    }

    /// The end-of-central-directory record, after its ZIP64 form and locator where they are needed.
    static func end(count: Int, directoryOffset: Int64, directorySize: Int64) -> [UInt8] {
        var record = RecordBytes()
        let needs64 =
            count >= 0xFFFF || directoryOffset >= Int64(sentinel32) || directorySize >= Int64(sentinel32)
        if needs64 {
            record.append(UInt32(0x0606_4B50))
            record.append(UInt64(44))  // size of what follows in this record
            record.append(UInt16(3 << 8 | 45))
            record.append(UInt16(45))
            record.append(UInt32(0))
            record.append(UInt32(0))
            record.append(UInt64(count))
            record.append(UInt64(count))
            record.append(UInt64(directorySize))
            record.append(UInt64(directoryOffset))
            record.append(UInt32(0x0706_4B50))
            record.append(UInt32(0))
            record.append(UInt64(directoryOffset + directorySize))
            record.append(UInt32(1))
        }
        record.append(UInt32(0x0605_4B50))
        record.append(UInt16(0))
        record.append(UInt16(0))
        record.append(UInt16(min(count, 0xFFFF)))
        record.append(UInt16(min(count, 0xFFFF)))
        record.append(UInt32(min(directorySize, Int64(sentinel32))))
        record.append(UInt32(min(directoryOffset, Int64(sentinel32))))
        record.append(UInt16(0))
        return record.bytes
    }

    /// From "version needed" to the length of the extra field: the same in both headers.
    private static func appendCommon(
        to record: inout RecordBytes, _ entry: ZipLayout.Entry, needs45: Bool, crc32: UInt32, extra: Int
    ) {
        let (date, time) = dosTime(entry.modified)
        record.append(UInt16(needs45 ? 45 : 20))
        record.append(UInt16(1 << 11))  // the name is UTF-8
        record.append(UInt16(0))  // stored
        record.append(time)
        record.append(date)
        record.append(crc32)
        let size = isLarge(entry) ? sentinel32 : UInt32(entry.size)
        record.append(size)
        record.append(size)
        record.append(UInt16(entry.name.utf8.count))
        record.append(UInt16(extra))
    }

    private static func centralExtra(_ entry: ZipLayout.Entry, place: ZipLayout.Place) -> [UInt8] {
        var extra = RecordBytes()
        // Exactly the fields whose 32-bit form is the sentinel, in this order: Java checks the length.
        let isFar = place.header >= Int64(sentinel32)
        if isLarge(entry) || isFar {
            extra.append(UInt16(0x0001))
            extra.append(UInt16((isLarge(entry) ? 16 : 0) + (isFar ? 8 : 0)))
            if isLarge(entry) {
                extra.append(UInt64(entry.size))
                extra.append(UInt64(entry.size))
            }
            if isFar { extra.append(UInt64(place.header)) }
        }
        extra.append(timestamp(entry))
        return extra.bytes
    }

    /// Past what 32 bits hold; the highest value is the mark for "look in ZIP64".
    private static func isLarge(_ entry: ZipLayout.Entry) -> Bool { entry.size >= Int64(sentinel32) }

    /// The UT field with the time of modification, or nothing where its signed 32 bits cannot hold it.
    private static func timestamp(_ entry: ZipLayout.Entry) -> [UInt8] {
        guard let seconds = Int32(exactly: floorSeconds(entry.modified)) else { return [] }
        var field = RecordBytes()
        field.append(UInt16(0x5455))
        field.append(UInt16(5))
        field.append([1])
        field.append(UInt32(bitPattern: seconds))
        return field.bytes
    }

    private static func floorSeconds(_ milliseconds: Int64) -> Int64 {
        let (quotient, remainder) = milliseconds.quotientAndRemainder(dividingBy: 1000)
        return remainder < 0 ? quotient - 1 : quotient
    }

    /// DOS date and time, in UTC: the archive must not depend on the zone of the machine that made it.
    private static func dosTime(_ milliseconds: Int64) -> (date: UInt16, time: UInt16) {
        // 1980-01-01 00:00:00 and 2107-12-31 23:59:58, the least and the greatest that the fields hold.
        var seconds = time_t(min(max(floorSeconds(milliseconds), 315_532_800), 4_354_819_198))
        var fields = tm()
        gmtime_r(&seconds, &fields)
        let date = (fields.tm_year - 80) << 9 | (fields.tm_mon + 1) << 5 | fields.tm_mday
        let time = fields.tm_hour << 11 | fields.tm_min << 5 | fields.tm_sec / 2
        return (UInt16(date), UInt16(time))
    }
}

/// Bytes of a record in the making: all numbers are little-endian.
struct RecordBytes {
    private(set) var bytes: [UInt8] = []

    mutating func append(_ number: some FixedWidthInteger) {
        withUnsafeBytes(of: number.littleEndian) { bytes.append(contentsOf: $0) }
    }

    mutating func append(_ more: [UInt8]) { bytes.append(contentsOf: more) }
}
