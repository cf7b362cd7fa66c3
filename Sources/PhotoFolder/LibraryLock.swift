import CLinux
import Files
import Foundation
import LibraryStorage
import ServiceMesh
import Synchronization

/// The part of the right to serve a library that stands in a file: an flock, held until the process ends or
/// ``release()``. The file tells the holder's pid to whoever comes second. The other part: ``LibraryHold``.
package final class LibraryLock: Sendable {
    private let held: Mutex<Int32?>

    /// - Throws: `CatalogueIsOwned` with the holder's pid where another process has it.
    package init(path: String) throws {
        let descriptor = clinux_open(path, O_RDWR | O_CREAT | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw FileSystem.Failure(action: "open", path: path, code: errno) }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            close(descriptor)
            throw Self.served(by: Self.holder(in: path))
        }
        let text = Array("\(getpid())\n".utf8)
        _ = ftruncate(descriptor, 0)
        _ = pwrite(descriptor, text, text.count, 0)
        held = Mutex(descriptor)
    }

    /// The process that has written itself into a lock's file.
    static func holder(in path: String) -> Int64? {
        var bytes = [UInt8](repeating: 0, count: 20)
        let count = try? FileSystem.withFile(path, O_RDONLY | O_NOFOLLOW) { pread($0, &bytes, bytes.count, 0) }
        return Int64(String(decoding: bytes.prefix(max(0, count ?? 0)).prefix { $0 > 32 }, as: UTF8.self))
    }

    static func served(by pid: Int64?) -> CatalogueIsOwned {
        CatalogueIsOwned(
            "This library is served already, by process \(pid.map(String.init) ?? "unknown"). Use that one, or stop it first: smilepile down.",
            details: pid.map { ["pid": .integer($0)] } ?? [:])
    }

    /// Gives the right up; again does nothing.
    package func release() {
        held.withLock { descriptor in
            // Unlocked by name: a program that is being started at this moment has a copy of the descriptor until it
            // runs, and closing ours alone would leave the lock with it.
            if let descriptor {
                flock(descriptor, LOCK_UN)
                close(descriptor)
            }
            descriptor = nil
        }
    }

    deinit { release() }
}
