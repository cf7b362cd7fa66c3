import Foundation
import ImageWorkerProtocol
import TestSupport
import Testing

@testable import Imaging
@testable import PhotoConversion

/// What a camera writes into both files of one shot.
@Suite struct ContentIdentifierTests {
    private static let identifier = "1745E022-9712-43C7-B024-F308EC6413CB"

    private static func identifier(in note: [UInt8]) -> String? {
        let block = ExifMaker.block(main: [.text(0x010F, "Apple")], photo: [.undefined(0x927C, note)])
        return PictureFacts(EmbeddedMetadata(exif: block)).contentIdentifier
    }

    @Test func itStandsInApplesMakerNote() {
        #expect(Self.identifier(in: SamplePair.makerNote(Self.identifier)) == Self.identifier)
        #expect(Self.identifier(in: Array("Nikon\0".utf8) + SamplePair.makerNote(Self.identifier)) == nil)
        #expect(Self.identifier(in: SamplePair.makerNote("with blanks in it")) == nil)
        #expect(Self.identifier(in: SamplePair.makerNote("caf\u{e9}-caf\u{e9}")) == nil)
        #expect(Self.identifier(in: SamplePair.makerNote(String(repeating: "A", count: 64)))?.count == 64)
        #expect(Self.identifier(in: SamplePair.makerNote(String(repeating: "A", count: 65))) == nil)
    }

    /// Cut anywhere, and with each byte the greatest there is: nothing of it is read that is not there.
    @Test func noNoteIsReadPastItsEnd() {
        let note = SamplePair.makerNote(Self.identifier)
        for count in 0..<note.count - 1 {
            #expect(AppleMakerNote(note.prefix(count))?.contentIdentifier == nil, "\(count) bytes")
        }
        for place in note.indices {
            var wrong = note
            wrong[place] = 0xFF
            let found = AppleMakerNote(wrong[...])?.contentIdentifier
            #expect(found.map(PictureFacts.isContentIdentifier) ?? true, "byte \(place)")
        }
        let block = ExifMaker.block(main: [.text(0x010F, "Apple")], photo: [.undefined(0x927C, note)])
        for count in 0..<block.count { _ = ExifBlock(Array(block.prefix(count)))?.makerNote }
        for place in 8..<block.count {
            var wrong = block
            wrong[place] = 0xFF
            _ = ExifBlock(wrong)?.makerNote.flatMap(AppleMakerNote.init)?.contentIdentifier
        }
    }

    /// Of a phone's own.
    @Test(.enabled(if: Corpus.isPresent)) func aRealPhotoHasOne() async throws {
        let pool = ImageWorkerPool(executable: try #require(ImageWorkerPool.defaultExecutable()), workers: 1)
        let path = Corpus.folder + "/real/heic/mdx__IMG_2927.HEIC"
        let descriptor = open(path, O_RDONLY)
        defer { close(descriptor) }
        #expect(try await pool.readFacts(source: descriptor).contentIdentifier == Self.identifier)
        await pool.shutDown()
    }
}
