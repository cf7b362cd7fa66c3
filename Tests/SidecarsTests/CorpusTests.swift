import DateTexts
import Foundation
import TestSupport
import Testing

@testable import Sidecars

/// The sidecars of the corpus against what exiftool found in them.
@Suite(.enabled(if: Corpus.isPresent, "no corpus beside the checkout"))
struct CorpusTests {
    @Test func everySidecarHasItsDate() throws {
        let rows = try Corpus.table("real/truth.tsv").filter { $0["filetype"] == "XMP" }
        #expect(rows.count == 8)
        for row in rows {
            let path = row["path"] ?? ""
            let facts = try XMPSidecar(Data(contentsOf: URL(fileURLWithPath: Corpus.folder + "/" + path)), now: now)
                .facts
            // "2009:11:28 13:42:39", "2002:02:02 02:02:02Z", "2000-09-27T14:35:33+02:00 (…)"
            let expected = row["xmp_date"]?.split(separator: " (").first.map(String.init) ?? ""
            let date = try #require(WrittenDate(expected), "\(path)")
            #expect(facts.taken == CaptureTime(date), "\(path)")
        }
    }

    @Test(
        arguments: [
            ("real/xmp-iptc/mdx__digikam-example.xmp", "2014-Drachenfest-Waterfront-Bremen", nil, true),
            ("real/xmp-iptc/mdx__APhotoManager-exmaple.xmp", "Description2", 2, true),
            // Its description is spaces.
            ("real/dates/immich__iso-value-array.xmp", nil, nil, true),
            ("real/xmp-iptc/mdx__exiftool-9.74-example.xmp", nil, nil, true),
            ("real/xmp-iptc/mdx__jPhotoTagger-example.xmp", nil, nil, false),
            ("real/dates/immich__2000.xmp", nil, nil, false),
        ] as [(String, String?, Int?, Bool)]) func facts(path: String, caption: String?, rating: Int?, hasPlace: Bool)
        throws
    {
        let data = try Data(contentsOf: URL(fileURLWithPath: Corpus.folder + "/" + path))
        let facts = try XMPSidecar(data, now: now).facts
        #expect(facts.caption == caption)
        #expect(facts.rating == rating)
        #expect((facts.latitude != nil) == hasPlace && (facts.longitude != nil) == hasPlace)
    }

    /// XMP inside of pictures is written by the same programs; what has no declaration and is Latin-1 is among it.
    @Test func packetsInsideOfPictures() throws {
        let folder = Corpus.folder + "/real/xmp-iptc/"
        let data = try Data(contentsOf: URL(fileURLWithPath: folder + "pilheif__L_xmp_latin1.heic"))
        let begin = try #require(data.firstRange(of: Data("<x:xmpmeta".utf8)))
        let end = try #require(data.firstRange(of: Data("</x:xmpmeta>".utf8)))
        let facts = try XMPSidecar(data[begin.lowerBound..<end.upperBound], now: now).facts
        #expect(facts.title == "37.58" && facts.caption?.contains("Aimé Louis") == true, "\(facts)")
    }

    /// Every file of the corpus, cut to what would be read: nothing but a document or a typed refusal.
    @Test func nothingElseIsTaken() throws {
        for row in try Corpus.table("MANIFEST.tsv") {
            guard
                let path = row["path"]
                    ?? row.values.first(where: { $0.hasPrefix("real/") || $0.hasPrefix("hostile/") }),
                let data = FileManager.default.contents(atPath: Corpus.folder + "/" + path),
                !path.hasSuffix(".xmp")
            else { continue }
            let head = data.prefix(100_000)
            #expect(throws: SidecarError.self, "\(path)") { try TakeoutDocument(head, now: now) }
            #expect(throws: SidecarError.self, "\(path)") { try XMPSidecar(head, now: now) }
        }
    }
}
