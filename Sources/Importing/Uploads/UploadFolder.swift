import CLinux
import Files
import Foundation
import LibraryModel
import ServiceMesh
import TextFolding
import ZipArchive

/// Where uploads lie: `uploads/` in the library's folder. An upload is `ID.part`, with what is known of it in `ID.json`; an
/// import has the files that it takes in `import-ID/`, under their own names and in folders as they were in. Everything here blocks.
struct UploadFolder: Sendable {
    /// What is known of an upload beside its bytes.
    struct Facts: Codable, Sendable {
        let name: String
        let folder: String?
        let size: Int64?
        /// Milliseconds since 1970.
        let modifiedAt: Int64?
        /// Of a session, and the number that it has there.
        var session: String?
        var number: Int?

        /// Bytes that it may have.
        var most: Int64 { size ?? BeginUpload.maximumBytes }

        /// The same, called as a receipt names it: with its folder.
        func named(_ item: String) -> Facts {
            let slash = item.lastIndex(of: "/")
            return Facts(
                name: slash.map { String(item[item.index(after: $0)...]) } ?? item,
                folder: slash.map { String(item[..<$0]) }, size: size, modifiedAt: modifiedAt)
        }
    }

    /// As calls reach it.
    let path: String
    /// As people and imports know it.
    let known: String

    static let claimPrefix = "import-"
    /// Behind the name of a file that is written anew.
    private static let next = ".next"

    private func part(_ id: String) -> String { path + "/\(id).part" }
    private func facts(_ id: String) -> String { path + "/\(id).json" }

    // MARK: Uploads

    /// Those that are there, by their ids.
    func all() throws -> [String: Facts] {
        guard try FileSystem.status(path) != nil else { return [:] }
        var all: [String: Facts] = [:]
        for case .some(let name) in try FileSystem.names(in: path) where name.hasSuffix(".json") {
            let id = String(name.dropLast(5))
            guard UUID(uuidString: id) != nil, let facts = try? read(id) else { continue }
            all[id] = facts
        }
        return all
    }

    private func read(_ id: String) throws -> Facts {
        try FileSystem.withFile(facts(id), O_RDONLY | O_NOFOLLOW) { descriptor in
            var bytes = [UInt8](repeating: 0, count: 16 << 10)
            let count = pread(descriptor, &bytes, bytes.count, 0)
            return try JSONDecoder().decode(Facts.self, from: Data(bytes.prefix(max(0, count))))
        }
    }

    func begin(_ id: String, _ facts: Facts) throws -> OwnedFile {
        try FileSystem.makeFolder(path)
        let encoded = Array(try JSONEncoder().encode(facts))
        let file = try open(id, O_WRONLY | O_CREAT | O_EXCL)
        try FileSystem.withFile(self.facts(id), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW) { descriptor in
            guard write(descriptor, encoded, encoded.count) == encoded.count else {
                throw FileSystem.Failure(action: "write", path: self.facts(id), code: errno)
            }
        }
        return file
    }

    private func open(_ id: String, _ flags: Int32) throws -> OwnedFile {
        let descriptor = clinux_open(part(id), flags | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw FileSystem.Failure(action: "open", path: part(id), code: errno) }
        return OwnedFile(owning: descriptor)
    }

    /// Writes down anew what is known of an upload, durably.
    func describe(_ id: String, _ facts: Facts) throws {
        let encoded = Array(try JSONEncoder().encode(facts))
        let next = self.facts(id) + Self.next
        try FileSystem.withFile(next, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW) { descriptor in
            guard write(descriptor, encoded, encoded.count) == encoded.count else {
                throw FileSystem.Failure(action: "write", path: next, code: errno)
            }
            try FileSystem.sync(descriptor, next)
        }
        try FileSystem.rename(next, to: self.facts(id))
        try FileSystem.sync(path)
    }

    /// What the bytes of an upload are, which are durable then.
    func content(of id: String, _ facts: Facts) throws -> (digest: String, content: FileContent) {
        try FileSystem.withFile(part(id), O_RDONLY | O_NOFOLLOW) { descriptor in
            let content = FileContent(head: try FileContent.head(of: descriptor), name: facts.name)
            let digest = try ContentDigest(ofDescriptor: descriptor).sha256.hex
            try FileSystem.sync(descriptor, part(id))
            return (digest, content)
        }
    }

    /// Open at its end.
    func resume(_ id: String) throws -> (content: OwnedFile, offset: Int64) {
        let content = try open(id, O_WRONLY)
        let offset = content.withDescriptor { lseek($0, 0, SEEK_END) }
        guard offset >= 0 else { throw FileSystem.Failure(action: "look at", path: part(id), code: errno) }
        return (content, Int64(offset))
    }

    /// Bytes that are there, and when the last came; nil where there is no such upload.
    func status(_ id: String) throws -> (size: Int64, written: Timestamp)? {
        try FileSystem.status(part(id)).map {
            (Int64($0.st_size), Timestamp(milliseconds: Int64($0.st_mtim.tv_sec) * 1000))
        }
    }

    /// As if its last byte had come now.
    func beginTerm(of id: String) { utimensat(AT_FDCWD, part(id), nil, AT_SYMLINK_NOFOLLOW) }

    func remove(_ id: String) throws {
        try FileSystem.remove(part(id))
        try FileSystem.remove(facts(id))
        // Of a description that a kill has cut.
        try FileSystem.remove(facts(id) + Self.next)
    }

    func room() throws -> Int64 {
        try FileSystem.freeBytes(FileSystem.status(path) == nil ? FileSystem.parent(of: path) : path)
    }

    // MARK: Imports of them

    /// Puts uploads under their names into a folder of their own, in folders as they were in, durably. All or none.
    /// - Returns: that folder, as imports name it.
    func claim(
        _ uploads: [(id: String, facts: Facts)], into name: String = claimPrefix + UUID().uuidString.lowercased()
    ) throws -> String {
        let folder = path + "/" + name
        try FileSystem.makeFolder(folder)
        let inner = uploads.map { upload in
            upload.facts.folder.flatMap(UploadName.harmless(folder:)).map { folder + "/" + $0 } ?? folder
        }
        // By their bytes: an accent is written in two ways, which make two folders.
        let folders = Set(inner.map { Array($0.utf8) }).map { String(decoding: $0, as: UTF8.self) }
        // A folder may be called as a file beside it.
        var taken = Set(folders.flatMap { Self.ancestors(of: $0, below: folder) }.map(\.caseFolded))
        var moved: [(id: String, path: String)] = []
        do {
            for folder in folders { try FileSystem.makeFolder(folder) }
            for ((id, facts), inner) in zip(uploads, inner) {
                // Made harmless when it was written down; what lies in a file is looked at again.
                guard let name = UploadName.harmless(facts.name) else {
                    throw MeshError(.dataLoss, "The upload \(id) has lost its name. Upload it again.")
                }
                let free = (1...).lazy.map { inner + "/" + UploadName.numbered(name, $0) }.first {
                    taken.insert($0.caseFolded).inserted
                }
                let target = free ?? inner + "/" + id
                try setTimes(of: part(id), facts)
                try FileSystem.rename(part(id), to: target)
                moved.append((id, target))
            }
            for folder in folders { try FileSystem.sync(folder) }
        } catch {
            for (id, target) in moved { try? FileSystem.rename(target, to: part(id)) }
            // They are as old as their last byte again, and not as what is in them.
            for (id, _) in uploads { beginTerm(of: id) }
            // Empty ones alone: what could not be moved back stays.
            for path in (folders.flatMap { Self.ancestors(of: $0, below: folder) } + [folder])
                .sorted(by: { $0.utf8.count > $1.utf8.count })
            {
                rmdir(path)
            }
            throw error
        }
        for (id, _) in uploads { try? FileSystem.remove(facts(id)) }
        return known(claim: name)
    }

    /// As imports name a folder that ``claim(_:into:)`` made.
    func known(claim name: String) -> String { FilePath(bytes: (known + "/" + name).utf8).text }

    func isThere(claim name: String) throws -> Bool { try FileSystem.status(path + "/" + name) != nil }

    /// Sessions that are there, by their ids.
    func sessions() throws -> [String: UploadSession] {
        guard try FileSystem.status(path) != nil else { return [:] }
        var sessions: [String: UploadSession] = [:]
        for case .some(let name) in try FileSystem.names(in: path) where name.hasSuffix(SessionFile.ending) {
            let id = String(name.dropLast(SessionFile.ending.count))
            guard UUID(uuidString: id) != nil else { continue }
            sessions[id] = try SessionFile(id, in: path).read()
        }
        return sessions
    }

    /// The bytes durable, and the file's time what the client said: that of the upload says nothing about the picture, and the
    /// first moment of 1970 is taken for none. Not later than now: a device whose clock is wrong, and times that no file system
    /// has.
    private func setTimes(of path: String, _ facts: Facts) throws {
        try FileSystem.withFile(path, O_RDONLY | O_NOFOLLOW) { descriptor in
            let milliseconds = min(max(0, facts.modifiedAt ?? 0), Timestamp.now().milliseconds)
            let time = timespec(
                tv_sec: Int(milliseconds / 1000), tv_nsec: Int(milliseconds % 1000) * 1_000_000)
            let times = [time, time]
            try FileSystem.check(futimens(descriptor, times), "set the time of", path)
            try FileSystem.sync(descriptor, path)
        }
    }

    /// Removes folders that ``claim(_:)`` made, and what is in them; other paths are left alone.
    /// - Parameter paths: as imports name them.
    func release(_ paths: [String]) {
        for path in paths {
            let folder = FilePath(text: ImportSource(text: path).path).withCString { String(cString: $0) }
            guard FileSystem.parent(of: folder) == known else { continue }
            let name = folder.dropFirst(known.count + 1)
            if name.hasPrefix(Self.claimPrefix) { removeTree(self.path + "/" + name) }
        }
    }

    /// A folder and those that it is in, up to another one.
    private static func ancestors(of folder: String, below top: String) -> [String] {
        Array(sequence(first: folder) { FileSystem.parent(of: $0) }.prefix { $0.utf8.count > top.utf8.count })
    }

    private func removeTree(_ folder: String) { try? FileManager.default.removeItem(atPath: folder) }

    /// Removes what imports left that never ran: all of a folder that was made before a moment. One from after the latest that
    /// it can be is of a clock that was wrong, and counts from now.
    /// - Parameter kept: folders that sessions have, which end otherwise.
    func removeClaims(before moment: Timestamp, latest: Timestamp, besides kept: Set<String>) throws {
        guard try FileSystem.status(path) != nil else { return }
        for case .some(let name) in try FileSystem.names(in: path)
        where name.hasPrefix(Self.claimPrefix) && !kept.contains(name) {
            let folder = path + "/" + name
            guard let status = try FileSystem.status(folder), status.st_mode & S_IFMT == S_IFDIR else { continue }
            let madeAt = Int64(status.st_mtim.tv_sec) * 1000
            if madeAt > latest.milliseconds { utimensat(AT_FDCWD, folder, nil, AT_SYMLINK_NOFOLLOW) }
            guard madeAt < moment.milliseconds else { continue }
            removeTree(folder)
        }
    }
}
