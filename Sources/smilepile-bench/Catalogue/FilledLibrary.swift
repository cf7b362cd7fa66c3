import BenchSupport
import Foundation
import LibraryModel
import ServiceMesh
import SmilePile

/// A library whose catalogue was filled with generated rows, through the library's own message.
struct FilledLibrary: Sendable {
    let library: BenchLibrary
    let path: String
    /// How fast it was filled.
    let figures: [Figure]

    /// Rows in one transaction.
    static let batch = 50_000

    /// - Parameter compared: so many of the first rows are also imported by `sqlite3` into the same empty catalogue, with
    ///   the same indices, text index and triggers; all, or a number of whole batches.
    static func make(
        _ photos: Int, named name: String, compared: Int = 0, in work: WorkFolder
    ) async throws -> FilledLibrary {
        let path = work.newPath(name)
        var library = try await BenchLibrary.open(at: path)
        var categories: [Int64] = []
        for name in GeneratedCatalogue.categories {
            categories.append(try await library.mesh.send(AddCategory(displayName: name)).id)
        }
        let peer = compared > 0 && Tool.sqlite.path != nil ? work.newPath("peer") : nil
        if let peer {
            // The copy is of a catalogue that nobody has open.
            await library.close()
            try FileManager.default.createDirectory(atPath: peer, withIntermediateDirectories: true)
            try FileManager.default.copyItem(
                atPath: path + "/catalogue.sqlite", toPath: peer + "/catalogue.sqlite")
            library = try await BenchLibrary.open(at: path)
        }
        let rows = try peer.map { try RowFile(path: $0 + "/rows.csv") }
        let context = CallContext.root(mesh: library.mesh, role: .service)
        var (seconds, first) = (0.0, 0.0)
        for start in stride(from: 0, to: photos, by: batch) {
            let batch = (start..<min(start + batch, photos)).map {
                GeneratedCatalogue.photo($0, categories: categories)
            }
            if start < compared { try rows?.write(batch, firstID: start + 1) }
            seconds += try await Measuring.seconds {
                _ = try await library.mesh.send(AddPhotos(photos: batch), in: context)
            }
            if start < compared { first = seconds }
        }
        try rows?.close()
        let rate = Double(photos) / seconds
        func figures() throws -> [Figure] {
            guard compared > 0 else { return [] }
            let what = "filling with \(photos) photos, all indices in place"
            guard let peer else { return [.missing(what, ours: Format.rate(rate, "rows"), .sqlite, must: "0.50x")] }
            let other = Double(compared) / (try importing(in: peer, work))
            let counts = compared < photos ? [(compared, Double(compared) / first)] : []
            return (counts + [(photos, rate)]).map { count, rate in
                Figure(
                    "filling with \(count) photos, all indices in place", ours: Format.rate(rate, "rows"),
                    peer: "\(Format.rate(other, "rows")) (\(compared) rows)", command: command, ratio: rate / other,
                    must: "0.50x", holds: rate / other >= 0.5)
            }
        }
        return FilledLibrary(library: library, path: path, figures: try figures())
    }

    private static let command = "sqlite3 catalogue.sqlite '.import --csv rows.csv photos'"

    /// Seconds. The generated column becomes a plain one beforehand, which `rows.csv` fills: `.import` cannot fill a table
    /// that has one.
    private static func importing(in folder: String, _ work: WorkFolder) throws -> Double {
        let generated = " GENERATED ALWAYS AS (coalesce(taken_at, created_at)) STORED"
        try Command(
            [
                "sqlite3", "catalogue.sqlite",
                "PRAGMA writable_schema = ON; "
                    + "UPDATE sqlite_schema SET sql = replace(sql, '\(generated)', '') WHERE name = 'photos'",
            ], in: folder
        ).run(in: work)
        note("catalogue: \(command)")
        let seconds = try Measuring.blockingSeconds {
            try Command(["sqlite3", "catalogue.sqlite", ".import --csv rows.csv photos"], in: folder).run(in: work)
        }
        // An import that stores nothing also ends well.
        let count = try Command(["sqlite3", "catalogue.sqlite", "SELECT sum(photos) FROM category_totals"], in: folder)
            .run(in: work)
        let lines = try Command(["sh", "-c", "grep -c '^\"[0-9]*\",' rows.csv"], in: folder).run(in: work)
        guard count.trimmingCharacters(in: .newlines) == lines.trimmingCharacters(in: .newlines) else {
            throw BenchLibrary.Failed(description: "sqlite3 imported \(count) rows of \(lines).")
        }
        try FileManager.default.removeItem(atPath: folder)
        return seconds
    }

    /// The rows as a file of comma-separated values.
    private struct RowFile {
        let handle: FileHandle

        init(path: String) throws {
            guard FileManager.default.createFile(atPath: path, contents: nil) else {
                throw BenchLibrary.Failed(description: "\(path) cannot be made.")
            }
            handle = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
        }

        func write(_ photos: [SourcedPhoto], firstID: Int) throws {
            var text = ""
            for (index, photo) in photos.enumerated() { text += GeneratedCatalogue.line(photo, id: firstID + index) }
            try handle.write(contentsOf: Data(text.utf8))
        }

        func close() throws { try handle.close() }
    }
}
