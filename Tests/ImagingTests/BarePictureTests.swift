import Foundation
import ImageWorkerProtocol
import TestSupport
import Testing

@testable import Imaging
@testable import PhotoConversion

/// Pictures that are made for others: their pixels, and nothing else.
@Suite struct BarePictureTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder("bare") }

    private static let secret = "Elm Street 12"

    /// A camera's picture that has something to say in every place that a JPEG has.
    private static func talkative(_ size: PixelSize) throws -> [UInt8] {
        let exif = ExifMaker.block(
            main: [.short(0x0112, 6), .text(0x010E, secret), .text(0x0110, secret)],
            place: [
                .text(0x0001, "N"), .angle(0x0002, 52, 31, 0), .text(0x0003, "E"), .angle(0x0004, 13, 24, 0),
                .text(0x001D, secret),
            ], thumbnail: Array(secret.utf8))
        let comment = MetadataMaker.segment(0xFE, Array(secret.utf8))
        let profile = MetadataMaker.segment(0xE2, Array("ICC_PROFILE\0\u{1}\u{1}".utf8) + Array(secret.utf8))
        let unknown = MetadataMaker.segment(0xEB, Array(secret.utf8))
        return try MetadataMaker.jpeg(
            size, exif: exif, xmp: MetadataMaker.packet("", "<dc:title>\(secret)</dc:title>"),
            iptc: MetadataMaker.iptc([(120, secret)]), more: comment + profile + unknown)
            + Array("behind its end: \(secret)".utf8)
    }

    /// The markers of a JPEG up to its pixels.
    private static func markers(_ bytes: Data) -> [UInt8] {
        var markers: [UInt8] = []
        var place = 2
        while place + 4 <= bytes.count, bytes[place] == 0xFF {
            markers.append(bytes[place + 1])
            if bytes[place + 1] == 0xDA { break }
            place += 2 + Int(bytes[place + 2]) << 8 + Int(bytes[place + 3])
        }
        return markers
    }

    /// Also where the picture is small enough to have stayed as it is.
    @Test(arguments: [PixelSize(width: 640, height: 320), PixelSize(width: 2600, height: 1300)])
    func onlyPixelsAreLeftUprightAndWithinTheLimit(_ size: PixelSize) async throws {
        let pool = ImageWorkerPool(executable: try workerExecutable(), workers: 1)
        let files = try Files(folder.write(Self.talkative(size)), folder)
        let made = try await pool.makeBare(source: files.source, picture: files.photo)
        let bytes = try folder.bytes("photo")
        let seen = try Pictures.look(atJPEG: folder.file("photo"))
        #expect(made == BarePicture(width: seen.size.width, height: seen.size.height, fileSize: Int64(bytes.count)))
        let long = min(2048, size.width)
        // It lay on its side.
        #expect(seen.size == PixelSize(width: long / 2, height: long))
        let upright = [2, 0, 3, 1].map { Pictures.quadrants[$0] }
        #expect(Pictures.difference(seen.quadrants, upright) <= 12)
        #expect(bytes.range(of: Data(Self.secret.utf8)) == nil)
        // JFIF's own segment, tables, frame and scan.
        #expect(Set(Self.markers(bytes)).subtracting([0xE0, 0xDB, 0xC0, 0xC4, 0xDA]).isEmpty)
        #expect(bytes.suffix(2) == Data([0xFF, 0xD9]))
        await pool.shutDown()
    }

    @Test func aWorkerCannotSayEverything() {
        #expect(BarePicture(width: 2048, height: 1, fileSize: 30).isPossible)
        #expect(!BarePicture(width: 2049, height: 1, fileSize: 30).isPossible)
        #expect(!BarePicture(width: 0, height: 1, fileSize: 30).isPossible)
    }
}
