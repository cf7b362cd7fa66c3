import Foundation
import Glibc
import ImageWorkerProtocol
import TestSupport
import Testing

@testable import PhotoConversion

/// What is refused by its header alone, and what by its content.
@Suite struct LimitTests {
    private enum Refusal { case unsupported, damaged, tooLarge, needsMemory }

    private func kind(_ error: ImagingError?) -> Refusal? {
        switch error {
        case .unsupported: .unsupported
        case .damaged: .damaged
        case .tooLarge: .tooLarge
        case .needsMemory: .needsMemory
        default: nil
        }
    }

    private func big32(_ value: UInt32) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: value >> (24 - 8 * $0)) } }
    private func little32(_ value: UInt32) -> [UInt8] { big32(value).reversed() }

    private func png(_ width: UInt32, _ height: UInt32) -> [UInt8] {
        [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 13] + Array("IHDR".utf8) + big32(width)
            + big32(height) + [8, 2, 0, 0, 0, 0, 0, 0, 0]
    }

    private func bmp(_ width: UInt32, _ height: UInt32, depth: UInt8 = 24, offset: UInt32 = 54) -> [UInt8] {
        Array("BM".utf8) + little32(1000) + [0, 0, 0, 0] + little32(offset) + little32(40) + little32(width)
            + little32(height) + [1, 0, depth, 0] + [UInt8](repeating: 0, count: 24)
    }

    /// A real JPEG whose frame header says another size.
    private func jpeg(_ width: Int, _ height: Int, marker: UInt8? = nil) throws -> [UInt8] {
        var bytes = Array(try Pictures.file(.jpeg, PixelSize(width: 64, height: 64)))
        let frame = try #require(bytes.indices.dropLast().first { bytes[$0] == 0xFF && bytes[$0 + 1] == 0xC0 })
        if let marker { bytes[frame + 1] = marker }
        bytes.replaceSubrange(
            frame + 5..<frame + 9,
            with: [UInt8(height >> 8), UInt8(height & 255), UInt8(width >> 8), UInt8(width & 255)])
        return bytes
    }

    @Test func dimensionsAreCheckedBeforeAnythingIsDecoded() throws {
        #expect(kind(try refusal(png(0, 10))) == .damaged)
        #expect(kind(try refusal(png(65_536, 1))) == .tooLarge)
        #expect(kind(try refusal(png(.max, .max))) == .tooLarge)
        #expect(kind(try refusal(png(16_001, 16_000))) == .needsMemory)
        #expect(kind(try refusal(bmp(16_001, 16_000))) == .needsMemory)
        #expect(kind(try refusal(bmp(0, 5))) == .damaged)
        #expect(kind(try refusal(bmp(5, 0x8000_0000))) == .tooLarge, "the height whose absolute value is no Int32")
        #expect(kind(try refusal(Array("GIF89a".utf8) + [255, 255, 255, 255, 0, 0, 0, 0])) == .needsMemory)
        #expect(kind(try refusal(jpeg(16_001, 16_000))) == .needsMemory)
    }

    /// What the header says goes with the refusal, so that the picture can be kept.
    @Test func whatIsRefusedForItsPixelsIsDescribed() throws {
        for (bytes, type) in [(png(16_001, 16_000), "image/png"), (try jpeg(16_001, 16_000), "image/jpeg")] {
            guard case .needsMemory(_, let picture) = try refusal(bytes) else {
                Issue.record("\(type)")
                continue
            }
            #expect(picture == UnseenPicture(mediaType: type, width: 16_001, height: 16_000))
        }
        #expect(UnseenPicture(mediaType: "", width: .max, height: .max).isPlausible(bytes: .max) == false)
    }

    @Test func withinTheLimitsTheDataDecide() throws {
        #expect(kind(try refusal(png(100, 100))) == .damaged)
        #expect(kind(try refusal(bmp(100, 100))) == .damaged)
        #expect(kind(try refusal(bmp(100, 100, offset: .max))) == .damaged)
        #expect(kind(try refusal(bmp(100, 100, depth: 7))) == .unsupported)
        #expect(kind(try refusal(jpeg(64, 4000))) == .damaged, "most of its lines are missing")
        #expect(try refusal(jpeg(64, 64)) == nil)
    }

    /// Coefficients are held whole: 12,000 x 12,000 in 4:2:0 would take 432 MB for a file of a kilobyte.
    @Test func aProgressiveJPEGIsRefusedByTheMemoryItWouldHold() throws {
        #expect(try refusalWithLittleMemory(jpeg(12_000, 12_000, marker: 0xC2)) == .needsMemory)
        // As it stands, line by line: most of them are missing.
        #expect(try refusalWithLittleMemory(jpeg(12_000, 12_000)) == .damaged)
    }

    /// All passes have to be there before the first line is: 144 million pixels in colour are 432 MB.
    @Test func anInterlacedPNGIsRefusedByTheMemoryItWouldHold() throws {
        var interlaced = try Pictures.file(.png, PixelSize(width: 12_000, height: 12_000), isInterlaced: true)
        #expect(try refusalWithLittleMemory(interlaced) == .needsMemory)
        interlaced = try Pictures.file(.png, PixelSize(width: 120, height: 120), isInterlaced: true)
        #expect(try refusalWithLittleMemory(interlaced) == nil)
    }

    /// What a worker says that has been lent less than it asked for.
    private func refusalWithLittleMemory(_ data: some Sequence<UInt8>) throws -> Refusal? {
        let folder = try TemporaryFolder("little")
        let files = try Files(folder.write(data), folder)
        defer { withExtendedLifetime(files) {} }
        let converter = PhotoConverter { bytes throws(ImagingError) in min(bytes, 100 << 20) }
        do throws(ImagingError) {
            _ = try converter.convert(
                source: files.source, photo: files.photo, thumbnail: files.thumbnail, preview: files.preview)
            return nil
        } catch {
            return kind(error)
        }
    }

    @Test(arguments: [0.3, 0.6, 0.9])
    func aJPEGThatBreaksOffIsDamaged(_ part: Double) throws {
        // Noise, so that the bytes are spread over the lines.
        let whole = try Pictures.noise(PixelSize(width: 512, height: 512))
        #expect(kind(try refusal(whole.prefix(Int(Double(whole.count) * part)))) == .damaged)
        #expect(try refusal(whole.dropLast(2)) == nil, "an end marker is not missed")
    }

    @Test func contentDecidesTheType() throws {
        #expect(kind(try refusal([0xFF])) == .unsupported)
        #expect(kind(try refusal(Array("%PDF-1.7".utf8))) == .unsupported)
        #expect(kind(try refusal([0, 0, 0, 24] + Array("ftypisomabcdisommp42".utf8))) == .unsupported, "a video")
        #expect(kind(try refusal([])) == .damaged)
    }

    @Test func whatIsNoRegularFileIsRefused() throws {
        let folder = try TemporaryFolder("pipe")
        var ends: [Int32] = [0, 0]
        #expect(pipe(&ends) == 0)
        defer { for end in ends { close(end) } }
        let files = try Files(folder.write([0]), folder)
        #expect(throws: ImagingError.unsupported("it is not a regular file")) {
            _ = try PhotoConverter().convert(
                source: ends[0], photo: files.photo, thumbnail: files.thumbnail, preview: files.preview)
        }
    }

    @Test func everyErrorSaysWhatToDoNext() {
        let all: [ImagingError] = [
            .unsupported("x"), .damaged("x"), .tooLarge("x"), .needsMemory("x"), .timedOut, .workerCrashed("x"),
            .cancelled, .io("x"), .diskFull, .fileTooLarge,
        ]
        for error in all {
            #expect(error.description.hasSuffix(".") && error.description.contains(". "), "\(error)")
        }
    }
}
