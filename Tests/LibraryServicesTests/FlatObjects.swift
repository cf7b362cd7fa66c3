import Files
import Foundation
import LibraryModel
import LibraryStorage
import Synchronization
import ZipArchive

/// Another way to keep the files of photos: objects in one flat folder, named by the digests of their bytes, with a list of
/// who is which. Readers have no descriptor. Two photos of the same bytes are one object.
final class FlatObjects: PhotoFiles {
    private let root: String
    private let index: Mutex<[StoredName: String]>
    /// Done before a thumbnail or preview is replaced.
    let beforeReplacing = Mutex<(@Sendable () -> Void)?>(nil)

    /// In `root`, with what was there before.
    init(_ root: String) throws {
        self.root = root
        for folder in ["objects", "staging"] {
            try FileManager.default.createDirectory(atPath: root + "/" + folder, withIntermediateDirectories: true)
        }
        let list = try? Data(contentsOf: URL(fileURLWithPath: root + "/names.json"))
        let names = try list.map { try JSONDecoder().decode([String: String].self, from: $0) } ?? [:]
        index = Mutex(
            Dictionary(
                uniqueKeysWithValues: names.compactMap { path, digest in StoredName(path: path).map { ($0, digest) } }))
    }

    var objects: [String] { (try? FileManager.default.contentsOfDirectory(atPath: root + "/objects").sorted()) ?? [] }

    private func object(_ digest: String) -> String { root + "/objects/" + digest }

    private func staged(_ name: String) -> String { root + "/staging/" + name }

    private func change<Value>(_ body: (inout sending [StoredName: String]) throws -> sending Value) throws -> Value {
        let value = try index.withLock { try body(&$0) }
        let names = index.withLock { Dictionary(uniqueKeysWithValues: $0.map { ($0.path, $1) }) }
        try JSONEncoder().encode(names).write(to: URL(fileURLWithPath: root + "/names.json"), options: .atomic)
        return value
    }

    // MARK: Staging

    func stage(as name: StoredName?) throws -> (name: String, descriptor: Int32) {
        let name = UUID().uuidString.lowercased()
        let descriptor = Foundation.open(staged(name), O_RDWR | O_CREAT | O_EXCL, 0o600)
        guard descriptor >= 0 else { throw FileSystem.Failure(action: "make", path: staged(name), code: errno) }
        return (name, descriptor)
    }

    func syncStaged() throws { try FileSystem.sync(root + "/staging") }

    func openStaged(_ name: String) throws -> Int32 {
        let descriptor = Foundation.open(staged(name), O_RDONLY)
        guard descriptor >= 0 else { throw FileSystem.Failure(action: "open", path: staged(name), code: errno) }
        return descriptor
    }

    func unstage(_ names: [String]) { for name in names { try? FileManager.default.removeItem(atPath: staged(name)) } }

    func publish(_ files: [StagedFile]) throws {
        for file in files {
            let bytes = try Data(contentsOf: URL(fileURLWithPath: staged(file.staged)))
            let digest = ContentDigest(of: bytes).sha256.hex
            try change { index in
                guard index[file.name] == nil else { throw NameTaken(file.name) }
                index[file.name] = digest
            }
            try bytes.write(to: URL(fileURLWithPath: object(digest)))
            try FileSystem.rename(staged(file.staged), to: staged(file.name.stagedName))
        }
    }

    func replace(_ made: StagedFile) throws {
        beforeReplacing.withLock { $0 }?()
        let bytes = try Data(contentsOf: URL(fileURLWithPath: staged(made.staged)))
        let digest = ContentDigest(of: bytes).sha256.hex
        try bytes.write(to: URL(fileURLWithPath: object(digest)))
        let unused = try change { index -> String? in
            let before = index.updateValue(digest, forKey: made.name)
            return before.flatMap { index.values.contains($0) ? nil : $0 }
        }
        if let unused { unlink(object(unused)) }
        try FileSystem.rename(staged(made.staged), to: staged(made.name.stagedName))
    }

    func settle(_ names: [StoredName]) throws { unstage(names.map(\.stagedName)) }

    func withdraw(_ names: [StoredName]) throws {
        _ = remove(names.filter { FileManager.default.fileExists(atPath: staged($0.stagedName)) })
        try settle(names)
    }

    func leftovers() throws -> [StoredName] {
        try FileManager.default.contentsOfDirectory(atPath: root + "/staging").compactMap { StoredName(staged: $0) }
            .sorted()
    }

    // MARK: Stored files

    private func bytes(_ name: StoredName) -> Data? {
        guard let digest = index.withLock({ $0[name] }) else { return nil }
        return try? Data(contentsOf: URL(fileURLWithPath: object(digest)))
    }

    func facts(_ name: StoredName) throws -> StoredFileFacts? {
        bytes(name).map { StoredFileFacts(size: Int64($0.count), isFile: true) }
    }

    private struct Object: ByteSource {
        let bytes: Data

        func read(into room: UnsafeMutableRawBufferPointer, at position: Int64) throws(ReadFailure) -> Int {
            let part = bytes.dropFirst(Int(clamping: position)).prefix(room.count)
            return part.copyBytes(to: room)
        }
    }

    func withReader<Value>(_ name: StoredName, _ body: (any ByteSource) throws -> Value) throws -> Value {
        guard let bytes = bytes(name) else {
            throw FileSystem.Failure(action: "open", path: name.path, code: ENOENT)
        }
        return try body(Object(bytes: bytes))
    }

    func open(_ name: StoredName) throws -> Int32 {
        guard let bytes = bytes(name) else {
            throw FileSystem.Failure(action: "open", path: name.path, code: ENOENT)
        }
        let copy = try stage()
        unlink(staged(copy.name))
        let written = bytes.withUnsafeBytes { write(copy.descriptor, $0.baseAddress, $0.count) }
        guard written == bytes.count else {
            close(copy.descriptor)
            throw FileSystem.Failure(action: "write", path: name.path, code: errno)
        }
        return copy.descriptor
    }

    func forEach(_ kind: StoredName.Kind, _ body: (StoredFile) throws -> Void) throws {
        for name in index.withLock({ Array($0.keys) }) where name.kind == kind {
            try body(StoredFile(name: name, size: Int64(bytes(name)?.count ?? 0)))
        }
    }

    func remove(_ names: [StoredName]) -> [StoredName] {
        let unused = try? change { index -> Set<String> in
            let digests = Set(names.compactMap { index.removeValue(forKey: $0) })
            return digests.subtracting(index.values)
        }
        guard let unused else { return [] }
        for digest in unused { unlink(object(digest)) }
        return names
    }

    func room() throws -> Int64 { 1 << 40 }

    func path(of name: StoredName) -> String? { nil }

    func owns(_ path: String) -> Bool { false }

    func name(at path: String) -> StoredName? { nil }
}
