import LibraryModel
import ServiceMesh

extension Option {
    /// Which photos are meant.
    package static let filters: [Option] = [
        .value("category", "NAME", .category, help: "Only of this category."),
        .value("from", "DATE", .days, help: "Only from here on: 2025, 2025-06, 2025-06-15, today, 7d…"),
        .value("to", "DATE", .days, help: "Only up to the end of this year, month or day."),
        .flag("favorites", help: "Only favourites."),
        .flag("not-favorites", help: "Only photos that are no favourites."),
        .flag("films", help: "Only films."),
        .flag("photos", help: "Only what is no film."),
        .flag("moving", help: "Only photos that move."),
        .flag("reviewed", help: "Only those that a review has decided about."),
        .flag("not-reviewed", help: "Only those that no review has decided about."),
        .value(
            "decision", "DECISION", .words(SwipeAction.allCases.map(\.rawValue)),
            help: "Only those about which the last review decided this."),
        .value(
            "camera", "WORDS", .text,
            help: "Only of a camera with these words in its make or model; 'none': of no camera that is known."),
    ]

    /// What is said of dates wherever ``filters`` can be given.
    package static let datesExplained = """
        Dates are those of the camera's clock, and both ends are included: --from 2025-06 begins with the first of June,
        --to 2025-06 ends with the last. 7d is the day a week ago; w, m and y stand for weeks, months and years.
        """
}

/// Which photos are meant, whichever way a command line says it.
package struct PhotoFilters: Sendable, Equatable {
    /// By id or name, which only a library knows the id of.
    private var category: String?
    /// The rest of them.
    private var filter = PhotoFilter()

    /// Every photo.
    package init() {}

    /// By the options in ``Option/filters``.
    /// - Throws: a usage error for two that exclude each other.
    package init(_ invocation: Invocation, words: [String] = []) throws {
        try self.init(invocation.options.merging([Self.text: words]) { $1 }, invocation)
    }

    /// By the values of `--where`, each of them one of those filters.
    /// - Throws: a usage error for two that exclude each other.
    package init(where texts: [String], of invocation: Invocation) throws {
        var given: [String: [String]] = [:]
        for text in texts {
            let (name, value) = Self.parts(text)
            guard given[name] == nil || name == Self.text else {
                throw invocation.usageError("'--where \(name)' stands there twice.")
            }
            given[name, default: []] += value.map { [$0] } ?? []
        }
        try self.init(given, invocation)
    }

    private init(_ given: [String: [String]], _ invocation: Invocation) throws {
        for name in ["reviewed", "favorites"] where given[name] != nil && given["not-" + name] != nil {
            throw invocation.usageError("--\(name) and --not-\(name) exclude each other.")
        }
        let kinds = [("films", PhotoKind.film), ("photos", .picture), ("moving", .moving)].filter { given[$0.0] != nil }
        if kinds.count > 1 {
            throw invocation.usageError("--\(kinds[0].0) and --\(kinds[1].0) exclude each other.")
        }
        if let words = given[Self.text], !words.isEmpty { filter.words = words }
        category = given["category"]?.last
        filter.from = given["from"]?.last.flatMap { DateSpan($0)?.first }
        filter.to = given["to"]?.last.flatMap { DateSpan($0)?.last }
        filter.favoritesOnly = given["favorites"] != nil ? true : given["not-favorites"] != nil ? false : nil
        filter.kind = kinds.first?.1
        filter.reviewed = given["reviewed"] != nil ? true : given["not-reviewed"] != nil ? false : nil
        filter.decision = given["decision"]?.last.flatMap(SwipeAction.init)
        (filter.camera, filter.hasCamera) = try Self.camera(given["camera"]?.last, invocation)
    }

    /// `none` is no camera at all; with `=` before it, a word as every other.
    private static func camera(
        _ text: String?, _ invocation: Invocation
    ) throws -> (words: String?, isKnown: Bool?) {
        guard let text = text?.trimmingWhitespace else { return (nil, nil) }
        if text.lowercased() == "none" { return (nil, false) }
        let words = text.hasPrefix("=") ? String(text.dropFirst()).trimmingWhitespace : text
        guard !words.isEmpty else {
            throw invocation.usageError(
                "--camera takes words of a camera's name, or none. See: smilepile photos cameras")
        }
        return (words, nil)
    }

    /// The same as a daemon takes it; it costs a request to learn a category's id.
    package func filter(in library: any LibraryConnection) async throws -> PhotoFilter {
        var filter = filter
        if let category { filter.categoryId = try await library.category(named: category).id }
        return filter
    }

    // MARK: What --where takes

    private static let text = "text"

    /// The filters as `--where` has them: the names of the options, and the words of a search.
    private static let known = Option.filters + [.value(text, "WORD", .text, help: "")]

    /// `category=`, `favorites` and so on, as a shell completes them.
    package static let completions = known.map { $0.name + ($0.value == nil ? "" : "=") }

    private static func parts(_ filter: String) -> (name: String, value: String?) {
        let parts = filter.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        return (parts[0], parts.count > 1 ? parts[1] : nil)
    }

    /// What is wrong with a value of `--where`, as the rest of a sentence; nil where nothing is.
    package static func problem(with filter: String) -> String? {
        let (name, value) = parts(filter)
        guard let option = known.first(where: { $0.name == name }) else {
            let forms = known.map { $0.name + ($0.value.map { "=" + $0.name } ?? "") }
            return "must be one of \(forms.joined(separator: ", "))"
                + Spelling.suggestion(for: name, among: known.map(\.name))
        }
        switch (option.value, value) {
        case (nil, nil): return nil
        case (nil, _?): return "\(name) takes no value."
        case (let wanted?, nil), (let wanted?, ""?): return "\(name) needs a value: \(name)=\(wanted.name)"
        case (let wanted?, let value?): return wanted.kind.problem(with: value).map { "\(name) \($0)" }
        }
    }
}
