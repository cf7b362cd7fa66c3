import LibraryModel
import ServiceMesh

/// What a person changes of a photo, after the rules have been applied.
struct PhotoEdit: Sendable {
    private let name: String?
    private let caption: String?
    private let category: Int64?
    private let isFavorite: Bool?
    private let takenAt: LocalDateTime?
    private let datePrecision: DatePrecision?
    private let takenOffset: Int?
    private let shift: Int64?

    /// - Throws: `invalid_argument`.
    init(_ request: EditPhoto) throws {
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
    func applied(to photo: Photo) throws -> Photo {
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
