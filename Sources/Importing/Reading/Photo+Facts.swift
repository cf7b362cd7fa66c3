import Imaging
import LibraryModel
import ServiceMesh
import Sidecars

/// How a photo gets what its picture says, and what is said beside that: a fact that photos keep gets its line here.
extension Photo {
    /// Takes over what its picture says, and that it says nothing.
    package mutating func take(_ picture: PictureFacts) {
        take(picture.date)
        caption = picture.caption
        camera = picture.camera
        contentIdentifier = picture.contentIdentifier
    }

    /// Takes over what its picture says, completed by what is said outside of it. A library's own sidecar goes before the picture.
    mutating func take(_ picture: PictureFacts, _ source: SourceFacts) {
        take(picture)
        let (beside, isWhole) = (source.sidecars, source.isWhole)
        caption = isWhole ? beside.caption : picture.caption ?? beside.caption
        isFavorite = source.isFavorite || !isWhole && picture.rating == SourceFacts.favoriteRating
    }
}

extension Photo {
    /// Takes over how far a library has turned it whose sidecar stands beside it. Its thumbnail is made once more when somebody looks.
    mutating func takeRotation(of source: SourceFacts) {
        guard source.isWhole, turningRefusal == nil else { return }
        turn(to: source.sidecars.entry?.rotation.flatMap(Rotation.init(rawValue:)))
    }
}

extension Photo {
    /// Takes over whether it is a film, or moves: the latter where the library has the file in which that film stands.
    package mutating func takeKind(of prepared: PreparedPhoto) {
        let film = prepared.film
        let inside = originalPath == nil ? nil : prepared.facts.film
        kind = film != nil ? .film : inside != nil || companionFilm != nil ? .moving : nil
        duration = film?.duration
        codecs = film.map { ([$0.videoCodec] + ($0.audioCodec.map { [$0] } ?? [])).joined(separator: " ") }
        (filmOffset, filmLength) = (inside?.offset, inside?.length)
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
        // A moment is what a clock here showed then, as it is of a sidecar's.
        guard date.source != .filmMoment else {
            let clock = LocalDateTime(here: Timestamp(milliseconds: date.clock))
            self.init(clock: clock, precision: date.precision, source: .film)
            return
        }
        let source: DateSource =
            switch date.source {
            case .exif: .exif
            case .exifCreated: .exifCreated
            case .xmp: .xmp
            case .iptc: .iptc
            case .png: .png
            case .film, .filmMoment: .film
            case .gps: .gps
            case .modified: .modified
            }
        self.init(
            clock: LocalDateTime(milliseconds: date.clock), precision: date.precision, offset: date.offset,
            source: source)
    }
}
