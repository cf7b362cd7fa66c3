import Foundation
import LibraryModel
import ServiceMesh
import SmilePile

/// A real library in a folder of its own, opened in this process: the same actors that the daemon serves.
package struct BenchLibrary: Sendable {
    package let library: PhotoLibrary
    package var mesh: Mesh { library.mesh }

    package struct Failed: Error, CustomStringConvertible {
        package let description: String

        package init(description: String) {
            self.description = description
        }
    }

    package static func open(at path: String) async throws -> BenchLibrary {
        var options = PhotoLibrary.Options()
        // Not where the family of whoever measures has its own.
        options.keyFile = keyFile(of: path)
        return BenchLibrary(library: try await PhotoLibrary.open(at: path, options: options))
    }

    package static func keyFile(of library: String) -> String { library + ".key" }

    package func close() async { await library.close() }

    /// How long a job took, and each of its phases, as an observer saw them; phases within a tenth of a second of the
    /// truth, because that is how often progress is published.
    package struct JobTimes: Sendable {
        package var seconds = 0.0
        package var phases: [(name: String, seconds: Double)] = []
    }

    /// Starts the job and returns when it has ended well.
    package func run<M: HandledMessage>(_ message: M) async throws -> JobTimes where M.Reply == JobStarted {
        let began = MonotonicClock.now()
        let phases = PhaseClock()
        let started = try await mesh.send(message)
        let ended = try await mesh.observe(WatchJob(job: started.job)) { change in
            await phases.saw(change.value.progress.phase, at: MonotonicClock.now())
        }
        let now = MonotonicClock.now()
        guard ended.state == .finished, !ended.needsAttention else {
            throw Failed(
                description: "\(M.method) ended as \(ended.state.rawValue): \(ended.error?.message ?? "") "
                    + "\(ended.outcomes)")
        }
        return JobTimes(seconds: Double(now - began) / 1e9, phases: await phases.times(until: now))
    }

    private actor PhaseClock {
        private var seen: [(name: String, began: UInt64)] = []

        func saw(_ phase: String, at time: UInt64) {
            if seen.last?.name != phase { seen.append((phase, time)) }
        }

        func times(until end: UInt64) -> [(name: String, seconds: Double)] {
            seen.indices.map { index in
                let next = index + 1 < seen.count ? seen[index + 1].began : end
                return (seen[index].name, Double(next - seen[index].began) / 1e9)
            }
        }
    }

    /// The processes that open photos, at this moment.
    package func workers() async throws -> [Int32] { try await mesh.send(GetLibraryStatus()).imageWorkers.pids }
}

/// Photos for measuring, made by another process: the memory of this one is part of what is measured.
package enum GeneratedAlbum {
    /// - Parameters:
    ///   - pixels: as `--size` takes it.
    ///   - texture: decides the files' size.
    package static func make(_ photos: Int, pixels: String, texture: Int, seed: Int = 1, in work: WorkFolder) throws
        -> String
    {
        let folder = work.newPath("album")
        note("making \(photos) photos of \(pixels)")
        try Command([
            try Programs.own(), AlbumCommand.name, folder, "--photos", "\(photos)", "--size", pixels, "--texture",
            "\(texture)",
            "--seed", "\(seed)",
        ]).run(in: work)
        return folder
    }

    package static func files(of folder: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder).sorted().map { folder + "/" + $0 }
    }

    package static func bytes(of folder: String) throws -> Int64 {
        try files(of: folder).reduce(0) { total, file in
            let size = try FileManager.default.attributesOfItem(atPath: file)[.size] as? NSNumber
            return total + (size?.int64Value ?? 0)
        }
    }
}
