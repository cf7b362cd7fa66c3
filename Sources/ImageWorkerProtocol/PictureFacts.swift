/// What a picture says of itself, from all that it carries beside its pixels. It travels whole from the worker that reads it to
/// the row of the photo: a new fact is declared here, with what it may be, and read in `PhotoConversion`.
public struct PictureFacts: Codable, Sendable, Equatable {
    /// When it was taken, from EXIF, XMP, IPTC or a PNG's texts; nil where none of them has a date that can be.
    public var taken: CameraDate?
    /// Where, from EXIF or XMP.
    public var location: PicturePlace?
    /// What somebody wrote under it, from XMP, IPTC or EXIF: one line, 1 to ``ImageLimits/captionLength`` Unicode scalars,
    /// none of them a control character.
    public var caption: String?
    /// Stars that somebody gave it, 0 to 5, from XMP or EXIF.
    public var rating: Int?
    /// Make and model of the camera, from EXIF or XMP: one line like the caption, of ``ImageLimits/cameraLength`` at most.
    public var camera: String?
    /// The film that a picture carries that moves; nil of others.
    public var film: PictureFilm?
    /// What a camera has written into both files of one shot, the picture and the film: 1 to ``ImageLimits/contentIdentifierLength``
    /// printable characters of ASCII. From Apple's maker note, or QuickTime's keys.
    public var contentIdentifier: String?

    public init(
        taken: CameraDate? = nil, location: PicturePlace? = nil, caption: String? = nil, rating: Int? = nil,
        camera: String? = nil, film: PictureFilm? = nil, contentIdentifier: String? = nil
    ) {
        self.taken = taken
        self.location = location
        self.caption = caption
        self.rating = rating
        self.camera = camera
        self.film = film
        self.contentIdentifier = contentIdentifier
    }

    /// Whether a worker of ours could have read this: one that a picture has taken over may say anything.
    package var isPossible: Bool {
        (taken?.isPossible ?? true) && (location?.isPossible ?? true)
            && (caption.map { Self.isLine($0, upTo: ImageLimits.captionLength) } ?? true)
            && (rating.map((0...5).contains) ?? true)
            && (camera.map { Self.isLine($0, upTo: ImageLimits.cameraLength) } ?? true)
            && (film?.isPossible ?? true)
            && (contentIdentifier.map(Self.isContentIdentifier) ?? true)
    }

    /// Whether a camera could have written this to say which files are a pair.
    package static func isContentIdentifier(_ text: String) -> Bool {
        (1...ImageLimits.contentIdentifierLength).contains(text.utf8.count)
            && text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
    }
}

/// Where in a picture's file its film stands: an MP4.
public struct PictureFilm: Codable, Sendable, Equatable {
    /// Bytes before it, and of it.
    public var offset: Int64
    public var length: Int64

    public init(offset: Int64, length: Int64) { (self.offset, self.length) = (offset, length) }

    fileprivate var isPossible: Bool { offset > 0 && length > 0 && length <= Int64.max - offset }

    /// Whether it lies in a file of so many bytes.
    package func isInside(bytes: Int64) -> Bool { isPossible && offset + length <= bytes }
}

/// Where a picture was taken.
public struct PicturePlace: Codable, Sendable, Equatable {
    /// Degrees, north and east positive.
    public var latitude: Double
    public var longitude: Double

    public init(latitude: Double, longitude: Double) { (self.latitude, self.longitude) = (latitude, longitude) }

    /// Whether it is on this planet.
    fileprivate var isPossible: Bool { (-90...90).contains(latitude) && (-180...180).contains(longitude) }
}

extension CameraDate {
    fileprivate var isPossible: Bool { Self.clocks.contains(clock) && (offset.map(Self.offsets.contains) ?? true) }
}

extension PictureFacts {
    /// Whether a character of a caption is fit to be shown: no control character, no line of its own, nothing that turns the
    /// direction of the text beside it.
    package static func isShown(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator, .surrogate, .unassigned: false
        default: !(0x202A...0x202E).contains(scalar.value) && !(0x2066...0x2069).contains(scalar.value)
        }
    }

    /// Whether a text is one line of characters that can be shown, `length` Unicode scalars at most.
    package static func isLine(_ text: String, upTo length: Int) -> Bool {
        let scalars = text.unicodeScalars
        return text.utf8.count <= length * 4 && (1...length).contains(scalars.count) && scalars.allSatisfy(isShown)
            && scalars.contains { !$0.properties.isWhitespace }
    }
}
