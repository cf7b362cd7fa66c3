import CLinux
import Files
import Foundation
import LibraryModel
import LibraryStorage
import ServiceMesh

extension LibraryFolder: PhotoFiles {
    // MARK: Staging

    package func stage(as name: StoredName?) throws -> (name: String, descriptor: Int32) {
        let flags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW
        // Where it is there, somebody else brings in a file of that name: publishing finds out whose it is.
        if let name = name?.stagedName {
            let descriptor = clinux_open(staged(name), flags, 0o600)
            if descriptor >= 0 { return (name, marked(descriptor)) }
            guard errno == EEXIST else { throw FileSystem.Failure(action: "make", path: staged(name), code: errno) }
        }
        let name = String(UInt64.random(in: 0 ... .max), radix: 16) + ".new"
        let descriptor = clinux_open(staged(name), flags, 0o600)
        guard descriptor >= 0 else { throw FileSystem.Failure(action: "make", path: staged(name), code: errno) }
        return (name, marked(descriptor))
    }

    /// By one call for the whole file system: to sync each file waits for the disk's own cache each time, which took half the
    /// time of a restore of small photos. An error that the system met while it wrote in the background is told to the first
    /// who asks, even of a descriptor that was opened later.
    package func syncStaged() throws {
        try FileSystem.withFile(staging, O_RDONLY) {
            try FileSystem.check(clinux_sync_file_system($0), "sync", staging)
        }
    }

    package func openStaged(_ name: String) throws -> Int32 {
        let descriptor = clinux_open(staged(name), O_RDONLY | O_NOFOLLOW, 0)
        guard descriptor >= 0 else { throw FileSystem.Failure(action: "open", path: staged(name), code: errno) }
        return descriptor
    }

    package func unstage(_ names: [String]) {
        for name in names { try? FileSystem.remove(staged(name)) }
    }

    /// One folder of each kind is synced however many files there are.
    package func publish(_ files: [StagedFile]) throws {
        for file in files where try FileSystem.status(location(file.name)) != nil { throw NameTaken(file.name) }
        do {
            for file in files where file.staged != file.name.stagedName {
                try FileSystem.rename(staged(file.staged), to: staged(file.name))
            }
            try FileSystem.sync(staging)
            for file in files { try link(file.name) }
            for kind in Set(files.map(\.name.kind)) { try FileSystem.sync(folder(kind)) }
        } catch {
            try? withdraw(files.map(\.name))
            throw error
        }
    }

    /// One name of the new file goes over the old one; the other stays in `staging/` as the record, by which the next start
    /// removes it where the photo has gone.
    package func replace(_ made: StagedFile) throws {
        precondition(made.name.isThumbnail || made.name.isPreview, "photos and originals are never replaced")
        do {
            // What is left of the import that brought the photo in.
            try FileSystem.remove(staged(made.name))
            try FileSystem.link(staged(made.staged), as: staged(made.name))
            try FileSystem.sync(staging)
            try FileSystem.rename(staged(made.staged), to: location(made.name))
            try FileSystem.sync(folder(made.name.kind))
        } catch {
            unstage([made.staged, made.name.stagedName])
            throw error
        }
    }

    private func link(_ name: StoredName) throws {
        do {
            try FileSystem.link(staged(name), as: location(name))
        } catch let failure as FileSystem.Failure where failure.code == EEXIST {
            throw NameTaken(name)
        }
    }

    package func settle(_ names: [StoredName]) throws {
        for name in names {
            StagingMark.remove(from: location(name))
            try FileSystem.remove(staged(name))
        }
    }

    private func marked(_ descriptor: Int32) -> Int32 {
        if hold != nil { StagingMark.own.put(on: descriptor) }
        return descriptor
    }

    /// The staged names go last, once the others are gone durably: without them, a linked file that a power cut brings
    /// back would be nobody's.
    package func withdraw(_ names: [StoredName]) throws {
        var changed: Set<StoredName.Kind> = []
        for name in names where try FileSystem.isSameFile(staged(name), location(name)) {
            try FileSystem.remove(location(name))
            changed.insert(name.kind)
        }
        for kind in changed { try FileSystem.sync(folder(kind)) }
        try settle(names)
    }

    /// Regular files only; file servers put folders of theirs everywhere.
    package func leftovers() throws -> [StoredName] {
        try FileSystem.names(in: staging).compactMap { $0 }.filter { name in
            try FileSystem.status(staged(name)).map { $0.st_mode & S_IFMT == S_IFREG } ?? false
        }.compactMap { StoredName(staged: $0) }.sorted()
    }

    package func abandoned() throws -> [StoredName] {
        try leftovers().filter { StagingMark.mayClear(staged($0)) }
    }

    package func requireMayRemove() throws {
        if let why = hold?.fault { throw MeshError(.failedPrecondition, why) }
        guard let rescued = try rescued(), try FileSystem.status(root + "/" + Self.catalogueName) != nil else { return }
        throw MeshError(
            .failedPrecondition,
            "There is \(path)/\(rescued), a copy of a catalogue that was taken away while it was in use. No file is removed until "
                + "it is clear which one is right: if photos or changes are missing now, stop the daemon and put the copy in "
                + "the place of \(Self.catalogueName); else remove the copy.",
            details: ["reason": "rescued_catalogue"])
    }

    // MARK: Stored files

    package func facts(_ name: StoredName) throws -> StoredFileFacts? {
        try FileSystem.status(location(name)).map { status in
            StoredFileFacts(size: Int64(status.st_size), isFile: status.st_mode & S_IFMT == S_IFREG)
        }
    }

    /// A stored name may be a hard link to anything, so it is opened as if somebody else had named it.
    package func withReader<Value>(_ name: StoredName, _ body: (any ByteSource) throws -> Value) throws -> Value {
        try namedFiles.withFile(location(name)) { try body(OpenFile($0)) }
    }

    package func open(_ name: StoredName) throws -> Int32 { try namedFiles.open(location(name)).descriptor }

    /// Names that are not valid UTF-8 are none of ours.
    package func forEach(_ kind: StoredName.Kind, _ body: (StoredFile) throws -> Void) throws {
        try FileSystem.eachName(in: FilePath(bytes: folder(kind).utf8)) { found in
            guard let name = String(validating: found, as: UTF8.self), let stored = StoredName(kind, name),
                let facts = try facts(stored), facts.isFile
            else { return }
            try body(StoredFile(name: stored, size: facts.size))
        }
    }

    /// One that is gone already counts once its folder is synced: whoever removed it may have been stopped before that.
    package func remove(_ names: [StoredName]) -> [StoredName] {
        guard (try? requireMayRemove()) != nil else { return [] }
        let removed = names.filter { (try? FileSystem.remove(location($0))) != nil }
        return Dictionary(grouping: removed, by: \.kind).flatMap { kind, names in
            (try? FileSystem.sync(folder(kind))) == nil ? [] : names
        }
    }

    package func room() throws -> Int64 { try FileSystem.freeBytes(root) }

    // MARK: Files as other programs see them

    package func path(of name: StoredName) -> String? { path + "/" + name.path }

    package func owns(_ path: String) -> Bool {
        guard let relative = relative(path) else { return false }
        return StoredName.Kind.allCases.contains { relative.hasPrefix($0.rawValue + "/") }
    }

    package func name(at path: String) -> StoredName? { relative(path).flatMap { StoredName(path: $0) } }

    /// A path as it is behind this folder's; nil for one that does not lie in it.
    private func relative(_ path: String) -> Substring? {
        let plain = URL(fileURLWithPath: path).standardizedFileURL.path
        return plain.hasPrefix(self.path + "/") ? plain.dropFirst(self.path.count + 1) : nil
    }
}
