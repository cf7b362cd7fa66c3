import Foundation

/// Where a camera or a sidecar says that a picture was taken. It says where a child was: it is stored sealed, as the text of
/// ``SealedField/location``, and nowhere else.
public struct GeoPosition: Codable, Sendable, Equatable {
    /// Degrees north, -90…90.
    public let latitude: Double
    /// Degrees east, -180…180.
    public let longitude: Double

    /// - Returns: nil for what is no place on Earth.
    public init?(latitude: Double?, longitude: Double?) {
        guard let latitude, let longitude, (-90...90).contains(latitude), (-180...180).contains(longitude) else {
            return nil
        }
        self.latitude = latitude
        self.longitude = longitude
    }

    /// - Returns: nil for what is not such a ``text``, as places in words are not.
    package init?(text: String) {
        let parts = text.split(separator: ", ", omittingEmptySubsequences: false)
        guard parts.count == 2, let position = Self(latitude: Double(parts[0]), longitude: Double(parts[1])),
            position.text == text
        else { return nil }
        self = position
    }

    /// `54.32133, 10.13489`: to a metre or so, as maps take it.
    public var text: String { String(format: "%.5f, %.5f", latitude, longitude) }
}
