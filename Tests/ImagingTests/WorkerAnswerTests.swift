import Foundation
import Glibc
import TestSupport
import Testing

@testable import ImageWorkerProtocol
@testable import Imaging
@testable import PhotoConversion

/// A worker that a photo has taken over answers what it likes: nothing of it reaches the catalogue that no worker says.
struct WorkerAnswerTests {
    private static let answer = MadePhoto(
        width: 2048, height: 1365, sourceMediaType: "image/heic", sourceWidth: 6000, sourceHeight: 4000,
        keepsSource: false, freshDigest: String(repeating: "0a", count: 32),
        facts: PictureFacts(
            taken: CameraDate(clock: 1_696_170_622_123, offset: -570, source: .exif),
            location: PicturePlace(latitude: 48.8, longitude: -2.3), caption: "At the lake", rating: 4,
            camera: "Apple iPhone 12"), thumbnailWidth: 300, thumbnailHeight: 200)

    private static func changed(_ change: (inout MadePhoto) -> Void) -> MadePhoto {
        var answer = answer
        change(&answer)
        return answer
    }

    private static func keep(_ photo: inout MadePhoto) {
        (photo.keepsSource, photo.sourceMediaType) = (true, "image/jpeg")
        (photo.sourceWidth, photo.sourceHeight) = (photo.width, photo.height)
    }

    @Test func whatAWorkerSaysIsPossible() {
        for answer in [
            Self.answer, Self.changed { ($0.facts.location, $0.facts.taken) = (nil, nil) },
            Self.changed { $0.facts = PictureFacts(location: $0.facts.location) },
            Self.changed { $0.facts.taken?.offset = nil },
            Self.changed { $0.shortfall = String(repeating: "x", count: ImageLimits.shortfallLength) },
            Self.changed { $0.facts.caption = String(repeating: "\u{1F3DE}", count: ImageLimits.captionLength) },
            Self.changed {
                $0.facts.taken = CameraDate(clock: CameraDate.clocks.upperBound, offset: 960, source: .iptc)
                $0.facts.rating = 0
            },
            Self.changed {
                $0.facts.taken = CameraDate(clock: CameraDate.clocks.lowerBound, offset: -960, source: .xmp)
            },
            Self.changed { $0.facts.location = PicturePlace(latitude: -90, longitude: 180) },
            Self.changed {
                ($0.sourceWidth, $0.sourceHeight) = ($0.width, $0.height)
            },
            Self.changed(Self.keep),
        ] {
            #expect(answer.isPossible)
        }
        #expect(WorkerProtocol.mediaTypes == Set(PictureType.allCases.map(\.mediaType)))
        for error in [
            ImagingError.unsupported("x"), .damaged("x"), .tooLarge("x"), .needsMemory("x"), .changed, .io("x"),
            .diskFull, .fileTooLarge, .needsMemory("x", Self.unseen),
        ] {
            #expect(error.isPossible)
        }
    }

    @Test func whatNoWorkerSaysIsNot() {
        let changes: [(inout MadePhoto) -> Void] = [
            { $0.sourceMediaType = "text/html" }, { $0.keepsSource = true },
            { $0.sourceWidth = 2047 }, { $0.sourceHeight = 1364 }, { $0.sourceWidth = 65_536 },
            { $0.sourceHeight = .max }, { $0.sourceHeight = 0 }, { $0.sourceWidth = .min },
            { $0.width = 0 }, { $0.width = -5 }, { $0.height = 2049 },
            { $0.height = .max }, { $0.thumbnailWidth = 301 }, { $0.thumbnailHeight = 0 },
            { $0.freshDigest = "" }, { $0.freshDigest = $0.freshDigest?.uppercased() },
            { $0.freshDigest = String(repeating: "g", count: 64) }, { $0.freshDigest? += "00" },
            { $0.facts.taken?.clock = .max }, { $0.facts.taken?.clock = .min }, { $0.facts.taken?.offset = 961 },
            { $0.facts.taken?.clock = CameraDate.clocks.lowerBound - 1 }, { $0.facts.taken?.offset = .min },
            { $0.facts.camera = "" }, { $0.facts.camera = "a\nb" },
            { $0.facts.camera = String(repeating: "x", count: 129) },
            { $0.facts.caption = "" }, { $0.facts.caption = " " }, { $0.facts.caption = "a\u{1B}[2J" },
            { $0.facts.caption = "a\nb" },
            { $0.facts.caption = "a\u{202E}b" }, { $0.facts.caption = String(repeating: "x", count: 2001) },
            { $0.shortfall = "" }, { $0.shortfall = "a\nb" }, { $0.shortfall = String(repeating: "x", count: 201) },
            { $0.facts.rating = 6 }, { $0.facts.rating = -1 }, { $0.facts.location?.latitude = 90.5 },
            { $0.facts.location?.longitude = -181 }, { $0.facts.location?.latitude = .nan },
            { $0.facts.location?.longitude = .infinity },
        ]
        for change in changes { #expect(!Self.changed(change).isPossible, "\(Self.changed(change))") }
        // What is the source itself has everything of it.
        let whole: [(inout MadePhoto) -> Void] = [
            { $0.sourceMediaType = "image/png" }, { $0.sourceWidth += 1 }, { $0.sourceHeight += 1 },
            { ($0.width, $0.sourceWidth) = (2049, 2049) },
        ]
        for change in whole {
            let answer = Self.changed {
                Self.keep(&$0)
                change(&$0)
            }
            #expect(!answer.isPossible, "\(answer)")
        }
        for error in [
            ImagingError.timedOut, .cancelled, .workerCrashed("x"), .workerLost("x"),
            .noWorkers(secondsToNextTry: .max),
            .damaged(String(repeating: "x", count: 1001)),
        ] {
            #expect(!error.isPossible)
        }
        let others: [(inout UnseenPicture) -> Void] = [
            { $0.mediaType = "" }, { $0.width = 0 }, { $0.height = ImageLimits.side + 1 }, { $0.facts.rating = 6 },
            { $0.facts.caption = "a\nb" }, { $0.facts.taken?.offset = 961 },
        ]
        for change in others {
            var picture = Self.unseen
            change(&picture)
            #expect(!ImagingError.needsMemory("x", picture).isPossible, "\(picture)")
        }
    }

    private static let unseen = UnseenPicture(
        mediaType: "image/png", width: 65_535, height: 4_000,
        facts: PictureFacts(taken: CameraDate(clock: 0, offset: nil, source: .exif), caption: "x", rating: 5))

    /// The longest that there is goes into one packet.
    @Test func everyAnswerFitsALine() throws {
        for letter in ["\"", "/", "\\", "\u{1F3DE}", "\u{7FF}", "\u{2060}"] {
            let longest = Self.changed {
                $0.facts.caption = String(repeating: letter, count: ImageLimits.captionLength)
                $0.shortfall = String(repeating: letter, count: ImageLimits.shortfallLength)
                $0.facts.location = PicturePlace(latitude: -89.12345678901234, longitude: -179.1234567890123)
            }
            let shape = ReductionShape(
                sourceWidth: 65_535, sourceHeight: 65_535, sourceKind: .ycc(subsampleWidth: 2, subsampleHeight: 2),
                width: 2048, height: 2048, kind: .ycc(subsampleWidth: 2, subsampleHeight: 2))
            let reply = WorkerReply(
                outcome: .converted(longest), lackedMemory: true,
                prepared: Array(repeating: shape, count: ReductionShape.most))
            #expect(try #require(WorkerProtocol.line(reply)).count < WorkerProtocol.longestLine, "\(letter)")
        }
    }

    /// Through the pool: what it says of the files is held against the files.
    @Test(arguments: [
        WorkerReply.Outcome.converted(answer), .thumbnail(.init(width: 1, height: 1, fileSize: 1)), .ready,
        .failed(.cancelled), .failed(.noWorkers(secondsToNextTry: .max)), .failed(.workerLost("x")),
    ])
    func anImpossibleAnswerCostsTheWorker(_ outcome: WorkerReply.Outcome) async throws {
        let folder = try TemporaryFolder("answer")
        let line = try #require(WorkerProtocol.line(WorkerReply(outcome: outcome)))
        let answer = try folder.write(line, "answer")
        let worker = try StandInWorker(
            folder, afterReady: StandInWorker.takeRequest + "cat '\(answer)' >&0; exec sleep 1000")
        let pool = ImageWorkerPool(executable: worker.path, workers: 1)
        let photo = try folder.write([0])
        await #expect(throws: ImagingError.workerCrashed("an answer that cannot be right")) {
            try await convert(pool, photo, folder)
        }
        #expect(pool.statistics.crashed == 1 && pool.statistics.livePIDs.isEmpty)
        await pool.shutDown()
    }
}
