import Foundation
import ImageWorkerProtocol
import TestSupport
import Testing

@testable import Imaging
@testable import PhotoConversion

/// When a picture was taken, read by a worker that decodes nothing of it.
@Suite struct DateReadingTests {
    private let folder: TemporaryFolder
    private static let size = PixelSize(width: 64, height: 48)
    private static let packet = MetadataMaker.packet("exif:DateTimeOriginal='2019-06-12T14:05:33.250+02:00'")
    private static let taken = CameraDate(clock: 1_560_348_333_250, offset: 120, source: .xmp)

    init() throws { folder = try TemporaryFolder("date") }

    private func readDate(_ pool: ImageWorkerPool, _ bytes: [UInt8]) async throws -> CameraDate? {
        let files = try Files(folder.write(bytes), folder)
        defer { withExtendedLifetime(files) {} }
        return try await pool.readDate(source: files.source).taken
    }

    @Test func itIsTheDateThatConvertingFinds() async throws {
        let pool = ImageWorkerPool(executable: try workerExecutable(), workers: 1)
        for picture in [
            try MetadataMaker.jpeg(Self.size, xmp: Self.packet), try MetadataMaker.webp(Self.size, xmp: Self.packet),
            try MetadataMaker.gif(Self.size, xmp: Self.packet),
        ] {
            #expect(try await readDate(pool, picture) == Self.taken)
            #expect(try await convert(pool, folder.write(picture), folder).taken == Self.taken)
        }
        #expect(try await readDate(pool, MetadataMaker.jpeg(Self.size)) == nil)
        #expect(pool.statistics.started == 1)
        await pool.shutDown()
    }

    @Test func aPictureThatIsCutInItsPixelsSaysItAllTheSame() async throws {
        let pool = ImageWorkerPool(executable: try workerExecutable(), workers: 1)
        let whole = try MetadataMaker.jpeg(Self.size, xmp: Self.packet)
        let pixels = try #require(whole.indices.dropLast().last { whole[$0] == 0xFF && whole[$0 + 1] == 0xDA })
        let cut = Array(whole.prefix(pixels + 16))
        #expect(try await readDate(pool, cut) == Self.taken)
        await pool.shutDown()
    }

    @Test func whatIsNoPictureIsRefusedTyped() async throws {
        let pool = ImageWorkerPool(executable: try workerExecutable(), workers: 1)
        for picture in HostilePicture.strangers() where picture.must == .refused {
            do {
                _ = try await readDate(pool, Array(picture.bytes))
                Issue.record("\(picture.name): taken")
            } catch let error as ImagingError {
                switch error {
                case .unsupported, .damaged, .tooLarge, .needsMemory: break
                default: Issue.record("\(picture.name): \(error)")
                }
            }
        }
        for picture in try HostilePicture.bombs() + HostilePicture.liars() {
            _ = try? await readDate(pool, Array(picture.bytes))
        }
        #expect(pool.statistics.started == 1 && pool.statistics.crashed == 0 && pool.statistics.timedOut == 0)
        await pool.shutDown()
    }

    /// A worker that was taken over has no other dates to tell than there are.
    @Test(arguments: [
        WorkerReply.Outcome.date(EmbeddedDate(taken: CameraDate(clock: .max, offset: nil, source: .exif))),
        .date(EmbeddedDate(taken: CameraDate(clock: 0, offset: 961, source: .exif))),
        .thumbnail(ConvertedThumbnail(width: 1, height: 1, fileSize: 1)), .ready,
    ])
    func anImpossibleAnswerCostsTheWorker(_ outcome: WorkerReply.Outcome) async throws {
        let line = try #require(WorkerProtocol.line(WorkerReply(outcome: outcome, residentKilobytes: 1)))
        let answer = try folder.write(line, "answer")
        let worker = try StandInWorker(
            folder, afterReady: StandInWorker.takeRequest + "cat '\(answer)' >&0; exec sleep 1000")
        let pool = ImageWorkerPool(executable: worker.path, workers: 1)
        await #expect(throws: ImagingError.workerCrashed("an answer that cannot be right")) {
            try await readDate(pool, [0])
        }
        #expect(pool.statistics.crashed == 1 && pool.statistics.livePIDs.isEmpty)
        await pool.shutDown()
    }
}
