import BenchSupport
import Foundation
import SampleAlbum

/// Small folders to import, made as they are needed: new photos, some seen before, and files that are none.
///
/// A new photo is one of a dozen pictures with another comment in it, which is enough to be another file.
final class ImportSources {
    private let folder: String
    private let pictures: [Data]
    private let label: String
    private var folders = 0
    private var backups: [String] = []
    private var backupCount = 0
    private var photos = 0

    /// - Parameters:
    ///   - pictures: JPEG files.
    ///   - label: tells these sources from those of other clients.
    init(folder: String, pictures: [Data], label: String) throws {
        self.folder = folder
        self.pictures = pictures
        self.label = label
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    }

    static func pictures(seed: UInt64) throws -> [Data] {
        let album = SampleAlbum(width: 240, height: 180, seed: seed)
        return try (0..<12).map { try album.photo($0) }
    }

    func path(_ name: String) -> String { folder + "/" + name }

    /// A file that is not there yet. Removes all but the latest few that were asked for.
    func newBackup(keeping: Int) -> String {
        backupCount += 1
        if backups.count > keeping { unlink(backups.removeFirst()) }
        backups.append(path("backup-\(backupCount).zip"))
        return backups.last ?? ""
    }

    /// A folder with up to eight files, one in a folder of its own.
    func make(_ random: inout SeededChoices) throws -> String {
        folders += 1
        let path = path("album-\(folders)")
        try FileManager.default.createDirectory(atPath: path + "/inside", withIntermediateDirectories: true)
        for index in 0..<random.roll(2...6) {
            let isKnown = photos > 0 && random.oneIn(4)
            if !isKnown { photos += 1 }
            let number = isKnown ? random.roll(photos) : photos
            let name = (index == 0 ? "inside/" : "") + "sample-\(index).jpg"
            try photo(number).write(to: URL(fileURLWithPath: path + "/" + name))
        }
        if random.oneIn(2) { try writeHostile(to: path, &random) }
        return path
    }

    private func photo(_ number: Int) -> Data {
        let picture = pictures[number % pictures.count]
        let comment = Array("\(label), \(number)".utf8)
        // SOI, then a comment segment, then what came after SOI.
        let segment = [0xFF, 0xFE, UInt8((comment.count + 2) >> 8), UInt8((comment.count + 2) & 0xFF)] + comment
        return picture.prefix(2) + segment + picture.dropFirst(2)
    }

    private func writeHostile(to path: String, _ random: inout SeededChoices) throws {
        let whole = pictures[0]
        let files: [(String, Data)] = [
            ("cut.jpg", whole.prefix(whole.count / 3)),
            ("text.jpg", Data("This is no picture.".utf8)),
            ("empty.png", Data()),
            ("huge.png", Self.hugePNG),
            ("noise.heic", Data((0..<4000).map { _ in UInt8(truncatingIfNeeded: random.next()) })),
        ]
        for (name, content) in files where random.oneIn(2) {
            try content.write(to: URL(fileURLWithPath: path + "/" + name))
        }
    }

    /// A PNG whose header promises 60,000 by 60,000 pixels and has none of them.
    private static let hugePNG: Data = {
        var data = Data([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 13])
        data += Data("IHDR".utf8)
        data += Data([0, 0, 0xEA, 0x60, 0, 0, 0xEA, 0x60, 8, 6, 0, 0, 0, 0, 0, 0, 0])
        return data
    }()
}
