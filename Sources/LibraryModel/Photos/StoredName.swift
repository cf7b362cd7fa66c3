/// The name of a file that the library keeps, relative to the library: `photos/NAME`, `thumbnails/thumb_NAME` for the
/// thumbnail of that photo, `previews/preview_NAME.webp` for its preview, `originals/NAME` with an extension of its own for what the photo was made of, and
/// `originals/NAME.jpg.1.xmp` (a film: `….1.mov`; a raw file: `….1.cr2`) for what stood beside that. Never a way out of those folders: names come from catalogues,
/// which may be anybody's.
package struct StoredName: Hashable, Sendable, Comparable {
    /// What a file is, and the folder of such files.
    package enum Kind: String, Sendable, CaseIterable {
        case photos
        case thumbnails
        case previews
        case originals

        /// Whether files of this kind can be made again from the photos: they may be replaced, are in no backup's way, and one that is
        /// missing is no loss.
        package var isMade: Bool { self == .thumbnails || self == .previews }
    }

    package let kind: Kind
    /// In its folder; of a thumbnail or preview with the prefix.
    package let fileName: String

    private static let thumbnailPrefix = "thumb_"
    private static let previewPrefix = "preview_"
    /// A photo may end in anything, and a preview is a WebP.
    private static let previewExtension = ".webp"
    /// In the staging place, where all kinds are together.
    private static let originalPrefix = "original_"
    /// Of every photo that is not its own original: it was made by us.
    private static let madeExtension = ".jpg"

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

    /// Of this photo, or of the photo that this thumbnail, preview, original or sidecar belongs to. A file among the thumbnails
    /// or previews that is none is itself.
    package var photo: StoredName {
        switch kind {
        case .photos: self
        case .thumbnails:
            isThumbnail ? StoredName(.photos, String(fileName.dropFirst(Self.thumbnailPrefix.count))) ?? self : self
        case .previews:
            isPreview
                ? StoredName(
                    .photos,
                    String(fileName.dropFirst(Self.previewPrefix.count).dropLast(Self.previewExtension.count))) ?? self
                : self
        case .originals: photoOfSidecar ?? photoOfOriginal
        }
    }

    private var photoOfOriginal: StoredName { StoredName(.photos, Self.stem(fileName) + Self.madeExtension) ?? self }

    /// The photos of which this may be a file: two, where an original of a photo with an odd name could be a sidecar.
    package var photos: [StoredName] {
        kind == .originals ? [photoOfSidecar, photoOfOriginal].compactMap { $0 } : [photo]
    }

    /// Of the original of this photo, where that is a file of its own.
    /// - Parameter fileExtension: with the dot.
    package func original(_ fileExtension: String) -> StoredName {
        StoredName(.originals, Self.stem(photo.fileName) + fileExtension) ?? self
    }

    /// Of a sidecar of this photo.
    /// - Parameters:
    ///   - number: 1…999, to tell it from the photo's others.
    ///   - fileExtension: with the dot: `.xmp` or `.json`, of a film or a raw file one of ``companionExtensions``.
    package func sidecar(_ number: Int, _ fileExtension: String) -> StoredName {
        StoredName(.originals, "\(photo.fileName).\(number)\(fileExtension)") ?? self
    }

    /// The photo whose sidecar this is; nil where it is not named as sidecars are.
    package var photoOfSidecar: StoredName? {
        guard kind == .originals, Self.sidecarExtensions.contains(where: fileName.hasSuffix) else { return nil }
        let numbered = Self.stem(fileName)
        guard let dot = numbered.lastIndex(of: ".") else { return nil }
        let digits = numbered[numbered.index(after: dot)...].utf8
        guard (1...3).contains(digits.count), digits.first != UInt8(ascii: "0"),
            digits.allSatisfy({ (0x30...0x39).contains($0) })
        else { return nil }
        let owner = String(numbered[..<dot])
        // Originals end like this too, and photos' names may have dots in them; but a photo's whole name has an ending.
        guard owner.contains(".") || !Self.companionExtensions.contains(where: fileName.hasSuffix) else { return nil }
        return StoredName(.photos, owner)
    }

    private static let sidecarExtensions = [".xmp", ".json"] + companionExtensions
    /// Of the other half of a photo that is two files.
    package static let companionExtensions = filmExtensions + rawExtensions
    /// Of the films of photos that move. Cameras write no others, and these say what they are to whoever opens them.
    package static let filmExtensions = [".mov", ".mp4"]
    /// Of raw files, as cameras write them.
    package static let rawExtensions = [
        ".dng", ".cr2", ".cr3", ".crw", ".nef", ".nrw", ".arw", ".sr2", ".srf", ".orf", ".rw2", ".rwl", ".raw", ".raf",
        ".pef", ".srw", ".mrw", ".3fr", ".fff", ".erf", ".mef", ".mos", ".iiq", ".kdc", ".dcr", ".gpr", ".x3f",
    ]

    /// Whether a stored file is called like the film that is kept beside a photo.
    static func isFilm(ofPhoto path: String) -> Bool { isCompanion(ofPhoto: path, among: filmExtensions) }

    /// Whether it is called like the raw file that is kept beside one.
    static func isRaw(ofPhoto path: String) -> Bool { isCompanion(ofPhoto: path, among: rawExtensions) }

    private static func isCompanion(ofPhoto path: String, among extensions: [String]) -> Bool {
        extensions.contains(where: path.hasSuffix) && StoredName(path: path)?.photoOfSidecar != nil
    }

    private static func stem(_ fileName: String) -> String {
        fileName.lastIndex(of: ".").map { String(fileName[..<$0]) } ?? fileName
    }

    /// Of this photo's thumbnail, or of itself.
    package var thumbnail: StoredName {
        kind == .thumbnails ? self : StoredName(.thumbnails, Self.thumbnailPrefix + photo.fileName) ?? self
    }

    /// Whether it is named as thumbnails are.
    package var isThumbnail: Bool { kind == .thumbnails && fileName.hasPrefix(Self.thumbnailPrefix) }

    /// Of this photo's preview, or of itself; whether the photo has one is another matter.
    package var preview: StoredName {
        kind == .previews
            ? self : StoredName(.previews, Self.previewPrefix + photo.fileName + Self.previewExtension) ?? self
    }

    /// Whether it is named as previews are.
    package var isPreview: Bool {
        kind == .previews && fileName.hasPrefix(Self.previewPrefix) && fileName.hasSuffix(Self.previewExtension)
            && fileName.utf8.count > Self.previewPrefix.utf8.count + Self.previewExtension.utf8.count
    }

    package static func < (left: StoredName, right: StoredName) -> Bool {
        (left.kind.rawValue, left.fileName) < (right.kind.rawValue, right.fileName)
    }

    /// Of the thumbnail of a photo with this name.
    static func thumbnailPath(ofPhoto fileName: String) -> String {
        Kind.thumbnails.rawValue + "/" + thumbnailPrefix + fileName
    }

    /// Of the preview of a photo with this name.
    static func previewPath(ofPhoto fileName: String) -> String {
        Kind.previews.rawValue + "/" + previewPrefix + fileName + previewExtension
    }

    /// What a file is called in the staging place while it is on its way to this name: each kind apart.
    package var stagedName: String { kind == .originals ? Self.originalPrefix + fileName : fileName }

    /// Of a file in the staging place.
    package init?(staged name: String) {
        if name.hasPrefix(Self.originalPrefix), name != Self.originalPrefix {
            self.init(.originals, String(name.dropFirst(Self.originalPrefix.count)))
        } else if let preview = StoredName(.previews, name), preview.isPreview {
            self = preview
        } else {
            self.init(
                name.hasPrefix(Self.thumbnailPrefix) && name != Self.thumbnailPrefix ? .thumbnails : .photos, name)
        }
    }
}

/// As one text, its path.
extension StoredName: Codable {
    package init(from decoder: any Decoder) throws {
        let path = try decoder.singleValueContainer().decode(String.self)
        guard let name = StoredName(path: path) else {
            throw DecodingError.dataCorrupted(
                .init(codingPath: decoder.codingPath, debugDescription: "this is no name of a stored file"))
        }
        self = name
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(path)
    }
}

/// The names of all files of one photo.
package struct PhotoNames: Codable, Sendable {
    package let photo: StoredName
    /// Nil where the photo is its own original, or the library has none.
    package let original: StoredName?
    package let sidecars: [StoredName]

    /// - Parameters:
    ///   - originalExtension: with the dot; nil where the original is no file of its own.
    ///   - sidecarExtensions: of each, with the dot.
    package init(photo: StoredName, originalExtension: String? = nil, sidecarExtensions: [String] = []) {
        self.photo = photo
        original = originalExtension.map { photo.original($0) }
        sidecars = sidecarExtensions.enumerated().map { photo.sidecar($0 + 1, $1) }
    }

    package var thumbnail: StoredName { photo.thumbnail }

    package var preview: StoredName { photo.preview }

    /// The preview last, because not every photo has one.
    package var all: [StoredName] { [photo, thumbnail] + (original.map { [$0] } ?? []) + sidecars + [preview] }
}
