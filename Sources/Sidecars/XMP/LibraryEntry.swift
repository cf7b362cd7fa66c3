/// What a sidecar says that only this program's libraries know, in a namespace of their own: foreign keywords make no
/// categories.
public struct LibraryEntry: Equatable, Sendable {
    /// Characters that a category's name has at most.
    static let categoryLength = 200

    /// ``dateSource`` of a date that a person has said.
    static let person = "person"

    /// The category's name, as people see it; never empty.
    public let category: String
    /// What said the date, in the library's words, so that a guess stays a guess and a person's word a person's; nil without
    /// one.
    public let dateSource: String?
    /// How far the camera's clock was ahead of UTC, -960 to 960: of a date that goes no further than its day, behind which XMP
    /// has no place for it.
    public let minutesFromUTC: Int?

    public init(category: String, dateSource: String? = nil, minutesFromUTC: Int? = nil) {
        self.category = category
        self.dateSource = dateSource
        self.minutesFromUTC = minutesFromUTC
    }
}
