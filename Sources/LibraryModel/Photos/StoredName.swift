/// The name of a file that the library keeps, relative to the library: `photos/NAME`, or `thumbnails/thumb_NAME` for the
/// thumbnail of that photo. Never a way out of those two folders: names come from catalogues, which may be anybody's.
package struct StoredName: Hashable, Sendable, Comparable {
    /// What a file is, and the folder of such files.
    package enum Kind: String, Sendable, CaseIterable {
        case photos
        case thumbnails
    }

    package let kind: Kind
    /// In its folder; of a thumbnail with the prefix.
    package let fileName: String

    private static let thumbnailPrefix = "thumb_"

    /// Nil for a name that is empty or leads anywhere else.
    package init?(_ kind: Kind, _ fileName: String) {
        guard !["", ".", ".."].contains(fileName), !fileName.utf8.contains(UInt8(ascii: "/")),
            !fileName.utf8.contains(0)
        else { return nil }
        self.kind = kind
        self.fileName = fileName
    }

    /// Nil for a path that is none of these.
    package init?(path: some StringProtocol) {
        guard let slash = path.firstIndex(of: "/"), let kind = Kind(rawValue: String(path[..<slash])) else {
            return nil
        }
        self.init(kind, String(path[path.index(after: slash)...]))
    }

    /// Relative to the library, with `/` between, as the catalogue has it.
    package var path: String { kind.rawValue + "/" + fileName }

    /// Of this photo, or of the photo that this thumbnail was made of. A file among the thumbnails that is no thumbnail is
    /// itself.
    package var photo: StoredName {
        guard isThumbnail else { return self }
        return StoredName(.photos, String(fileName.dropFirst(Self.thumbnailPrefix.count))) ?? self
    }

    /// Of this photo's thumbnail, or of itself.
    package var thumbnail: StoredName {
        kind == .thumbnails ? self : StoredName(.thumbnails, Self.thumbnailPrefix + fileName) ?? self
    }

    /// Whether it is named as thumbnails are.
    package var isThumbnail: Bool { kind == .thumbnails && fileName.hasPrefix(Self.thumbnailPrefix) }

    package static func < (left: StoredName, right: StoredName) -> Bool {
        (left.kind.rawValue, left.fileName) < (right.kind.rawValue, right.fileName)
    }

    /// Of the thumbnail of a photo with this name.
    static func thumbnailPath(ofPhoto fileName: String) -> String {
        Kind.thumbnails.rawValue + "/" + thumbnailPrefix + fileName
    }

    /// The photo that a file in the staging folder belongs to, by the name that it has there.
    package static func photoFileName(ofStaged name: String) -> String {
        name.hasPrefix(thumbnailPrefix) && name != thumbnailPrefix
            ? String(name.dropFirst(thumbnailPrefix.count)) : name
    }
}
