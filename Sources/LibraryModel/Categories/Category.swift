import ServiceMesh
import TextFolding

/// A pile of photos with a name and a colour (<doc:Rules>).
public struct Category: Codable, Sendable, Equatable, Identifiable {
    public let id: Int64
    /// Derived from the display name: trimmed, lower-cased, spaces to `_`.
    public let name: String
    public let displayName: String
    /// 0 for the first.
    public let position: Int
    public let iconResource: String?
    /// `#RRGGBB`, upper case.
    public let colorHex: String
    /// One of the four that the first start created.
    public let isDefault: Bool
    public let createdAt: Timestamp
    /// Photos in it when it was read, those in the trash not counted.
    public let photoCount: Int

    public init(
        id: Int64, displayName: String, position: Int, iconResource: String?, colorHex: String, isDefault: Bool,
        createdAt: Timestamp, photoCount: Int
    ) {
        self.id = id
        self.name = CategoryName.internalName(displayName)
        self.displayName = displayName
        self.position = position
        self.iconResource = iconResource
        self.colorHex = colorHex
        self.isDefault = isDefault
        self.createdAt = createdAt
        self.photoCount = photoCount
    }
}

/// The rules for a category's name.
public enum CategoryName {
    /// Characters, after trimming.
    public static let maximumLength = 200

    /// The name as it is stored and shown.
    /// - Parameter mayBeOld: for backups. Before names that cannot be seen and names that are numbers were refused, a
    ///   library could have them, and its backups must stay whole.
    /// - Throws: `invalid_argument` for one that ``isBlank(_:)`` after trimming, ``isNumber(_:)``, is longer than
    ///   ``maximumLength``, or has control characters.
    public static func validated(_ displayName: String, mayBeOld: Bool = false) throws -> String {
        let trimmed = displayName.trimmingWhitespace
        guard !trimmed.isEmpty, mayBeOld || !isBlank(trimmed) else {
            throw MeshError(.invalidArgument, "A category needs a name. Give it one that is not only spaces.")
        }
        guard mayBeOld || !isNumber(trimmed) else {
            throw MeshError(
                .invalidArgument,
                "A category's name cannot be a number alone, which would be taken for an id. Add a word: 'Summer 2025'."
            )
        }
        guard trimmed.count <= maximumLength, trimmed.utf8.count <= maximumLength * 16 else {
            throw MeshError(.invalidArgument, "A category's name has \(maximumLength) characters at most. Shorten it.")
        }
        guard !trimmed.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) else {
            throw MeshError(.invalidArgument, "A category's name must be one line without control characters.")
        }
        return trimmed
    }

    /// Whether nothing of it can be seen: spaces, and marks such as joiners and directions that show nothing themselves.
    public static func isBlank(_ name: String) -> Bool { name.nameFolded.isEmpty }

    /// Whether it is what names a category's id: `3` or `#3`.
    public static func isNumber(_ name: String) -> Bool {
        let trimmed = name.trimmingWhitespace
        let digits = trimmed.utf8.first == UInt8(ascii: "#") ? trimmed.utf8.dropFirst() : trimmed.utf8[...]
        return !digits.isEmpty && digits.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    }

    /// What a name that ``isNumber(_:)`` becomes in data from elsewhere: `Category 2025`.
    public static func named(number: String) -> String {
        "Category " + String(number.trimmingWhitespace.drop { $0 == "#" }.prefix(100))
    }

    /// The machine-readable form: trimmed, lower-cased, spaces to `_`.
    public static func internalName(_ displayName: String) -> String {
        String(displayName.trimmingWhitespace.lowercased().map { $0.isWhitespace ? "_" : $0 })
    }

    /// Two names are the same category when their keys are equal: case ignored in every script, composed and
    /// decomposed accents alike, accents kept (`Été` = `ÉTÉ` ≠ `Ete`), what shows nothing left out, runs of blanks as one.
    public static func key(_ displayName: String) -> String { displayName.nameFolded }

    /// Names of before, which other rules told apart, in their order: the first of those that are alike now keeps its own, the
    /// others get a number (`STRAẞE (2)`), and one of which nothing can be seen becomes `Category`.
    public static func toldApart(_ names: [String]) -> [String] {
        var taken = Set(names.map(key))
        var kept: Set<String> = [""]
        return names.map { name in
            if kept.insert(key(name)).inserted { return name }
            let isBlank = isBlank(name)
            let base = isBlank ? "Category" : String(name.prefix(maximumLength - 8))
            var (text, number) = (base, 1)
            while number == 1 && !isBlank || !taken.insert(key(text)).inserted {
                number += 1
                text = "\(base) (\(number))"
            }
            return text
        }
    }
}

/// What keeps the list of categories small enough to be answered in one piece.
public enum CategoryLimits {
    /// Categories in a library.
    public static let count = 1000
    /// Bytes of an icon's name.
    public static let iconBytes = 1000

    /// - Throws: `invalid_argument` for a longer one.
    public static func validated(icon: String) throws -> String {
        guard icon.utf8.count <= iconBytes else {
            throw MeshError(.invalidArgument, "An icon's name has \(iconBytes) bytes at most. Shorten it.")
        }
        return icon
    }
}

/// The colours of categories.
public enum CategoryColor {
    /// In the order in which new categories take them.
    public static let palette = [
        "#4CAF50", "#2196F3", "#FF9800", "#9C27B0", "#F44336", "#FF5722", "#795548", "#607D8B", "#E91E63", "#009688",
        "#FFEB3B", "#3F51B5",
    ]

    /// What a bad colour in data from elsewhere becomes.
    public static let fallback = "#4CAF50"

    /// `#RRGGBB` in upper case, or nil for anything else.
    public static func normalized(_ text: String) -> String? {
        let bytes = Array(text.utf8)
        guard bytes.count == 7, bytes[0] == UInt8(ascii: "#") else { return nil }
        let isHex = bytes.dropFirst().allSatisfy { byte in
            (48...57).contains(byte) || (65...70).contains(byte) || (97...102).contains(byte)
        }
        return isHex ? text.uppercased() : nil
    }

    /// - Throws: `invalid_argument` for anything but `#RRGGBB`.
    public static func validated(_ text: String) throws -> String {
        guard let color = normalized(text) else {
            throw MeshError(.invalidArgument, "A colour is written as #RRGGBB, for example #4CAF50.")
        }
        return color
    }

    /// The first palette colour not in use; where all are, the palette begins again.
    public static func next(used: some Sequence<String>) -> String {
        let used = Array(used)
        return palette.first { !used.contains($0) } ?? palette[used.count % palette.count]
    }
}
