import Database

/// A question to the text index: photos with all of some trigrams, or with any of them.
struct Sieve {
    private let texts: String
    private var mark: String?
    /// Nothing passes.
    let isEmpty: Bool
    /// The trigrams that a photo must all have; none where one is enough.
    let required: [String]
    /// What a photo must pass besides.
    private let others: [Sieve]

    /// In the syntax of FTS5. Every trigram is in quotes, so nothing in it is an operator.
    var expression: String { mark.map { "(\(texts)) AND \(Self.quoted($0))" } ?? texts }

    /// - Parameter others: sieves that a photo must pass as well.
    init(all trigrams: [String], and others: [Sieve] = []) {
        texts = (trigrams.map(Self.quoted) + others.map { "(\($0.expression))" }).joined(separator: " AND ")
        isEmpty = false
        required = trigrams
        self.others = others
    }

    init(any trigrams: [String]) {
        texts = trigrams.map(Self.quoted).joined(separator: " OR ")
        isEmpty = trigrams.isEmpty
        required = []
        others = []
    }

    /// The same, and all photos of some categories too.
    func or(ofCategories categories: [Int64]) -> Sieve {
        guard !categories.isEmpty else { return self }
        let marks = categories.compactMap { SearchMark.trigram(category: $0, favoritesOnly: false) }
        let ofCategories = Sieve(any: marks)
        return isEmpty ? ofCategories : Sieve(any: [self, ofCategories])
    }

    private init(any sieves: [Sieve]) {
        texts = sieves.map { "(\($0.expression))" }.joined(separator: " OR ")
        isEmpty = false
        required = []
        others = []
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
        return kept.count < required.count ? Sieve(all: kept, and: others).marked(mark) : self
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
