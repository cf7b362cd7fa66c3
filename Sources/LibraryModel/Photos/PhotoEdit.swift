import ServiceMesh

// What a person may change of a photo: the messages, the rules, and how a restore compares it. A new such field has its lines here.

/// Changes what is given of one photo and keeps the rest, all at once. What describes its file (path, size, digest,
/// pixels) is not for a person to change. Errors: `not_found` for the photo or the category; `invalid_argument` for
/// nothing to change, a date and a shift at once, an offset past 16 hours, a name over ``maximumNameLength`` or with control characters, a caption over
/// ``SetCaption/maximumLength``.
public struct EditPhoto: Message {
    public typealias Reply = Photo
    public static let method = "photo.edit"
    public static let access = Role.parent
    public static let kind = MessageKind.write
    public static let summary = "Changes a photo's name, caption, category, mark or date."
    /// Characters, after trimming.
    public static let maximumNameLength = 500
    public let id: Int64
    /// An empty text removes it: the photo is shown under its file's name then.
    public let name: String?
    /// An empty text removes it.
    public let caption: String?
    public let categoryId: Int64?
    public let isFavorite: Bool?
    /// By which lists sort and filter from then on; the file's own EXIF stays as it is.
    public let takenAt: LocalDateTime?
    /// How far `takenAt` is known, the second unless told; alone, how far the date that the photo has is. What is less is
    /// dropped: of 1978-08-12 known to the month, lists and the page say August 1978.
    public let datePrecision: DatePrecision?
    /// Minutes that the camera's clock was ahead of UTC, -960…960. Of a date that is no guess, it makes one that a person said.
    public let takenOffset: Int?
    /// Milliseconds by which the date is moved, as where a camera's clock was wrong; not together with `takenAt`.
    public let shift: Int64?

    public init(
        id: Int64, name: String? = nil, caption: String? = nil, categoryId: Int64? = nil, isFavorite: Bool? = nil,
        takenAt: LocalDateTime? = nil, datePrecision: DatePrecision? = nil, takenOffset: Int? = nil,
        shift: Int64? = nil
    ) {
        self.id = id
        self.name = name
        self.caption = caption
        self.categoryId = categoryId
        self.isFavorite = isFavorite
        self.takenAt = takenAt
        self.datePrecision = datePrecision
        self.takenOffset = takenOffset
        self.shift = shift
    }
}

/// Changes what is given of several photos alike, as ``EditPhoto`` does of one: all or none. Other writes wait meanwhile, some 0.1 ms for
/// each photo, which is why there are few in one request.
/// Errors: those of ``EditPhoto``, naming the first photo that is not there; `invalid_argument` for none or more than ``maximumCount``.
public struct EditPhotos: Message {
    public typealias Reply = EditedPhotos
    public static let method = "photo.editAll"
    public static let access = Role.parent
    public static let kind = MessageKind.write
    public static let summary = "Changes the caption or the date of several photos alike."
    /// Photos in one request.
    public static let maximumCount = 100
    public let ids: [Int64]
    /// An empty text removes it.
    public let caption: String?
    /// See ``EditPhoto``; so too the next three.
    public let takenAt: LocalDateTime?
    public let datePrecision: DatePrecision?
    public let takenOffset: Int?
    public let shift: Int64?
    /// What names no photo is passed over, and not refused: a selection may be older than the last change.
    public let ignoreMissing: Bool?

    public init(
        ids: [Int64], caption: String? = nil, takenAt: LocalDateTime? = nil, datePrecision: DatePrecision? = nil,
        takenOffset: Int? = nil, shift: Int64? = nil, ignoreMissing: Bool? = nil
    ) {
        self.ids = ids
        self.caption = caption
        self.takenAt = takenAt
        self.datePrecision = datePrecision
        self.takenOffset = takenOffset
        self.shift = shift
        self.ignoreMissing = ignoreMissing
    }
}

public struct EditedPhotos: Codable, Sendable, Equatable {
    /// As they are now, in the order in which they were named, each once.
    public let photos: [Photo]
    public init(photos: [Photo]) { self.photos = photos }
}

/// What a person changes of a photo, after the rules have been applied.
package struct PhotoEdit: Sendable {
    private let name: String?
    private let caption: String?
    private let category: Int64?
    private let isFavorite: Bool?
    private let takenAt: LocalDateTime?
    private let datePrecision: DatePrecision?
    private let takenOffset: Int?
    private let shift: Int64?

    /// - Throws: `invalid_argument`.
    package init(_ request: EditPhoto) throws {
        name = try request.name.map(Self.validated(name:))
        caption = try request.caption.map(Self.validated(caption:))
        category = request.categoryId
        isFavorite = request.isFavorite
        takenAt = request.takenAt
        datePrecision = request.datePrecision
        takenOffset = request.takenOffset
        shift = request.shift
        guard takenAt == nil || shift == nil else {
            throw MeshError(.invalidArgument, "Give a date or a shift, not both.")
        }
        guard takenAt.map({ LocalDateTime.years.contains($0.milliseconds) }) ?? true else {
            throw MeshError(.invalidArgument, "A photo's date is in the years 1 to 9999.")
        }
        guard takenOffset.map(Self.offsets.contains) ?? true else {
            throw MeshError(.invalidArgument, "An offset from UTC is -960 to 960 minutes.")
        }
        guard
            name != nil || caption != nil || category != nil || isFavorite != nil || takenAt != nil
                || datePrecision != nil || takenOffset != nil || shift != nil
        else {
            throw MeshError(
                .invalidArgument,
                "Say what changes: 'name', 'caption', 'categoryId', 'isFavorite', 'takenAt', 'datePrecision', "
                    + "'takenOffset' or 'shift'.")
        }
    }

    /// - Throws: `invalid_argument`.
    package init(_ request: EditPhotos) throws {
        try self.init(
            EditPhoto(
                id: 0, caption: request.caption, takenAt: request.takenAt, datePrecision: request.datePrecision,
                takenOffset: request.takenOffset, shift: request.shift))
    }

    /// Minutes; more than any zone has had.
    private static let offsets = -960...960

    private static func validated(name: String) throws -> String {
        let trimmed = name.trimmingWhitespace
        guard trimmed.count <= EditPhoto.maximumNameLength, trimmed.utf8.count <= EditPhoto.maximumNameLength * 16
        else {
            throw MeshError(
                .invalidArgument, "A photo's name has \(EditPhoto.maximumNameLength) characters at most. Shorten it.")
        }
        guard !trimmed.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) else {
            throw MeshError(.invalidArgument, "A photo's name must be one line without control characters.")
        }
        return trimmed
    }

    private static func validated(caption: String) throws -> String {
        let trimmed = caption.trimmingWhitespace
        guard trimmed.count <= SetCaption.maximumLength, trimmed.utf8.count <= SetCaption.maximumLength * 16 else {
            throw MeshError(
                .invalidArgument, "A caption has \(SetCaption.maximumLength) characters at most. Shorten it.")
        }
        return trimmed
    }

    /// - Throws: `invalid_argument` where a shift leads past the years that a calendar has.
    package func applied(to photo: Photo) throws -> Photo {
        var edited = photo
        edited.name = name ?? photo.name
        edited.caption = caption.map { $0.isEmpty ? nil : $0 } ?? photo.caption
        edited.categoryId = category ?? photo.categoryId
        edited.isFavorite = isFavorite ?? photo.isFavorite
        if let clock = try takenAt ?? shift.map({ try photo.shownAt.moved(by: $0) })
            ?? datePrecision.map({ _ in photo.shownAt })
        {
            // A day that was moved by an hour is still known to the day.
            let precision = datePrecision ?? (takenAt == nil ? photo.datePrecision : nil) ?? .second
            (edited.takenAt, edited.datePrecision) = (clock.beginning(of: precision), precision)
            edited.dateSource = .person
        }
        if let takenOffset, takenOffset != photo.takenOffset {
            edited.takenOffset = takenOffset
            // The date is no longer what the picture says, which lists need not mark and an export has to tell. One that is only
            // guessed stays a guess.
            if let source = edited.dateSource, !source.isGuess { edited.dateSource = .person }
        }
        return edited
    }
}

extension LocalDateTime {
    /// The date moved by so many milliseconds.
    /// - Throws: `invalid_argument` where that is past the years that a calendar has.
    fileprivate func moved(by milliseconds: Int64) throws -> LocalDateTime {
        let (moved, overflow) = self.milliseconds.addingReportingOverflow(milliseconds)
        guard !overflow, Self.years.contains(moved) else {
            throw MeshError(
                .invalidArgument, "Moved by so much, the date of the photo would be past the years 1 to 9999.")
        }
        return LocalDateTime(milliseconds: moved)
    }
}

/// What a person may change of a photo, as restores compare it, take it over and give it back. The category is not among them: which
/// one it is here is found out first.
package struct EditableField: Sendable {
    package let name: String
    /// Whether another program's backup says it of this photo: those say nothing of names and dates.
    package let isSaidByOthers: @Sendable (Photo) -> Bool
    package let isEqual: @Sendable (Photo, Photo) -> Bool
    /// What was there, as a person is told; nil where nothing was.
    package let text: @Sendable (Photo) -> String?
    package let copy: @Sendable (_ source: Photo, _ target: inout Photo) -> Void

    package static let all = [
        EditableField(
            name: "name", isSaidByOthers: { _ in false }, isEqual: { $0.name == $1.name }, text: { "'\($0.name)'" },
            copy: { $1.name = $0.name }),
        EditableField(
            name: "caption", isSaidByOthers: { $0.caption != nil }, isEqual: { $0.caption == $1.caption },
            text: { $0.caption.map { "'\($0)'" } }, copy: { $1.caption = $0.caption }),
        EditableField(
            name: "favourite mark", isSaidByOthers: { _ in true }, isEqual: { $0.isFavorite == $1.isFavorite },
            text: { $0.isFavorite ? "set" : nil }, copy: { $1.isFavorite = $0.isFavorite }),
        EditableField(
            name: "date", isSaidByOthers: { _ in false },
            isEqual: { $0.hasDate(of: $1) }, text: { $0.takenAt.map { "\($0)" } }, copy: { $1.takeDate(of: $0) }),
        EditableField(
            name: "rotation", isSaidByOthers: { _ in false }, isEqual: { $0.rotation == $1.rotation },
            text: { $0.rotation.map { "\($0.rawValue)°" } },
            copy: { if $1.turningRefusal == nil { $1.turn(to: $0.rotation) } }),
    ]
}
