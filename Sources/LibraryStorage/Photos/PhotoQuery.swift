import LibraryModel
import ServiceMesh
import TextFolding

/// One page of a search. A page begins where the one before ended (by date and id, not by offset), so that it stays
/// right while photos are added.
package struct PhotoQuery: Sendable {
    package private(set) var filter: IndexFilter
    /// Nil where every photo that passes the filter is meant.
    package let words: SearchWords?
    package let limit: Int

    /// - Throws: `invalid_argument`.
    package init(_ wanted: PhotoFilter, after cursor: String? = nil, limit: Int? = nil) throws {
        self.limit = try PageLimit.validated(limit)
        filter = try IndexFilter(wanted, after: cursor)
        words = try SearchWords(wanted)
    }

    /// - Throws: `invalid_argument`.
    package init(_ request: SearchPhotos) throws {
        try self.init(request.filter, after: request.after, limit: request.limit)
    }

    /// The same for somebody who sees no more than these categories; nil for all.
    package func within(_ scope: CategoryScope?) -> PhotoQuery {
        var narrower = self
        narrower.filter = filter.within(scope)
        return narrower
    }
}

/// One page of the ids of photos, in the order of ids.
package struct PhotoIDQuery: Sendable {
    package private(set) var filter: IndexFilter
    /// Nil where every photo that passes the filter is meant.
    package let words: SearchWords?
    /// Those greater than it.
    package let after: Int64
    package let last: Int64
    package let limit: Int

    /// - Throws: `invalid_argument`.
    package init(_ request: SelectPhotos) throws {
        let limits = 1...SelectPhotos.maximumLimit
        limit = request.limit ?? limits.upperBound
        guard limits.contains(limit) else {
            throw MeshError(.invalidArgument, "'limit' is between \(limits.lowerBound) and \(limits.upperBound).")
        }
        if let first = request.firstId, let last = request.lastId, first > last {
            throw MeshError(.invalidArgument, "'firstId' must not be greater than 'lastId'.")
        }
        filter = try IndexFilter(request.filter)
        words = try SearchWords(request.filter)
        // No photo has the least of all numbers, so none is lost before it.
        let first = request.firstId.map { $0 == .min ? $0 : $0 - 1 } ?? .min
        after = max(first, request.after ?? .min)
        last = request.lastId ?? .max
    }

    /// As ``PhotoQuery/within(_:)``.
    package func within(_ scope: CategoryScope?) -> PhotoIDQuery {
        var narrower = self
        narrower.filter = filter.within(scope)
        return narrower
    }
}

/// One page of the photos that have sealed fields, in the order of all lists.
package struct SealedPhotoQuery: Sendable {
    package let limit: Int
    /// Photos stand before it; nil for the first page.
    package let end: PhotoPlace?

    /// - Throws: `invalid_argument`.
    package init(_ request: ListSealedPhotos) throws {
        limit = try PageLimit.validated(request.limit)
        end = try request.after.map(PhotoPlace.init)
    }
}

/// Items on one page.
package enum PageLimit {
    package static let range = 1...1000
    package static let standard = 100

    /// - Throws: `invalid_argument`.
    package static func validated(_ limit: Int?) throws -> Int {
        guard let limit else { return standard }
        guard range.contains(limit) else {
            throw MeshError(.invalidArgument, "'limit' is between \(range.lowerBound) and \(range.upperBound).")
        }
        return limit
    }
}

/// What must all be found in a photo, in any order: at least one text.
package struct SearchWords: Sendable {
    package static let maximumCount = 16

    package let texts: [SearchText]

    /// Nil where every photo contains them.
    /// - Throws: `invalid_argument` for too many, or for a long one.
    package init?(_ filter: PhotoFilter) throws { try self.init(text: filter.text, words: filter.words) }

    /// The same of texts that stand in no filter.
    package init?(text: String?, words: [String]?) throws {
        guard (words?.count ?? 0) <= Self.maximumCount else {
            throw MeshError(.invalidArgument, "A search has \(Self.maximumCount) words at most. Leave some out.")
        }
        texts = try ([text] + (words ?? [])).compactMap { try SearchText($0) }
        if texts.isEmpty { return nil }
    }

    package var folded: [String] { texts.map(\.folded) }
}

/// The text of a search, folded as the photos' own texts are.
package struct SearchText: Sendable {
    package static let maximumLength = 1000

    package let folded: String
    /// The text, where it is the path of a photo's file in the library: such names are found as a whole only.
    package let path: String?

    /// Nil for none, and for one that folding leaves nothing of: every photo contains it.
    /// - Throws: `invalid_argument` over ``maximumLength`` characters.
    package init?(_ text: String?) throws {
        guard let text, !text.isEmpty else { return nil }
        guard text.count <= Self.maximumLength, text.utf8.count <= Self.maximumLength * 16 else {
            throw MeshError(.invalidArgument, "A search text has 1,000 characters at most. Shorten it.")
        }
        folded = text.searchFolded
        path = StoredName(path: text).flatMap { $0.kind == .photos ? $0.path : nil }
        if folded.isEmpty { return nil }
    }
}
