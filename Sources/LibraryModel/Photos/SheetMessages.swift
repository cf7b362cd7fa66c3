import ServiceMesh

/// One page of a contact sheet: the photos that meet every filter given, newest first, in a grid on A4 (upright, 200 pixels an
/// inch), each with its name, its date on the camera's clock and the colour of its category. The file is in memory and in no
/// folder; where it is to be written is for the one who asks. Over a socket it comes as ``OpenPhoto``'s does.
///
/// Letters are drawn with the fonts that the daemon's machine has; a character that none of them has shows as a box. Arabic
/// and Hebrew stand letter by letter, from left to right. A photo whose file cannot be opened has an empty place that says so.
///
/// Errors: `invalid_argument` (as ``SearchPhotos``; columns, a page's number, a long heading), `not_found` (the category),
/// `resource_exhausted` (``maximumAtOnce`` are being made), `unavailable` (no helper could be started).
public struct MakeSheetPage: FilteredMessage {
    public typealias Reply = MadeSheetPage
    public static let method = "photo.sheet"
    public static let access = Role.kid
    public static let kind = MessageKind.read
    public static let replySize = ReplySize.single
    public static let carriesFiles = true
    public static let summary = "A page of a contact sheet, as an open file: photos in a grid, with names and dates."
    public static let columnRange = 1...8
    public static let standardColumns = 4
    /// Unicode scalars of a heading.
    public static let headingLength = 200
    /// Pages that are made at the same time: each has 12 MB while it is made.
    public static let maximumAtOnce = 4

    public enum Format: String, Codable, Sendable, CaseIterable {
        case jpeg, png
    }

    public let filter: PhotoFilter
    /// The `next` of the page before.
    public let after: String?
    /// Photos side by side, 1…8; 4 unless told. How many rows there are follows from it.
    public let columns: Int?
    /// `jpeg` unless told.
    public let format: Format?
    /// Above the photos; unless told, the category's name, or "Photos".
    public let heading: String?
    /// Which page it is, 1…100,000, for the line at its foot; without, that is empty.
    public let page: Int?

    public init(
        _ filter: PhotoFilter = PhotoFilter(), after: String? = nil, columns: Int? = nil, format: Format? = nil,
        heading: String? = nil, page: Int? = nil
    ) {
        self.filter = filter
        self.after = after
        self.columns = columns
        self.format = format
        self.heading = heading
        self.page = page
    }

    private enum CodingKeys: CodingKey {
        case after, columns, format, heading, page
    }

    public init(from decoder: any Decoder) throws {
        filter = try PhotoFilter(from: decoder)
        let container = try decoder.container(keyedBy: CodingKeys.self)
        after = try container.decodeIfPresent(String.self, forKey: .after)
        columns = try container.decodeIfPresent(Int.self, forKey: .columns)
        format = try container.decodeIfPresent(Format.self, forKey: .format)
        heading = try container.decodeIfPresent(String.self, forKey: .heading)
        page = try container.decodeIfPresent(Int.self, forKey: .page)
    }

    public func encode(to encoder: any Encoder) throws {
        try filter.encode(to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encodeIfPresent(after, forKey: .after)
        try container.encodeIfPresent(columns, forKey: .columns)
        try container.encodeIfPresent(format, forKey: .format)
        try container.encodeIfPresent(heading, forKey: .heading)
        try container.encodeIfPresent(page, forKey: .page)
    }
}

public struct MadeSheetPage: Codable, Sendable, Equatable {
    /// On this page.
    public let photos: Int
    /// That all photos of the filters make, whatever `after` was.
    public let pages: Int
    /// What to pass as `after` for the next page; absent after the last.
    public let next: String?
    /// `image/jpeg` or `image/png`.
    public let mediaType: String
    /// Pixels.
    public let width: Int
    public let height: Int
    /// Bytes.
    public let size: Int64
    /// Nil over a socket where descriptors were not asked for.
    public let content: OwnedFile?

    public init(
        photos: Int, pages: Int, next: String?, mediaType: String, width: Int, height: Int, size: Int64,
        content: OwnedFile?
    ) {
        self.photos = photos
        self.pages = pages
        self.next = next
        self.mediaType = mediaType
        self.width = width
        self.height = height
        self.size = size
        self.content = content
    }
}
