import LibraryModel
import ServiceMesh

/// What a person changes of a photo, after the rules have been applied.
struct PhotoEdit: Sendable {
    private let name: String?
    private let caption: String?
    private let category: Int64?
    private let isFavorite: Bool?
    private let takenAt: Timestamp?

    /// - Throws: `invalid_argument`.
    init(_ request: EditPhoto) throws {
        name = try request.name.map(Self.validated(name:))
        caption = try request.caption.map(Self.validated(caption:))
        category = request.categoryId
        isFavorite = request.isFavorite
        takenAt = request.takenAt
        guard name != nil || caption != nil || category != nil || isFavorite != nil || takenAt != nil else {
            throw MeshError(
                .invalidArgument,
                "Say what changes: 'name', 'caption', 'categoryId', 'isFavorite' or 'takenAt'.")
        }
    }

    private static func validated(name: String) throws -> String {
        let trimmed = name.trimmingWhitespace
        guard trimmed.count <= EditPhoto.maximumNameLength, trimmed.utf8.count <= EditPhoto.maximumNameLength * 16
        else {
            throw MeshError(
                .invalidArgument, "A photo's name has \(EditPhoto.maximumNameLength) characters at most. Shorten it.")
        }
        guard !trimmed.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) else {
            throw MeshError(.invalidArgument, "A photo's name must be one line without control characters.")
        }
        return trimmed
    }

    private static func validated(caption: String) throws -> String {
        let trimmed = caption.trimmingWhitespace
        guard trimmed.count <= SetCaption.maximumLength, trimmed.utf8.count <= SetCaption.maximumLength * 16 else {
            throw MeshError(
                .invalidArgument, "A caption has \(SetCaption.maximumLength) characters at most. Shorten it.")
        }
        return trimmed
    }

    func applied(to photo: Photo) -> Photo {
        var edited = photo
        edited.name = name ?? photo.name
        edited.caption = caption.map { $0.isEmpty ? nil : $0 } ?? photo.caption
        edited.categoryId = category ?? photo.categoryId
        edited.isFavorite = isFavorite ?? photo.isFavorite
        edited.takenAt = takenAt ?? photo.takenAt
        return edited
    }
}
