import BenchSupport
import Foundation
import LibraryModel
import ServiceMesh
import SmilePile

/// A library of very many photos with thumbnails that can be opened. A few files are shared by all of them, as hard links: what
/// a million thumbnails would need on the disk is not what is measured.
struct WebLibrary: Sendable {
    let path: String
    /// The first millisecond of the day on which very many were taken.
    static let day = GeneratedCatalogue.firstDate + 3_822 * dayLength
    private static let dayLength: Int64 = 86_400_000
    /// The day, as the page's address has it.
    static let dayName = LocalDateTime(milliseconds: day).description.prefix(10)

    private static let album = 48
    /// Of one file; file systems have a bound, and ext4's is 65,000.
    private static let linksOfFile = 20_000

    /// - Parameter folder: where it is made, or found from the last time; a temporary one unless given.
    static func make(
        _ photos: Int, onOneDay: Int, at folder: String?, in work: WorkFolder
    ) async throws -> WebLibrary {
        let path = folder.map { URL(fileURLWithPath: $0).standardizedFileURL.path } ?? work.newPath("library")
        if FileManager.default.fileExists(atPath: path + "/catalogue.sqlite") {
            note("web: using the library at \(path)")
            return WebLibrary(path: path)
        }
        note("web: making \(photos) photos, \(onOneDay) of them on \(dayName)")
        let library = try await BenchLibrary.open(at: path)
        var categories: [Int64] = []
        for name in GeneratedCatalogue.categories {
            categories.append(try await library.mesh.send(AddCategory(displayName: name)).id)
        }
        // Thumbnails as they are made of real photos.
        let album = try GeneratedAlbum.make(Self.album, pixels: "1600x1200", texture: 24, in: work)
        _ = try await library.run(ImportPhotos(paths: [album], categoryId: categories[0]))
        var links = try Links(in: path)
        let context = CallContext.root(mesh: library.mesh, role: .service)
        let every = onOneDay > 0 ? photos / onOneDay : .max
        for start in stride(from: 0, to: photos - Self.album, by: FilledLibrary.batch) {
            let numbers = start..<min(start + FilledLibrary.batch, photos - Self.album)
            let batch = numbers.map { number in
                var row = GeneratedCatalogue.photo(number, categories: categories)
                if number % every == 1, number / every < onOneDay {
                    // Cameras tell milliseconds; a burst has several photos of one.
                    row.photo.takenAt = LocalDateTime(
                        milliseconds: day + Int64(number / every) * dayLength / Int64(onOneDay))
                }
                return row
            }
            _ = try await library.mesh.send(AddPhotos(photos: batch), in: context)
            for row in batch { try links.add(row.photo.thumbnailPath) }
        }
        links.removeCopies()
        await library.close()
        return WebLibrary(path: path)
    }

    /// Thumbnails that are further names of those that are there.
    private struct Links {
        private let library: String
        private var sources: [String]
        private var made = 0
        private var copies: [String] = []

        init(in library: String) throws {
            self.library = library
            sources = try FileManager.default.contentsOfDirectory(atPath: library + "/thumbnails").sorted()
                .map { library + "/thumbnails/" + $0 }
        }

        mutating func add(_ path: String) throws {
            if made == sources.count * WebLibrary.linksOfFile { try renew() }
            guard link(sources[made % sources.count], library + "/" + path) == 0 else {
                throw BenchLibrary.Failed(description: "\(path) cannot be made: \(String(cString: strerror(errno)))")
            }
            made += 1
        }

        /// Their links go on to have what they hold.
        func removeCopies() {
            for folder in copies { try? FileManager.default.removeItem(atPath: folder) }
        }

        /// Files of the same content that have no links yet.
        private mutating func renew() throws {
            let folder = library + ".thumbnails-\(UUID().uuidString)"
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            copies.append(folder)
            sources = try sources.enumerated().map { number, source in
                let copy = folder + "/\(number).jpg"
                try FileManager.default.copyItem(atPath: source, toPath: copy)
                return copy
            }
            made = 0
        }
    }
}
