import BenchSupport
import Foundation
import LibraryModel

/// A backup that is written, read back and verified, beside `zip -0`, bsdtar and 7-Zip storing the same files; a restore
/// that verifies, brings every thumbnail and fills a catalogue, beside what unpacks the same archive; and a verification
/// beside `unzip -t`.
///
/// Before each of them what is waiting for the disk is written out, so that nobody pays for somebody else's writes.
struct BackupMeasurement: Measurement {
    static let name = "backup"
    static let summary = "backup, restore and verification vs zip, bsdtar, 7z and unzip"
    static let options = [
        Arguments.Option("megabytes", "N", "of photos, about (500)"),
        Arguments.Option("photos", "N", "that they are in (one for each 2 megabytes)"),
        Arguments.Option("runs", "N", "runs of each contender, medians are shown (3)"),
    ]
    static let quick = ["--megabytes", "40", "--runs", "1"]

    let megabytes: Int
    let photos: Int
    let runs: Int

    init(_ arguments: Arguments) throws {
        megabytes = try arguments.number("megabytes", in: 4...100_000) ?? 500
        photos = try arguments.number("photos", in: 1...1_000_000) ?? megabytes / 2
        runs = try arguments.number("runs", in: 1...100) ?? 3
    }

    func figures(in work: WorkFolder) async throws -> [Figure] {
        let library = try await StoredAlbum.import(photos, megabytes: megabytes, at: work.newPath("library"), in: work)
        let contest = try BackupContest(library, in: work)
        note("backup: \(Format.megabytes(contest.bytes)) in \(photos) photos, \(runs) runs")
        var figures = try await contest.create(runs: runs)
        let backup = work.newPath("backup") + ".zip"
        _ = try await library.run(CreateBackup(path: backup))
        figures += try await contest.restore(backup, runs: runs)
        figures += try await contest.verify(backup, runs: runs)
        await library.close()
        return figures
    }
}

/// A library of generated photos of about one size.
enum StoredAlbum {
    /// A photo of 2048 x 1536 pixels with this texture has about 2 MB, as a library has them.
    private static let (texture, pixelsOfTwoMegabytes) = (80, 2048.0)

    static func `import`(
        _ photos: Int, megabytes: Int, at path: String, in work: WorkFolder
    ) async throws -> BenchLibrary {
        let width = pixelsOfTwoMegabytes * (Double(megabytes) / Double(2 * photos)).squareRoot()
        let unit = max(4, Int((width / 4).rounded()))
        let album = try GeneratedAlbum.make(photos, pixels: "\(4 * unit)x\(3 * unit)", texture: texture, in: work)
        let library = try await BenchLibrary.open(at: path)
        note("importing them")
        _ = try await library.run(ImportPhotos(paths: [album]))
        try FileManager.default.removeItem(atPath: album)
        return library
    }

    /// The folders of a library whose files a backup cannot make anew.
    static func folders(of library: String) throws -> [String] {
        try ["photos", "originals"].filter { folder in
            let path = library + "/" + folder
            return try FileManager.default.fileExists(atPath: path) && !GeneratedAlbum.files(of: path).isEmpty
        }
    }
}
