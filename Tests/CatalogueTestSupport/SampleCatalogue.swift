import Foundation
import LibraryModel
import ServiceMesh
import Randomness

/// Rows for a catalogue without files, the same for the same seed.
public struct SampleCatalogue: Sendable {
    private var state: UInt64

    public init(seed: UInt64 = 1) { state = seed &* 2 &+ 1 }

    public mutating func number(below bound: Int) -> Int {
        // xorshift: the same everywhere, for ever.
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
        return Int(state % UInt64(bound))
    }

    private func digest(_ kind: Int, _ index: Int) -> String {
        let text = String(UInt64(index + 1) &* SplitMix64.increment &+ UInt64(kind), radix: 16)
        return String(repeating: "0", count: 64 - text.count) + text
    }

    public func photo(
        _ index: Int, category: Int64 = 1, name: String? = nil, caption: String? = nil, takenAt: Int64?,
        isFavorite: Bool = false
    ) -> SourcedPhoto {
        let hex = String(UInt64(index + 1) &* SplitMix64.increment, radix: 16)
        let tail = String(repeating: "0", count: 16 - hex.count) + hex
        return SourcedPhoto(
            photo: Photo(
                id: 0, uuid: "00000000-0000-4000-\(tail.prefix(4))-\(tail.suffix(12))",
                path: "photos/IMG_\(tail).jpg", categoryId: category, name: name ?? "DSC\(index)", caption: caption,
                isFromAssets: false, createdAt: Timestamp(milliseconds: 1_700_000_000_000 + Int64(index)),
                fileSize: Int64(1000 + index), width: 640, height: 480, isFavorite: isFavorite,
                takenAt: takenAt.map(LocalDateTime.init(milliseconds:)), contentDigest: digest(1, index),
                mediaType: "image/jpeg"),
            sourceDigest: digest(2, index), sourceSize: Int64(2000 + index))
    }

    /// Twenty years; words that are everywhere, only in old photos, in a few, and in pairs that never meet.
    public mutating func photos(_ count: Int, categories: [Int64]) -> [SourcedPhoto] {
        let first: Int64 = 1_104_537_600_000
        let span = 20 * 365 * 86_400_000
        return (0..<count).map { index in
            var taken = first + Int64(number(below: span))
            // Many of one moment, and dates at the ends of what there is.
            switch number(below: 50) {
            case 0...4: taken = 1_400_000_000_000
            case 5: taken = [.min, .max, .min + 1, .max - 1, 0, -1, 1 << 60, -1 << 60][number(below: 8)]
            default: break
            }
            var words: [String] = []
            if number(below: 2) == 0 { words.append("Sömmer") }
            if taken < first + Int64(span / 4), number(below: 2) == 0 { words.append("Großmutter 100%") }
            if number(below: 500) == 0 { words.append("žirafa_ZOO \"x\" *") }
            if number(below: 20) == 0 { words.append("🐍qx") }
            var sample = photo(
                index, category: categories[number(below: categories.count)],
                caption: words.isEmpty ? nil : words.joined(separator: " "),
                takenAt: number(below: 10) == 0 ? nil : taken, isFavorite: number(below: 12) == 0)
            if index.isMultiple(of: 3) { sample.photo.sourceName = "IMG_\(index).jpg" }
            return sample
        }
    }
}
