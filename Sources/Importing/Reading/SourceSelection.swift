import Files
import Foundation
import LibraryModel
import ServiceMesh

/// Which of the files in folders an import looks at.
struct SourceSelection: Sendable {
    /// Everything there is.
    static let all = SourceSelection(includesHidden: true)

    private let patterns: [Pattern]
    private let includesHidden: Bool

    private struct Pattern: Sendable {
        let text: String
        /// Whether it speaks of the path below the folder that was named, and not of any name in it.
        let isOfPath: Bool
        let isOfFolders: Bool

        init(_ glob: String) {
            let isOfFolders = glob.hasSuffix("/")
            let inner = isOfFolders ? String(glob.dropLast()) : glob
            self.isOfFolders = isOfFolders
            isOfPath = inner.contains("/")
            text = inner.hasPrefix("/") ? String(inner.dropFirst()) : inner
        }
    }

    /// - Parameters:
    ///   - patterns: globs of fnmatch(3), which capitals and small letters are the same to.
    ///   - includesHidden: whether what systems and programs leave behind is looked at like all others.
    init(excluding patterns: [String] = [], includesHidden: Bool = false) {
        self.patterns = patterns.map(Pattern.init)
        self.includesHidden = includesHidden
    }

    /// Why something in a folder is not entered or read; nil where it is.
    /// - Parameters:
    ///   - name: of it.
    ///   - path: below the folder that was named.
    func passesOver(_ name: String, at path: String, isFolder: Bool) -> PassedOver? {
        if excludes(name, at: path, isFolder: isFolder) { return .excluded }
        return !includesHidden && Self.isOfSystem(name) ? .system : nil
    }

    /// Of what was named itself, which is taken whatever it is called, unless it is excluded.
    func excludes(_ name: String, at path: String, isFolder: Bool) -> Bool {
        patterns.contains { pattern in
            (isFolder || !pattern.isOfFolders)
                && fnmatch(
                    pattern.text, pattern.isOfPath ? path : name, (pattern.isOfPath ? FNM_PATHNAME : 0) | Self.caseless)
                    == 0
        }
    }

    /// `FNM_CASEFOLD`, which the C library declares to programs of its own dialect only.
    private static let caseless: Int32 = 1 << 4

    /// Hidden, or one that a system keeps for itself: of Windows, macOS, ext4, and the storages of Synology and QNAP.
    private static func isOfSystem(_ name: String) -> Bool {
        name.hasPrefix(".") || systemNames.contains(name.lowercased())
    }

    private static let systemNames: Set = [
        "thumbs.db", "ehthumbs.db", "desktop.ini", "@eadir", "#recycle", "#snapshot", "@recycle", "@tmp", "lost+found",
        "$recycle.bin", "system volume information", "__macosx", "icon\r",
    ]

    /// - Throws: `invalid_argument`.
    static func check(excluding patterns: [String]) throws {
        guard patterns.count <= ImportPhotos.patterns else {
            throw MeshError(
                .invalidArgument,
                "\(patterns.count) patterns are too many; \(ImportPhotos.patterns) are the most. Name the folders to import instead."
            )
        }
        // With each star a pattern may be tried at every place of a name.
        for pattern in patterns
        where pattern.isEmpty || pattern.utf8.count > 255 || pattern.utf8.contains(0)
            || pattern.count(where: { $0 == "*" }) > 8
        {
            throw MeshError(
                .invalidArgument,
                "'\(pattern.prefix(100))' is no pattern that files can be compared with: it has 1 to 255 bytes, and 8 stars at most."
            )
        }
    }
}
