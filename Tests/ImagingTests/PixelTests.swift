import Foundation
import ImageWorkerProtocol
import TestSupport
import Testing

@testable import Imaging
@testable import PhotoConversion

/// Pictures as plain pixels, by a worker.
@Suite struct PixelTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder("pixels") }

    @Test(arguments: [Pictures.Format.jpeg, .png, .gif, .webp]) func coloursAndSidesAreThoseOfThePicture(
        _ format: Pictures.Format
    ) async throws {
        let pool = ImageWorkerPool(executable: try workerExecutable(), workers: 1)
        let files = try Files(folder.write(Pictures.file(format, PixelSize(width: 320, height: 160))), folder)
        for (room, expected) in [((80, 80), (80, 40)), ((500, 500), (320, 160)), ((400, 20), (40, 20))] {
            let (picture, bytes) = try await pool.pixels(source: files.source, within: room.0, room.1)
            #expect(picture == RawPixels(width: expected.0, height: expected.1))
            #expect(bytes.count == picture.byteCount)
            for (index, colour) in Pictures.quadrants.enumerated() {
                // In the middle of its quarter.
                let x = picture.width / 4 + index % 2 * picture.width / 2
                let y = picture.height / 4 + index / 2 * picture.height / 2
                let start = (y * picture.width + x) * 3
                for ink in 0..<3 { #expect(abs(Int(bytes[start + ink]) - colour[ink]) < 24, "\(format) \(index)") }
            }
        }
        #expect(pool.statistics.crashed == 0)
        await pool.shutDown()
        withExtendedLifetime(files) {}
    }

    @Test func aWorkerCannotSayMoreThanItWrote() throws {
        let output = try WorkerOutput(upTo: 30)
        let file = try #require(output.seal())
        #expect(RawPixels(width: 5, height: 2).isPossible(within: 5, 2, in: file))
        #expect(!RawPixels(width: 2, height: 5).isPossible(within: 5, 2, in: file))
        #expect(!RawPixels(width: 5, height: 1).isPossible(within: 5, 2, in: file))
        #expect(!RawPixels(width: -5, height: -2).isPossible(within: 5, 2, in: file))
    }
}
