/// What lies beside a picture says about it. Everything is checked: what could not be is missing.
public struct SidecarFacts: Equatable, Sendable {
    /// Characters that a caption keeps; the library takes no more.
    public static let captionLength = 2_000

    /// Scans of old photographs have dates before computers; before photography there is none.
    static let firstYear = 1800

    /// Not before 1800, and at most a day after the `now` that the reader was given.
    public var taken: CaptureTime?
    /// One line without control characters, at most ``captionLength`` characters, never empty.
    public var caption: String?
    /// Google's mark. XMP has none: a ``rating`` of 5 is what comes closest.
    public var isFavorite: Bool?
    /// 0 to 5; XMP's -1 ("rejected") is none.
    public var rating: Int?
    /// Degrees north, -90 to 90; there only together with ``longitude``. Says where a child was: for sealed fields
    /// alone.
    public var latitude: Double?
    /// Degrees east, -180 to 180.
    public var longitude: Double?
    /// Of a Takeout document the name that the picture had when it was taken over, which is longer than the file's name
    /// where that was cut; of XMP its title. One line, at most ``captionLength`` characters.
    public var title: String?

    public init() {}

    /// Takes both or neither. 0° N 0° E is what programs write who do not know.
    mutating func setLocation(latitude: Double, longitude: Double) {
        guard latitude.isFinite, longitude.isFinite, abs(latitude) <= 90, abs(longitude) <= 180,
            latitude != 0 || longitude != 0
        else { return }
        self.latitude = latitude
        self.longitude = longitude
    }
}
