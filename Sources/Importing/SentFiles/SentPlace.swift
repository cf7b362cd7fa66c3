import LibraryModel
import LibraryServices
import ServiceMesh

/// A place below `/dav/` that was looked at: each of its names is one.
struct SentPlace: Sendable {
    let names: SentPath

    /// - Throws: `invalid_argument`.
    init(_ path: SentPath) throws {
        guard path.count <= SentFile.maximumDepth else {
            throw MeshError(
                .invalidArgument,
                "A file lies in \(SentFile.maximumDepth - 1) folders at most. Send it into one further up.")
        }
        for name in path where !Self.isName(name) {
            throw MeshError(
                .invalidArgument,
                "'\(name.prefix(80))' is no name: 1 to \(SentFile.maximumNameBytes) bytes, without slashes and control "
                    + "characters, and not '.' or '..'.")
        }
        names = path
    }

    static func isName(_ text: String) -> Bool {
        (1...SentFile.maximumNameBytes).contains(text.utf8.count) && text != "." && text != ".."
            && text.unicodeScalars.allSatisfy { $0 != "/" && $0.properties.generalCategory != .control }
    }

    var isTop: Bool { names.isEmpty }
    /// Of the top, nothing.
    var name: String { names.last ?? "" }
    /// The folder that it is in, as the catalogue names it. Of the top, itself.
    var folder: String { names.dropLast().joined(separator: "/") }
    /// The same of what is in it.
    var inside: String { names.joined(separator: "/") }
    /// The folder that it is in. Of the top, itself.
    var above: SentPlace { SentPlace(known: Array(names.dropLast())) }

    private init(known names: SentPath) { self.names = names }

    /// What a file is called as a photo: without what programs put behind a name until all of it is there.
    var photoName: String {
        for ending in Self.unfinished where name.lowercased().hasSuffix(ending) && name.utf8.count > ending.utf8.count {
            return String(name.dropLast(ending.count))
        }
        return name
    }

    private static let unfinished = [".part", ".partial", ".filepart", ".tmp", ".temp", ".uploading", ".crdownload"]
}
