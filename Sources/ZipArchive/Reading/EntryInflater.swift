import CArchive
import Foundation

/// Inflates one entry with libarchive.
///
/// libarchive never sees the archive itself. It sees a file of our making that holds one entry named "entry": a
/// header, the compressed bytes of that one entry, a directory. So no header that somebody else wrote reaches its
/// parser, any entry is reached without passing those before it, and several threads inflate at once. Its names,
/// and with them the locale that it needs for names, are never asked for. Calling zlib itself would be as fast,
/// and would leave bzip2 and the end-of-stream checks to be written again.
final class EntryInflater {
    private let archive: OpaquePointer
    private let source: SingleEntryFile

    /// - Parameter offset: of the entry's compressed bytes in `descriptor`.
    init(_ entry: ZipEntry, at offset: Int64, in descriptor: Int32) throws(ZipError) {
        guard let archive = archive_read_new() else { throw .readFailed(errno: ENOMEM) }
        self.archive = archive
        source = SingleEntryFile(entry, at: offset, in: descriptor)
        archive_read_support_format_zip_seekable(archive)
        archive_read_set_read_callback(archive) { _, context, bytes in
            guard let context, let bytes else { return -1 }
            let part = Unmanaged<SingleEntryFile>.fromOpaque(context).takeUnretainedValue().next()
            guard let part else { return -1 }
            bytes.pointee = part.baseAddress
            return part.count
        }
        archive_read_set_seek_callback(archive) { _, context, offset, origin in
            guard let context else { return -1 }
            return Unmanaged<SingleEntryFile>.fromOpaque(context).takeUnretainedValue().seek(offset, origin)
        }
        // Unretained: `source` lives as long as `self`, and `deinit` frees the archive first.
        archive_read_set_callback_data(archive, Unmanaged.passUnretained(source).toOpaque())
        var header: OpaquePointer?
        guard archive_read_open1(archive) == ARCHIVE_OK, archive_read_next_header(archive, &header) == ARCHIVE_OK else {
            throw source.failure ?? .unusableEntry(name: entry.name, .damaged)
        }
    }

    deinit { archive_read_free(archive) }

    enum Step {
        /// More bytes, valid until the next call.
        case bytes(UnsafeRawBufferPointer)
        case end
        /// The last bytes (maybe none): the compressed stream is broken, or ends elsewhere than the sizes say.
        case lastBytes(UnsafeRawBufferPointer)
    }

    func next() throws(ZipError) -> Step {
        var bytes: UnsafeRawPointer?
        var count = 0
        var offset: la_int64_t = 0
        switch archive_read_data_block(archive, &bytes, &count, &offset) {
        case ARCHIVE_OK: return .bytes(UnsafeRawBufferPointer(start: bytes, count: count))
        case ARCHIVE_EOF: return .end
        case ARCHIVE_WARN where source.failure == nil:
            // Given together with bytes, where only what is left of the compressed data is wrong.
            return .lastBytes(UnsafeRawBufferPointer(start: bytes, count: bytes == nil ? 0 : count))
        default:
            if let failure = source.failure { throw failure }
            return .lastBytes(UnsafeRawBufferPointer(start: nil, count: 0))
        }
    }
}

/// An archive with one entry, made up around a range of another file.
private final class SingleEntryFile {
    private let descriptor: Int32
    /// In `descriptor`.
    private let dataOffset: Int64
    private let dataSize: Int64
    private let head: UnsafeMutableRawBufferPointer
    private let tail: UnsafeMutableRawBufferPointer
    private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 10, alignment: 4096)
    private var position: Int64 = 0
    /// Why the last read ended in an error.
    private(set) var failure: ZipError?

    init(_ entry: ZipEntry, at offset: Int64, in descriptor: Int32) {
        self.descriptor = descriptor
        dataOffset = offset
        dataSize = entry.compressedSize
        let local = Self.header(entry, isCentral: false)
        let central = Self.header(entry, isCentral: true)
        let directoryOffset = Int64(local.count) + entry.compressedSize
        let end = ZipRecords.end(
            count: 1, directoryOffset: directoryOffset, directorySize: Int64(central.count))
        head = Self.keep(local)
        tail = Self.keep(central + end)
    }

    deinit {
        head.deallocate()
        tail.deallocate()
        buffer.deallocate()
    }

    private var size: Int64 { Int64(head.count) + dataSize + Int64(tail.count) }

    /// The bytes at the position, which moves behind them; none at the end; nil on failure.
    func next() -> UnsafeRawBufferPointer? {
        let inData = position - Int64(head.count)
        let inTail = inData - dataSize
        let part: UnsafeRawBufferPointer
        if inData < 0 {
            part = UnsafeRawBufferPointer(rebasing: head[Int(position)...])
        } else if inTail < 0 {
            let room = UnsafeMutableRawBufferPointer(rebasing: buffer[..<Int(min(-inTail, Int64(buffer.count)))])
            do throws(ZipError) {
                let count = try DescriptorIO.read(descriptor, into: room, at: dataOffset + inData)
                part = UnsafeRawBufferPointer(rebasing: room[..<count])
            } catch {
                failure = error
                return nil
            }
        } else {
            part = UnsafeRawBufferPointer(rebasing: tail[Int(min(inTail, Int64(tail.count)))...])
        }
        position += Int64(part.count)
        return part
    }

    func seek(_ offset: Int64, _ origin: Int32) -> Int64 {
        let base = origin == SEEK_SET ? 0 : origin == SEEK_CUR ? position : size
        let (target, overflow) = base.addingReportingOverflow(offset)
        guard !overflow, target >= 0 else { return Int64(ARCHIVE_FATAL) }
        position = min(target, size)
        return position
    }

    /// A header that always uses the ZIP64 form for its sizes, so that there is one form to test.
    private static func header(_ entry: ZipEntry, isCentral: Bool) -> [UInt8] {
        let name = Array("entry".utf8)
        var record = RecordBytes()
        record.append(UInt32(isCentral ? 0x0201_4B50 : 0x0403_4B50))
        if isCentral { record.append(UInt16(45)) }
        record.append(UInt16(45))
        record.append(UInt16(0))
        record.append(entry.method)
        record.append(UInt32(0x0021_0000))  // 1980-01-01
        record.append(entry.crc32)
        record.append(UInt32.max)
        record.append(UInt32.max)
        record.append(UInt16(name.count))
        record.append(UInt16(20))
        // Comment, disk and attributes are zero, and so is the local header's offset.
        if isCentral { record.append([UInt8](repeating: 0, count: 14)) }
        record.append(name)
        record.append(UInt16(1))
        record.append(UInt16(16))
        record.append(UInt64(entry.size))
        record.append(UInt64(entry.compressedSize))
        return record.bytes
    }

    private static func keep(_ bytes: [UInt8]) -> UnsafeMutableRawBufferPointer {
        let room = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 8)
        room.copyBytes(from: bytes)
        return room
    }
}
