import CLinux
import Files
import Foundation
import LibraryModel
import LibraryStorage
import ServiceMesh

/// Where the photos of groups lie: `group-photos/` in the library's folder, each as `ID.jpg`, and as `ID.part` while it is made.
/// They are no photos of the library, so no list, count, check or backup of those comes by. Everything here blocks.
struct GroupPhotoFolder: Sendable {
    private static let ending = ".jpg"
    private static let unfinished = ".part"

    private let path: String
    private let namedFiles: NamedFiles

    init(namedFiles: NamedFiles) {
        path = namedFiles.root + "/" + GroupPhoto.folder
        self.namedFiles = namedFiles
    }

    /// Relative to the library's folder.
    static func path(of id: String) -> String { "\(GroupPhoto.folder)/\(id)\(ending)" }

    /// Ids come from catalogues, which may be anybody's.
    private func file(_ id: String, _ ending: String = GroupPhotoFolder.ending) throws -> String {
        guard Self.isID(id) else {
            throw MeshError(
                .dataLoss, "The catalogue says that a group's photo is '\(id.prefix(80))'. It is left alone.")
        }
        return "\(path)/\(id)\(ending)"
    }

    private static func isID(_ text: String) -> Bool { UUID(uuidString: text) != nil && text == text.lowercased() }

    // MARK: One photo

    /// Makes the file that a photo is written into.
    func begin(_ id: String) throws -> OwnedFile {
        try FileSystem.makeFolder(path)
        let part = try file(id, Self.unfinished)
        let descriptor = clinux_open(part, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw FileSystem.Failure(action: "make", path: part, code: errno) }
        return OwnedFile(owning: descriptor)
    }

    /// Puts it in its place, durably: its row comes next.
    func publish(_ id: String, _ content: OwnedFile) throws {
        let part = try file(id, Self.unfinished)
        try content.withDescriptor { try FileSystem.sync($0, part) }
        try FileSystem.rename(part, to: file(id))
        try FileSystem.sync(path)
    }

    /// As if somebody else had named it: a file of ours may be a link to anything in a library from elsewhere.
    func open(_ id: String) throws -> OwnedFile { OwnedFile(owning: try namedFiles.open(file(id)).descriptor) }

    /// A file without a name, which goes with the last who has it open.
    func temporary() throws -> OwnedFile {
        try FileSystem.makeFolder(path)
        let descriptor = FileSystem.openUnnamed(in: path)
        guard descriptor >= 0 else { throw FileSystem.Failure(action: "write to", path: path, code: errno) }
        return OwnedFile(owning: descriptor)
    }

    /// One that is not published, to be read.
    func openPart(_ id: String) throws -> OwnedFile {
        OwnedFile(owning: try namedFiles.open(file(id, Self.unfinished)).descriptor)
    }

    func isThere(_ id: String) throws -> Bool {
        try FileSystem.status(file(id)).map { $0.st_mode & S_IFMT == S_IFREG } ?? false
    }

    /// What is there of photos, finished or not. What cannot be removed is met again by the next sweep.
    func remove(_ ids: [String]) {
        for id in ids where Self.isID(id) {
            for ending in [Self.ending, Self.unfinished] { try? FileSystem.remove("\(path)/\(id)\(ending)") }
        }
        if !ids.isEmpty { try? FileSystem.sync(path) }
    }

    // MARK: All of them

    /// Ids of which there is a file, finished or not. What has another name is nobody's here, and left alone.
    func all() throws -> Set<String> {
        guard try FileSystem.status(path) != nil else { return [] }
        var ids: Set<String> = []
        for case .some(let name) in try FileSystem.names(in: path) {
            for ending in [Self.ending, Self.unfinished] where name.hasSuffix(ending) {
                let id = String(name.dropLast(ending.count))
                if Self.isID(id) { ids.insert(id) }
            }
        }
        return ids
    }

    func room() throws -> Int64 {
        try FileSystem.freeBytes(FileSystem.status(path) == nil ? FileSystem.parent(of: path) : path)
    }
}
