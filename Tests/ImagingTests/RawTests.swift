import Foundation
import ImageWorkerProtocol
import TestSupport
import Testing

@testable import Imaging
@testable import PhotoConversion

/// Raw files, through real workers: their cell, and their memory. The files are made here; no camera's own are at hand.
@Suite struct RawTests {
    private static let previewSize = PixelSize(width: 1600, height: 1200)

    private func preview(_ size: PixelSize = previewSize) throws -> [UInt8] {
        Array(try Pictures.file(.jpeg, size))
    }

    private func converted(_ bytes: [UInt8], _ folder: TemporaryFolder) async throws -> ConvertedPhoto {
        let pool = ImageWorkerPool(executable: try workerExecutable(), workers: 1)
        let path = try folder.write(bytes)
        do {
            let converted = try await convert(pool, path, folder)
            await pool.shutDown()
            return converted
        } catch {
            await pool.shutDown()
            throw error
        }
    }

    private func type(of file: [UInt8]) throws -> PictureType {
        try file.withUnsafeBytes { try PictureType(content: ByteView($0)) }
    }

    /// How the quadrants lie when they are turned a quarter to the right.
    private static let turned = [2, 0, 3, 1].map { Pictures.quadrants[$0] }

    @Test func thePreviewIsShownUpright() async throws {
        let folder = try TemporaryFolder("raw")
        let maker = DNGMaker(size: PixelSize(width: 2000, height: 1500), orientation: 6, preview: try preview())
        let photo = try await converted(maker.file(), folder)
        #expect(photo.sourceMediaType == "image/x-adobe-dng" && !photo.keptOriginal)
        #expect(PixelSize(width: photo.width, height: photo.height) == Self.previewSize.transposed)
        #expect(PixelSize(width: photo.sourceWidth, height: photo.sourceHeight) == maker.size.transposed)
        #expect(photo.facts.taken?.clock == 1_560_348_333_000 && photo.facts.taken?.offset == 120)
        #expect(photo.facts.camera == "SmilePile Test Camera")
        let seen = try Pictures.look(atJPEG: folder.file("photo"))
        #expect(Pictures.difference(seen.quadrants, Self.turned) <= 8, "\(seen.quadrants)")
    }

    @Test func aPreviewThatTheCameraHasTurnedIsNotTurnedAgain() async throws {
        let folder = try TemporaryFolder("raw")
        let maker = DNGMaker(
            size: PixelSize(width: 64, height: 48), orientation: 6, preview: try preview(Self.previewSize.transposed))
        let photo = try await converted(maker.file(), folder)
        #expect(PixelSize(width: photo.width, height: photo.height) == Self.previewSize.transposed)
        let seen = try Pictures.look(atJPEG: folder.file("photo"))
        #expect(Pictures.difference(seen.quadrants, Pictures.quadrants) <= 8, "\(seen.quadrants)")
    }

    @Test func theLargestPreviewIsShown() async throws {
        let folder = try TemporaryFolder("raw")
        let maker = DNGMaker(
            preview: try preview(PixelSize(width: 160, height: 120)),
            further: try preview(PixelSize(width: 1400, height: 1050)))
        let photo = try await converted(maker.file(), folder)
        #expect(photo.width == 1400 && photo.height == 1050)
    }

    @Test(arguments: [nil, PixelSize(width: 1000, height: 750)])
    func withoutAPreviewOfSomeSizeItIsDeveloped(_ preview: PixelSize?) async throws {
        let folder = try TemporaryFolder("raw")
        var maker = DNGMaker(size: PixelSize(width: 1600, height: 1200), orientation: 6)
        maker.preview = try preview.map { try self.preview($0) }
        let photo = try await converted(maker.file(), folder)
        #expect(photo.width == 600 && photo.height == 800)
        #expect(photo.sourceWidth == 1200 && photo.sourceHeight == 1600)
        #expect(photo.facts.taken?.clock == 1_560_348_333_000)
        let seen = try Pictures.look(atJPEG: folder.file("photo"))
        // LibRaw makes it brighter, as cameras do.
        #expect(Pictures.difference(seen.quadrants, Self.turned) <= 70, "\(seen.quadrants)")
        for (colour, drawn) in zip(seen.quadrants, Self.turned) {
            #expect(colour.firstIndex(of: colour.max() ?? 0) == drawn.firstIndex(of: drawn.max() ?? 0), "\(colour)")
        }
    }

    /// A camera that is younger than LibRaw: its preview is there all the same.
    @Test func whatCannotBeDevelopedIsShownByItsPreview() async throws {
        let folder = try TemporaryFolder("raw")
        let maker = DNGMaker(
            preview: try preview(), make: "NIKON CORPORATION", compression: 34_999, isDNG: false)
        let photo = try await converted(maker.file(), folder)
        #expect(photo.sourceMediaType == "image/x-nikon-nef" && photo.width == 1600)
        #expect(photo.facts.camera == "NIKON CORPORATION Test Camera")
    }

    /// Fuji's, as far as it is one.
    @Test func aPreviewSaysWhatItsFileDoesNot() async throws {
        let folder = try TemporaryFolder("raw")
        let exif = ExifMaker.block(
            main: [.short(0x0112, 6), .text(0x010F, "FUJIFILM"), .text(0x0110, "X-T4")],
            photo: [.text(0x9003, "2019:06:12 14:05:33")])
        let jpeg = Array(try Pictures.jpeg(Self.previewSize, exif: exif))
        var bytes = Array("FUJIFILMCCD-RAW 0201FF383501X-T4".utf8)
        bytes += [UInt8](repeating: 0, count: 84 - bytes.count)
        bytes += ExifMaker.bytes32(160) + ExifMaker.bytes32(jpeg.count)
        bytes += [UInt8](repeating: 0, count: 160 - bytes.count) + jpeg
        let photo = try await converted(bytes, folder)
        #expect(photo.sourceMediaType == "image/x-fuji-raf")
        #expect(PixelSize(width: photo.width, height: photo.height) == Self.previewSize.transposed)
        #expect(photo.facts.taken?.clock == 1_560_348_333_000 && photo.facts.camera == "FUJIFILM X-T4")
    }

    @Test func canonsBoxesSayWhenItWasTaken() throws {
        func box(_ type: String, _ body: [UInt8]) -> [UInt8] {
            ExifMaker.bytes32(body.count + 8) + Array(type.utf8) + body
        }
        let canon: [UInt8] = [
            0x85, 0xC0, 0xB6, 0x87, 0x82, 0x0F, 0x11, 0xE0, 0x81, 0x11, 0xF4, 0xCE, 0x46, 0x2B, 0x6A, 0x48,
        ]
        let main = ExifMaker.block(main: [.text(0x010F, "Canon"), .text(0x0110, "Canon EOS R5")])
        let photo = ExifMaker.block(main: [.text(0x9003, "2019:06:12 14:05:33")])
        let place = ExifMaker.block(
            main: [.text(1, "N"), .angle(2, 48, 30, 0), .text(3, "E"), .angle(4, 2, 15, 0)])
        let inner = box("CNCV", [0]) + box("CMT1", main) + box("CMT2", photo) + box("CMT4", place)
        let file = box("ftyp", Array("crx \0\0\0\u{1}crx isom".utf8)) + box("moov", box("uuid", canon + inner))
        #expect(try type(of: file) == .cr3)
        file.withUnsafeBytes { bytes in
            let facts = PictureFacts(RawMetadata.read(ByteView(bytes), .cr3))
            #expect(facts.taken?.clock == 1_560_348_333_000 && facts.camera == "Canon EOS R5")
            #expect(facts.location == PicturePlace(latitude: 48.5, longitude: 2.25))
        }
        guard case .unsupported? = try refusal(file) else {
            Issue.record("a raw file of nothing is taken")
            return
        }
    }

    @Test(arguments: [
        ("NIKON CORPORATION", PictureType.nef), ("SONY", .arw), ("PENTAX", .pef), ("RICOH IMAGING", .pef),
        ("SAMSUNG", .srw), ("Hasselblad", .otherRaw),
    ])
    func whoseItIsStandsInIt(_ make: String, _ type: PictureType) throws {
        let file = DNGMaker(preview: try preview(), make: make, isDNG: false).file()
        #expect(try self.type(of: file) == type)
        let signatures: [(String, PictureType)] = [
            ("FUJIFILMCCD-RAW 0201", .raf), ("IIRO\u{8}\0\0\0", .orf), ("IIRS\u{8}\0\0\0", .orf),
            ("IIU\0\u{8}\0\0\0", .rw2), ("II*\0\u{10}\0\0\0CR\u{2}\0", .cr2), ("\0MRM\0\0\0\0", .otherRaw),
        ]
        for (text, type) in signatures {
            #expect(try self.type(of: Array(text.utf8)) == type, "\(text)")
        }
    }

    /// Pictures of cameras and scanners that are TIFFs are not raw files.
    @Test func aTIFFStaysOne() throws {
        let size = PixelSize(width: 64, height: 48)
        let file = MetadataMaker.tiff(size, [.text(0x010F, "NIKON CORPORATION"), .text(0x0110, "LS-50")])
        #expect(try convertHere(file, TemporaryFolder("raw")).sourceMediaType == "image/tiff")
        let drawn = try Pictures.file(.tiff, size)
        #expect(try convertHere(drawn, TemporaryFolder("raw")).sourceMediaType == "image/tiff")
    }

    /// LibRaw would show it in black.
    @Test func whatIsCutOffIsDamaged() throws {
        let whole = DNGMaker(size: PixelSize(width: 640, height: 480)).file()
        for count in [whole.count / 8, whole.count / 2, whole.count - (64 << 10)] {
            guard case .damaged? = try refusal(whole.prefix(count)) else {
                Issue.record("\(count) of \(whole.count) bytes are taken")
                continue
            }
        }
    }

    @Test func aPreviewIsShownOfWhatIsCutOffAndSaysSo() async throws {
        let folder = try TemporaryFolder("raw")
        let maker = DNGMaker(size: PixelSize(width: 640, height: 480), said: nil, preview: try preview())
        let whole = maker.file()
        // The samples stand before the preview: what they say of their length is made too long.
        let count = ExifMaker.bytes32(640 * 480 * 2)
        let place = try #require(whole.indices.dropLast(4).first { whole[$0..<$0 + 4].elementsEqual(count) })
        var changed = whole
        changed.replaceSubrange(place..<place + 4, with: ExifMaker.bytes32(1 << 30))
        let photo = try await converted(changed, folder)
        #expect(photo.width == 1600 && photo.shortfall?.hasPrefix("it ends early") == true, "\(photo.shortfall ?? "")")
    }

    @Test func whatSaysThatItIsHugeIsRefused() throws {
        var maker = DNGMaker()
        maker.said = PixelSize(width: 200_000, height: 1)
        let wide = try refusal(maker.file())
        maker.said = PixelSize(width: 60_000, height: 60_000)
        let large = try refusal(maker.file())
        switch (wide, large) {
        // LibRaw itself knows no sensor of more than 65,535 pixels a side.
        case (.tooLarge?, .needsMemory?), (.unsupported?, .needsMemory?), (.damaged?, .needsMemory?): break
        default: Issue.record("\(String(describing: wide)), \(String(describing: large))")
        }
    }

    /// Cut off and changed, the same ones in every run, in a row through one pool.
    @Test(arguments: [true, false]) func damagedFilesHarmNoWorker(_ hasPreview: Bool) async throws {
        let maker = DNGMaker(preview: hasPreview ? try preview(PixelSize(width: 1040, height: 16)) : nil)
        let whole = maker.file()
        let pool = ImageWorkerPool(executable: try workerExecutable(), workers: 2)
        var generator = Seeded(state: 20_261_130)
        let folder = try TemporaryFolder("raw")
        for round in 0..<40 {
            var bytes = whole
            if round < 8 {
                bytes = Array(whole.prefix(whole.count * (round + 1) / 9))
            } else {
                for _ in 0..<Int.random(in: 1...8, using: &generator) {
                    bytes[Int.random(in: 8..<800, using: &generator)] = UInt8.random(in: 0...255, using: &generator)
                }
            }
            do {
                _ = try await convert(pool, folder.write(bytes, "source\(round)"), folder)
            } catch {
                switch error as? ImagingError {
                case .unsupported, .damaged, .tooLarge, .needsMemory: break
                default: Issue.record("round \(round): \(error)")
                }
            }
        }
        await pool.shutDown()
    }

    /// A CR3 file whose second box is 0 bytes long by its 64-bit length; LibRaw alone looks at it for ever.
    @Test func aBoxWithoutLengthEnds() async throws {
        let boxes: [UInt8] =
            [0, 0, 0, 24] + Array("ftypcrx ".utf8) + [0, 0, 0, 1] + Array("crx isom".utf8)
            + [0, 0, 0, 1, 6, 0, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x22] + Array("CMT2II*".utf8)
            + [0, 8, 0, 4, 0, 0, 1, 2, 0, 4, 0, 0, 2] + Array("Can".utf8) + [0, 0, 0, 0, 0]
        do {
            _ = try await converted(boxes, try TemporaryFolder("raw"))
            Issue.record("This is no picture.")
        } catch {
            switch error as? ImagingError {
            case .unsupported, .damaged: break
            // Also where it took until the worker was ended.
            default: Issue.record("\(error)")
            }
        }
    }

    /// Directories that lead to each other, and previews that are not there.
    @Test func directoriesAreWalkedInBounds() {
        let ring = ExifMaker.block(main: [.long(0x014A, 8), .long(0x0201, 1 << 30), .long(0x0202, 1 << 30)])
        let many = ExifMaker.block(main: [
            .init(tag: 0x014A, type: 4, count: 8, data: (0..<8).flatMap { ExifMaker.bytes32($0 * 4) })
        ])
        let endless = ExifMaker.block(main: [.init(tag: 0x014A, type: 4, count: .max, data: [0, 0, 0, 8])])
        for bytes in [ring, many, endless, Array(ring.prefix(9)), [0x4D, 0x4D, 0, 0x2A]] {
            bytes.withUnsafeBytes {
                let found = RawDirectories(ByteView($0))
                #expect(!found.isDNG && !found.holdsSamples && found.previews.isEmpty)
            }
        }
    }
}
