import Foundation
import ImageWorkerProtocol
import TestSupport
import Testing

@testable import Imaging
@testable import PhotoConversion

/// Pictures as a person has turned them, made by a worker from the photo as it is stored.
@Suite struct TurnedPictureTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder("turned") }

    /// The quadrants of a picture that is turned by a quarter clockwise.
    private static func right(_ quadrants: [[Int]]) -> [[Int]] { [2, 0, 3, 1].map { quadrants[$0] } }

    private static func quadrants(turned degrees: Int) -> [[Int]] {
        (0..<degrees / 90).reduce(Pictures.quadrants) { quadrants, _ in right(quadrants) }
    }

    /// Of plain pixels, in the middle of each quarter.
    private static func quadrants(_ picture: RawPixels, _ bytes: [UInt8]) -> [[Int]] {
        (0..<4).map { index in
            let x = picture.width / 4 + index % 2 * picture.width / 2
            let y = picture.height / 4 + index / 2 * picture.height / 2
            return (0..<3).map { Int(bytes[(y * picture.width + x) * 3 + $0]) }
        }
    }

    /// Beside what the file says of the camera's position, which is a quarter of its own here where it says some.
    @Test(arguments: [0, 90, 180, 270], [1, 6]) func everyPictureIsTurned(
        _ degrees: Int, _ orientation: Int
    ) async throws {
        let pool = ImageWorkerPool(executable: try workerExecutable(), workers: 1)
        let exif = ExifMaker.block(main: [.short(0x0112, orientation), .text(0x0110, "Camera 1")])
        let size = PixelSize(width: 1600, height: 1200)
        let files = try Files(folder.write([UInt8](Pictures.jpeg(size, exif: exif))), folder)
        let shown = (degrees + (orientation == 6 ? 90 : 0)) % 360
        let isOnItsSide = shown % 180 != 0
        let expected = Self.quadrants(turned: shown)

        let thumbnail = try await pool.makeThumbnail(
            source: files.source, thumbnail: files.thumbnail, turned: degrees)
        #expect((thumbnail.width, thumbnail.height) == (isOnItsSide ? (225, 300) : (300, 225)))
        let small = try Pictures.look(atJPEG: folder.file("thumbnail"))
        #expect(small.size == PixelSize(width: thumbnail.width, height: thumbnail.height))
        #expect(Pictures.difference(small.quadrants, expected) <= 12)
        let head = Array(try folder.bytes("thumbnail").prefix(ThumbnailMaker.headBytes))
        #expect(ThumbnailMaker.made(ofThumbnail: head) == MadePicture(version: ThumbnailMaker.version, turned: degrees))
        #expect(ThumbnailMaker.version(ofThumbnail: head) == ThumbnailMaker.version)

        let preview = try await pool.makePreview(source: files.source, preview: files.preview, turned: degrees)
        #expect((preview.photoWidth, preview.photoHeight) == (isOnItsSide ? (1200, 1600) : (1600, 1200)))
        let tail = Array(try folder.bytes("preview").suffix(PreviewMaker.tailBytes))
        #expect(PreviewMaker.made(ofPreview: tail) == MadePicture(version: PreviewMaker.version, turned: degrees))
        let middle = try Pictures.look(atWebP: folder.file("preview"))
        #expect((middle.size.width, middle.size.height) == (isOnItsSide ? (768, 1024) : (1024, 768)))
        #expect(Pictures.difference(middle.quadrants, expected) <= 16)

        let (screen, pixels) = try await pool.pixels(source: files.source, within: 200, 100, turned: degrees)
        #expect(screen == (isOnItsSide ? RawPixels(width: 75, height: 100) : RawPixels(width: 133, height: 100)))
        #expect(Pictures.difference(Self.quadrants(screen, pixels), expected) <= 12)

        let bare = try await pool.makeBare(source: files.source, picture: files.photo, turned: degrees)
        #expect((bare.width, bare.height) == (isOnItsSide ? (1200, 1600) : (1600, 1200)))
        #expect(Pictures.difference(try Pictures.look(atJPEG: folder.file("photo")).quadrants, expected) <= 12)
        #expect(try folder.bytes("photo").range(of: Data("Camera 1".utf8)) == nil)

        // The whole photo says what its file says, but for the position that it has no more.
        let whole = try await pool.makeWhole(source: files.source, picture: files.photo, turned: degrees)
        #expect((whole.width, whole.height) == (bare.width, bare.height))
        let seen = try Pictures.look(atJPEG: folder.file("photo"))
        #expect(seen.size == PixelSize(width: whole.width, height: whole.height))
        #expect(Pictures.difference(seen.quadrants, expected) <= 12)
        #expect(try folder.bytes("photo").range(of: Data("Camera 1".utf8)) != nil)
        let again = open(folder.file("photo"), O_RDONLY)
        defer { close(again) }
        let (upright, _) = try await pool.pixels(source: again, within: 2048, 2048)
        #expect((upright.width, upright.height) == (whole.width, whole.height))
        await pool.shutDown()
        withExtendedLifetime(files) {}
    }

    /// As a picture is turned upright and then to the right so often, whatever way the camera held it, mirrored or not.
    @Test(arguments: 1...8) func aTurnComesBehindTheOrientation(_ value: Int) throws {
        let orientation = Orientation(exif: value)
        let picture = try PlanarPicture(size: PixelSize(width: 3, height: 2), kind: .grey)
        for y in 0..<2 { for x in 0..<3 { picture.planes[0].line(y)[x] = UInt8(y * 3 + x) } }
        func pixels(_ picture: PlanarPicture) -> [[UInt8]] {
            (0..<picture.size.height).map { y in (0..<picture.size.width).map { picture.planes[0].line(y)[$0] } }
        }
        var expected = try picture.upright(orientation)
        for degrees in [0, 90, 180, 270] {
            #expect(try pixels(picture.upright(orientation.turned(by: degrees))) == pixels(expected), "\(degrees)")
            expected = try expected.upright(.turnedRight)
        }
        // A whole turn.
        #expect(try pixels(expected) == pixels(picture.upright(orientation)))
        for degrees in [-90, 1, 45, 360, .max] {
            #expect(throws: ImagingError.self) { try orientation.turned(by: degrees) }
        }
    }

    @Test func whatNoPhotoIsTurnedByIsRefused() async throws {
        let pool = ImageWorkerPool(executable: try workerExecutable(), workers: 1)
        let files = try Files(folder.write(Pictures.file(.jpeg, PixelSize(width: 64, height: 32))), folder)
        await #expect(throws: ImagingError.io("a turn that no photo has")) {
            _ = try await pool.makeThumbnail(source: files.source, thumbnail: files.thumbnail, turned: 45)
        }
        #expect(pool.statistics.crashed == 0)
        await pool.shutDown()
        withExtendedLifetime(files) {}
    }

    /// A worker that says another turn than it was told has made no preview.
    @Test func whatAFileSaysOfItsTurn() {
        for turned in [0, 90, 180, 270] {
            let tail = PreviewMaker.tail(turned: turned)
            #expect(tail.count == PreviewMaker.tailBytes)
            #expect(PreviewMaker.made(ofPreview: tail)?.turned == turned)
            #expect(PreviewMaker.version(ofPreview: tail) == PreviewMaker.version)
        }
        #expect(MadePicture("1") == MadePicture(version: 1, turned: 0))
        #expect(MadePicture("12 270   ") == MadePicture(version: 12, turned: 270))
        for text in ["", " ", "x", "1 45", "1 0", "1 90 x", "1 -90", "90 x"] {
            #expect(MadePicture(text) == nil, "\(text)")
        }
    }
}
