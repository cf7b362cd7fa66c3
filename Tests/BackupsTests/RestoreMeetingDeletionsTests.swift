import Foundation
import LibraryModel
import LibraryTestSupport
import SampleAlbum
import ServiceMesh
import SmilePile
import TestSupport
import Testing

/// A restore into a library that goes on being used.
@Suite struct RestoreMeetingDeletionsTests {
    /// A library without two of the twelve photos that its backup has.
    private func library() async throws -> (SteppedLibrary, backup: String) {
        let test = try await TestLibrary("meeting")
        _ = try await test.importSamples(12, album: SampleAlbum(width: 64, height: 48))
        await test.library.close()
        let library = try await SteppedLibrary(test)
        let backup = test.folder.file("b.zip")
        #expect(try await library.run(CreateBackup(path: backup)).state == .finished)
        try await library.purge(try await library.photos().prefix(2))
        return (library, backup)
    }

    /// In each round one more photo goes that was there when the last one was planned; after the third, everything that the
    /// backup has is staged, and a fourth does not matter any more.
    @Test(arguments: [RestoreMode.merge, .replace], [1, 4])
    func photosThatAreDeletedMeanwhileComeBack(_ mode: RestoreMode, _ rounds: Int) async throws {
        let (library, backup) = try await library()
        let kept = try await library.photos().map(\.uuid)
        let (staging, photos) = (library.folder.staging, library.folder.photos)
        let published = { (count: Int) -> @Sendable () -> Bool in
            {
                let names = { (folder: String) in (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [] }
                // Photos are staged, and not published yet.
                let there = Set(names(photos))
                return there.count >= count
                    && names(staging).contains { !$0.hasPrefix("thumb_") && !there.contains($0) }
            }
        }
        library.steps.hold(when: published(10))
        let job = try await library.mesh.send(RestoreBackup(path: backup, mode: mode)).job
        for round in 0..<rounds {
            await library.steps.arrived()
            let photo = try await library.mesh.send(GetPhoto(uuid: kept[round]))
            try await library.purge([photo])
            // Two staged at first, then one more each time; and one that is purged.
            library.steps.letGo(holdingAgainWhen: round + 1 < rounds ? published(11) : nil)
        }
        let made = try await library.mesh.send(WaitForJob(job: job))
        #expect(made.state == .finished && !made.needsAttention, "\(made)")
        #expect(try await library.photos().count == 12)
        #expect(try library.test.files("photos").count == 12 && library.test.files("thumbnails").count == 12)
        #expect(try library.test.files("staging").isEmpty)
        await library.close()
    }
}
