import Database
import LibraryStorage

extension SearchWords {
    /// Trigrams asked for at once. More would cost and hardly sieve better; the rows are compared anyway.
    private static let maximumTrigrams = 16

    /// What the text index is asked for; nil where all are under three characters, of which it knows nothing directly.
    var sieve: Sieve? {
        let long = texts.filter { $0.folded.unicodeScalars.count >= 3 }
        guard !long.isEmpty else { return nil }
        let share = max(1, Self.maximumTrigrams / long.count)
        return Sieve(all: long.flatMap { $0.trigrams(maximum: share) })
    }

    /// Whether the text index answers for every photo, and no row has to be compared: there is one word, a trigram itself,
    /// and not one that may be partly of a mark.
    var isTrigram: Bool {
        texts.count == 1 && texts[0].folded.unicodeScalars.count == 3 && !texts[0].folded.unicodeScalars.contains("\n")
    }

    /// For texts of one or two characters: every trigram of the catalogue that begins with the longest. Nil where they
    /// are too many.
    func shortSieve(in connection: Connection) throws -> Sieve? {
        let longest = texts.max { $0.folded.unicodeScalars.count < $1.folded.unicodeScalars.count }
        return try longest?.shortSieve(in: connection)
    }
}

extension SearchText {
    /// Trigrams that a text of one or two letters may begin. With more of them it is as quick to look at the photos.
    private static let maximumBeginnings = 400

    /// Of a text of three characters or more. Every second one: they still overlap, and it takes half the time. Spread over
    /// a long text, and the last one in any case.
    fileprivate func trigrams(maximum: Int) -> [String] {
        let characters = Array(folded.unicodeScalars)
        let last = characters.count - 3
        let step = max(2, (last + 1) / maximum)
        let starts = Set(stride(from: 0, through: last, by: step).prefix(maximum - 1)).union([last])
        return starts.sorted().map { String(String.UnicodeScalarView(characters[$0..<$0 + 3])) }
    }

    fileprivate func shortSieve(in connection: Connection) throws -> Sieve? {
        let trigrams = try connection.query(
            "SELECT term FROM photo_search_terms WHERE term >= ? AND term <= ? LIMIT ?", folded,
            folded + "\u{10FFFF}\u{10FFFF}", Self.maximumBeginnings + 1
        ) { try $0[0] as String }
        return trigrams.count <= Self.maximumBeginnings ? Sieve(any: trigrams) : nil
    }
}

/// A question to the text index: photos with all of some trigrams, or with any of them.
struct Sieve {
    private let texts: String
    private var mark: String?
    /// Nothing passes.
    let isEmpty: Bool
    /// Those that a photo must all have; none where one is enough.
    let required: [String]

    /// In the syntax of FTS5. Every trigram is in quotes, so nothing in it is an operator.
    var expression: String { mark.map { "(\(texts)) AND \(Self.quoted($0))" } ?? texts }

    init(all trigrams: [String]) {
        texts = trigrams.map(Self.quoted).joined(separator: " AND ")
        isEmpty = false
        required = trigrams
    }

    init(any trigrams: [String]) {
        texts = trigrams.map(Self.quoted).joined(separator: " OR ")
        isEmpty = trigrams.isEmpty
        required = []
    }

    /// The same of photos that have this mark of a filter (``SQLFilter/mark``) alone.
    func marked(_ mark: String?) -> Sieve {
        var narrower = self
        narrower.mark = mark
        return narrower
    }

    /// The same without the trigrams that most photos have, such as those of `img_`: they sieve nothing, and to walk
    /// their long lists takes most of the time. One stays in any case.
    func withoutFrequent(in connection: Connection) throws -> Sieve {
        guard required.count > 1 else { return self }
        let statement = PhotoStatement.frequencies(required, newest: Self.sample)
        let counts = try connection.first(statement.sql, values: statement.values) { row in
            try required.indices.map { try row[$0] as Int }
        }
        guard let counts, let least = counts.min() else { return self }
        let kept = zip(required, counts).filter { $1 <= max(least, Self.sample / 4) }.map(\.0)
        return kept.count < required.count ? Sieve(all: kept).marked(mark) : self
    }

    /// Photos that show how frequent a trigram is.
    private static let sample = 64

    private static func quoted(_ trigram: String) -> String {
        // By scalars: a quote and what follows it may be one `Character`.
        var quoted = String.UnicodeScalarView("\"".unicodeScalars)
        for scalar in trigram.unicodeScalars {
            if scalar == "\"" { quoted.append(scalar) }
            quoted.append(scalar)
        }
        quoted.append("\"")
        return String(quoted)
    }
}
