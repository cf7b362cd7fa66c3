/// Why a file beside a picture could not be read. `description` is a sentence about that file for the person who has
/// it; the picture can be taken without it. What it quotes from the file is in ASCII and short.
public enum SidecarError: Error, Hashable, Sendable {
    /// There is nothing in it, or nothing but zeros and spaces.
    case empty
    /// More than ``SidecarLimits/bytes``.
    case tooLarge(bytes: Int)
    /// The bytes are not text in the encoding that they are said to be in.
    case notText(encoding: String)
    /// An encoding that is not read.
    case unknownEncoding(String)
    /// Not JSON, or not XML: what is wrong, and after how many bytes of the text in UTF-8.
    case malformed(String, offset: Int)
    /// More than ``SidecarLimits/depth`` levels.
    case nestedTooDeeply
    /// One member is there twice, and they cannot both be true.
    case duplicateMember(String)
    /// A document type declaration. Through these, XML reads other files and makes gigabytes of a few bytes.
    case documentType
    /// JSON, but not about a picture of Google Photos.
    case notTakeout
    /// XML, but without RDF in it.
    case notXMP
}

extension SidecarError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .empty: "It is empty."
        case .tooLarge(let bytes): "It has \(bytes) bytes; at most \(SidecarLimits.bytes) are read."
        case .notText(let encoding): "It is not text in \(encoding)."
        case .unknownEncoding(let name): "It is in the encoding \(name); UTF-8, UTF-16 and Latin-1 are read."
        case .malformed(let what, let offset): "It is damaged: \(what) (after \(offset) bytes)."
        case .nestedTooDeeply: "It is nested more than \(SidecarLimits.depth) levels deep."
        case .duplicateMember(let name): "It says \"\(name)\" twice."
        case .documentType: "It declares a document type, which no sidecar does; it was not read."
        case .notTakeout: "It is not about a picture of Google Photos."
        case .notXMP: "It is not XMP: there is no RDF in it."
        }
    }
}

/// Bounds on a file beside a picture. Real ones have one to sixty kilobytes.
public enum SidecarLimits {
    /// Of a file; a caller looks at the size and reads no larger one.
    public static let bytes = 1 << 20
    /// Levels of elements, objects and arrays.
    public static let depth = 64
}
