import Database
import Files
import Foundation
import Synchronization

/// Room on the catalogue's disk that is kept for one purpose. There are two: for what frees space, since on a full disk nothing
/// could be deleted any more without it, and for jobs to say how they ended. One for both was used up by the import that had filled
/// the disk.
///
/// The room is a file without a name, so that it is free at once however this process ends and nobody finds it in the
/// library. File systems that have no such files (FAT, exFAT) have no reserve. Rejected: a file with a name, which a
/// backup program would copy and a kill would leave.
final class SpaceReserve: Sendable {
    /// What a thousand photos that are put into the trash write into the log, each in pages of its own.
    static let forDeletions: Int64 = 4 << 20
    /// The last lines of a job and its end.
    static let forJobs: Int64 = 1 << 20

    private let folder: String
    private let size: Int64
    private let descriptor = Mutex<Int32?>(nil)

    /// - Parameters:
    ///   - folder: on the catalogue's disk.
    ///   - size: in bytes.
    init(in folder: String, size: Int64) { (self.folder, self.size) = (folder, size) }

    deinit { giveUp() }

    /// Takes the room where it is not held and twice as much is free. Takes microseconds where it is held, else about as long as
    /// a file takes to make.
    func hold() {
        descriptor.withLock { held in
            guard held == nil else { return }
            guard let free = try? FileSystem.freeBytes(folder), free >= 2 * size else { return }
            let file = FileSystem.openUnnamed(in: folder)
            guard file >= 0 else { return }
            guard posix_fallocate(file, 0, off_t(size)) == 0 else {
                close(file)
                return
            }
            held = file
        }
    }

    /// - Returns: whether there was room to give up.
    @discardableResult
    func giveUp() -> Bool {
        descriptor.withLock { held in
            guard let file = held else { return false }
            held = nil
            close(file)
            return true
        }
    }

    /// Does something, and once more with the room of the reserve where the disk was full.
    static func spending<Value>(_ reserve: SpaceReserve?, _ deed: () async throws -> Value) async throws -> Value {
        do {
            return try await deed()
        } catch DatabaseError.diskFull {
            guard let reserve, reserve.giveUp() else { throw DatabaseError.diskFull }
            return try await deed()
        }
    }
}
