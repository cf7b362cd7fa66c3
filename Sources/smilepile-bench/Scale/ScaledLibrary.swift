import BenchSupport
import Foundation
import LibraryModel
import SampleAlbum
import ServiceMesh
import ZipArchive

/// A library of many tiny photos with all their files, and the daemon that serves it. It is filled through the library's own
/// message and not by an import, which would take an hour for a million.
final class ScaledLibrary {
    /// Over days and categories.
    enum Distribution: String, Sendable {
        /// All of one day, in one category, as scans are.
        case day
        /// Over twenty years and 1,000 categories.
        case years
        /// As ``years``, and the second half is in the trash.
        case trash
        /// As ``day``, by an import, so that all files are known: a thousand photos in three seconds.
        case imported
    }

    let photos: Int
    let path: String
    let daemon: ScaleDaemon
    let work: WorkFolder
    /// Names of two categories; the first one has photos.
    let categories: (String, String)
    /// Photos that a request about some is about, by their ids from 1: half of them, and 10,000 at most.
    var some: Int { min(photos / 2, 10_000) - 1 }
    /// New ones, of an import: a hundredth, and from 100 to 1,000.
    var few: Int { min(max(photos / 100, 100), 1000) }
    /// What was imported, and how many files that are: all where the library was filled so.
    private(set) var known = (folder: "", files: 0)
    /// The newest of what operations have left for others.
    private(set) var sources = ""
    var archive = ""
    var folder = ""
    private let picture: TinyPicture
    private var written: Int
    private var others: [ScaleDaemon] = []

    private init(
        _ photos: Int, at path: String, _ daemon: ScaleDaemon, _ categories: (String, String), _ picture: TinyPicture,
        in work: WorkFolder
    ) {
        (self.photos, self.path, self.daemon) = (photos, path, daemon)
        (self.categories, self.picture, self.work) = (categories, picture, work)
        written = photos
    }

    /// Photos in one transaction.
    private static let portion = 20_000

    static func make(
        _ photos: Int, _ distribution: Distribution, in work: WorkFolder
    ) async throws -> ScaledLibrary {
        let path = work.newPath("scaled")
        let picture = try TinyPicture()
        let daemon = try await fill(path, photos, distribution, picture, in: work)
        let scaled = ScaledLibrary(photos, at: path, daemon, (name(0), name(1)), picture, in: work)
        switch distribution {
        case .day, .years: break
        case .trash: try daemon.run(["photos", "delete", "\(photos / 2 + 1)-\(photos)"], in: work)
        case .imported: try scaled.importAll()
        }
        return scaled
    }

    /// - Returns: the daemon that serves it since.
    private static func fill(
        _ path: String, _ photos: Int, _ distribution: Distribution, _ picture: TinyPicture, in work: WorkFolder
    ) async throws -> ScaleDaemon {
        let library = try await BenchLibrary.open(at: path)
        var ids: [Int64] = []
        let isOfOneDay = distribution == .day || distribution == .imported
        for number in 0..<(isOfOneDay ? 2 : 1000) {
            ids.append(try await library.mesh.send(AddCategory(displayName: name(number))).id)
        }
        let context = CallContext.root(mesh: library.mesh, role: .service)
        for start in stride(from: 0, to: distribution == .imported ? 0 : photos, by: portion) {
            var rows: [SourcedPhoto] = []
            for index in start..<min(start + portion, photos) {
                let category = isOfOneDay ? ids[0] : ids[index % ids.count]
                let photo = GeneratedCatalogue.photo(index, categories: [category]).photo
                let date = isOfOneDay ? GeneratedCatalogue.firstDate + Int64(index % 86_400) * 1000 : nil
                rows.append(try picture.write(index, as: photo, date: date, in: path))
            }
            _ = try await library.mesh.send(AddPhotos(photos: rows), in: context)
        }
        await library.close()
        return try ScaleDaemon(library: path, in: work)
    }

    private static func name(_ number: Int) -> String { "Album \(number)" }

    /// Files of new photos, in a folder of their own, which has become `sources`.
    /// - Parameter count: ``few`` unless told.
    func writeSources(_ count: Int? = nil) throws {
        let end = written + (count ?? few)
        sources = try write(written..<end)
        written = end
    }

    /// Files that are known since they were imported.
    func importKnown() throws {
        guard known.files == 0 else { return }
        try writeSources()
        try daemon.run(["import", sources], in: work)
        known = (sources, few)
    }

    private func importAll() throws {
        known = (try write(0..<photos), photos)
        try daemon.run(["import", known.folder, "--category", categories.0], in: work)
    }

    /// - Returns: their folder. They are old enough to be known once they were imported.
    private func write(_ numbers: Range<Int>) throws -> String {
        let folder = work.newPath("sources")
        for number in numbers {
            // As cameras do: a thousand in each.
            let part = "\(folder)/\(number / 1000)"
            try FileManager.default.createDirectory(atPath: part, withIntermediateDirectories: true)
            try picture.bytes(number).write(to: URL(fileURLWithPath: "\(part)/\(number).jpg"))
        }
        // One that was written to within three seconds may be written to again in the same tick of its file system's clock.
        sleep(4)
        return folder
    }

    /// A library in which nothing is.
    func another() throws -> ScaleDaemon {
        others.forEach { $0.end() }
        let daemon = try ScaleDaemon(library: work.newPath("another"), in: work)
        others = [daemon]
        return daemon
    }

    func end() {
        others.forEach { $0.end() }
        daemon.end()
    }
}

/// A picture of a few hundred bytes, and as many different ones as numbers.
private struct TinyPicture {
    private let jpeg: Data

    init() throws {
        // Of those without a date and a place: 19 of each 20.
        jpeg = try SampleAlbum(width: 32, height: 24, texture: 0).photo(19)
    }

    /// With the number in a comment.
    func bytes(_ number: Int) -> Data {
        let text = Data("\(number)".utf8)
        let length = text.count + 2
        return jpeg.prefix(2) + [0xFF, 0xFE, UInt8(length >> 8), UInt8(length & 0xFF)] + text + jpeg.dropFirst(2)
    }

    /// Writes the files of a photo that has them all from this picture.
    /// - Parameter date: when it was taken; else what its row says.
    /// - Returns: its row.
    func write(_ number: Int, as photo: Photo, date: Int64?, in library: String) throws -> SourcedPhoto {
        let bytes = bytes(number)
        let digest = ContentDigest(of: bytes).sha256.hex
        var photo = photo
        (photo.contentDigest, photo.fileSize) = (digest, Int64(bytes.count))
        (photo.width, photo.height, photo.originalPath) = (32, 24, photo.path)
        if let date { photo.takenAt = LocalDateTime(milliseconds: date) }
        for path in [photo.path, photo.thumbnailPath] {
            try bytes.write(to: URL(fileURLWithPath: library + "/" + path))
        }
        return SourcedPhoto(photo: photo, sourceDigest: digest, sourceSize: Int64(bytes.count))
    }
}
