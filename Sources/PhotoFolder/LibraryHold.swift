import CLinux
import Files
import Foundation
import LibraryStorage
import ServiceMesh
import Synchronization

/// A library's folder as the process has it that serves the library: open, locked, and with the files that it knows.
///
/// The lock stands on the folder itself, which cannot be taken away without the library. `library.lock` is locked beside it:
/// it tells the holder's pid, and is what older versions look at. Not on the catalogue: closing any descriptor of it drops
/// the locks that SQLite holds.
///
/// Other programs clean up, sync and mount. So what stands at the path is compared with what is held, before each change
/// and from time to time: a change that is written into files without names is gone with the process that has them open.
package final class LibraryHold: Sendable {
    static let lockName = "library.lock"

    private struct State {
        var lock: LibraryLock?
        var lockFile: FileIdentity?
        /// The catalogue's files by their names; empty until it is open.
        var catalogue: [(name: String, file: FileIdentity)] = []
        /// Of the catalogue's files, the one that was taken away. That cannot be made good by bringing it back: what was
        /// written since is not in it.
        var lost: String?
        /// The copy that was written then.
        var copy: String?
    }

    /// As people know it.
    package let path: String
    /// As calls reach it.
    package let root: String
    private let descriptor: Int32
    private let folder: FileIdentity
    private let state: Mutex<State>

    /// - Throws: `CatalogueIsOwned` with the holder's pid where another process has it.
    package init(path: String) throws {
        self.path = path
        descriptor = clinux_open(path, O_RDONLY | O_DIRECTORY, 0)
        guard descriptor >= 0 else { throw FileSystem.Failure(action: "open", path: path, code: errno) }
        root = FileSystem.path(of: descriptor)
        var found = stat()
        guard fstat(descriptor, &found) == 0 else {
            let failure = FileSystem.Failure(action: "look at", path: path, code: errno)
            close(descriptor)
            throw failure
        }
        folder = FileIdentity(found)
        do {
            // Network file systems may lock no folders; then the file has to do.
            guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK else {
                throw LibraryLock.served(by: LibraryLock.holder(in: root + "/" + Self.lockName))
            }
            let lock = try LibraryLock(path: root + "/" + Self.lockName)
            state = Mutex(State(lock: lock, lockFile: FileIdentity(at: root + "/" + Self.lockName)))
        } catch {
            close(descriptor)
            throw error
        }
    }

    deinit {
        release()
        close(descriptor)
    }

    /// Gives the right to serve up; again does nothing. The folder stays open: who has its path by ``root`` must not meet
    /// another file there.
    package func release() {
        let lock = state.withLock { state in
            defer { state.lock = nil }
            return state.lock
        }
        guard let lock else { return }
        lock.release()
        flock(descriptor, LOCK_UN)
    }

    /// Knows the catalogue's files from here on.
    /// - Parameter names: of those that have to be there for as long as it is open.
    /// - Throws: `failed_precondition` where it is not in the folder that is held.
    package func holdCatalogue(_ names: [String]) throws {
        let files = names.compactMap { name in FileIdentity(at: root + "/" + name).map { (name: name, file: $0) } }
        guard files.count == names.count, names.allSatisfy({ FileIdentity(at: path + "/" + $0) != nil }),
            files.allSatisfy({ FileIdentity(at: path + "/" + $0.name) == $0.file })
        else { throw MeshError(.failedPrecondition, moved) }
        state.withLock { $0.catalogue = files }
        if let fault { throw MeshError(.failedPrecondition, fault) }
    }

    // MARK: What is wrong with it

    /// The right to change the catalogue in this folder. The lock is never lost, as a lease is; the right ends where the folder, the
    /// catalogue's files or the lock's file are no longer what was locked.
    package func makeOwnership() -> CatalogueOwnership { CatalogueOwnership { self.fault } }

    /// Why nothing of the library may be changed now, in a sentence for people; nil while all is where it should be. Takes
    /// some microseconds.
    package var fault: String? {
        state.withLock { state in
            if state.lost == nil {
                state.lost = state.catalogue.first { FileIdentity.differs($0.file, at: root + "/" + $0.name) }?.name
            }
            if let lost = state.lost { return taken(lost, copy: state.copy) }
            guard FileIdentity(at: path) == folder else { return moved }
            return holdsLock(&state) ? nil : taken
        }
    }

    /// Which file of the catalogue was taken away, where one was.
    package var lostFile: String? { fault == nil ? nil : state.withLock { $0.lost } }

    /// Where the copy is that was written when the catalogue was taken away.
    package var copy: String? { state.withLock { $0.copy } }

    package func noteCopy(_ path: String) { state.withLock { $0.copy = path } }

    /// Makes the file that older versions look at again where somebody has removed it, as cleaning programs do. The folder
    /// is locked, so nobody else of this version comes in meanwhile.
    private func holdsLock(_ state: inout State) -> Bool {
        // Released, it is nobody's to keep.
        guard state.lock != nil else { return true }
        let file = root + "/" + Self.lockName
        if let held = state.lockFile, !FileIdentity.differs(held, at: file) { return true }
        guard let lock = try? LibraryLock(path: file) else { return false }
        state.lock?.release()
        state.lock = lock
        state.lockFile = FileIdentity(at: file)
        return true
    }

    private var moved: String {
        "The library's folder is no longer \(path): it was moved, or its disk was taken away. Nothing is changed until it is "
            + "back; or stop the daemon, and start it with the folder's new place."
    }

    private var taken: String {
        "\(path)/\(Self.lockName) was exchanged, and another process holds the new one. Nothing is changed here any more: "
            + "stop this daemon (process \(getpid())), or that one."
    }

    private func taken(_ lost: String, copy: String?) -> String {
        "\(path)/\(lost) was removed or exchanged by another program while the library was in use. Nothing is changed any "
            + "more. "
            + (copy.map {
                "All that was stored is in \(FileSystem.plain($0)). Start the daemon anew: it goes on with that copy, unless "
                    + "another file stands in its place."
            }
                ?? "Do not stop the daemon before it has written a copy of what it still has.")
    }
}

extension FileIdentity {
    /// Whether there is surely another file or none: one that cannot be looked at now may be the same.
    fileprivate static func differs(_ file: FileIdentity, at path: String) -> Bool {
        var found = stat()
        guard lstat(path, &found) == 0 else { return errno == ENOENT || errno == ENOTDIR }
        return FileIdentity(found) != file
    }
}
