import Foundation
import LibraryModel
import ServiceMesh

/// What came, went and changed on the observed page of photos.
///
/// A page is a window: a new photo pushes the oldest one out of it, and a deleted one lets an older one in. Neither of
/// those is news, so what stands past the end of the other page is left out.
struct PhotosReport: ChangeReport {
    private var last: ObservedPhotos?

    mutating func lines(for json: Data) throws -> [String] {
        let now = try Reply.decode(ObservedPhotos.self, from: json, of: ObservePhotos.method)
        defer { last = now }
        let total = "photos: \(now.total)"
        guard let last else { return [total] }
        let before = Dictionary(last.photos.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
        let known = Set(now.photos.map(\.id))
        var lines = last.photos.filter { !known.contains($0.id) && Self.isInside($0, now) }.map { "- \(Self.name($0))" }
        for photo in now.photos {
            if let old = before[photo.id] {
                if old != photo { lines.append("~ \(Self.name(photo)): \(Self.difference(old, photo))") }
            } else if Self.isInside(photo, last) {
                lines.append("+ \(Self.name(photo))")
            }
        }
        return ChangeLines.cut(lines) + [total]
    }

    /// Whether the photo, if it were in the library, would stand on that page.
    private static func isInside(_ photo: Photo, _ page: ObservedPhotos) -> Bool {
        guard page.next != nil, let end = page.photos.last else { return true }
        return (photo.shownAt, photo.id) >= (end.shownAt, end.id)
    }

    private static func name(_ photo: Photo) -> String { "\(photo.id)  \(PlainText.neutralized(photo.displayName))" }

    private static func difference(_ old: Photo, _ new: Photo) -> String {
        var words: [String] = []
        if old.isFavorite != new.isFavorite { words.append(new.isFavorite ? "favourite" : "no longer a favourite") }
        if old.categoryId != new.categoryId { words.append("moved to category \(new.categoryId)") }
        if old.caption != new.caption {
            words.append(new.caption.map { "caption \(ChangeLines.quoted($0))" } ?? "no caption")
        }
        return words.isEmpty ? "changed" : words.joined(separator: ", ")
    }
}
