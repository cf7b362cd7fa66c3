import CLinux
import Files
import Foundation
import ImageWorkerProtocol
import LibraryModel
import LibraryStorage
import ServiceMesh
import ZipArchive

/// A file that is to go once the library has its bytes: held open from when it was hashed until it is gone. Blocks.
///
/// No call removes a file only if it is still this one. So it gets a hidden name first, where no writer knows it, is looked at once more, and
/// goes, or gets its own name back; a kill in between leaves a hidden file that the library has. Rejected: to look and then to unlink
/// by the name, under which Syncthing may just have put a newer file.
final class SourceRemoval: Sendable {
    enum Outcome: Sendable {
        case removed
        /// Somebody writes to it, or has: it is another file by now, which an import looks at again.
        case changed
        /// It may not be removed: a disk that can only be read, another user's folder.
        case refused
    }

    /// SHA-256, lower-case hex.
    let digest: String
    private let path: FilePath
    private let descriptor: Int32
    private let status: stat
    /// Whether it may have been written to once more and its status be the same. Asked when it was opened: later every change seems old.
    private let wasFresh: Bool

    /// - Returns: nil for a file that somebody writes to, or that is not there any more, for what is no file, a link among them, and
    ///   where `isCancelled` said so.
    init?(_ path: FilePath, _ namedFiles: NamedFiles, now: Timestamp, isCancelled: () -> Bool) {
        guard (try? namedFiles.isSettled(path, at: now)) == true, let opened = try? namedFiles.open(path) else {
            return nil
        }
        guard let digest = try? ContentDigest(ofDescriptor: opened.descriptor, cancelled: isCancelled) else {
            close(opened.descriptor)
            return nil
        }
        self.path = path
        (descriptor, status) = opened
        wasFresh = FileState(opened.status).isFresh
        self.digest = digest.sha256.hex
    }

    deinit { close(descriptor) }

    /// Removes it, once a stored file has been read and has the same bytes.
    /// - Parameter stored: names of stored files that may have them.
    /// - Returns: nil where none of them has.
    func remove(comparing stored: [StoredName], in photoFiles: any PhotoFiles) -> Outcome? {
        // What cannot be read is not there.
        guard stored.contains(where: { (try? has($0, in: photoFiles)) == true }) else { return nil }
        guard isAsItWas(), clinux_is_being_written(descriptor) != 1 else { return .changed }
        let hidden = path.parent.appending(FilePath(text: ".smilepile-\(UUID().uuidString)"))
        guard rename(path, hidden) == 0 else { return errno == ENOENT ? .changed : .refused }
        var found = stat()
        let isThis =
            hidden.withCString { lstat($0, &found) } == 0 && found.st_dev == status.st_dev
            && found.st_ino == status.st_ino
        // From here on nobody opens it any more; so what is hashed now is what goes.
        guard isThis, clinux_is_being_written(descriptor) != 1, isAsItWas(), !wasFresh || hasItsBytes() else {
            giveBack(hidden)
            return .changed
        }
        guard hidden.withCString({ unlink($0) }) == 0 else {
            giveBack(hidden)
            return .refused
        }
        return .removed
    }

    private func has(_ name: StoredName, in photoFiles: any PhotoFiles) throws -> Bool {
        guard try photoFiles.facts(name)?.size == Int64(status.st_size) else { return false }
        let stored = try photoFiles.open(name)
        defer { close(stored) }
        return try ContentDigest(ofDescriptor: stored).sha256.hex == digest
    }

    /// Whether its bytes are those that were hashed. Another name changes the time of its status, which does not count here.
    private func isAsItWas() -> Bool {
        var now = stat()
        return fstat(descriptor, &now) == 0 && now.st_size == status.st_size
            && now.st_mtim.tv_sec == status.st_mtim.tv_sec && now.st_mtim.tv_nsec == status.st_mtim.tv_nsec
    }

    private func hasItsBytes() -> Bool {
        (try? ContentDigest(ofDescriptor: descriptor).sha256.hex) == digest
    }

    /// Its own name, or one beside it where another file has that by now: a file with a hidden name is one that nobody finds.
    private func giveBack(_ hidden: FilePath) {
        guard rename(hidden, path) != 0 else { return }
        let other = path.parent.appending(FilePath(text: "\(UUID().uuidString.prefix(8))-\(path.name)"))
        _ = rename(hidden, other)
    }

    private func rename(_ from: FilePath, _ to: FilePath) -> Int32 {
        from.withCString { from in to.withCString { clinux_rename_new(from, $0) } }
    }
}
