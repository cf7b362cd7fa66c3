import Foundation
import LibraryModel
import ServiceMesh

/// A backup that is written, read back and verified, beside `zip -0` of the same photos; a restore that verifies, makes
/// every thumbnail and fills a catalogue, beside `unzip`; and a verification beside `unzip -t`.
///
/// Before each of them what is waiting for the disk is written out, so that nobody pays for somebody else's writes.
struct BackupMeasurement: Measurement {
    static let name = "backup"
    static let summary = "backup, restore and verification vs zip -0, unzip and unzip -t"
    static let options = [
        Arguments.Option("megabytes", "N", "of stored photos, about (500)"),
        Arguments.Option("runs", "N", "runs of each contender, medians are shown (3)"),
    ]
    static let quick = ["--megabytes", "40", "--runs", "1"]

    /// Stored photos as a library has them: 2048 pixels, here of about 2 MB each.
    private static let photo = (pixels: "2048x1536", texture: 80, megabytes: 2)

    let megabytes: Int
    let runs: Int

    init(_ arguments: Arguments) throws {
        megabytes = try arguments.number("megabytes", in: 4...100_000) ?? 500
        runs = try arguments.number("runs", in: 1...100) ?? 3
    }

    func figures(in work: WorkFolder) async throws -> [Figure] {
        let album = try GeneratedAlbum.make(
            megabytes / Self.photo.megabytes, pixels: Self.photo.pixels, texture: Self.photo.texture, in: work)
        let source = work.newPath("library")
        let library = try await BenchLibrary.open(at: source)
        note("importing them")
        _ = try await library.run(ImportPhotos(paths: [album]))
        try FileManager.default.removeItem(atPath: album)
        let photos = source + "/photos"
        let bytes = try GeneratedAlbum.bytes(of: photos)
        note("backup: \(Format.megabytes(bytes)), \(runs) runs")
        let contest = BackupContest(library: library, photos: photos, work: work)
        var figures = try await contest.create(runs: runs, bytes: bytes)
        let backup = work.newPath("backup") + ".zip"
        _ = try await library.run(CreateBackup(path: backup))
        figures += try await contest.restore(backup, runs: runs)
        figures += try await contest.verify(backup, runs: runs)
        await library.close()
        return figures
    }
}

/// The three comparisons on one library.
struct BackupContest: Sendable {
    let library: BenchLibrary
    let photos: String
    let work: WorkFolder

    func create(runs: Int, bytes: Int64) async throws -> [Figure] {
        var contenders: [Measuring.Contender] = [
            {
                let path = work.newPath("backup") + ".zip"
                defer { unlink(path) }
                sync()
                return try await library.run(CreateBackup(path: path)).seconds
            }
        ]
        if Tool.zip.path != nil {
            contenders.append {
                let path = work.newPath("zip") + ".zip"
                defer { unlink(path) }
                sync()
                let command = Command(["zip", "-0", "-r", "-q", path, "photos"], in: library.library.path)
                return try Measuring.blockingSeconds { _ = try command.run(in: work) }
            }
        }
        let medians = try await Measuring.interleaved(runs: runs, contenders)
        let what = "backup of \(Format.megabytes(bytes)), verified, vs zip -0"
        let hundred = medians[0] * 200e6 / Double(bytes)
        return [
            medians.count == 2
                ? .times(what, ours: medians[0], peer: medians[1], command: "zip -0 -r -q OUT.zip photos", atLeast: 1)
                : .missing(what, ours: Format.seconds(medians[0]), .zip, must: Format.ratio(1)),
            Figure(
                "backup of 100 photos of 2 MB, at that rate", ours: Format.seconds(hundred), must: "< 30 s",
                holds: hundred < 30),
        ]
    }

    func restore(_ backup: String, runs: Int) async throws -> [Figure] {
        let shares = Shares()
        var contenders: [Measuring.Contender] = [{ try await restoreOnce(backup, shares) }]
        if Tool.unzip.path != nil {
            contenders.append {
                let path = work.newPath("unzip")
                defer { try? FileManager.default.removeItem(atPath: path) }
                sync()
                let command = Command(["unzip", "-q", backup, "-d", path])
                return try Measuring.blockingSeconds { _ = try command.run(in: work) }
            }
        }
        let medians = try await Measuring.interleaved(runs: runs, contenders)
        let what = "restore, verified, with thumbnails, vs unzip"
        var figures = [
            medians.count == 2
                ? .times(what, ours: medians[0], peer: medians[1], command: "unzip -q BACKUP.zip -d OUT", atLeast: 1)
                : Figure.missing(what, ours: Format.seconds(medians[0]), .unzip, must: Format.ratio(1))
        ]
        for (phase, seconds) in await shares.phases {
            figures.append(Figure("  of which \(phase)", ours: Format.seconds(seconds)))
        }
        figures.append(
            Figure(
                "  thumbnails' share of all processor time",
                ours: String(format: "%.0f %%", await shares.thumbnails * 100)))
        return figures
    }

    private func restoreOnce(_ backup: String, _ shares: Shares) async throws -> Double {
        let path = work.newPath("restored")
        let target = try await BenchLibrary.open(at: path)
        sync()
        let before = ProcessFacts.processorSeconds(getpid())
        let times = try await target.run(RestoreBackup(path: backup, mode: .replace))
        let own = ProcessFacts.processorSeconds(getpid()) - before
        let workers = try await target.workers().reduce(0) { $0 + ProcessFacts.processorSeconds($1) }
        await shares.saw(times, thumbnails: workers / (own + workers))
        await target.close()
        try FileManager.default.removeItem(atPath: path)
        return times.seconds
    }

    /// Where the time of the latest restore went.
    private actor Shares {
        private(set) var phases: [(name: String, seconds: Double)] = []
        /// 0…1, of the processor time of all processes.
        private(set) var thumbnails = 0.0

        func saw(_ times: BenchLibrary.JobTimes, thumbnails: Double) {
            phases = times.phases
            self.thumbnails = thumbnails
        }
    }

    func verify(_ backup: String, runs: Int) async throws -> [Figure] {
        var contenders: [Measuring.Contender] = [
            { try await library.run(VerifyBackup(path: backup)).seconds }
        ]
        if Tool.unzip.path != nil {
            contenders.append {
                try Measuring.blockingSeconds { _ = try Command(["unzip", "-tqq", backup]).run(in: work) }
            }
        }
        let medians = try await Measuring.interleaved(runs: runs, contenders)
        let what = "verification vs unzip -t"
        return [
            medians.count == 2
                ? .times(what, ours: medians[0], peer: medians[1], command: "unzip -tqq BACKUP.zip")
                : .missing(what, ours: Format.seconds(medians[0]), .unzip)
        ]
    }
}
