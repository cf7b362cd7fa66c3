import Foundation
import Glibc
import TestSupport
import Testing

@testable import Imaging
@testable import PhotoConversion

/// A worker that a photo has taken over, `cell-probe`, in the place of the real one.
@Suite struct HostileWorkerTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder("lies") }

    private func pool(processorTime: Duration = .seconds(60)) throws -> ImageWorkerPool {
        let probe = URL(fileURLWithPath: try workerExecutable()).deletingLastPathComponent()
            .appendingPathComponent("cell-probe").path
        return ImageWorkerPool(executable: probe, workers: 1, processorTime: processorTime)
    }

    private func source(_ lie: String) throws -> [UInt8] {
        let picture = Array(try Pictures.file(.jpeg, PixelSize(width: 8, height: 8)))
        let words = Array(("lie: " + lie).utf8)
        return picture[..<2] + [0xFF, 0xFE, 0, UInt8(words.count + 2)] + words + picture[2...]
    }

    /// Otherwise the tests below would show nothing.
    @Test(arguments: ["nothing", "nothing, kept"]) func whatIsTrueIsTaken(_ lie: String) async throws {
        let (pool, source) = (try pool(), try source(lie))
        let made = try await convert(pool, folder.write(source), folder)
        #expect(made.fileSize == source.count && made.thumbnailSize == source.count && made.width == 8)
        let (stored, thumbnail) = try (folder.bytes("photo"), folder.bytes("thumbnail"))
        #expect(Array(stored) == source && Array(thumbnail) == source)
        #expect(made.contentDigest == stored.withUnsafeBytes { Digest.sha256($0) })
        #expect(made.sourceDigest == made.contentDigest && made.sourceSize == source.count)
        await pool.shutDown()
    }

    @Test func aPreviewThatIsOneIsTaken() async throws {
        let pool = try pool()
        let made = try await convert(pool, folder.write(source("nothing, large")), folder)
        #expect(made.width == 2048)
        let preview = try folder.bytes("preview")
        #expect(preview.count == 100 && made.previewSize == 100)
        #expect(PreviewMaker.version(ofPreview: Array(preview.suffix(PreviewMaker.tailBytes))) == PreviewMaker.version)
        await pool.shutDown()
    }

    @Test(arguments: [
        "no preview", "a page for a preview", "a preview with more behind it", "a preview that is cut",
        "a preview with another picture in it", "a larger preview", "a preview with more chunks",
        "a preview that is longer than it says", "change the preview later", "change the photo later",
        "change the thumbnail later", "a page for a photo", "a page for a thumbnail",
        "a photo that is cut", "an empty photo", "a larger photo", "a larger thumbnail", "a larger source, kept",
        "another type",
    ])
    func whatIsNotIsNot(_ lie: String) async throws {
        let pool = try pool()
        await #expect(throws: ImagingError.workerCrashed("an answer that cannot be right")) {
            try await convert(pool, folder.write(source(lie)), folder)
        }
        #expect(pool.statistics.crashed == 1 && pool.statistics.livePIDs.count == 1)
        await pool.shutDown()
    }

    @Test func aDigestIsHeldAgainstTheFile() async throws {
        let pool = try pool()
        await #expect(throws: ImagingError.changed) {
            try await convert(pool, folder.write(source("another digest")), folder)
        }
        await pool.shutDown()
    }

    @Test func anOutputHasNoMoreRoomThanItNeeds() async throws {
        let pool = try pool()
        await #expect(throws: ImagingError.damaged("its room ended")) {
            try await convert(pool, folder.write(source("a thumbnail of 300 MiB")), folder)
        }
        await pool.shutDown()
    }

    @Test func theSourceIsForReadingOnly() async throws {
        let (pool, source) = (try pool(), try source("write to the source"))
        let path = try folder.write(source)
        #expect(try await convert(pool, path, folder).fileSize == source.count)
        let after = try Data(contentsOf: URL(fileURLWithPath: path))
        #expect(Array(after) == source)
        await pool.shutDown()
    }

    @Test func theNextPhotoMeetsNobody() async throws {
        let pool = try pool()
        _ = try await convert(pool, folder.write(source("take over")), folder)
        await #expect(throws: ImagingError.damaged("there was none")) {
            try await convert(pool, folder.write(source("was one before")), folder)
        }
        await pool.shutDown()
    }

    @Test func oneThatHangsIsEnded() async throws {
        let pool = try pool(processorTime: .milliseconds(50))
        await #expect(throws: ImagingError.timedOut) { try await convert(pool, folder.write(source("hang")), folder) }
        #expect(try await convert(pool, folder.write(source("nothing")), folder).width == 8)
        await pool.shutDown()
    }
}
