import LibraryModel
import ServiceMesh
import Sidecars

extension XMPDocument {
    /// - Parameters:
    ///   - category: its name, as people see it.
    ///   - detail: what is to be said of the sealed fields; nil for nothing.
    init(of photo: Photo, in category: String, saying detail: PhotoDetail?) {
        let precision = photo.datePrecision ?? .second
        self.init(
            entry: LibraryEntry(
                category: category, name: photo.name.isEmpty ? nil : photo.name,
                dateSource: photo.takenAt.flatMap { _ in photo.dateSource?.rawValue },
                minutesFromUTC: precision <= .day && photo.takenAt != nil ? photo.takenOffset : nil,
                rotation: photo.rotation?.rawValue))
        date = photo.takenAt?.iso8601(to: precision, offset: photo.takenOffset)
        caption = photo.caption
        isFavorite = photo.isFavorite
        if let detail { add(detail) }
    }

    /// Under standard properties what has one, so that other programs find it.
    private mutating func add(_ detail: PhotoDetail) {
        people = detail.texts(.childName)
        subjects = detail.texts(.tags)
        if let location = detail.location {
            if let place = GeoPosition(text: location) {
                position = (place.latitude, place.longitude)
            } else {
                place = location
            }
        }
        let others: [(SealedField, String)] = [
            (.childAge, "ChildAge"), (.milestone, "Milestone"), (.notes, "Notes"), (.metadata, "Metadata"),
        ]
        texts = others.flatMap { field, name in detail.texts(field).map { (name: name, text: $0) } }
    }
}

extension Photo {
    /// Whether the picture says its date itself, so that nobody else has to.
    private var hasDateInPicture: Bool {
        switch dateSource {
        case .exif, .exifCreated, .xmp, .iptc, .png, .gps, .modified: takenAt != nil
        // A moment is another time of day to a library in another zone.
        case .film: takenAt != nil && takenOffset != nil
        case .person, .sidecar, .app, .fileName, .fileTime, nil: false
        }
    }

    /// Whether a library knows more of it than its bytes say, and than an import into a new library does by itself. That the picture
    /// says its caption as well is not in the catalogue: in doubt it is more.
    func saysMore(in category: String, and detail: PhotoDetail?) -> Bool {
        caption != nil || isFavorite || rotation != nil || !hasDateInPicture
            || CategoryName.key(category) != CategoryName.key(CategoryStore.defaults[0].0)
            || detail.map { detail in SealedField.allCases.contains { !detail.texts($0).isEmpty } } ?? false
    }
}
