/// What a film is, beside its pictures, by its header.
public struct FilmFacts: Codable, Sendable, Equatable {
    /// How it is packed, by its content: `video/mp4`, `video/quicktime`, …
    public var mediaType: String
    /// Milliseconds, a year at most; nil where the film does not say it.
    public var duration: Int64?
    /// How its pictures and its sound are coded, in libavcodec's short names: `h264`, `aac`. No sound is nil.
    public var videoCodec: String
    public var audioCodec: String?

    public init(mediaType: String, duration: Int64?, videoCodec: String, audioCodec: String?) {
        self.mediaType = mediaType
        self.duration = duration
        self.videoCodec = videoCodec
        self.audioCodec = audioCodec
    }

    /// What is said of a file that is packed like a film and has nothing to see.
    public static let soundAlone = "sound, and nothing to see"

    static let durations: ClosedRange<Int64> = 0...366 * 24 * 3_600_000

    /// Whether a worker of ours could have read this.
    package var isPossible: Bool {
        WorkerProtocol.filmTypes.contains(mediaType) && (duration.map(Self.durations.contains) ?? true)
            && Self.isCodec(videoCodec)
            && (audioCodec.map(Self.isCodec) ?? true)
    }

    /// Whether it is a name of a codec: 1 to 31 letters, digits and `_`.
    package static func isCodec(_ text: String) -> Bool {
        (1...31).contains(text.utf8.count)
            && text.utf8.allSatisfy {
                (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0)
                    || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0)
                    || $0 == UInt8(ascii: "_")
            }
    }
}

/// What a worker says of a film.
package struct MadeFilm: Codable, Equatable, Sendable {
    package var film: FilmFacts
    package var facts: PictureFacts
    /// Pixels of the poster, upright; of the film itself where it is unseen.
    package var width: Int
    package var height: Int
    /// Pixels of the thumbnail; 0 where it is unseen.
    package var thumbnailWidth: Int
    package var thumbnailHeight: Int
    /// Whether nothing here decodes its pictures, and none was written.
    package var isUnseen: Bool

    package init(
        film: FilmFacts, facts: PictureFacts, width: Int, height: Int, thumbnailWidth: Int,
        thumbnailHeight: Int, isUnseen: Bool
    ) {
        self.film = film
        self.facts = facts
        self.width = width
        self.height = height
        self.thumbnailWidth = thumbnailWidth
        self.thumbnailHeight = thumbnailHeight
        self.isUnseen = isUnseen
    }
}

/// What became of one film: what a catalogue row needs, but for the film's own bytes and their digest, which nobody has read here.
public struct ConvertedFilm: Sendable, Equatable {
    public var film: FilmFacts
    public var facts: PictureFacts
    /// Nil where nothing here decodes the film's pictures: then it has no poster, and ``width`` and ``height`` are its own.
    public var poster: Poster?
    public var width: Int
    public var height: Int

    /// The frame by which a film is shown, a JPEG as photos are.
    public struct Poster: Sendable, Equatable {
        /// Bytes.
        public var fileSize: Int64
        /// SHA-256, 64 lower-case hexadecimal digits.
        public var contentDigest: String
        /// Bytes of its preview; nil where it has none.
        public var previewSize: Int64?
    }

    package init(_ made: MadeFilm, poster: Poster?) {
        film = made.film
        facts = made.facts
        (width, height) = (made.width, made.height)
        self.poster = poster
    }
}

extension ConvertedFilm.Poster {
    package init(size: Int64, digest: String, previewSize: Int64?) {
        (fileSize, contentDigest, self.previewSize) = (size, digest, previewSize)
    }
}
