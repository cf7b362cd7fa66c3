import DateTexts
import ImageWorkerProtocol

/// From all that a picture carries: the first source that says a fact counts.
extension PictureFacts {
    /// - Parameter now: milliseconds since 1970-01-01 UTC, after which nothing was taken.
    init(_ metadata: EmbeddedMetadata, now: Int64 = WrittenDate.now()) {
        let sources = Sources(metadata)
        self.init(
            taken: Self.taken(sources.dates.filter { $0.1.isCredible(now: now) }, now),
            location: (sources.exif.lazy.compactMap(\.location) + sources.xmp.lazy.compactMap(\.location)).first,
            caption: sources.caption,
            // Programs write a 0 where nobody has given any.
            rating: sources.ratings.first { $0 > 0 } ?? sources.ratings.first,
            camera: sources.camera, contentIdentifier: sources.exif.lazy.compactMap(\.contentIdentifier).first)
    }

    /// The first counts, made more exact by one that can mean the same moment: a day in one property by a time of that day in
    /// another. Not by the satellites' clock, which is another one, nor by when the picture was last saved.
    private static func taken(_ dates: [(CameraDate.Source, WrittenDate)], _ now: Int64) -> CameraDate? {
        guard var best = dates.first else { return nil }
        for other in dates where other.0 != .gps && other.0 != .modified && best.1.refined(by: other.1) != best.1 {
            best = other
        }
        return best.1.date(best.0, now: now)
    }
}

/// All that a picture carries, in the orders in which it counts.
private struct Sources {
    /// Of a JPEG the first segment, and those behind it, which some editors leave there.
    let exif: [ExifFacts]
    /// The packet, and its second part.
    let xmp: [XMPFacts]
    let iptc: IPTCRecord?
    let png: PNGTexts

    init(_ metadata: EmbeddedMetadata) {
        exif = ([metadata.exif].compactMap { $0 } + metadata.furtherExif).map(ExifFacts.init(block:))
        xmp = [metadata.xmp, metadata.extendedXMP].compactMap { $0.map(XMPFacts.init(packet:)) }
        iptc = metadata.iptc.map(IPTCRecord.init)
        png = metadata.texts
    }

    var dates: [(CameraDate.Source, WrittenDate)] {
        var dates: [(CameraDate.Source, WrittenDate)] = []
        func add(_ source: CameraDate.Source, _ clocks: [WrittenDate?]) {
            dates += clocks.compactMap { clock in clock.map { (source, $0) } }
        }
        add(.exif, exif.map(\.original))
        add(.exifCreated, exif.map(\.created))
        add(.xmp, XMPFacts.dateNames.indices.flatMap { name in xmp.map { $0.dates[name] } })
        add(.iptc, [iptc?.created, iptc?.digitized])
        add(.png, [png.creation, png.modified])
        // A receiver knows the whole day, or none.
        add(
            .gps, (exif.map(\.satellites) + xmp.map(\.satellites)).map { $0.flatMap { $0.precision < .day ? nil : $0 } }
        )
        add(.modified, exif.map(\.modified) + xmp.map(\.modified))
        return dates
    }

    /// The first text that a person wrote: cameras and programs fill each of these with their own.
    var caption: String? {
        let (make, model) = (exif.lazy.compactMap(\.make).first ?? "", exif.lazy.compactMap(\.model).first ?? "")
        func isPersons(_ text: String) -> Bool { !CameraPhrase.isOne(text, make: make, model: model) }
        let descriptions = exif.compactMap(\.description).filter { !CameraPhrase.isSceneCode($0, make: make) }
        let texts: [String?] =
            descriptions + xmp.map(\.description) + [iptc?.caption.flatMap(EmbeddedText.caption)] + xmp.map(\.title)
            + exif.map(\.comment) + exif.map(\.windowsComment) + exif.map(\.windowsTitle)
            + [png.description.flatMap(EmbeddedText.caption)]
        return texts.lazy.compactMap { $0 }.first(where: isPersons)
    }

    var ratings: [Int] {
        let ratings: [Int?] =
            xmp.map(\.rating) + exif.map(\.rating) + xmp.map(\.percentRating) + exif.map(\.percentRating)
        return ratings.compactMap { $0 }
    }

    var camera: String? {
        (exif.lazy.map { ($0.make, $0.model) } + xmp.lazy.map { ($0.make, $0.model) })
            .lazy.compactMap { CameraName.name(make: $0.0, model: $0.1) }.first
    }
}
