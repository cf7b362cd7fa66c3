import ServiceMesh

/// What a photo of the library is.
public enum PhotoKind: String, Codable, Sendable, CaseIterable {
    /// Whether or not it moves.
    case picture
    /// A picture with a film of a second or two: in ``Photo/originalPath`` from ``Photo/filmOffset`` on, or, where that is nil, in a
    /// file of its own, ``Photo/companionFilm``.
    case moving
    /// ``Photo/path`` is its poster, one frame of it; ``Photo/originalPath`` is the film.
    case film
}

/// A photo of the library (<doc:Rules>). The seven sensitive fields are not part of it.
public struct Photo: Codable, Sendable, Equatable, Identifiable {
    public var id: Int64
    /// The same on every machine that the photo travels to. Lower case.
    public var uuid: String
    /// Relative to the library folder: `photos/IMG_20250615_100000_9f86d081.jpg`.
    public var path: String
    public var categoryId: Int64
    public var name: String
    /// What the file was called that it was imported from, with its ending: `IMG_2231.HEIC`; 255 bytes at most. It stays where
    /// ``name`` is changed. Nil of photos from before it was kept.
    public var sourceName: String?
    public var caption: String?
    /// Came with an app and not from the family. Kept for the apps' own data.
    public var isFromAssets: Bool
    public var createdAt: Timestamp
    /// Bytes of the stored file.
    public var fileSize: Int64
    /// Pixels as it is shown: upright, and turned by ``rotation``; see ``unseenBy``.
    public var width: Int
    public var height: Int
    /// How far a person has turned what is shown; nil where nobody has, and of films and of photos that cannot be seen.
    public var rotation: Rotation?
    public var isFavorite: Bool
    /// On the camera's clock: the first moment that the date can mean. Nil where nothing credible is said of it.
    public var takenAt: LocalDateTime?
    /// How far the date is known: lists, the page and exports show no more. Nil without a date, and of photos from before it was
    /// kept.
    public var datePrecision: DatePrecision?
    /// Minutes that the camera's clock was ahead of UTC, where that is known.
    public var takenOffset: Int?
    /// What said when it was taken; nil where nothing did, and of photos from before that was kept.
    public var dateSource: DateSource?
    /// Make and model of the camera, as the picture says it: `Apple iPhone 12`; one line of 128 characters at most. Nil where it
    /// says nothing, and of photos from before that was kept (``RedatePhotos``).
    public var camera: String?
    /// Nil of pictures that do not move.
    public var kind: PhotoKind?
    /// Of a film: milliseconds; nil where it does not say how long it is.
    public var duration: Int64?
    /// Of a film: how its pictures and, behind a blank, its sound are coded: `h264 aac`; libavcodec's names.
    public var codecs: String?
    /// Of a moving photo: where in its original the film begins, and how long that is, in bytes. Nil of one whose film is
    /// ``companionFilm``.
    public var filmOffset: Int64?
    public var filmLength: Int64?
    /// What a camera (Apple's) has written into both files of one shot, the picture and the film, to say that they are a pair: 1 to
    /// 64 printable characters of ASCII. Nil where they say none, and of photos from before it was kept.
    public var contentIdentifier: String?
    /// SHA-256 of the stored file, lower-case hex.
    public var contentDigest: String
    /// `image/jpeg`, …
    public var mediaType: String
    /// The file that is byte for byte what was imported, relative to the library folder: ``path`` where the photo was taken
    /// as it is, else `originals/IMG_20250615_100000_9f86d081.heic`; nil where the library does not have it.
    public var originalPath: String?
    /// What stood beside that file and is kept with it; at most ``KeptSidecar/maximumCount``. Whether the photo moves follows from
    /// them, so that nothing that takes a film away, or puts one back, can leave ``kind`` as it was.
    public var sidecars: [KeptSidecar] { didSet { moveByCompanion() } }
    /// The version of this program that could not decode the original for want of memory; nil for every photo that can be
    /// seen. Then ``path`` and its thumbnail are placeholders, and ``width`` and ``height`` are the original's.
    public var unseenBy: String?
    /// What the latest review decided about the picture as it is now; nil where it was not reviewed. That may not be applied
    /// yet. Older decisions: ``ListSwipeHistory``.
    public var lastDecision: SwipeAction?

    public init(
        id: Int64, uuid: String, path: String, categoryId: Int64, name: String, sourceName: String? = nil,
        caption: String?, isFromAssets: Bool,
        createdAt: Timestamp, fileSize: Int64, width: Int, height: Int, rotation: Rotation? = nil, isFavorite: Bool,
        takenAt: LocalDateTime?,
        datePrecision: DatePrecision? = nil, takenOffset: Int? = nil, dateSource: DateSource? = nil,
        camera: String? = nil, kind: PhotoKind? = nil, duration: Int64? = nil, codecs: String? = nil,
        filmOffset: Int64? = nil, filmLength: Int64? = nil, contentIdentifier: String? = nil, contentDigest: String,
        mediaType: String,
        originalPath: String? = nil, sidecars: [KeptSidecar] = [], unseenBy: String? = nil,
        lastDecision: SwipeAction? = nil
    ) {
        self.id = id
        self.uuid = uuid
        self.path = path
        self.categoryId = categoryId
        self.name = name
        self.sourceName = sourceName
        self.caption = caption
        self.isFromAssets = isFromAssets
        self.createdAt = createdAt
        self.fileSize = fileSize
        self.width = width
        self.height = height
        self.rotation = rotation
        self.isFavorite = isFavorite
        self.takenAt = takenAt
        self.datePrecision = datePrecision
        self.takenOffset = takenOffset
        self.dateSource = dateSource
        self.camera = camera
        self.kind = kind
        self.duration = duration
        self.codecs = codecs
        self.filmOffset = filmOffset
        self.filmLength = filmLength
        self.contentIdentifier = contentIdentifier
        self.contentDigest = contentDigest
        self.mediaType = mediaType
        self.originalPath = originalPath
        self.sidecars = sidecars
        self.unseenBy = unseenBy
        self.lastDecision = lastDecision
        moveByCompanion()
    }

    /// The name, or the file's name without its extension.
    public var displayName: String {
        guard name.isEmpty else { return name }
        let file = fileName
        return file.lastIndex(of: ".").map { String(file[..<$0]) } ?? file
    }

    /// Whether a library could hold it: it names a file and a category. Those that a library answers always do.
    public var isValid: Bool { !path.isEmpty && categoryId > 0 }

    public var fileName: String { path.split(separator: "/").last.map(String.init) ?? path }

    /// `thumbnails/thumb_<photo file>`, relative to the library folder.
    public var thumbnailPath: String { StoredName.thumbnailPath(ofPhoto: fileName) }

    /// `previews/preview_<photo file>.webp`, relative to the library folder. There need not be one: see ``PhotoFileKind/preview``.
    public var previewPath: String { StoredName.previewPath(ofPhoto: fileName) }

    /// All files that belong to it, relative to the library folder, its preview among them whether or not there is one.
    public var filePaths: [String] {
        [path, thumbnailPath, previewPath] + (originalPath.map { $0 == path ? [] : [$0] } ?? []) + sidecars.map(\.path)
    }

    public var isFilm: Bool { kind == .film }

    /// The film that came as a file of its own beside the picture, and is kept with it.
    public var companionFilm: KeptSidecar? { sidecars.first(where: \.isFilm) }

    /// The raw file of the same shot that came beside the picture, and is kept with it.
    public var companionRaw: KeptSidecar? { sidecars.first(where: \.isRaw) }

    /// The other half of a photo that is two files, of which it has one at most.
    package var companion: KeptSidecar? { sidecars.first(where: \.isCompanion) }

    /// Whether it was made of a raw file alone.
    package var isRaw: Bool {
        guard kind == nil, let originalPath, originalPath != path else { return false }
        let lower = originalPath.lowercased()
        return StoredName.rawExtensions.contains(where: lower.hasSuffix)
    }

    private mutating func moveByCompanion() {
        guard kind != .film, filmOffset == nil else { return }
        kind = companionFilm == nil ? nil : .moving
    }

    /// Whether there is more of it than ``path``, its thumbnail and its preview.
    package var hasExtraFiles: Bool { originalPath.map { $0 != path } ?? false || !sidecars.isEmpty }

    /// Whether something of it is missing where originals and sidecars are left out. A film is no original of something else.
    package var isLessWithoutOriginals: Bool { isFilm ? !sidecars.isEmpty : hasExtraFiles }

    /// Forgets the file that it was made of, which is not there, and the film in it.
    package mutating func dropOriginal() {
        originalPath = nil
        guard kind == .moving else { return }
        (filmOffset, filmLength) = (nil, nil)
        moveByCompanion()
    }

    /// Takes over a date with all that is known of it.
    package mutating func take(_ date: PhotoDate?) {
        (takenAt, datePrecision) = (date?.clock, date?.precision)
        (takenOffset, dateSource) = (date?.offset, date?.source)
    }

    /// Takes over the date of another, or that it has none.
    package mutating func takeDate(of other: Photo) {
        (takenAt, datePrecision) = (other.takenAt, other.datePrecision)
        (takenOffset, dateSource) = (other.takenOffset, other.dateSource)
    }

    /// Everything that describes another photo's files, and what that one's picture says where nothing better is known.
    package mutating func takeFiles(of other: Photo) {
        path = other.path
        fileSize = other.fileSize
        setSides(ofFile: other.sidesOfFile.width, other.sidesOfFile.height)
        contentDigest = other.contentDigest
        mediaType = other.mediaType
        originalPath = other.originalPath
        (kind, duration, codecs) = (other.kind, other.duration, other.codecs)
        (filmOffset, filmLength) = (other.filmOffset, other.filmLength)
        sidecars = other.sidecars
        unseenBy = other.unseenBy
        contentIdentifier = other.contentIdentifier ?? contentIdentifier
        caption = caption ?? other.caption
        camera = other.camera ?? camera
        if other.takenAt != nil, dateSource != .person { takeDate(of: other) }
    }

    package func hasDate(of other: Photo) -> Bool {
        takenAt == other.takenAt && datePrecision == other.datePrecision && takenOffset == other.takenOffset
            && dateSource == other.dateSource
    }

    /// The moment of its date, for programs that know no clocks but UTC's.
    public var shownMoment: Timestamp { takenAt.map { $0.moment(offset: takenOffset) } ?? createdAt }

    /// The date that lists sort and filter by; of a photo without one, when it was added, in UTC.
    public var shownAt: LocalDateTime { takenAt ?? LocalDateTime(utc: createdAt) }
}

/// A photo in the trash: what it was, and when it goes for good.
public struct TrashedPhoto: Codable, Sendable, Equatable {
    public let photo: Photo
    /// The category it was in, which may be gone by now.
    public let categoryName: String
    public let deletedAt: Timestamp
    public let purgeAfter: Timestamp

    public init(photo: Photo, categoryName: String, deletedAt: Timestamp, purgeAfter: Timestamp) {
        self.photo = photo
        self.categoryName = categoryName
        self.deletedAt = deletedAt
        self.purgeAfter = purgeAfter
    }
}
