import Foundation

/// What lies beside a picture says about it. Everything is checked: what could not be is missing.
///
/// Not the shape of what a picture says itself (`PictureFacts`): its date may be an instant, its caption no more than a title, and
/// where a library has written it, what is missing here counts too.
public struct SidecarFacts: Equatable, Sendable {
    /// Characters that a caption keeps; the library takes no more.
    public static let captionLength = 2_000

    /// 1800-01-01. Scans of old photographs have dates before computers; before photography there is none.
    static let firstMoment: Int64 = -5_364_662_400_000

    /// Not before 1800, and at most a day after the `now` that the reader was given.
    public var taken: CaptureTime?
    /// One line without control characters, at most ``captionLength`` characters, never empty; of an ``entry`` with the lines
    /// that it had. Of XMP its description, or else its ``title``, unless that is a file's name.
    public var caption: String?
    /// The caption is XMP's title, which any description goes before.
    var isCaptionTitle = false
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
    /// Of XMP what it says whose it is where several files are called alike (`photoshop:SidecarForExtension`): the
    /// extension without its dot, as it is written there.
    public var fileExtension: String?
    /// There where the sidecar was written by a library of this program (``XMPDocument``). Then it stands for all that the
    /// library knew: a caption, a mark or a date that is missing was missing there, and nothing else is to be asked for it.
    public var entry: LibraryEntry?

    public init() {}

    /// Reads the contents of a sidecar as what its name says it is: ``TakeoutDocument`` where that ends in `.json`,
    /// else ``XMPSidecar``.
    /// - Parameter now: milliseconds since 1970 UTC.
    public init(_ data: Data, named name: String, now: Int64) throws(SidecarError) {
        let isTakeout = FolderName(name.utf8).dropping(".json") != nil
        guard !isTakeout else {
            self = try TakeoutDocument(data, now: now).facts
            return
        }
        self = try XMPSidecar(data, now: now).facts
        if caption == nil, entry == nil, let title, !XMPTitle.isFileName(title, besides: name) {
            caption = title
            isCaptionTitle = true
        }
    }

    /// These, and of `others` what is missing here: for a picture with several sidecars, in the order of its
    /// ``SidecarSelection``. A place is taken whole. A title is the caption only where none of them has a description. What a
    /// library has written goes before the rest, wherever it stands.
    public func merging(_ others: SidecarFacts) -> SidecarFacts {
        if entry == nil, others.entry != nil { return others.merging(self) }
        var facts = self
        if entry != nil {
            facts.title = title ?? others.title
            facts.fileExtension = fileExtension ?? others.fileExtension
            if latitude == nil { (facts.latitude, facts.longitude) = (others.latitude, others.longitude) }
            return facts
        }
        facts.taken = taken ?? others.taken
        if caption == nil || isCaptionTitle && others.caption != nil && !others.isCaptionTitle {
            facts.caption = others.caption
            facts.isCaptionTitle = others.isCaptionTitle
        }
        facts.isFavorite = isFavorite ?? others.isFavorite
        facts.rating = rating ?? others.rating
        facts.title = title ?? others.title
        facts.fileExtension = fileExtension ?? others.fileExtension
        if latitude == nil {
            facts.latitude = others.latitude
            facts.longitude = others.longitude
        }
        return facts
    }

    /// Takes both or neither. 0° N 0° E is what programs write who do not know.
    mutating func setLocation(latitude: Double, longitude: Double) {
        guard latitude.isFinite, longitude.isFinite, abs(latitude) <= 90, abs(longitude) <= 180,
            latitude != 0 || longitude != 0
        else { return }
        self.latitude = latitude
        self.longitude = longitude
    }
}
