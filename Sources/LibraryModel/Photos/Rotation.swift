/// How far a person has turned a photo, clockwise, beside what its file says of the camera's position. A photo that was not turned has
/// none.
///
/// The photo's files stay as they are: what is shown is made from them for each rotation, so that four quarters are the picture again and
/// not its fourth copy.
public enum Rotation: Int, Codable, Sendable, CaseIterable {
    case quarter = 90
    case half = 180
    case threeQuarters = 270

    /// - Parameter degrees: clockwise, any multiple of 90; nil for any other, and for whole turns.
    public init?(degrees: Int) {
        // The remainder is within a turn either way.
        self.init(rawValue: (degrees % 360 + 360) % 360)
    }

    /// Whether width and height change places.
    public var swapsSides: Bool { self != .half }
}

extension Photo {
    /// Degrees by which the photo is shown turned, clockwise: 0, 90, 180, 270.
    public var turned: Int { rotation?.rawValue ?? 0 }

    /// Nil where the photo can be turned, else why it cannot.
    package var turningRefusal: String? {
        if isFilm { return "Photo \(id) is a film. Films cannot be turned." }
        guard unseenBy == nil else {
            return
                "Photo \(id) cannot be seen here yet, so it cannot be turned. Import its file again where there is more memory."
        }
        return nil
    }

    /// Turns what is shown, from wherever it is to this rotation.
    package mutating func turn(to rotation: Rotation?) {
        if (self.rotation?.swapsSides ?? false) != (rotation?.swapsSides ?? false) { (width, height) = (height, width) }
        self.rotation = rotation
    }

    /// Takes the sides of a file, upright, as this photo shows it.
    package mutating func setSides(ofFile width: Int, _ height: Int) {
        (self.width, self.height) = rotation?.swapsSides == true ? (height, width) : (width, height)
    }

    /// Pixels of the file, upright, before a person turned it.
    package var sidesOfFile: (width: Int, height: Int) {
        rotation?.swapsSides == true ? (height, width) : (width, height)
    }
}
