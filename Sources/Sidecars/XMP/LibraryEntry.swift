/// What a sidecar says that only this program's libraries know, in a namespace of their own: foreign keywords make no
/// categories.
public struct LibraryEntry: Equatable, Sendable {
    /// Characters that a category's name has at most.
    static let categoryLength = 200
    /// Characters that a photo's name has at most.
    static let nameLength = 500

    /// ``dateSource`` of a date that a person has said.
    static let person = "person"

    /// The category's name, as people see it; never empty.
    public let category: String
    /// The photo's name, which a file could not always have; nil without one.
    public let name: String?
    /// What said the date, in the library's words, so that a guess stays a guess and a person's word a person's; nil without
    /// one.
    public let dateSource: String?
    /// How far the camera's clock was ahead of UTC, -960 to 960: of a date that goes no further than its day, behind which XMP
    /// has no place for it.
    public let minutesFromUTC: Int?
    /// How far a person has turned what is shown, clockwise: 90, 180, 270 degrees beside what the picture says itself; nil for not at all.
    public let rotation: Int?

    public init(
        category: String, name: String? = nil, dateSource: String? = nil, minutesFromUTC: Int? = nil,
        rotation: Int? = nil
    ) {
        self.category = category
        self.name = name
        self.dateSource = dateSource
        self.minutesFromUTC = minutesFromUTC
        self.rotation = rotation
    }

    /// Whether a file is called so still, without its extension: a number may have been put behind, or a `_` in the place of what
    /// no file system takes, and a long name cut. A file that somebody has called otherwise since is called that.
    public func names(_ stem: String) -> Bool {
        guard let name else { return false }
        func letters(_ text: String) -> String { text.filter { $0.isLetter || $0.isNumber } }
        let (named, called) = (letters(name), letters(Self.withoutNumber(stem)))
        return called.hasPrefix(named) || !called.isEmpty && named.hasPrefix(called)
    }

    /// `beach` of `beach (2)`.
    private static func withoutNumber(_ stem: String) -> String {
        guard stem.last == ")", let start = stem.lastIndex(of: "(") else { return stem }
        let number = stem[stem.index(after: start)...].dropLast()
        return !number.isEmpty && number.allSatisfy(\.isNumber) ? String(stem[..<start]) : stem
    }
}
