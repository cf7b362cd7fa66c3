import BackupFormats
import CLinux
import Executors
import Files
import Foundation
import LibraryModel
import LibraryStorage
import ServiceMesh

/// Makes, finds again and removes the files that backups are written to. Files that are not ours, as
/// ``UnfinishedBackup`` has it, are never touched.
///
/// A file's record is there before the file and goes after it, so that no kill leaves one that the next start does not
/// know.
package struct UnfinishedBackups: Sendable {
    let catalogue: any Catalogue
    let places: BackupPlaces
    let namedFiles: NamedFiles
    let pool: BlockingPool

    package init(catalogue: any Catalogue, places: BackupPlaces, namedFiles: NamedFiles, pool: BlockingPool) {
        self.catalogue = catalogue
        self.places = places
        self.namedFiles = namedFiles
        self.pool = pool
    }

    // MARK: A backup's turn

    /// Whether a new backup may take this name for its file: nothing is there, or only what we left ourselves.
    func isFree(_ name: String, for job: JobID?) async throws -> Bool {
        let known = try await catalogue.read { try $0.unfinishedBackups.find(name) }
        // Another job goes on with it later.
        if let owner = known?.job, owner != job { return false }
        return try await pool.run {
            guard let path = places.path(name), try FileSystem.status(path) != nil else { return true }
            return try known.map { try look(at: $0, path) == .ours } ?? false
        }
    }

    /// Notes that `job` writes a backup to this file. From now on, and until ``giveUp(_:)`` or the end of the job, the
    /// files of all photos stay.
    func begin(_ name: String, by job: JobID) async throws {
        if let left = try await catalogue.read({ try $0.unfinishedBackups.find(name) }) {
            _ = try await pool.run { try removeFile(of: left) }
        }
        let library = try await pool.run { try places.origin() }
        try await catalogue.write {
            try $0.unfinishedBackups.put(.init(path: name, job: job, library: library, file: nil))
        }
    }

    /// Makes the file, and only if there is none of that name.
    /// - Returns: its descriptor, to be closed by the caller.
    func make(_ name: String, by job: JobID) async throws -> Int32 {
        let path = try requirePath(name)
        let (descriptor, library, file) = try await pool.run {
            let library = try places.origin()
            let descriptor = clinux_open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600)
            guard descriptor >= 0 else { throw FileSystem.Failure(action: "make", path: path, code: errno) }
            do {
                return (descriptor, library, try FileOrigin(of: descriptor, path))
            } catch {
                close(descriptor)
                throw error
            }
        }
        do {
            try await catalogue.write {
                try $0.unfinishedBackups.put(.init(path: name, job: job, library: library, file: file))
            }
            return descriptor
        } catch {
            close(descriptor)
            throw error
        }
    }

    /// Opens a file that an earlier run has begun; nil where it is not there, or is not that file. Its contents are the
    /// caller's to check.
    func open(_ name: String, by job: JobID) async throws -> Int32? {
        guard let path = places.path(name),
            let known = try await catalogue.read({ try $0.unfinishedBackups.find(name) }), known.job == job
        else { return nil }
        return try await pool.run {
            // Where it was not noted who made it, only the contents can tell.
            guard try known.isFromBefore || look(at: known, path) == .ours,
                let (descriptor, status) = try? namedFiles.open(path, O_RDWR)
            else { return nil }
            guard status.st_nlink == 1 else {
                close(descriptor)
                return nil
            }
            return descriptor
        }
    }

    /// The file that the caller has open, and whose contents he knows, is this library's from now on.
    func claim(_ name: String, _ descriptor: Int32, by job: JobID) async throws {
        let path = try requirePath(name)
        let (library, file) = try await pool.run { (try places.origin(), try FileOrigin(of: descriptor, path)) }
        try await catalogue.write {
            try $0.unfinishedBackups.put(.init(path: name, job: job, library: library, file: file))
        }
    }

    /// The backup comes to nothing: its file goes, now or, where that cannot be, at a later start.
    /// - Parameter isOld: whether a job may have taken the name over since; then nothing happens.
    func giveUp(_ name: String, isOld: Bool = false) async {
        let (catalogue, pool) = (catalogue, pool)
        _ = try? await uncancelled {
            try await catalogue.write { transaction in
                let owner = isOld ? try transaction.unfinishedBackups.find(name)?.job : nil
                if let owner, try !transaction.jobs.unfinished([owner]).isEmpty { return }
                try transaction.unfinishedBackups.giveUp(name)
            }
            // Another backup may have taken the name over meanwhile.
            guard let known = try await catalogue.read({ try $0.unfinishedBackups.find(name) }), known.job == nil,
                try await pool.run({ try removeFile(of: known) })
            else { return }
            try await catalogue.write { try $0.unfinishedBackups.removeGivenUp(name) }
        }
    }

    /// The same for everything that `job` has begun.
    func giveUpAll(of job: JobID) async throws {
        let begun = try await catalogue.read { try $0.unfinishedBackups.all() }.filter { $0.job == job }
        for backup in begun { await giveUp(backup.path) }
    }

    // MARK: After a stop

    /// Removes what jobs that have ended left behind in the library's own folder, and forgets what is another library's:
    /// that of which this is a copy. Looks at nothing that may be on another file system.
    package func settle() async throws {
        try await adoptFromBefore()
        let library = try await pool.run { try places.origin() }
        let known = try await catalogue.read { transaction in
            let all = try transaction.unfinishedBackups.all()
            let unfinished = try transaction.jobs.unfinished(all.compactMap(\.job))
            return all.map { backup in (backup, backup.job.map(unfinished.contains) ?? false) }
        }
        for (backup, goesOn) in known {
            if !backup.isInLibrary, let maker = backup.library, !maker.isSame(as: library) {
                try await catalogue.write { try $0.unfinishedBackups.remove(backup.path) }
            } else if backup.isInLibrary && !goesOn {
                await giveUp(backup.path)
            }
        }
    }

    /// Removes what is left elsewhere. Backups may begin meanwhile, also one to the same place.
    func settleElsewhere() async {
        let left = try? await catalogue.read { transaction in
            let all = try transaction.unfinishedBackups.all().filter { !$0.isInLibrary }
            let unfinished = try transaction.jobs.unfinished(all.compactMap(\.job))
            return all.filter { backup in backup.job.map { !unfinished.contains($0) } ?? true }
        }
        for backup in left ?? [] { await giveUp(backup.path, isOld: true) }
    }

    /// Says of files from before version 6 of the catalogue whose they are, as their jobs' checkpoints tell.
    private func adoptFromBefore() async throws {
        try await catalogue.write { transaction in
            let old = try transaction.unfinishedBackups.all().filter { $0.isFromBefore && $0.job == nil }
            guard !old.isEmpty else { return }
            for (job, data) in try transaction.jobs.openCheckpoints(of: CreateBackup.method) {
                guard let partial = BackupCheckpoint(data)?.partial, old.contains(where: { $0.path == partial }) else {
                    continue
                }
                try transaction.unfinishedBackups.put(
                    UnfinishedBackup(path: partial, job: job, library: nil, file: nil))
            }
        }
    }

    // MARK: Files

    private enum Finding {
        case ours
        case anothers
        case gone
        /// Nor is its folder: a stick that is not plugged in, most likely.
        case outOfReach
    }

    private func requirePath(_ name: String) throws -> String {
        guard let path = places.path(name) else {
            throw MeshError(.invalidArgument, "\(name.prefix(200)) is no place for a backup. Name another one.")
        }
        return path
    }

    private func look(at backup: UnfinishedBackup, _ path: String) throws -> Finding {
        if !backup.isInLibrary, let maker = backup.library, try !maker.isSame(as: places.origin()) { return .anothers }
        let descriptor = clinux_open_name(path, 0)
        guard descriptor >= 0 else {
            guard errno == ENOENT || errno == ENOTDIR else {
                throw FileSystem.Failure(action: "look at", path: path, code: errno)
            }
            return try FileSystem.status(FileSystem.parent(of: path)) == nil ? .outOfReach : .gone
        }
        defer { close(descriptor) }
        var found = stat()
        try FileSystem.check(fstat(descriptor, &found), "look at", path)
        guard found.st_mode & S_IFMT == S_IFREG, found.st_nlink == 1 else { return .anothers }
        if backup.isInLibrary { return .ours }
        guard let file = backup.file else { return found.st_size == 0 ? .ours : .anothers }
        return try FileOrigin(of: descriptor, path).isSameFile(as: file) ? .ours : .anothers
    }

    /// - Returns: whether nothing is left to be done: the file is gone, durably, or it is not ours.
    private func removeFile(of backup: UnfinishedBackup) throws -> Bool {
        guard let path = places.path(backup.path), path.hasSuffix(BackupFormat.partialSuffix) else { return true }
        switch try look(at: backup, path) {
        case .anothers: return true
        case .outOfReach: return false
        // Gone, too: whoever removed it may have been stopped before that was durable.
        case .gone, .ours:
            try FileSystem.remove(path)
            try FileSystem.sync(FileSystem.parent(of: path))
            return true
        }
    }
}
