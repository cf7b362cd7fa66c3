import Foundation
import Scratch
import ServiceMesh
import ZipArchive

/// What a file is taken for when it is opened, and what it is refused for before anything in it is read.
extension BackupArchive {
    /// The bytes of a file that begins as an object of JSON does; nil for all others, which are archives or nothing.
    static func bareDocument(_ descriptor: Int32, size: Int64) throws -> Data? {
        var head = [UInt8](repeating: 0, count: 64)
        let count = pread(descriptor, &head, head.count, 0)
        // An archive stays one, whatever its first byte has become.
        if head[1..<4].elementsEqual([0x4B, 3, 4]) { return nil }
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        var start = head.prefix(max(0, count))
        if start.starts(with: mark) { start = start.dropFirst(mark.count) }
        guard start.first(where: { ![0x20, 0x09, 0x0A, 0x0D].contains($0) }) == UInt8(ascii: "{") else { return nil }
        guard size <= BackupFormat.maximumDocument else {
            throw MeshError(refusingBackup: "it is a document of more than \(BackupFormat.maximumDocument >> 20) MiB.")
        }
        var bytes = Data(count: Int(size))
        let read = bytes.withUnsafeMutableBytes { pread(descriptor, $0.baseAddress, $0.count, 0) }
        guard read == bytes.count else { throw MeshError(refusingBackup: "it cannot be read to its end.") }
        return start.startIndex == 0 ? bytes : bytes.dropFirst(mark.count)
    }

    /// An archive in which nothing is wrong, as far as that shows without reading its entries.
    static func read(
        _ descriptor: Int32, _ limits: ZipLimits, _ proven: ProvenEntries?, _ scratch: Scratch
    ) throws -> ZipReader {
        let reader = try refusing(hint: beginsAsArchive(descriptor) ? BackupFormat.salvageHint : "") {
            try ZipReader(descriptor: descriptor, limits: limits, proven: proven, scratch: scratch)
        }
        guard reader.bytesInFront == 0 else {
            throw MeshError(
                refusingBackup:
                    "\(reader.bytesInFront) bytes stand before the archive, and not every reader of ZIP files finds what is behind them."
                    + BackupFormat.salvageHint)
        }
        return try refusingEntries(reader)
    }

    /// - Throws: `data_loss` where an entry is not taken.
    static func refusingEntries(_ reader: ZipReader) throws -> ZipReader {
        if let refusal = reader.refusals.first {
            throw MeshError(refusingBackup: refusal.description + BackupFormat.salvageHint, entry: refusal.name)
        }
        return reader
    }

    /// - Parameter hint: said behind why it is refused.
    static func refusing(hint: String = "", _ open: () throws -> ZipReader) throws -> ZipReader {
        do {
            return try open()
        } catch ZipError.cancelled {
            throw ZipError.cancelled
        } catch ZipError.scratchFailed(let code) {
            // That says nothing of the backup.
            throw ZipError.scratchFailed(errno: code)
        } catch {
            throw MeshError(refusingBackup: MeshError(describing: error).message + hint)
        }
    }

    private static func beginsAsArchive(_ descriptor: Int32) -> Bool {
        var head = [UInt8](repeating: 0, count: 4)
        return pread(descriptor, &head, head.count, 0) == head.count && head == [0x50, 0x4B, 3, 4]
    }
}
