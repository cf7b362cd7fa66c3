import Imaging
import LibraryModel
import Sidecars

/// How a photo gets what its picture says, and what is said beside that: a fact that photos keep gets its line here.
extension Photo {
    /// Takes over what its picture says, and that it says nothing.
    package mutating func take(_ picture: PictureFacts) {
        take(picture.date)
        caption = picture.caption
        camera = picture.camera
    }

    /// Takes over what its picture says, completed by what is said outside of it. A library's own sidecar goes before the picture.
    mutating func take(_ picture: PictureFacts, _ source: SourceFacts) {
        take(picture)
        let (beside, isWhole) = (source.sidecars, source.isWhole)
        caption = isWhole ? beside.caption : picture.caption ?? beside.caption
        isFavorite = source.isFavorite || !isWhole && picture.rating == SourceFacts.favoriteRating
    }
}

extension LearntFacts {
    /// Takes over what is said beside the source of a photo that is there, but for the date and the place.
    mutating func take(_ source: SourceFacts) {
        caption = source.sidecars.caption
        isFavorite = source.isFavorite
    }
}

extension Photo {
    /// What it has learnt beside its date, as a receipt says it.
    func gains(over before: Photo) -> [String] {
        (caption == before.caption ? [] : ["its caption"])
            + (isFavorite == before.isFavorite ? [] : ["its mark as a favourite"])
    }
}

extension PictureFacts {
    /// When the picture was taken.
    package var date: PhotoDate? { taken.map(PhotoDate.init) }

    /// Where.
    package var position: GeoPosition? {
        GeoPosition(latitude: location?.latitude, longitude: location?.longitude)
    }
}

extension PhotoDate {
    init(_ date: CameraDate) {
        let source: DateSource =
            switch date.source {
            case .exif: .exif
            case .exifCreated: .exifCreated
            case .xmp: .xmp
            case .iptc: .iptc
            case .png: .png
            case .gps: .gps
            case .modified: .modified
            }
        self.init(
            clock: LocalDateTime(milliseconds: date.clock), precision: date.precision, offset: date.offset,
            source: source)
    }
}
