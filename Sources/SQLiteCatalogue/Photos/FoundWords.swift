import Database
import LibraryModel
import LibraryStorage
import TextFolding

/// The words of a search, looked up: of each, the categories whose names have it. A photo is found where each word is in its
/// own text or in the name of its category. Categories are few: their names are compared one by one, and a category that is
/// renamed costs nothing. Rejected: their names in the photos' texts, which one new name of a category of 100,000 photos would
/// write anew.
struct FoundWords {
    struct Word {
        let text: SearchText
        let categories: [Int64]
    }

    let words: [Word]
    /// The photo that has the search's whole text as its path.
    let photo: Int64?

    init(_ words: SearchWords, in connection: Connection) throws {
        let path = words.texts.count == 1 ? words.texts[0].path : nil
        photo = try path.flatMap { try connection.value("SELECT id FROM photos WHERE path = ?", $0) }
        var names: [(id: Int64, name: String)] = []
        try connection.forEach("SELECT id, display_name FROM categories") { row in
            // One that cannot be read has no words.
            guard let name = row.rawBytes(1).flatMap({ String(validating: $0, as: UTF8.self) }) else { return }
            names.append((try row[0], name.searchFolded))
        }
        self.words = words.texts.map { text in
            Word(text: text, categories: names.filter { $0.name.contains(text.folded) }.map(\.id))
        }
    }

    /// Of photos' own texts alone.
    init(_ words: SearchWords) {
        self.words = words.texts.map { Word(text: $0, categories: []) }
        photo = nil
    }

    /// What each photo that is found meets.
    var condition: SQLFilter.Condition {
        if let photo { return SQLFilter.Condition("p.id = ?", photo) }
        return words.reduce(into: SQLFilter.Condition()) { condition, word in
            // `instr` and not LIKE: `%` and `_` are what they are.
            guard !word.categories.isEmpty else {
                return condition.add("instr(p.search_text, ?) > 0", word.text.folded)
            }
            // One value, however many there are.
            let categories = "[" + word.categories.map(String.init).joined(separator: ",") + "]"
            condition.add(
                "(instr(p.search_text, ?) > 0 OR p.category_id IN (SELECT value FROM json_each(?)))",
                word.text.folded, categories)
        }
    }

    // MARK: What the text index is asked for

    /// Trigrams asked for at once. More would cost and hardly sieve better; the rows are compared anyway.
    private static let maximumTrigrams = 16
    /// Categories asked for at once. With more of them most photos are found, by looking at them.
    private static let maximumCategories = 64

    /// Nil where no word sieves: all are under three characters, of which the text index knows nothing directly, or in the names
    /// of too many categories.
    var sieve: Sieve? {
        let long = words.filter { word in
            word.text.folded.unicodeScalars.count >= 3 && word.categories.count <= Self.maximumCategories
        }
        guard photo == nil, !long.isEmpty else { return nil }
        let share = max(1, Self.maximumTrigrams / long.count)
        let alone = long.filter(\.categories.isEmpty).flatMap { $0.text.trigrams(maximum: share) }
        let others = long.filter { !$0.categories.isEmpty }.map { word in
            Sieve(all: word.text.trigrams(maximum: share)).or(ofCategories: word.categories)
        }
        return Sieve(all: alone, and: others)
    }

    /// Whether the text index answers for every photo, and no row has to be compared: there is one word, a trigram itself,
    /// and not one that may be partly of a mark.
    var isTrigram: Bool {
        guard words.count == 1, words[0].categories.isEmpty, photo == nil else { return false }
        let scalars = words[0].text.folded.unicodeScalars
        return scalars.count == 3 && !scalars.contains("\n")
    }

    /// For texts of one or two characters: every trigram of the catalogue that begins with the longest. Nil where they
    /// are too many.
    func shortSieve(in connection: Connection) throws -> Sieve? {
        let longest = words.max { $0.text.folded.unicodeScalars.count < $1.text.folded.unicodeScalars.count }
        guard photo == nil, let longest, longest.categories.count <= Self.maximumCategories else { return nil }
        return try longest.text.shortSieve(in: connection)?.or(ofCategories: longest.categories)
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
