import Foundation
import LibraryModel
import LibraryTestSupport
import SampleAlbum
import ServiceMesh
import SmilePile
import TestSupport
import Testing
import ZipArchive

/// Files that change while they are imported, and photos that lose their helpers: what is stored is what is recorded, and
/// the rest has a line that says why.
@Suite struct ChangingFilesTests {
    /// A program that speaks as an image worker does, and does `afterRequest` with every photo.
    private func library(_ folder: TemporaryFolder, worker afterRequest: String) async throws -> PhotoLibrary {
        let path = folder.file("worker.sh")
        let script = """
            #!/bin/sh
            echo '{"outcome":{"ready":{}}}' >&0
            while dd bs=65536 count=1 of=/dev/null status=none; do
            \(afterRequest)
            done
            """
        try Data(script.utf8).write(to: URL(fileURLWithPath: path))
        try #require(chmod(path, 0o700) == 0)
        return try await PhotoLibrary.open(
            at: folder.file("library"), options: .init(imageWorker: path, workers: 1))
    }

    private func importing(_ library: PhotoLibrary, _ folder: TemporaryFolder, dryRun: Bool = false) async throws
        -> JobSnapshot
    {
        try SampleAlbum(width: 64, height: 48).write(count: 1, to: folder.file("album"))
        let started = try await library.mesh.send(ImportPhotos(paths: [folder.file("album")], dryRun: dryRun))
        return try await library.mesh.send(WaitForJob(job: started.job))
    }

    private func isEmpty(_ folder: TemporaryFolder) throws -> Bool {
        try ["photos", "thumbnails", "staging"].allSatisfy {
            try FileManager.default.contentsOfDirectory(atPath: folder.file("library/" + $0)).isEmpty
        }
    }

    @Test func aFileThatChangedMeanwhileSaysSoAndLeavesNothing() async throws {
        let folder = try TemporaryFolder("changed")
        let library = try await library(
            folder,
            worker: #"echo '{"outcome":{"failed":{"_0":{"changed":{}}}}}' >&0"#)
        let job = try await importing(library, folder)
        #expect(job.outcomes == ["changed": 1] && job.needsAttention)
        let line = try #require(try await library.mesh.send(GetJobReceipt(job: job.id)).lines.first)
        #expect(line.detail?.contains("changed while it was read. Import it again") == true)
        #expect(try isEmpty(folder))
        await library.close()
    }

    @Test func aPhotoThatLosesItsHelpersIsNotCalledDamaged() async throws {
        let folder = try TemporaryFolder("lost")
        let library = try await library(folder, worker: "kill -KILL $$")
        let job = try await importing(library, folder)
        #expect(job.outcomes == ["worker_lost": 1] && job.needsAttention)
        #expect(try isEmpty(folder))
        let status = try await library.mesh.send(GetLibraryStatus()).imageWorkers
        #expect(status.lost == 2 && status.crashed == 0 && status.started == 2)
        await library.close()
    }

    /// Whatever a migration's photo may come to by its import is a word of the migration too. It opens every file, and is no session of uploads.
    @Test func aMigrationKnowsTheWordsOfAnImport() {
        for outcome in ImportOutcome.allCases where ![.known, .notSent, .passedOver, .beside].contains(outcome) {
            let word = MigrationOutcome(rawValue: outcome.rawValue)
            #expect(word?.needsAttention == outcome.needsAttention, "\(outcome)")
        }
    }

    /// Rewrites a file again and again, in parts, until it is ended.
    private final class Rewriter: Sendable {
        private let isEnding = Flag()

        private final class Flag: Sendable {
            private let gate = NSConditionLock(condition: 0)
            var isSet: Bool { gate.condition == 1 }
            func set() {
                gate.lock()
                gate.unlock(withCondition: 1)
            }
        }

        init(_ path: String, _ contents: [Data]) {
            let isEnding = isEnding
            Thread.detachNewThread {
                let descriptor = open(path, O_WRONLY | O_CLOEXEC)
                while !isEnding.isSet {
                    for data in contents {
                        for start in stride(from: 0, to: data.count, by: 1 << 14) {
                            let part = data[start..<min(data.count, start + 1 << 14)]
                            _ = part.withUnsafeBytes { pwrite(descriptor, $0.baseAddress, $0.count, off_t(start)) }
                        }
                    }
                }
                close(descriptor)
            }
        }

        func end() { isEnding.set() }
    }

    @Test func everyStoredPhotoHasTheDigestThatIsRecorded() async throws {
        let test = try await TestLibrary("rewritten")
        let album = SampleAlbum(width: 1600, height: 1200, texture: 60)
        // Of one length, so that only the bytes tell them apart: what is behind a JPEG's end does not matter.
        let photos = try (0..<2).map { try album.photo($0) }
        let length = photos.map(\.count).max() ?? 0
        let contents = photos.map { $0 + Data(count: length - $0.count) }
        let path = test.folder.file("changing.jpg")
        try contents[0].write(to: URL(fileURLWithPath: path))
        let rewriter = Rewriter(path, contents)
        var outcomes: [String: Int] = [:]
        // Until it was caught in the act; each run is one more file that might have been stored wrongly.
        while outcomes["changed"] == nil {
            let job = try await test.importing(path)
            outcomes.merge(job.outcomes) { $0 + $1 }
        }
        rewriter.end()
        _ = try await test.importing(path)
        #expect(Set(outcomes.keys).isSubset(of: ["imported", "duplicate", "changed", "damaged"]), "\(outcomes)")
        for photo in try await test.allPhotos() {
            let stored = try test.bytes(photo.path)
            #expect(ContentDigest(of: stored).sha256.hex == photo.contentDigest)
            #expect(Int64(stored.count) == photo.fileSize)
        }
        #expect(try test.files("staging").isEmpty)
        await test.library.close()
    }
}
