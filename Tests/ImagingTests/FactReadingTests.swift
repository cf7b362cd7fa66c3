import Foundation
import ImageWorkerProtocol
import TestSupport
import Testing

@testable import Imaging
@testable import PhotoConversion

/// When a picture was taken and with what, read by a worker that decodes nothing of it.
@Suite struct FactReadingTests {
    private let folder: TemporaryFolder
    private static let size = PixelSize(width: 64, height: 48)
    private static let packet = MetadataMaker.packet(
        "exif:DateTimeOriginal='2019-06-12T14:05:33.250+02:00' tiff:Make='SONY' tiff:Model='DSC-W1'")
    private static let facts = PictureFacts(
        taken: CameraDate(clock: 1_560_348_333_250, offset: 120, source: .xmp), camera: "SONY DSC-W1")

    init() throws { folder = try TemporaryFolder("date") }

    private func readFacts(_ pool: ImageWorkerPool, _ bytes: [UInt8]) async throws -> PictureFacts {
        let files = try Files(folder.write(bytes), folder)
        defer { withExtendedLifetime(files) {} }
        return try await pool.readFacts(source: files.source)
    }

    @Test func theyAreThoseThatConvertingFinds() async throws {
        let pool = ImageWorkerPool(executable: try workerExecutable(), workers: 1)
        for picture in [
            try MetadataMaker.jpeg(Self.size, xmp: Self.packet), try MetadataMaker.webp(Self.size, xmp: Self.packet),
            try MetadataMaker.gif(Self.size, xmp: Self.packet),
        ] {
            #expect(try await readFacts(pool, picture) == Self.facts)
            let converted = try await convert(pool, folder.write(picture), folder)
            #expect(converted.facts.taken == Self.facts.taken && converted.facts.camera == Self.facts.camera)
        }
        #expect(try await readFacts(pool, MetadataMaker.jpeg(Self.size)) == PictureFacts())
        #expect(pool.statistics.crashed == 0)
        await pool.shutDown()
    }

    @Test func aPictureThatIsCutInItsPixelsSaysItAllTheSame() async throws {
        let pool = ImageWorkerPool(executable: try workerExecutable(), workers: 1)
        let whole = try MetadataMaker.jpeg(Self.size, xmp: Self.packet)
        let pixels = try #require(whole.indices.dropLast().last { whole[$0] == 0xFF && whole[$0 + 1] == 0xDA })
        let cut = Array(whole.prefix(pixels + 16))
        #expect(try await readFacts(pool, cut) == Self.facts)
        await pool.shutDown()
    }

    @Test func whatIsNoPictureIsRefusedTyped() async throws {
        let pool = ImageWorkerPool(executable: try workerExecutable(), workers: 1)
        for picture in HostilePicture.strangers() where picture.must == .refused {
            do {
                _ = try await readFacts(pool, Array(picture.bytes))
                Issue.record("\(picture.name): taken")
            } catch let error as ImagingError {
                switch error {
                case .unsupported, .damaged, .tooLarge, .needsMemory: break
                default: Issue.record("\(picture.name): \(error)")
                }
            }
        }
        for picture in try HostilePicture.bombs() + HostilePicture.liars() {
            _ = try? await readFacts(pool, Array(picture.bytes))
        }
        #expect(pool.statistics.crashed == 0 && pool.statistics.timedOut == 0)
        await pool.shutDown()
    }

    /// A worker that was taken over has no other dates and cameras to tell than there are.
    @Test(arguments: [
        WorkerReply.Outcome.facts(PictureFacts(taken: CameraDate(clock: .max, offset: nil, source: .exif))),
        .facts(PictureFacts(taken: CameraDate(clock: 0, offset: 961, source: .exif))),
        .facts(PictureFacts(camera: "a\u{202E}b")),
        .facts(PictureFacts(camera: String(repeating: "x", count: 129))),
        .thumbnail(ConvertedThumbnail(width: 1, height: 1, fileSize: 1)), .ready,
    ])
    func anImpossibleAnswerCostsTheWorker(_ outcome: WorkerReply.Outcome) async throws {
        let line = try #require(WorkerProtocol.line(WorkerReply(outcome: outcome)))
        let answer = try folder.write(line, "answer")
        let worker = try StandInWorker(
            folder, afterReady: StandInWorker.takeRequest + "cat '\(answer)' >&0; exec sleep 1000")
        let pool = ImageWorkerPool(executable: worker.path, workers: 1)
        await #expect(throws: ImagingError.workerCrashed("an answer that cannot be right")) {
            try await readFacts(pool, [0])
        }
        #expect(pool.statistics.crashed == 1 && pool.statistics.livePIDs.isEmpty)
        await pool.shutDown()
    }
}
