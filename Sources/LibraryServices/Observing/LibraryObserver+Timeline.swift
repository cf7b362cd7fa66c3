import LibraryModel
import LibraryStorage
import ServiceMesh

/// Counts by month and by day, kept until photos change.
extension LibraryObserver {
    /// What was found, and how often what it depends on had changed before that was read.
    struct KeptSpans {
        /// What was asked for, and of which categories it was read; nil for all.
        struct Key: Hashable {
            let request: GetTimeline
            let scope: CategoryScope?
        }

        let revision: UInt64
        let spans: [PhotoSpan]
    }

    /// Filters and months whose counts are kept.
    private static let mostKept = 32

    func timeline(_ request: GetTimeline) async throws -> PhotoTimeline {
        let viewer = access.viewer
        let scope = viewer == .anybody ? nil : try await catalogue.read { try viewer.scope(in: $0) }
        let query = try PhotoQuery(request.filter).within(scope)
        let months = try await spans(request.of(month: nil), scope) {
            try $0.photos.months(query, most: GetTimeline.maximumMonths)
        }
        let count = months.reduce(0) { $0 + $1.count }
        guard let name = request.month else {
            return PhotoTimeline(count: count, months: Self.list(months, from: 0, areDays: false))
        }
        guard let month = CalendarSpan.month(named: name) else {
            throw MeshError(.invalidArgument, "'month' is written 2025-06.")
        }
        let days = try await spans(request, scope) {
            try $0.photos.days(query, of: month, anchorDistance: GetTimeline.anchorDistance)
        }
        let before = months.prefix { $0.span.start > month.start }.reduce(0) { $0 + $1.count }
        return PhotoTimeline(count: count, days: Self.list(days, from: before, areDays: true))
    }

    private func spans(
        _ request: GetTimeline, _ scope: CategoryScope?,
        _ read: @escaping @Sendable (any CatalogueTransaction) throws -> [PhotoSpan]
    ) async throws -> [PhotoSpan] {
        let key = KeptSpans.Key(request: request, scope: scope)
        // Before it is read: a change in between makes what was found old, even where it was seen.
        let revision = revision(ofSearch: request.filter)
        if let kept = keptSpans[key], kept.revision == revision { return kept.spans }
        let spans = try await catalogue.read(read)
        if keptSpans.count >= Self.mostKept { keptSpans = [:] }
        keptSpans[key] = KeptSpans(revision: revision, spans: spans)
        return spans
    }

    private static func list(_ spans: [PhotoSpan], from offset: Int, areDays: Bool) -> [TimelineSpan] {
        var offset = offset
        return spans.map { span in
            defer { offset += span.count }
            // All photos of a date stand after the greatest id of the next one.
            let start = PhotoPlace(date: span.span.end, id: .min)
            return TimelineSpan(
                date: span.span.name, count: span.count, offset: offset, after: start.text,
                anchors: areDays ? span.anchors.map(\.text) : nil)
        }
    }
}

extension GetTimeline: HandledMessage {
    public func perform(on service: LibraryObserver) async throws -> PhotoTimeline { try await service.timeline(self) }
}
