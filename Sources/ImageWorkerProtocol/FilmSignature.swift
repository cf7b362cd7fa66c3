/// How a film begins: what its first bytes say of how it is packed. They decide which worker opens a file, and that one alone says
/// whether it is a film.
public enum FilmSignature: Sendable {
    /// MP4, QuickTime, 3GPP; by its first box.
    case isoMedia
    case matroska
    case avi
    case transportStream
    case programStream
    case asf

    /// How many bytes are looked at.
    public static let length = 389

    /// Nil for what begins as no film does. Sound alone may begin like one.
    /// - Parameter head: the first bytes of a file, ``length`` if it has them.
    public init?(of head: [UInt8]) {
        guard head.count >= 12 else { return nil }
        switch head[0..<4] {
        case [0x1A, 0x45, 0xDF, 0xA3]: self = .matroska
        case [0, 0, 1, 0xBA], [0, 0, 1, 0xB3]: self = .programStream
        case [0x30, 0x26, 0xB2, 0x75]: self = .asf
        case [0x52, 0x49, 0x46, 0x46] where head[8..<12].elementsEqual("AVI ".utf8): self = .avi
        default:
            if Self.boxes.contains(where: { head[4..<8].elementsEqual($0.utf8) }) {
                self = .isoMedia
            } else if Self.isTransportStream(head) {
                self = .transportStream
            } else {
                return nil
            }
        }
    }

    /// Boxes with which films begin; old QuickTime has no `ftyp`. Which brands of `ftyp` are pictures, the caller knows.
    private static let boxes = ["ftyp", "moov", "mdat", "wide"]

    /// Packets of 188 bytes, or of 192 where a recorder's time stands before each (AVCHD), that begin with the same byte.
    private static func isTransportStream(_ head: [UInt8]) -> Bool {
        [(0, 188), (4, 192)].contains { start, step in
            let places = Array(stride(from: start, to: min(head.count, length), by: step))
            return places.count >= 2 && places.allSatisfy { head[$0] == 0x47 }
        }
    }

    /// Whether a film of a type can begin so.
    package func isPossible(as mediaType: String) -> Bool {
        switch self {
        case .isoMedia: ["video/mp4", "video/quicktime", "video/3gpp"].contains(mediaType)
        case .matroska: ["video/x-matroska", "video/webm"].contains(mediaType)
        case .avi: mediaType == "video/x-msvideo"
        case .transportStream: mediaType == "video/mp2t"
        case .programStream: mediaType == "video/mpeg"
        case .asf: mediaType == "video/x-ms-asf"
        }
    }
}
