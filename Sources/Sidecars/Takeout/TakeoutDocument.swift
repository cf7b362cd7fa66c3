import Foundation

/// What Google Photos writes beside each picture when a library is taken out: `x.jpg.json`, since 2024
/// `x.jpg.supplemental-metadata.json`.
public struct TakeoutDocument: Equatable, Sendable {
    /// ``SidecarFacts/taken`` is an instant (``CaptureTime/Clock/universal``): Google keeps no zone.
    public let facts: SidecarFacts

    /// Members of the wrong type are taken as missing, so that an odd caption does not cost the date.
    /// - Parameters:
    ///   - data: the file; UTF-8 or UTF-16. Latin-1 is refused: JSON is never in it, so such a file is damaged.
    ///   - now: milliseconds since 1970 UTC.
    public init(_ data: Data, now: Int64) throws(SidecarError) {
        let text = try SidecarText.utf8(of: data, fallback: .none)
        var scanner = JSONScanner(text)
        var reader = Reader(now: now)
        if scanner.beginsObject() {
            try scanner.object(wanted: Reader.members) { (name, scanner) throws(SidecarError) in
                try reader.take(name, from: &scanner)
            }
        } else {
            _ = try scanner.value()
        }
        try scanner.end()
        guard reader.isAboutPicture else { throw .notTakeout }
        facts = reader.facts
    }
}

private struct Reader {
    static let members: Set = [
        "title", "description", "photoTakenTime", "geoData", "geoDataExif", "favorited", "creationTime",
    ]

    let now: Int64
    private var read = SidecarFacts()
    private var exifLocation: (latitude: Double, longitude: Double)?
    /// Albums have a document with a title and a description too; only pictures have these times.
    private(set) var isAboutPicture = false

    init(now: Int64) { self.now = now }

    /// Google's own place, which a person may have corrected, else the picture's.
    var facts: SidecarFacts {
        var facts = read
        if facts.latitude == nil, let exifLocation {
            facts.setLocation(latitude: exifLocation.latitude, longitude: exifLocation.longitude)
        }
        return facts
    }

    mutating func take(_ name: String, from scanner: inout JSONScanner) throws(SidecarError) {
        switch name {
        case "photoTakenTime":
            isAboutPicture = true
            read.taken = try time(&scanner)
        case "creationTime":
            isAboutPicture = true
            _ = try scanner.value()
        case "geoData":
            if let place = try place(&scanner) {
                read.setLocation(latitude: place.latitude, longitude: place.longitude)
            }
        case "geoDataExif": exifLocation = try place(&scanner)
        case "title": if case .text(let text) = try scanner.value() { read.title = SidecarText.line(text) }
        case "description": if case .text(let text) = try scanner.value() { read.caption = SidecarText.line(text) }
        case "favorited": if case .truth(let isFavorite) = try scanner.value() { read.isFavorite = isFavorite }
        default: _ = try scanner.value()
        }
    }

    /// Seconds since 1970 UTC, as a text or a number. 0 is what is written for a picture whose date nobody knows.
    private func time(_ scanner: inout JSONScanner) throws(SidecarError) -> CaptureTime? {
        guard scanner.beginsObject() else {
            _ = try scanner.value()
            return nil
        }
        var seconds: Int64?
        try scanner.object(wanted: ["timestamp"]) { (name, scanner) throws(SidecarError) in
            let value = try scanner.value()
            guard name == "timestamp" else { return }
            switch value {
            case .text(let text), .number(let text): seconds = Int64(text)
            default: break
            }
        }
        guard let seconds, seconds != 0 else { return nil }
        let (milliseconds, overflow) = seconds.multipliedReportingOverflow(by: 1000)
        let (latest, isLatestOverflow) = now.addingReportingOverflow(86_400_000)
        guard !overflow, milliseconds >= SidecarFacts.firstMoment, isLatestOverflow || milliseconds <= latest else {
            return nil
        }
        return CaptureTime(milliseconds: milliseconds, clock: .universal)
    }

    private func place(
        _ scanner: inout JSONScanner
    ) throws(SidecarError) -> (latitude: Double, longitude: Double)? {
        guard scanner.beginsObject() else {
            _ = try scanner.value()
            return nil
        }
        var latitude: Double?
        var longitude: Double?
        try scanner.object(wanted: ["latitude", "longitude"]) { (name, scanner) throws(SidecarError) in
            guard case .number(let digits) = try scanner.value() else { return }
            if name == "latitude" { latitude = Double(digits) }
            if name == "longitude" { longitude = Double(digits) }
        }
        guard let latitude, let longitude else { return nil }
        return (latitude, longitude)
    }
}
