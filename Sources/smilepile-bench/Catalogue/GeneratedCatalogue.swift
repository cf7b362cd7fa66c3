import Foundation
import LibraryModel
import Randomness
import ServiceMesh
import TextFolding

/// Rows of a large family's catalogue, the same on every machine: twelve categories, twenty years, names and captions in
/// several languages. No files belong to them.
struct GeneratedCatalogue: Sendable {
    static let categories = [
        "Großeltern", "Été", "Zoo", "Přátelé", "Ferien", "Garten", "Schule", "Musik", "Fußball", "Škola", "Σπίτι", "海",
    ]
    /// The first millisecond of 2005 and twenty years.
    static let firstDate: Int64 = 1_104_537_600_000
    static let span: Int64 = 20 * 365 * 86_400_000

    private static let words = [
        "Sommer", "Möwe", "Strand", "Großmutter", "Geburtstag", "vélo", "forêt", "été", "neige", "lumière", "dům",
        "řeka",
        "žirafa", "kočka", "hora", "garden", "lake", "birthday", "snow", "swing", "Käsekuchen", "Ausflug", "Hütte",
        "Brücke", "Abend", "Morgen", "château", "plage", "pêche", "noël", "sníh", "léto", "σπίτι", "θάλασσα", "山", "桜",
    ]

    /// The photo that has this number, from 0.
    static func photo(_ index: Int, categories: [Int64]) -> SourcedPhoto {
        var random = SplitMix64(seed: UInt64(truncatingIfNeeded: index) &+ 0x5EED)
        let taken = firstDate + Int64(random.next() % UInt64(span))
        let digests = (random.hex(64), random.hex(64))
        var caption = (0..<4).map { _ in words[Int(random.next() % UInt64(words.count))] }.joined(separator: " ")
        // One in ten thousand, and one in all.
        if index.isMultiple(of: 10_000) { caption += " 100 % Café_Crème" }
        if index == 4321 { caption += " Überraschungsgäste" }
        let category = categories[index % categories.count]
        let isFavorite = random.next() % 20 == 0
        // In a tenth of all, but neither in the second half of the years, nor in the fifth category, nor in favourites.
        if taken < firstDate + span / 2, index % categories.count != 4, !isFavorite, random.next() % 4 == 0 {
            caption += " Schlitten"
        }
        // A letter that many end with and that few categories have.
        if index % categories.count == 11, index % 5 == 0 { caption += " 海" }
        // As phones call them.
        let name = "IMG_\(stamp(taken))"
        let photo = Photo(
            id: 0, uuid: digests.0.uuid, path: "photos/\(name)_\(digests.0.prefix(8)).jpg",
            categoryId: category, name: name, sourceName: name + ".jpg", caption: caption,
            isFromAssets: false, createdAt: Timestamp(milliseconds: 1_760_000_000_000 + Int64(index)),
            fileSize: 300_000 + Int64(random.next() % 900_000), width: 2048, height: 1536,
            isFavorite: isFavorite, takenAt: LocalDateTime(milliseconds: taken), contentDigest: digests.0,
            mediaType: "image/jpeg")
        return SourcedPhoto(
            photo: photo, sourceDigest: digests.1, sourceSize: 2_000_000 + Int64(random.next() % 8_000_000))
    }

    /// As a photo's file name has it, `YYYYMMDD_HHMMSS`.
    private static func stamp(_ date: Int64) -> String {
        var seconds = time_t(date / 1000)
        var parts = tm()
        gmtime_r(&seconds, &parts)
        func digits(_ number: Int32, _ width: Int) -> String {
            let text = String(number)
            return String(repeating: "0", count: width - text.count) + text
        }
        return digits(parts.tm_year + 1900, 4) + digits(parts.tm_mon + 1, 2) + digits(parts.tm_mday, 2) + "_"
            + digits(parts.tm_hour, 2) + digits(parts.tm_min, 2) + digits(parts.tm_sec, 2)
    }

    /// The row as the table has it, for `.import --csv`.
    static func line(_ new: SourcedPhoto, id: Int) -> String {
        let photo = new.photo
        let search = [photo.sourceName ?? photo.name, photo.caption ?? ""].map(\.searchFolded).joined(separator: "\n")
        let fields = [
            "\(id)", photo.uuid, photo.path, "\(photo.categoryId)", photo.name, photo.caption ?? "", "0",
            "\(photo.createdAt.milliseconds)", "\(photo.shownAt.milliseconds)", "\(photo.shownAt.milliseconds)",
            "\(photo.fileSize)", "\(photo.width)", "\(photo.height)", photo.isFavorite ? "1" : "0", photo.mediaType,
            photo.contentDigest, new.sourceDigest, "\(new.sourceSize)", search,
        ]
        return fields.map { "\"\($0)\"" }.joined(separator: ",") + "\n"
    }
}

extension SplitMix64 {
    fileprivate mutating func hex(_ digits: Int) -> String {
        var text: [UInt8] = []
        while text.count < digits {
            var number = next()
            for _ in 0..<16 {
                text.append(Array("0123456789abcdef".utf8)[Int(number & 15)])
                number >>= 4
            }
        }
        return String(decoding: text.prefix(digits), as: UTF8.self)
    }
}

extension String {
    /// Of 32 hexadecimal digits or more.
    fileprivate var uuid: String {
        let digits = Array(utf8)
        return [0..<8, 8..<12, 12..<16, 16..<20, 20..<32].map { String(decoding: digits[$0], as: UTF8.self) }
            .joined(separator: "-")
    }
}
