import Foundation

/// A file that stood beside a picture and belongs to it, kept byte for byte with the photo: one that says something of it (`.xmp`,
/// Google Takeout's `.json`), or the other half of a photo that is two files: the film of one that moves, where the camera has written
/// that as a file of its own (Apple's `.mov`), or the raw file of a shot whose picture the camera has written too.
///
/// Companions are among these because all that holds for them holds for sidecars: they go into the trash with the photo and out of it,
/// into backups, out of them and into exports, and are checked and counted. Rejected: a second original, which each of those would
/// have had to learn, and which older programs would not restore the photo without.
public struct KeptSidecar: Codable, Sendable, Equatable {
    /// What it was called beside the picture: `beach.jpg.xmp`.
    public let name: String
    /// Relative to the library folder: `originals/IMG_20250615_100000_9f86d081.jpg.1.xmp`.
    public let path: String
    /// Bytes.
    public let fileSize: Int64
    /// SHA-256, lower-case hex.
    public let contentDigest: String

    /// Of one photo; real ones have one or two.
    public static let maximumCount = 8

    public init(name: String, path: String, fileSize: Int64, contentDigest: String) {
        self.name = name
        self.path = path
        self.fileSize = fileSize
        self.contentDigest = contentDigest
    }

    /// Whether it is the film of a photo that moves. By its path, whose ending an import gave it by its content.
    public var isFilm: Bool { StoredName.isFilm(ofPhoto: path) }

    /// Whether it is the raw file of the shot. By its path too.
    public var isRaw: Bool { StoredName.isRaw(ofPhoto: path) }

    /// Whether it is a half of the photo, and no word about it.
    package var isCompanion: Bool { isFilm || isRaw }

    /// What to call it beside a copy of the picture that is called `file`: by the whole of that name, which is the form that
    /// programs find most surely, and this one's import too. A companion by what stands before the picture's ending, as cameras do.
    /// - Parameter number: from 2 on, to tell it from others of that name.
    public func name(beside file: String, number: Int = 1) -> String {
        guard !isCompanion else {
            let stem = file.lastIndex(of: ".").map { String(file[..<$0]) } ?? file
            // In the letters that the camera used: `.MOV`.
            let ending = name.lastIndex(of: ".").map { String(name[$0...]) }
            let stored = path.lastIndex(of: ".").map { String(path[$0...]) } ?? ""
            return (number == 1 ? stem : "\(stem) (\(number))")
                + (ending.flatMap { $0.lowercased() == stored ? $0 : nil } ?? stored)
        }
        return name(besideAll: number == 1 ? file : "\(file).\(number)")
    }

    private func name(besideAll file: String) -> String {
        guard name.lowercased().hasSuffix(".json") else { return file + ".xmp" }
        return file + (isSupplement ? "." + Self.supplement : "") + ".json"
    }

    private static let supplement = "supplemental-metadata"

    /// Whether Takeout called it by its newer name, which it cuts and puts numbers behind: `….supplemental-met(1).json`.
    private var isSupplement: Bool {
        var stem = name.dropLast(".json".count)
        if stem.hasSuffix(")"), let open = stem.lastIndex(of: "(") { stem = stem[..<open] }
        guard let dot = stem.lastIndex(of: ".") else { return false }
        let ending = stem[stem.index(after: dot)...]
        return !ending.isEmpty && Self.supplement.hasPrefix(ending)
    }
}

// In the catalogue they are one text, since nobody asks for a sidecar without its photo.
extension KeptSidecar {
    /// Nil for none.
    package static func text(_ sidecars: [KeptSidecar]) -> String? {
        guard !sidecars.isEmpty else { return nil }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return (try? encoder.encode(sidecars)).map { String(decoding: $0, as: UTF8.self) }
    }

    /// Those in a text that this photo can have; a catalogue may have been anybody's, and what it says here names files
    /// that are read, copied and removed.
    /// - Parameter photo: its path.
    package static func list(_ text: String?, ofPhoto photo: String) -> [KeptSidecar] {
        guard let text, text.utf8.count <= maximumText,
            let found = try? JSONDecoder().decode([KeptSidecar].self, from: Data(text.utf8))
        else { return [] }
        return Array(found.filter { $0.isPossible(ofPhoto: photo) }.prefix(maximumCount))
    }

    /// Bytes; eight whose names are as long as names can be, in signs that JSON writes in six.
    private static let maximumText = 64 << 10

    private func isPossible(ofPhoto photo: String) -> Bool {
        StoredName(path: path)?.photoOfSidecar?.path == photo && StoredName(.originals, name) != nil
            && name.utf8.count <= 255 && fileSize >= 0 && contentDigest.utf8.count == 64
    }
}
