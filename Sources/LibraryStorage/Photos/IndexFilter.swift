import LibraryModel
import ServiceMesh
import TextFolding

/// Every filter of a search but its text, and the place before which its page begins: all that an index can answer
/// alone, in order.
///
/// There is one upper bound, the lower of the cursor and `to`: of two, a database may use only one, and with the wrong
/// one each page would walk over all those before it.
package struct IndexFilter: Sendable {
    /// As it was asked for. A member that has no form of its own here is read from it.
    package let wanted: PhotoFilter
    package let review: ReviewFilter
    package let camera: CameraFilter
    /// The earliest date, milliseconds.
    package private(set) var from: Int64?
    /// The one category that photos must be of; nil for several.
    package private(set) var category: Int64?
    /// The categories, ascending, of which each photo must be of one, where they are two or more and not all of them; else nil.
    package private(set) var categories: [Int64]?
    /// Photos stand before it, in the order of dates and ids; nil for all.
    package private(set) var end: PhotoPlace?
    /// The same for all pages together: where `to` ends.
    private let endOfAll: PhotoPlace?

    /// - Throws: `invalid_argument`.
    /// - Parameter cursor: of the page before; nil for the first one.
    package init(_ wanted: PhotoFilter, after cursor: String? = nil) throws {
        if let from = wanted.from, let to = wanted.to, from > to {
            throw MeshError(.invalidArgument, "'from' must not be later than 'to'.")
        }
        self.wanted = wanted
        category = wanted.categoryId
        review = try ReviewFilter(reviewed: wanted.reviewed, decision: wanted.decision)
        camera = try CameraFilter(words: wanted.camera, isKnown: wanted.hasCamera)
        from = wanted.from?.milliseconds
        endOfAll = wanted.to.flatMap { $0.milliseconds < .max ? PhotoPlace(date: $0.milliseconds + 1, id: .min) : nil }
        end = endOfAll
        if let cursor = try cursor.map(PhotoPlace.init) { end = min(end ?? cursor, cursor) }
    }

    /// The same without the place at which the page begins.
    package var ofAllPages: IndexFilter {
        var wider = self
        wider.end = endOfAll
        return wider
    }

    /// Whether photos must be favourites, or must be none; nil for all.
    package var isFavorite: Bool? { wanted.favoritesOnly }
    package var favoritesOnly: Bool { isFavorite == true }

    package var isWithoutDates: Bool { from == nil && end == nil }

    /// The same, but only what is of these categories; nil for all.
    package func within(_ scope: CategoryScope?) -> IndexFilter {
        guard let scope else { return self }
        var narrower = self
        if let category {
            if !scope.ids.contains(category) { narrower.category = Self.noCategory }
        } else if let categories {
            narrower.choose(scope.ids.intersection(categories))
        } else {
            narrower.choose(scope.ids)
        }
        return narrower
    }

    private mutating func choose(_ ids: Set<Int64>) {
        category = ids.count > 1 ? nil : ids.first ?? Self.noCategory
        categories = ids.count > 1 ? ids.sorted() : nil
    }

    /// A number that no category has: one that is not there has no photos.
    private static let noCategory = Int64.min

    /// The same, but only what is shown at `date` or later.
    package func since(_ date: Int64) -> IndexFilter {
        var narrower = self
        narrower.from = max(from ?? date, date)
        return narrower
    }

    /// The same, but only what stands before `place`.
    package func before(_ place: PhotoPlace) -> IndexFilter {
        var narrower = self
        narrower.end = min(end ?? place, place)
        return narrower
    }
}

/// What reviews must have said of a photo's picture, as it is now.
package enum ReviewFilter: Sendable, Equatable {
    case any
    case notReviewed
    case reviewed
    case decided(SwipeAction)

    /// - Throws: `invalid_argument` for a decision of photos that have none.
    init(reviewed: Bool?, decision: SwipeAction?) throws {
        switch (reviewed, decision) {
        case (nil, nil): self = .any
        case (true?, nil): self = .reviewed
        case (false?, nil): self = .notReviewed
        case (false?, _?):
            throw MeshError(
                .invalidArgument, "Photos that are not reviewed have no decision. Ask for one of the two.")
        case (_, let decision?): self = .decided(decision)
        }
    }
}

/// With which camera photos must have been taken.
package enum CameraFilter: Sendable, Equatable {
    case any
    case unknown
    /// One whose folded name has each of these, folded too: any that is known, where there are none.
    case named([String])

    /// - Throws: `invalid_argument` for words of a camera that is not known, and as ``SearchWords``.
    init(words: String?, isKnown: Bool?) throws {
        let words = words.map { $0.split(whereSeparator: \.isWhitespace).map(String.init) } ?? []
        let folded = try SearchWords(text: nil, words: words)?.folded ?? []
        switch (folded.isEmpty, isKnown) {
        case (true, nil): self = .any
        case (true, false?): self = .unknown
        case (false, false?):
            throw MeshError(
                .invalidArgument, "Photos of which no camera is known have no words of one. Ask for one of the two.")
        case (_, _): self = .named(folded)
        }
    }

    /// Whether a camera of this name passes.
    package func passes(_ name: String) -> Bool {
        guard case .named(let words) = self else { return false }
        let name = name.searchFolded
        return words.allSatisfy { name.contains($0) }
    }
}

/// Where a photo stands in every list: by its date, then by its id. As text (`date.id`) it is the cursor, which for
/// clients is opaque.
package struct PhotoPlace: Comparable, Sendable {
    package let date: Int64
    package let id: Int64

    package init(date: Int64, id: Int64) {
        self.date = date
        self.id = id
    }

    package init(_ photo: Photo) { self.init(date: photo.shownAt.milliseconds, id: photo.id) }

    /// - Throws: `invalid_argument`.
    package init(_ text: String) throws {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 2, let date = Int64(parts[0]), let id = Int64(parts[1]) else {
            throw MeshError(.invalidArgument, "'after' takes the 'next' of the page before, as it was.")
        }
        self.init(date: date, id: id)
    }

    package var text: String { "\(date).\(id)" }

    package static func < (left: PhotoPlace, right: PhotoPlace) -> Bool {
        (left.date, left.id) < (right.date, right.id)
    }
}
