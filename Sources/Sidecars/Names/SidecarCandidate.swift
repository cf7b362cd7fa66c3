/// A file that by its name belongs to a picture, whatever is in capitals in either.
public struct SidecarCandidate: Hashable, Sendable {
    /// How the name leads to the picture, the surest first.
    public enum Form: Int, Comparable, Sendable {
        /// `x.jpg.xmp`
        case xmp
        /// `x.xmp`
        case xmpOfStem
        /// `x.jpg.json`, `x.jpg.supplemental-metadata.json`; of `x(1).jpg` also `x.jpg(1).json`.
        case takeout
        /// `x.jpg.suppl.json`, and what was cut inside the picture's own name.
        case takeoutShortened
        /// `x.supplemental-metadata.json`: Google writes these for pictures that had no extension there.
        case takeoutOfStem

        public static func < (left: Form, right: Form) -> Bool { left.rawValue < right.rawValue }
    }

    public let name: String
    public let form: Form
    /// Whether the name alone does not decide: other files have as good a claim, or there are other sidecars of this form,
    /// or the picture's name is cut in it. Of a Takeout document ``SidecarFacts/title`` decides, of XMP
    /// ``SidecarFacts/fileExtension``.
    public let needsReading: Bool
}

/// The sidecars of a picture, where all that can be asked has been asked.
public struct SidecarSelection: Equatable, Sendable {
    /// To be read in this order; what an earlier one says goes before what a later one says.
    public var names: [String] = []
    /// Those that may be the picture's or another's. Reading one of them anyway could give a picture the date of
    /// another.
    public var ambiguous: [String] = []

    public init(names: [String] = [], ambiguous: [String] = []) {
        self.names = names
        self.ambiguous = ambiguous
    }
}
