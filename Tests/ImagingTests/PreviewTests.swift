import Foundation
import ImageWorkerProtocol
import TestSupport
import Testing

@testable import Imaging
@testable import PhotoConversion

/// The second size that pictures are shown in.
@Suite struct PreviewTests {
    @Test(arguments: [
        (PixelSize(width: 2048, height: 1536), PixelSize(width: 1024, height: 768)),
        (PixelSize(width: 1365, height: 2048), PixelSize(width: 683, height: 1024)),
        (PixelSize(width: 1280, height: 1280), PixelSize(width: 1024, height: 1024)),
        (PixelSize(width: 1279, height: 1279), nil), (PixelSize(width: 300, height: 200), nil),
        // Up to twice as long as wide the long side counts, then the short one.
        (PixelSize(width: 2048, height: 1024), PixelSize(width: 1024, height: 512)),
        (PixelSize(width: 2048, height: 820), PixelSize(width: 1278, height: 512)),
        (PixelSize(width: 720, height: 2048), PixelSize(width: 512, height: 1456)),
        (PixelSize(width: 2048, height: 512), nil), (PixelSize(width: 2048, height: 1), nil),
        // Larger ones come from other programs' libraries.
        (PixelSize(width: 8000, height: 1000), PixelSize(width: 2048, height: 256)),
        (PixelSize(width: 65_535, height: 2), PixelSize(width: 2048, height: 1)),
        (PixelSize(width: 0, height: 0), nil), (PixelSize(width: .max, height: .max), nil),
        (PixelSize(width: 4000, height: -1), nil),
    ])
    func sizesFollowFromThePhotos(_ photo: PixelSize, _ expected: PixelSize?) {
        let size = ImageLimits.previewSize(ofPhoto: photo.width, photo.height)
        #expect(size?.width == expected?.width && size?.height == expected?.height)
    }

    @Test(arguments: Pictures.Format.allCases)
    func everyFormatGetsAPreview(_ format: Pictures.Format) throws {
        let folder = try TemporaryFolder("preview")
        let converted = try convertHere(Pictures.file(format, PixelSize(width: 1501, height: 999)), folder)
        let preview = try Pictures.look(atWebP: folder.file("preview"))
        #expect(preview.size == PixelSize(width: 1024, height: 682))
        #expect(Pictures.difference(preview.quadrants, Pictures.quadrants) <= (format == .gif ? 16 : 8))
        let bytes = try folder.bytes("preview")
        #expect(converted.previewSize == Int64(bytes.count))
        #expect(PreviewMaker.version(ofPreview: Array(bytes.suffix(PreviewMaker.tailBytes))) == PreviewMaker.version)
    }

    /// Grey, samples behind a profile, and chroma that the camera halved.
    @Test(arguments: ["grey", "reduced", "kept"])
    func everyKindOfSamplesGetsAPreview(_ kind: String) throws {
        let folder = try TemporaryFolder("kind")
        let size = kind == "reduced" ? PixelSize(width: 4000, height: 3000) : PixelSize(width: 1600, height: 1200)
        let source = try kind == "grey" ? Pictures.noise(size) : Pictures.file(.jpeg, size)
        let converted = try convertHere(source, folder)
        #expect(converted.keptOriginal == (kind != "reduced"))
        let (preview, thumbnail) = try (
            Pictures.look(atWebP: folder.file("preview")), Pictures.look(atJPEG: folder.file("thumbnail"))
        )
        #expect(preview.size == PixelSize(width: 1024, height: 768))
        #expect(thumbnail.size == PixelSize(width: 300, height: 225))
        #expect(Pictures.difference(preview.quadrants, thumbnail.quadrants) <= 4)
    }

    @Test(arguments: 1...8, [false, true])
    func itIsUpright(_ orientation: Int, _ isKept: Bool) throws {
        let folder = try TemporaryFolder("upright")
        let stored = isKept ? PixelSize(width: 1600, height: 900) : PixelSize(width: 2400, height: 1350)
        let converted = try convertHere(
            Pictures.jpeg(stored, exif: ExifMaker.block(orientation: orientation)), folder)
        #expect(converted.keptOriginal == isKept)
        let (preview, thumbnail) = try (
            Pictures.look(atWebP: folder.file("preview")), Pictures.look(atJPEG: folder.file("thumbnail"))
        )
        #expect(preview.size == PixelSize(width: 1024, height: 576).upright(Orientation(exif: orientation)))
        #expect(Pictures.difference(preview.quadrants, thumbnail.quadrants) <= 4)
    }

    @Test func aPhotoThatNeedsNoneHasNone() throws {
        let folder = try TemporaryFolder("none")
        let converted = try convertHere(Pictures.file(.png, PixelSize(width: 1200, height: 900)), folder)
        #expect(converted.previewSize == nil)
        #expect(try folder.bytes("preview").isEmpty)
    }

    @Test func oneIsMadeOfAStoredPhoto() async throws {
        let folder = try TemporaryFolder("stored")
        let pool = ImageWorkerPool(executable: try workerExecutable(), workers: 1)
        let files = try Files(folder.write(Pictures.file(.jpeg, PixelSize(width: 2048, height: 1024))), folder)
        let made = try await pool.makePreview(source: files.source, preview: files.preview, by: .looking)
        #expect(made.photoWidth == 2048 && made.photoHeight == 1024)
        let seen = try Pictures.look(atWebP: folder.file("preview"))
        #expect(seen.size == PixelSize(width: 1024, height: 512))
        #expect(Pictures.difference(seen.quadrants, Pictures.quadrants) <= 8)
        #expect(try made.fileSize == Int64(folder.bytes("preview").count))
        let small = try TemporaryFolder("small")
        let others = try Files(small.write(Pictures.file(.jpeg, PixelSize(width: 640, height: 480))), small)
        let none = try await pool.makePreview(source: others.source, preview: others.preview)
        #expect(try none.fileSize == nil && small.bytes("preview").isEmpty)
        await pool.shutDown()
    }

    /// What a power cut leaves of one is told by its end.
    @Test func onlyAWholePreviewHasAVersion() {
        let tail = PreviewMaker.tail()
        #expect(tail.count == PreviewMaker.tailBytes && PreviewMaker.version(ofPreview: tail) == PreviewMaker.version)
        #expect(PreviewMaker.version(ofPreview: [UInt8](repeating: 0, count: tail.count)) == nil)
        for count in 0..<tail.count {
            #expect(PreviewMaker.version(ofPreview: Array(tail[..<count])) == nil)
            #expect(PreviewMaker.version(ofPreview: [0] + tail[..<count]) == nil)
        }
        let text = Array("SMIL".utf8) + [24, 0, 0, 0] + Array("SmilePile preview 12    ".utf8)
        #expect(PreviewMaker.version(ofPreview: text) == 12)
        #expect(PreviewMaker.version(ofPreview: text.dropLast(6) + Array("-3    ".utf8)) == nil)
    }
}
