import LibraryModel

/// What a person may change of a photo, as restores compare it, take it over and give it back. The category is not among them: which
/// one it is here is found out first.
struct EditableField: Sendable {
    let name: String
    /// Whether another program's backup says it of this photo: those say nothing of names and dates.
    let isSaidByOthers: @Sendable (Photo) -> Bool
    let isEqual: @Sendable (Photo, Photo) -> Bool
    /// What was there, as a person is told; nil where nothing was.
    let text: @Sendable (Photo) -> String?
    let copy: @Sendable (_ source: Photo, _ target: inout Photo) -> Void

    static let all = [
        EditableField(
            name: "name", isSaidByOthers: { _ in false }, isEqual: { $0.name == $1.name }, text: { "'\($0.name)'" },
            copy: { $1.name = $0.name }),
        EditableField(
            name: "caption", isSaidByOthers: { $0.caption != nil }, isEqual: { $0.caption == $1.caption },
            text: { $0.caption.map { "'\($0)'" } }, copy: { $1.caption = $0.caption }),
        EditableField(
            name: "favourite mark", isSaidByOthers: { _ in true }, isEqual: { $0.isFavorite == $1.isFavorite },
            text: { $0.isFavorite ? "set" : nil }, copy: { $1.isFavorite = $0.isFavorite }),
        EditableField(
            name: "date", isSaidByOthers: { _ in false },
            isEqual: { $0.hasDate(of: $1) }, text: { $0.takenAt.map { "\($0)" } }, copy: { $1.takeDate(of: $0) }),
    ]
}
