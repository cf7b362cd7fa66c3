/// What the text index knows of a photo beside its text: its category, and whether it is a favourite. Each photo's entry
/// ends with a mark, of which the index makes trigrams like all others. So it can itself leave out what a filter will
/// turn away: without it, a word that a tenth of a million photos have, but none in the category asked for, took a
/// look at each of them.
///
/// Two characters say the category, and three more that it is a favourite. The characters do not occur in a folded
/// text, which has neither nonspacing marks nor capitals (see `String.searchFolded`); so a change of category or mark
/// can take out and put in these trigrams alone, two of a hundred.
///
/// It is a sieve as the text is: categories share a mark with those 4,096 further on, and a search compares the
/// category too.
enum SearchMark {
    private static let first: UInt32 = 0x300
    private static let bits: Int64 = 6
    private static let favorite = "F"

    /// The end of an entry, as SQL: two expressions for the category's id and for the mark of favourites.
    static func sql(category: String, isFavorite: String) -> String {
        let low = 1 << bits - 1
        let characters = "\(first) + (\(category) >> \(bits) & \(low)), \(first) + (\(category) & \(low))"
        let favorites = String(repeating: favorite, count: 3)
        return "char(10, 10, \(characters)) || iif(\(isFavorite), '\(favorites)', '')"
    }

    /// The trigram that all photos of a filter have; nil where it leaves out none by category or mark.
    static func trigram(category: Int64?, favoritesOnly: Bool) -> String? {
        let favorites = favoritesOnly ? favorite : ""
        guard let category else { return favoritesOnly ? favorite + favorite + favorite : nil }
        return (favoritesOnly ? "" : "\n") + character(category >> bits) + character(category) + favorites
    }

    private static func character(_ number: Int64) -> String {
        let offset = UInt32(truncatingIfNeeded: number & (1 << bits - 1))
        // Always one: none of U+0300…U+033F is a surrogate.
        return Unicode.Scalar(first + offset).map { String(Character($0)) } ?? ""
    }
}
