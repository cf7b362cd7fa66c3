import Foundation

/// What comes with the source of a photo that the library has already and does not know of it: it lay beside it, it is called
/// otherwise, it was written earlier.
public struct LearntFacts: Codable, Sendable, Equatable {
    public var date: PhotoDate?
    /// Whether ``date`` is that of a sidecar that comes in the place of an older one of its name.
    public var isCorrection = false
    public var caption: String?
    /// What an older sidecar of the same name said in the place of ``caption``.
    public var correctedCaption: String?
    public var isFavorite = false
    /// As ``AddPhoto/sealedLocation``. It is kept where the photo has no place.
    public var sealedLocation: Data?

    public init(date: PhotoDate? = nil) { self.date = date }

    /// The photo with what it lacks, or has only as a guess. What a person has said stays.
    package func applied(to photo: Photo) -> Photo {
        var taught = photo
        if let date, teaches(date, photo) {
            taught.take(date)
            // A person may have told the offset alone.
            taught.takenOffset = date.offset ?? photo.takenOffset
        }
        if let caption, photo.caption == nil || photo.caption == correctedCaption { taught.caption = caption }
        if isFavorite { taught.isFavorite = true }
        return taught
    }

    private func teaches(_ date: PhotoDate, _ photo: Photo) -> Bool {
        guard let clock = photo.takenAt else { return true }
        // Of which nobody knows who said it, a person may have.
        guard let source = photo.dateSource, source != .person else { return false }
        guard date.source == source else { return date.source.isBetter(than: source) }
        switch source {
        case .sidecar: return isCorrection && !(date.clock == clock && date.precision == photo.datePrecision)
        // Copies get later times, and none an earlier one.
        case .fileTime: return date.clock < clock
        default: return false
        }
    }
}
