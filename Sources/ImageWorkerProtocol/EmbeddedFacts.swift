/// What the library finds out again of a picture that it has: when it was taken, and with what.
public struct EmbeddedFacts: Codable, Sendable, Equatable {
    /// From what the picture carries; nil where nothing of that has a date that can be.
    public var taken: CameraDate?
    /// As ``ConvertedPhoto/camera``.
    public var camera: String?

    public init(taken: CameraDate?, camera: String? = nil) {
        self.taken = taken
        self.camera = camera
    }
}
