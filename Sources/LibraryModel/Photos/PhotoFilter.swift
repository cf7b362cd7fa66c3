import ServiceMesh

/// Which photos are meant: those that meet every filter given; without any, all of the library.
///
/// It is declared once, and the messages that take it hold it (``FilteredMessage``). As JSON its members stand among those of
/// the message: `{"words":["sea"],"categoryId":5,"limit":100}`.
public struct PhotoFilter: Codable, Sendable, Hashable {
    /// Anywhere in name, caption, ``Photo/sourceName`` or the category's name; case and diacritics ignored; `%`, `_`, quotes and
    /// emoji are literal. The whole path of a photo's file finds it; a part of it does not.
    public var text: String?
    /// Each of them somewhere there, in any order, as `text` is; 16 at most.
    public var words: [String]?
    /// One that is not there has no photos.
    public var categoryId: Int64?
    /// Inclusive, by the date taken on the camera's clock, else the date added in UTC.
    public var from: LocalDateTime?
    public var to: LocalDateTime?
    /// Whether photos are favourites, or are none; both unless told.
    public var favoritesOnly: Bool?
    /// Whether a review has decided about the picture as it is now; both unless told.
    public var reviewed: Bool?
    /// Only those about which a review decided this last.
    public var decision: SwipeAction?
    /// Words of its camera's name ("Apple iPhone 12"), which must all be in it, in any order; case and diacritics ignored.
    public var camera: String?
    /// Whether its camera is known; both unless told.
    public var hasCamera: Bool?
    /// Only pictures, only those that move, or only films; all unless told.
    public var kind: PhotoKind?

    public init(
        text: String? = nil, words: [String]? = nil, categoryId: Int64? = nil, from: LocalDateTime? = nil,
        to: LocalDateTime? = nil, favoritesOnly: Bool? = nil, reviewed: Bool? = nil, decision: SwipeAction? = nil,
        camera: String? = nil, hasCamera: Bool? = nil, kind: PhotoKind? = nil
    ) {
        self.text = text
        self.words = words
        self.categoryId = categoryId
        self.from = from
        self.to = to
        self.favoritesOnly = favoritesOnly
        self.reviewed = reviewed
        self.decision = decision
        self.camera = camera
        self.hasCamera = hasCamera
        self.kind = kind
    }
}

/// A message about the photos that a filter lets pass. It is coded as one object, the filter's members among its own: a
/// client that knows the filter of one such message knows that of all.
public protocol FilteredMessage: Message {
    var filter: PhotoFilter { get }
}
