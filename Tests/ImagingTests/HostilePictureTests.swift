import Foundation
import ImageWorkerProtocol
import TestSupport
import Testing

@testable import Imaging
@testable import PhotoConversion

/// Hostile pictures that are made here, through real workers: what the corpus has many more of, for those who have no
/// corpus.
@Suite struct HostilePictureTests {
    /// Each picture through workers that serve all of them, so that one which harms its worker is seen in the next.
    private func judge(_ pictures: [HostilePicture]) async throws {
        let pool = ImageWorkerPool(executable: try workerExecutable(), workers: 2)
        for picture in pictures {
            let folder = try TemporaryFolder("hostile")
            do {
                _ = try await convert(pool, folder.write(picture.bytes), folder)
                #expect(picture.must != .refused, "\(picture.name): taken")
                // Whatever was taken is a whole JPEG.
                _ = try Pictures.look(atJPEG: folder.file("thumbnail"))
            } catch let error as ImagingError {
                #expect(picture.must != .taken, "\(picture.name): \(error)")
                switch error {
                case .unsupported, .damaged, .tooLarge, .needsMemory: break
                case .timedOut, .workerCrashed, .workerLost, .changed, .cancelled, .noWorkers, .io, .diskFull,
                    .fileTooLarge:
                    Issue.record("\(picture.name): \(error)")
                }
            }
        }
        await pool.shutDown()
    }

    @Test func whatIsNoPictureIsRefused() async throws { try await judge(HostilePicture.strangers()) }

    @Test func whatSaysThatItIsHugeIsRefused() async throws {
        for bomb in try HostilePicture.bombs() {
            // By its header: in this process, where a decoder that believed it would take the memory.
            switch try refusal(bomb.bytes) {
            case .tooLarge, .needsMemory: break
            default: Issue.record("\(bomb.name): not refused for its size")
            }
        }
        try await judge(HostilePicture.bombs())
    }

    @Test func whatContradictsItselfIsRefused() async throws { try await judge(HostilePicture.liars()) }

    @Test func whatIsOnlyOddIsTaken() async throws { try await judge(HostilePicture.oddities()) }

    @Test(arguments: Pictures.Format.allCases)
    func changedAndCutPicturesHarmNoWorker(_ format: Pictures.Format) async throws {
        let mutants = try HostilePicture.mutants(format)
        #expect(Set(mutants.map(\.bytes)).count > 25, "they differ")
        try await judge(mutants)
    }

    private static let size = PixelSize(width: 64, height: 48)

    @Test(
        arguments: [
            ("0000:00:00 00:00:00", nil), ("2021:02:30 12:00:00", nil), ("2021:13:01 12:00:00", 1_609_459_200_000),
            ("    :  :     :  :  ", nil), ("9999:12:31 23:59:59", nil),
            ("2021:05:01 10:00:00", 1_619_863_200_000),
        ] as [(String, Int64?)])
    func datesOfWholeFiles(_ date: String, _ expected: Int64?) throws {
        let exif = ExifMaker.block(
            main: [.short(0x0112, 1)], photo: [.text(0x9003, date), .text(0x9011, "+00:00")])
        let converted = try convertHere(Pictures.jpeg(Self.size, exif: exif), TemporaryFolder("dates"))
        #expect(converted.facts.taken?.clock == expected)
    }

    @Test(
        arguments: [
            [.text(1, "N"), .angle(2, 0, 0, 0), .text(3, "E"), .angle(4, 0, 0, 0)],
            [.text(1, "X"), .angle(2, 48, 0, 0), .text(3, "E"), .angle(4, 2, 0, 0)],
            [.text(1, "N"), .init(tag: 2, type: 5, count: .max, data: [255, 255, 255, 255]), .text(3, "E")],
        ] as [[ExifMaker.Entry]])
    func placesOfWholeFiles(_ place: [ExifMaker.Entry]) throws {
        let exif = ExifMaker.block(main: [.short(0x0112, 1)], place: place)
        let converted = try convertHere(Pictures.jpeg(Self.size, exif: exif), TemporaryFolder("places"))
        #expect(converted.facts.location == nil)
    }
}
