import DateTexts
import ImageWorkerProtocol
import PhotoConversion

/// From what a film's header says in words.
extension PictureFacts {
    /// - Parameter now: milliseconds since 1970-01-01 UTC, after which nothing was taken.
    init(_ film: Film, now: Int64 = WrittenDate.now()) {
        self.init(text: film.text, now: now)
    }

    /// - Parameter text: what stands under a name of libavformat's.
    init(text: (String) -> String?, now: Int64) {
        self.init(
            taken: Self.taken(text, now),
            location: Self.places.lazy.compactMap(text).compactMap(PicturePlace.init(iso6709:)).first,
            caption: Self.captions.lazy.compactMap(text).compactMap(EmbeddedText.caption).first,
            camera: CameraName.name(
                make: Self.makes.lazy.compactMap(text).first, model: Self.models.lazy.compactMap(text).first),
            contentIdentifier: text("com.apple.quicktime.content.identifier").flatMap {
                Self.isContentIdentifier($0) ? $0 : nil
            })
    }

    /// The camera's own clock where it wrote that down (Apple), else the moment of the container's header, in UTC.
    private static func taken(_ text: (String) -> String?, _ now: Int64) -> CameraDate? {
        let clock = text("com.apple.quicktime.creationdate").flatMap { WrittenDate($0) }?.date(.film, now: now)
        if let clock { return clock }
        // What is written there is UTC by the format's own word. Matroska and ASF have the same under the same name.
        guard let moment = text("creation_time").flatMap({ WrittenDate($0, offset: "+00:00") }) else { return nil }
        return moment.date(.filmMoment, now: now)
    }

    private static let places = ["com.apple.quicktime.location.ISO6709", "location", "location-eng"]
    private static let captions = [
        "com.apple.quicktime.description", "com.apple.quicktime.title", "description", "title", "comment",
    ]
    private static let makes = ["com.apple.quicktime.make", "com.android.manufacturer", "make"]
    private static let models = ["com.apple.quicktime.model", "com.android.model", "model"]
}

extension PicturePlace {
    /// `+48.1374+011.5755+519.000/`: latitude and longitude in degrees, each with its sign, and perhaps a height.
    init?(iso6709 text: String) {
        let bytes = Array(text.utf8.prefix(64))
        var numbers: [Double] = []
        var start: Int?
        func take(_ end: Int) -> Bool {
            guard let start else { return true }
            // Degrees and minutes in one number (`+4808.25`) are not guessed at: no camera writes them.
            let whole = bytes[start..<end].dropFirst().prefix { $0 != UInt8(ascii: ".") }.count
            guard whole <= 3, let number = Double(String(decoding: bytes[start..<end], as: UTF8.self)) else {
                return false
            }
            numbers.append(number)
            return true
        }
        for (index, byte) in bytes.enumerated() {
            switch byte {
            case UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "/"):
                guard numbers.count == 2 || take(index) else { return nil }
                start = index
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."): guard start != nil else { return nil }
            default: return nil
            }
        }
        if numbers.count < 2, !take(bytes.count) { return nil }
        guard numbers.count >= 2, abs(numbers[0]) <= 90, abs(numbers[1]) <= 180 else { return nil }
        self.init(latitude: numbers[0], longitude: numbers[1])
    }
}
