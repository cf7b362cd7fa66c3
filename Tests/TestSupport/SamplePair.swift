import Foundation

/// The two files of a photo that moves, as an iPhone writes them: a JPEG with Apple's maker note, and a film of QuickTime.
package struct SamplePair: Sendable {
    /// What both files say; nil of files that have lost it.
    package var identifier: String? = "1745E022-9712-43C7-B024-F308EC6413CB"
    /// On the camera's clock, in the zone +02:00: `2023-06-12T14:05:33`.
    package var taken = "2023-06-12T14:05:33"
    package var make = "Apple"
    /// Seconds.
    package var duration = 2.0
    /// Of each pair another, so that no two have the same bytes.
    package var seed = 0

    package init() {}

    package init(_ change: (inout SamplePair) -> Void) { change(&self) }

    /// A picture with what the phone says in it.
    /// - Parameter picture: a JPEG.
    package func picture(_ picture: Data) -> Data {
        let content = Array("Exif\0\0".utf8) + exif
        return picture.prefix(2) + Data([0xFF, 0xE1] + Self.word(content.count + 2) + content) + picture.dropFirst(2)
    }

    package func writeFilm(to path: String) throws {
        try SampleFilm {
            ($0.width, $0.height, $0.duration) = (160, 120, duration)
            $0.tags = ["com.apple.quicktime.creationdate": taken + "+0200", "com.example.seed": "\(seed)"]
            if let identifier { $0.tags["com.apple.quicktime.content.identifier"] = identifier }
            $0.arguments = ["-movflags", "use_metadata_tags"]
        }.write(to: path)
    }

    // MARK: EXIF

    private static func word(_ value: Int) -> [UInt8] { [UInt8(value >> 8 & 255), UInt8(value & 255)] }
    private static func long(_ value: Int) -> [UInt8] { word(value >> 16) + word(value & 0xFFFF) }

    /// A directory with its values behind it, in big-endian order.
    /// - Parameter start: where it stands, as its values are counted from.
    private static func directory(_ entries: [(tag: Int, type: Int, bytes: [UInt8])], at start: Int) -> [UInt8] {
        var (table, values) = (word(entries.count), [UInt8]())
        let behind = start + 2 + entries.count * 12 + 4
        for (tag, type, bytes) in entries {
            let count = type == 4 ? bytes.count / 4 : bytes.count
            table += word(tag) + word(type) + long(count)
            if bytes.count <= 4 {
                table += bytes + [UInt8](repeating: 0, count: 4 - bytes.count)
            } else {
                table += long(behind + values.count)
                values += bytes
            }
        }
        return table + long(0) + values
    }

    private var exif: [UInt8] {
        let make = (tag: 0x010F, type: 2, bytes: Array("\(self.make)\0".utf8))
        func root(_ place: Int) -> [UInt8] {
            Self.directory([make, (tag: 0x8769, type: 4, bytes: Self.long(place))], at: 8)
        }
        let place = 8 + root(0).count
        let date = taken.replacing("-", with: ":").replacing("T", with: " ")
        var entries = [
            (tag: 0x9003, type: 2, bytes: Array("\(date)\0".utf8)),
            (tag: 0x9011, type: 2, bytes: Array("+02:00\0".utf8)),
        ]
        if let identifier { entries.append((tag: 0x927C, type: 7, bytes: Self.makerNote(identifier))) }
        return Array("MM".utf8) + Self.word(42) + Self.long(8) + root(place) + Self.directory(entries, at: place)
    }

    /// As Apple's phones write it: a name, a version, the byte order, and a directory that counts from the name on.
    package static func makerNote(_ identifier: String) -> [UInt8] {
        Array("Apple iOS\0".utf8) + word(1) + Array("MM".utf8)
            + directory(
                [
                    (tag: 0x0001, type: 9, bytes: long(14)),
                    (tag: 0x0011, type: 2, bytes: Array("\(identifier)\0".utf8)),
                ],
                at: 14)
    }
}
