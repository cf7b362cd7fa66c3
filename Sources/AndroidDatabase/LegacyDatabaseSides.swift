import Files
import Foundation
import ServiceMesh

/// What stands beside an old database, looked at in our own copy before SQLite sees it. SQLite passes over the part of
/// a log or a journal that it cannot read, in silence, and what the phone wrote last would be lost without a word. Blocks.
struct LegacyDatabaseSides {
    /// Pages at the log's end that SQLite will not read: no finished change has them.
    private(set) var unreadPages = 0

    /// The only one there has been since logs exist; SQLite does not open a database beside another.
    private static let logVersion: UInt32 = 3_007_000
    private static let journalMagic: [UInt8] = [0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7]

    /// - Throws: `data_loss` for a damaged one; `failed_precondition` for a journal of several databases.
    init(besides copy: String, _ original: String) throws {
        if let size = try Self.size(copy + "-wal") {
            unreadPages = try FileSystem.withFile(copy + "-wal", O_RDONLY | O_NOFOLLOW) {
                try Self.unreadPages($0, size, original + "-wal")
            }
        }
        if let size = try Self.size(copy + "-journal") {
            try FileSystem.withFile(copy + "-journal", O_RDONLY | O_NOFOLLOW) {
                try Self.checkJournal($0, size, original + "-journal")
            }
        }
    }

    /// Nil where there is none, or nothing in it.
    private static func size(_ path: String) throws -> Int64? {
        guard let size = try FileSystem.status(path)?.st_size, size > 0 else { return nil }
        return Int64(size)
    }

    // MARK: The log, https://www.sqlite.org/fileformat2.html#the_write_ahead_log

    /// A header, then frames of one page each, with a running checksum. SQLite reads as far as the sums are right and
    /// a commit follows. Frames with other salts are of an earlier turn, and what Android's limit of the log's size
    /// cuts is of these; so it is no fault where the file ends within one.
    private static func unreadPages(_ log: Int32, _ size: Int64, _ path: String) throws -> Int {
        let header = try bytes(log, 0, 32, path)
        let isBigEndian = word(header, 0) == 0x377f_0683
        let pageSize = Int(word(header, 8))
        guard header.count == 32, isBigEndian || word(header, 0) == 0x377f_0682,
            (512...65_536).contains(pageSize), pageSize & (pageSize - 1) == 0
        else { throw LegacyDatabaseFault.damagedBeside(path, "its beginning is not that of a log") }
        var sums = Checksum(isBigEndian: isBigEndian)
        sums.add(header[0..<24])
        guard sums.words == [word(header, 24), word(header, 28)] else {
            throw LegacyDatabaseFault.damagedBeside(path, "its beginning has a wrong checksum")
        }
        guard word(header, 4) == logVersion else {
            throw LegacyDatabaseFault.damagedBeside(path, "it is a log of the unknown version \(word(header, 4))")
        }
        let salts = header[16..<24]
        var (good, frames, committed, isChain) = (0, 0, 0, true)
        var position: Int64 = 32
        while position + 24 <= size {
            let frame = try bytes(log, position, 24 + pageSize, path)
            guard frame[8..<16] == salts else { break }
            frames += 1
            let isCommit = word(frame, 4) != 0
            if isChain {
                sums.add(frame[0..<8])
                sums.add(frame[24...])
                isChain = frame.count == 24 + pageSize && sums.words == [word(frame, 16), word(frame, 20)]
                if isChain { good = frames }
                if isChain && isCommit { committed = frames }
            } else if isCommit {
                // A writer that was killed leaves nothing finished behind what it tore.
                throw LegacyDatabaseFault.damagedBeside(path, "page \(good + 1) in it has a wrong checksum")
            }
            position += Int64(frame.count)
        }
        return frames - committed
    }

    private struct Checksum {
        let isBigEndian: Bool
        private(set) var words: [UInt32] = [0, 0]

        init(isBigEndian: Bool) { self.isBigEndian = isBigEndian }

        mutating func add(_ bytes: ArraySlice<UInt8>) {
            var (one, other) = (words[0], words[1])
            bytes.withUnsafeBytes { bytes in
                for position in stride(from: 0, to: bytes.count - 7, by: 8) {
                    let first = bytes.loadUnaligned(fromByteOffset: position, as: UInt32.self)
                    let second = bytes.loadUnaligned(fromByteOffset: position + 4, as: UInt32.self)
                    one = one &+ (isBigEndian ? first.bigEndian : first.littleEndian) &+ other
                    other = other &+ (isBigEndian ? second.bigEndian : second.littleEndian) &+ one
                }
            }
            words = [one, other]
        }
    }

    // MARK: The journal, https://www.sqlite.org/fileformat2.html#the_rollback_journal

    private static func checkJournal(_ journal: Int32, _ size: Int64, _ path: String) throws {
        let header = try bytes(journal, 0, 28, path)
        // It has done its duty.
        guard header[0] != 0 else { return }
        guard header.count == 28, header.starts(with: journalMagic) else {
            throw LegacyDatabaseFault.damagedBeside(path, "its beginning is not that of a journal")
        }
        let (pages, sector, page) = (word(header, 8), word(header, 20), word(header, 24))
        // SQLite passes over a journal with other sizes; a page of 0 bytes stands for one of the database's size.
        guard (32...65_536).contains(sector), page == 0 || (512...65_536).contains(page) else {
            throw LegacyDatabaseFault.damagedBeside(path, "its beginning is not that of a journal")
        }
        // So many pages were durable before the database was touched. All ones stand for as many as there are.
        if pages != .max, Int64(sector) + Int64(pages) * (Int64(page) + 8) > size {
            throw LegacyDatabaseFault.damagedBeside(path, "its end is cut off")
        }
        // A journal that several databases share ends in the name of a further file, which SQLite would read, and
        // delete, wherever that is. The app never wrote such a one.
        guard try size < 16 || bytes(journal, size - 8, 8, path) != journalMagic else {
            throw MeshError(
                .failedPrecondition,
                "\(path) is shared with another database, so it cannot be undone alone. Copy the database from the phone again, with the app closed."
            )
        }
    }

    // MARK: Bytes

    private static func bytes(_ file: Int32, _ position: Int64, _ count: Int, _ path: String) throws -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        let read = pread(file, &bytes, count, off_t(position))
        guard read >= 0 else { throw FileSystem.Failure(action: "read", path: path, code: errno) }
        return Array(bytes.prefix(read))
    }

    /// Big-endian; 0 past the end.
    private static func word(_ bytes: [UInt8], _ position: Int) -> UInt32 {
        (0..<4).reduce(0) { $0 << 8 | UInt32(position + $1 < bytes.count ? bytes[position + $1] : 0) }
    }
}
