/// What the parent asks of a worker; one line of JSON in one packet, with the descriptors beside it.
enum WorkerRequest: Codable, Equatable {
    /// Descriptors: source, photo, thumbnail.
    case convert(keepOriginal: Bool)
    /// Descriptors: source, thumbnail.
    case thumbnail

    var descriptorCount: Int {
        switch self {
        case .convert: 3
        case .thumbnail: 2
        }
    }
}

/// What a worker answers: one line of JSON in one packet.
struct WorkerReply: Codable, Equatable {
    enum Outcome: Codable, Equatable {
        /// Sent once, unasked, when the worker has set itself up.
        case ready
        case converted(ConvertedPhoto)
        case thumbnail(ConvertedThumbnail)
        case failed(ImagingError)
    }

    var outcome: Outcome
    /// Kilobytes that the worker holds now, for the parent to decide whether to replace it.
    var residentKilobytes: Int
}

enum WorkerProtocol {
    /// Bytes of the longest line, either way.
    static let longestLine = 16 << 10
    /// The descriptor at which a worker finds its end of the socket pair.
    static let descriptor: Int32 = 0
}
