import Foundation
import Testing

@testable import Sidecars

struct TakeoutDocumentTests {
    private func facts(_ text: String) throws -> SidecarFacts { try TakeoutDocument(Data(text.utf8), now: now).facts }

    private func error(_ text: String) -> SidecarError? { error(Data(text.utf8)) }

    private func error(_ data: Data) -> SidecarError? {
        do {
            _ = try TakeoutDocument(data, now: now)
            return nil
        } catch { return error }
    }

    private static let whole = """
        {
          "title": "IMG_20190612_140533.jpg", "description": "Au lac\\u00e9 \\ud83d\\ude00", "imageViews": "3",
          "creationTime": {"timestamp": "1570000000", "formatted": "2 Oct 2019, 07:06:40 UTC"},
          "photoTakenTime": {"timestamp": "1560348333", "formatted": "12 Jun 2019, 14:05:33 UTC"},
          "geoData": {"latitude": 48.15, "longitude": -11.5, "altitude": 0.0, "latitudeSpan": 0.0},
          "geoDataExif": {"latitude": 1.0, "longitude": 2.0}, "favorited": true,
          "people": [{"name": "somebody"}], "googlePhotosOrigin": {"mobileUpload": {"deviceType": "ANDROID_PHONE"}}
        }
        """

    private static let wholeFacts: SidecarFacts = {
        var facts = SidecarFacts()
        facts.taken = CaptureTime(milliseconds: 1_560_348_333_000, clock: .universal)
        facts.caption = "Au lac\u{E9} 😀"
        facts.isFavorite = true
        facts.latitude = 48.15
        facts.longitude = -11.5
        facts.title = "IMG_20190612_140533.jpg"
        return facts
    }()

    @Test func everythingOfADocument() throws { #expect(try facts(Self.whole) == Self.wholeFacts) }

    @Test func encodings() throws {
        let units = Array(Self.whole.utf16)
        let little = units.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }
        let big = units.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] }
        for bytes in [
            [0xEF, 0xBB, 0xBF] + Array(Self.whole.utf8), [0xFF, 0xFE] + little, [0xFE, 0xFF] + big, little, big,
        ] {
            #expect(try TakeoutDocument(Data(bytes), now: now).facts == Self.wholeFacts)
        }
        #expect(error(Data(#"{"description": "Aim"#.utf8) + [0xE9] + Data(#""}"#.utf8)) == .notText(encoding: "UTF-8"))
        #expect(error(Data([0xFF, 0xFE] + little + [0x20])) == .notText(encoding: "UTF-16"))
        #expect(error(Data([0xFF, 0xFE, 0x7B, 0, 0, 0xD8, 0x7D, 0])) == .notText(encoding: "UTF-16"))
        #expect(error(Data([0xFF, 0xFE, 0, 0, 0x7B, 0, 0, 0])) == .unknownEncoding("UTF-32"))
    }

    @Test(
        arguments: [
            ("1560348333", Int64(1_560_348_333_000)), ("-631152000", -631_152_000_000),
            ("1767355200", 1_767_355_200_000),
            // 0 is what nobody knows; then a day and a second ahead, before photography, thousandths, too much, no
            // number.
            ("0", nil), ("1767355201", nil), ("-9999999999", nil), ("1560348333123", nil), ("9223372036854775807", nil),
            ("99999999999999999999", nil), ("", nil), (" 1560348333", nil), ("1e9", nil), ("soon", nil),
        ] as [(String, Int64?)]) func times(timestamp: String, milliseconds: Int64?) throws
    {
        let found = try facts(#"{"photoTakenTime": {"timestamp": "\#(timestamp)"}}"#).taken
        #expect(found == milliseconds.map { CaptureTime(milliseconds: $0, clock: .universal) })
    }

    @Test func aNumberWillDoForATime() throws {
        #expect(try facts(#"{"photoTakenTime": {"timestamp": 1560348333}}"#).taken?.milliseconds == 1_560_348_333_000)
    }

    @Test func placesThatAreNone() throws {
        func place(_ text: String) throws -> [Double]? {
            let facts = try facts(#"{"creationTime": {}, \#(text)}"#)
            return facts.latitude.flatMap { latitude in facts.longitude.map { [latitude, $0] } }
        }
        let zero = #""geoData": {"latitude": 0.0, "longitude": 0.0}"#
        #expect(try place(zero) == nil)
        #expect(try place(zero + #", "geoDataExif": {"latitude": 1, "longitude": 2}"#) == [1, 2])
        #expect(try place(#""geoData": {"latitude": 0, "longitude": 2}"#) == [0, 2])
        #expect(try place(#""geoData": {"latitude": 90.1, "longitude": 2}"#) == nil)
        #expect(try place(#""geoData": {"latitude": 1, "longitude": -180.5}"#) == nil)
        #expect(try place(#""geoData": {"latitude": 1e999, "longitude": 2}"#) == nil)
        #expect(try place(#""geoData": {"latitude": 1}"#) == nil)
        #expect(try place(#""geoData": {"latitude": "1", "longitude": "2"}"#) == nil)
    }

    @Test func wrongTypesAreMissing() throws {
        let text = """
            {"photoTakenTime": [1560348333], "geoData": 3, "geoDataExif": null, "title": 7, "description": {"a": []},
             "favorited": "true", "creationTime": null}
            """
        #expect(try facts(text) == SidecarFacts())
        #expect(try facts(#"{"photoTakenTime": {"timestamp": {"a": 1}}, "favorited": false}"#).isFavorite == false)
    }

    @Test func captionsAreOneShortLine() throws {
        func caption(_ text: String) throws -> String? {
            try facts(#"{"creationTime": {}, "description": "\#(text)"}"#).caption
        }
        #expect(try caption("") == nil)
        #expect(try caption(#" \n\t\u0000\u0007 "#) == nil)
        #expect(try caption(#" one\ntwo\u0000\u001b[31m "#) == "one two[31m")
        #expect(try caption(String(repeating: "😀", count: 2_001)) == String(repeating: "😀", count: 2_000))
        #expect(try caption("a" + String(repeating: "\u{301}", count: 40_000)) == nil)
        #expect(try caption(#"half \ud83d pair"#) == "half \u{FFFD} pair")
        #expect(try caption(#"\udc00\ud83d\ud83d\ude00"#) == "\u{FFFD}\u{FFFD}😀")
    }

    @Test(arguments: [
        ("", SidecarError.empty), (" \n", .empty), ("\u{0}\u{0}\u{0}", .empty), ("null", .notTakeout),
        ("[]", .notTakeout),
        ("{}", .notTakeout), ("3", .notTakeout), (#"{"title": "Album", "description": "x"}"#, .notTakeout),
        (#"{"title": "a", "title": "b"}"#, .duplicateMember("title")),
        (#"{"photoTakenTime": {"timestamp": "1", "timestamp": "2"}}"#, .duplicateMember("timestamp")),
        (#"{"photoTakenTime": {}, "ph\u006ftoTakenTime": {}}"#, .duplicateMember("photoTakenTime")),
        (#"{"a": 1"#, .malformed("an object does not end", offset: 7)),
        (#"{"a": 1} x"#, .malformed("there is more after its end", offset: 9)),
        (#"{"a": 01}"#, .malformed("a number begins with 0", offset: 8)),
        (#"{"a": tru}"#, .malformed("a value is missing", offset: 6)),
        (#"{"a":"#, .malformed("it ends too early", offset: 5)),
        (#"{"a" 1}"#, .malformed("a colon is missing", offset: 5)),
        (#"{a: 1}"#, .malformed("a member's name is missing", offset: 1)),
        (#"{"a": "x"#, .malformed("a text does not end", offset: 8)),
        (#"{"a": [1 2]}"#, .malformed("an array does not end", offset: 9)),
        (#"{"a": "\x"}"#, .malformed("an unknown escape stands in a text", offset: 9)),
        (#"{"a": "\u00g0"}"#, .malformed("an unknown escape stands in a text", offset: 11)),
        ("{\"a\": \"\n\"}", .malformed("a control character stands in a text", offset: 7)),
        ("{\"a\": \u{0}}", .malformed("a value is missing", offset: 6)),
    ]) func refusals(text: String, expected: SidecarError) { #expect(error(text) == expected) }

    @Test func depthAndSizeAreBounded() {
        func nested(_ depth: Int) -> String {
            #"{"creationTime": "# + String(repeating: "[", count: depth - 1) + String(repeating: "]", count: depth - 1)
                + "}"
        }
        #expect(error(nested(SidecarLimits.depth)) == nil)
        #expect(error(nested(SidecarLimits.depth + 1)) == .nestedTooDeeply)
        #expect(error(String(repeating: "[", count: SidecarLimits.bytes)) == .nestedTooDeeply)
        #expect(error(String(repeating: #"{"a":"#, count: 200_000)) == .nestedTooDeeply)
        let size = SidecarLimits.bytes
        #expect(error(Data(repeating: 0x20, count: size + 1)) == .tooLarge(bytes: size + 1))
        #expect(error(#"{"creationTime": {}}"# + String(repeating: " ", count: size - 20)) == nil)
    }

    @Test func errorsAreSentences() {
        let errors: [SidecarError] = [
            .empty, .tooLarge(bytes: 1), .notText(encoding: "UTF-8"), .unknownEncoding("UTF-32"),
            .malformed("x", offset: 1),
            .nestedTooDeeply, .duplicateMember("title"), .documentType, .notTakeout, .notXMP,
        ]
        for error in errors { #expect("\(error)".hasPrefix("It ") && "\(error)".hasSuffix(".")) }
    }
}
