/// What a thumbnail or preview says of itself: by which version it was made, and for which rotation of the photo.
///
/// In the file and not in its name or in the catalogue, as the version is: whoever turns a photo writes one row, and a thumbnail or
/// preview from before is known by what it says, whenever that writer was killed. It is made again when somebody looks.
public struct MadePicture: Sendable, Equatable {
    public let version: Int
    /// Degrees clockwise: 0, 90, 180, 270.
    public let turned: Int

    package init(version: Int, turned: Int) {
        self.version = version
        self.turned = turned
    }

    /// As it stands in the file; without the degrees where there are none, which is how files from before they were kept say it.
    var text: String { turned == 0 ? String(version) : "\(version) \(turned)" }

    /// - Parameter text: blanks may follow. Nil where it says no version, or more than is known here.
    package init?(_ text: some StringProtocol) {
        let words = text.split(separator: " ")
        guard let first = words.first, let version = Int(first), words.count <= 2 else { return nil }
        self.version = version
        guard words.count == 2 else {
            turned = 0
            return
        }
        guard let turned = Int(words[1]), [90, 180, 270].contains(turned) else { return nil }
        self.turned = turned
    }
}
