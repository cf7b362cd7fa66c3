import CommandLineInterface
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
        let words = PhotoDifference.words(old, new)
        return words.isEmpty ? "changed" : words.joined(separator: ", ")
    }
}

/// One photo as it changes: what is said of it in each line is what changed. The last line is the photo as it is.
struct PhotoReport: ChangeReport {
    private var last: ObservedPhoto?

    mutating func lines(for json: Data) throws -> [String] {
        let now = try Reply.decode(ObservedPhoto.self, from: json, of: ObservePhoto.method)
        defer { last = now }
        guard let photo = now.photo else {
            return [last?.photo.map { "- \($0.id): not in the library any more" } ?? "not in the library"]
        }
        let words = last?.photo.map { PhotoDifference.words($0, photo) } ?? []
        let sign = last == nil ? " " : last?.photo == nil ? "+" : "~"
        return words.map { "~ \($0)" } + ["\(sign) \(Self.line(photo))"]
    }

    private static func line(_ photo: Photo) -> String {
        var words = ["category #\(photo.categoryId)"]
        if photo.isFavorite { words.append("favourite") }
        if let caption = photo.caption { words.append("caption " + ChangeLines.quoted(caption)) }
        return "\(photo.id)  \(PlainText.neutralized(photo.displayName))  \(LocalDate.text(of: photo)): "
            + words.joined(separator: ", ")
    }
}

enum PhotoDifference {
    static func words(_ old: Photo, _ new: Photo) -> [String] {
        var words: [String] = []
        if old.displayName != new.displayName { words.append("called \(ChangeLines.quoted(new.displayName))") }
        if old.isFavorite != new.isFavorite { words.append(new.isFavorite ? "favourite" : "no longer a favourite") }
        if old.categoryId != new.categoryId { words.append("moved to category #\(new.categoryId)") }
        if old.caption != new.caption {
            words.append(new.caption.map { "caption \(ChangeLines.quoted($0))" } ?? "no caption")
        }
        if old.shownAt != new.shownAt { words.append("dated \(LocalDate.text(of: new))") }
        if old.lastDecision != new.lastDecision {
            words.append(new.lastDecision.map { "last review: \($0.rawValue)" } ?? "not reviewed")
        }
        if old.rotation != new.rotation {
            words.append(new.rotation.map { "turned by \($0.rawValue)°" } ?? "no longer turned")
        }
        if old.contentDigest != new.contentDigest { words.append("another picture") }
        return words
    }
}
