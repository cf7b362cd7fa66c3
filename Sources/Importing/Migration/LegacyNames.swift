import Foundation
import AndroidDatabase
import LibraryModel

/// Names for old categories under this library's rules, the same ones in every run: they are what a second run
/// recognises its categories by.
struct LegacyNames {
    struct Name: Equatable {
        let text: String
        /// Why it is not the old one, as the rest of "its name …"; nil where it is.
        let change: String?
    }

    /// One for each category, in their order.
    ///
    /// Old names that are alike when case is ignored stay alike: they mean one category here. Names that only became
    /// alike by being changed do not: those are told apart by a number.
    /// - Parameter here: whether the library has a category of a name already; then the old one keeps its own.
    static func names(
        for categories: [LegacyLibrary.Category], unless here: (String) -> Bool = { _ in false }
    ) -> [Name] {
        var names = categories.map { name(for: $0, unless: here) }
        var taken = Set(names.filter { $0.change == nil }.map { CategoryName.key($0.text) })
        var next: [String: Int] = [:]
        for (index, name) in names.enumerated() {
            guard let change = name.change else { continue }
            let base = CategoryName.key(name.text)
            var text = name.text
            while !taken.insert(CategoryName.key(text)).inserted {
                let number = next[base, default: 1] + 1
                next[base] = number
                let suffix = " (\(number))"
                text = cut(name.text, characters: CategoryName.maximumLength - suffix.count) + suffix
            }
            names[index] = Name(text: text, change: change)
        }
        return names
    }

    private static func name(for category: LegacyLibrary.Category, unless here: (String) -> Bool) -> Name {
        let bytes = category.name ?? []
        var change: String?
        var text = String(decoding: bytes, as: UTF8.self)
        if String(validating: bytes, as: UTF8.self) == nil { change = "was not valid text" }
        let controls = text.unicodeScalars.filter { $0.properties.generalCategory == .control }
        // Line ends and tabs at either end are trimmed by the rule for names, as spaces are.
        text = text.trimmingWhitespace
        if text.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) {
            let isNUL = controls.contains("\0")
            change = change ?? (isNUL ? "had a NUL character" : "had control characters")
            var clean = String.UnicodeScalarView()
            for scalar in text.unicodeScalars where scalar != "\0" {
                clean.append(scalar.properties.generalCategory == .control ? " " : scalar)
            }
            text = String(clean).trimmingWhitespace
        }
        let short = cut(text, characters: CategoryName.maximumLength)
        if short != text {
            change = change ?? "was longer than \(CategoryName.maximumLength) characters"
            text = short
        }
        if CategoryName.isNumber(text), !here(text) {
            return Name(
                text: CategoryName.named(number: text), change: change ?? "was only a number, which means an id")
        }
        guard CategoryName.isBlank(text) else { return Name(text: text, change: change) }
        let key = (category.key ?? "").unicodeScalars.filter { $0.properties.isAlphabetic || $0.isASCIIDigit }
        let number = String(String.UnicodeScalarView(key.prefix(20)))
        return Name(text: number.isEmpty ? "Category" : "Category \(number)", change: change ?? "was empty")
    }

    /// The first characters, and no more bytes than a name may have; what one character alone overfills is cut inside.
    private static func cut(_ text: String, characters: Int) -> String {
        let maximumBytes = CategoryName.maximumLength * 16
        guard text.count > characters || text.utf8.count > maximumBytes else { return text }
        var result = ""
        var bytes = 0
        for character in text.prefix(characters) {
            bytes += character.utf8.count
            guard bytes <= maximumBytes else { break }
            result.append(character)
        }
        if result.isEmpty {
            var scalars = String.UnicodeScalarView()
            for scalar in text.unicodeScalars.prefix(characters) { scalars.append(scalar) }
            result = String(scalars)
        }
        return result.trimmingWhitespace
    }
}

extension Unicode.Scalar {
    fileprivate var isASCIIDigit: Bool { ("0"..."9").contains(self) }
}
