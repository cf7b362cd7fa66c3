import BenchSupport
import Foundation
import LibraryModel
import ServiceMesh

/// How long a backup goes on after it was called off, or told to pause, at several places of its bytes.
struct StoppedBackupMeasurement: Measurement {
    static let name = "backup-stops"
    static let summary = "how soon a backup ends that is cancelled, and stands still that is paused"
    static let options = [
        Arguments.Option("megabytes", "N", "of photos, about (5000)"),
        Arguments.Option("photos", "N", "that they are in (one for each 2 megabytes)"),
        Arguments.Option("runs", "N", "cancelled and paused at as many places (5)"),
        Arguments.Option("pause", "SECONDS", "that each paused one stands still (60)"),
    ]
    static let quick = ["--megabytes", "100", "--runs", "2", "--pause", "1"]

    let megabytes: Int
    let photos: Int
    let runs: Int
    let pause: Int

    init(_ arguments: Arguments) throws {
        megabytes = try arguments.number("megabytes", in: 4...100_000) ?? 5000
        photos = try arguments.number("photos", in: 1...1_000_000) ?? megabytes / 2
        runs = try arguments.number("runs", in: 1...100) ?? 5
        pause = try arguments.number("pause", in: 0...3600) ?? 60
    }

    func figures(in work: WorkFolder) async throws -> [Figure] {
        let library = try await StoredAlbum.import(photos, megabytes: megabytes, at: work.newPath("library"), in: work)
        let folder = work.newPath("backups")
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        var (cancelled, paused) = ([Double](), [Double]())
        for run in 1...runs {
            let share = Double(run) / Double(runs + 1)
            note("backup-stops: cancelled at \(Int(share * 100)) %")
            cancelled.append(try await cancel(at: share, folder, library))
        }
        // One is enough of what takes a minute each.
        for share in [0.5] {
            note("backup-stops: paused at \(Int(share * 100)) %, for \(pause) s")
            paused.append(try await pause(at: share, folder, library))
        }
        await library.close()
        let what = "\(megabytes) MB in \(photos) photos"
        return [
            Figure(
                "a cancelled backup of \(what): until its receipt, the slowest of \(runs)",
                ours: Self.milliseconds(cancelled), must: "< 200 ms", holds: (cancelled.max() ?? 1) < 0.2),
            Figure(
                "a paused one: until nothing is written any more; after \(pause) s it went on and was verified",
                ours: Self.milliseconds(paused), must: "< 200 ms", holds: (paused.max() ?? 1) < 0.2),
        ]
    }

    private static func milliseconds(_ seconds: [Double]) -> String { Format.seconds(seconds.max() ?? 0) }

    /// Starts a backup and returns once it has come that far.
    private func start(
        at share: Double, _ folder: String, _ library: BenchLibrary
    ) async throws -> (job: JobID, path: String) {
        let path = folder + "/\(UUID().uuidString).zip"
        let job = try await library.mesh.send(CreateBackup(path: path)).job
        let reached = Task {
            _ = try await library.mesh.observe(WatchJob(job: job)) { change in
                let progress = change.value.progress
                guard progress.phase == "copying", let total = progress.bytesTotal, total > 0,
                    Double(progress.bytesDone) >= share * Double(total)
                else { return }
                throw CancellationError()
            }
            throw BenchLibrary.Failed(description: "the backup ended before it had come to \(share)")
        }
        if case .failure(let error) = await reached.result, error is BenchLibrary.Failed { throw error }
        return (job, path)
    }

    private func cancel(at share: Double, _ folder: String, _ library: BenchLibrary) async throws -> Double {
        let (job, path) = try await start(at: share, folder, library)
        let began = MonotonicClock.now()
        _ = try await library.mesh.send(CancelJob(job: job))
        let ended = try await library.mesh.send(WaitForJob(job: job))
        let seconds = Double(MonotonicClock.now() - began) / 1e9
        guard ended.state == .cancelled, try FileManager.default.contentsOfDirectory(atPath: folder).isEmpty else {
            throw BenchLibrary.Failed(description: "\(path) ended as \(ended.state.rawValue), or left something")
        }
        return seconds
    }

    private func pause(at share: Double, _ folder: String, _ library: BenchLibrary) async throws -> Double {
        let (job, path) = try await start(at: share, folder, library)
        let began = MonotonicClock.now()
        _ = try await library.mesh.send(PauseJob(job: job))
        // Still is what has not moved for half a second; until when it moved is what counts.
        var (seen, moved) = (Int64(-1), began)
        while MonotonicClock.now() - moved < 500_000_000 {
            let bytes = try await library.mesh.send(GetJob(job: job)).progress.bytesDone
            if bytes != seen { (seen, moved) = (bytes, MonotonicClock.now()) }
            // Between two looks at a job that stands still, of which nothing tells.
            try await Task.sleep(for: .milliseconds(5))
        }
        // What is measured: that it stands still for so long.
        try await Task.sleep(for: .seconds(pause))
        guard try await library.mesh.send(GetJob(job: job)).progress.bytesDone == seen else {
            throw BenchLibrary.Failed(description: "\(path) went on though it was paused")
        }
        _ = try await library.mesh.send(ResumeJob(job: job))
        let ended = try await library.mesh.send(WaitForJob(job: job))
        guard ended.state == .finished, !ended.needsAttention else {
            throw BenchLibrary.Failed(description: "\(path) ended as \(ended.state.rawValue)")
        }
        unlink(path)
        return Double(moved - began) / 1e9
    }
}
