/// The name of one of Google Takeout's documents, taken apart.
///
/// Google takes the picture's name, appends `.supplemental-metadata` (not before 2024), cuts that to 46 UTF-16 code
/// units, appends the number if there is one, and `.json`.
struct TakeoutName {
    /// What a name is cut to, without number and extension: 51 with `.json`.
    static let units = 46

    static let supplement = Array(".supplemental-metadata".utf8)

    /// Without `.json`.
    let base: FolderName
    /// Without the number.
    let unnumbered: FolderName
    let number: FolderName?

    /// Nil where it does not end in `.json`.
    init?(_ name: FolderName) {
        guard let base = name.dropping(".json") else { return nil }
        self.base = base
        unnumbered = base.numbered?.base ?? base
        number = base.numbered?.number
    }

    enum Supplement {
        case none, cut, whole
    }

    /// `text` without `.supplemental-metadata`, or without what was left of it, in capitals or not.
    static func withoutSupplement(_ text: FolderName) -> (text: FolderName, was: Supplement) {
        guard let dot = text.bytes.lastIndex(of: UInt8(ascii: ".")), dot > 0,
            supplement.starts(with: FolderName(text.bytes[dot...]).lowercased.bytes)
        else { return (text, .none) }
        let isWhole = text.bytes.count - dot == supplement.count
        return (FolderName(text.bytes[..<dot]), isWhole ? .whole : .cut)
    }

    /// Documents about an album or the account, which stand among those of the pictures.
    private static let albums: Set<FolderName> = Set(
        ["metadata", "print-subscriptions", "shared_album_comments", "user-generated-memory-titles"]
            .map { FolderName($0.utf8) })

    var isAboutAlbum: Bool { Self.albums.contains(unnumbered.lowercased) }

    /// Whether it is called like a picture's document; a program's settings end in `.json` too.
    var looksLikePictures: Bool {
        guard !isAboutAlbum else { return false }
        let (text, supplement) = Self.withoutSupplement(unnumbered)
        return supplement != .none || PictureName(text).kind != .other || unnumbered.utf16Units >= Self.units - 1
    }
}
