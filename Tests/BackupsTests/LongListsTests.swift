import Foundation
import Scratch
import ServiceMesh
import TestSupport
import Testing
import ZipArchive

@testable import BackupFormats

/// Documents with long lists are the same documents, written and read in portions.
@Suite struct LongListsTests {
    private struct Entry: Codable, Equatable {
        let id: Int
        let name: String
        let inner: [String: [Int]]
        let absent: Bool?
    }

    private struct Document: Codable, Equatable {
        let version: String
        var first: [Entry]
        let settings: [String: String]
        var second: [Entry]?

        static func read(_ bytes: Data, most: Int = 2000) throws -> Document {
            try read(DocumentBytes(bytes), most: most)
        }

        static func read(_ bytes: DocumentBytes, most: Int) throws -> Document {
            let lists = try LongLists(bytes, ["first": most, "second": most])
            var document = try lists.decodeRest(Document.self)
            document.first = try lists.decode("first") { $0 }
            if document.second != nil { document.second = try lists.decode("second") { $0 } }
            return document
        }
    }

    private static func entries(_ count: Int) -> [Entry] {
        (0..<count).map {
            Entry(
                id: $0, name: "\"first\":[],\\ {[é\u{1F600}\n\($0)", inner: ["a]": [1, 2], "}": []],
                absent: $0 % 3 == 0 ? true : nil)
        }
    }

    private static func document(_ first: Int, _ second: Int?) -> Document {
        Document(
            version: "1", first: entries(first), settings: ["first": "\"second\":[]", "x": "[[["],
            second: second.map(entries))
    }

    private static func whole(_ document: Document) throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return try encoder.encode(document)
    }

    @Test(arguments: [0, 1, 2, 255, 256, 257, 512, 700, 20_000])
    func aDocumentIsTheOneThatAnEncoderWrites(_ count: Int) throws {
        for second in [nil, 0, 300] {
            let document = Self.document(count, second)
            var rest = document
            (rest.first, rest.second) = ([], second.map { _ in [] })
            let whole = try Self.whole(document)
            // The last ones are too long for memory.
            for scratch in [Scratch.memory, Scratch(in: FileManager.default.temporaryDirectory.path)] {
                let (bytes, digest) = try LongLists.encode(
                    rest, [.init("second", document.second ?? []) { $0 }, .init("first", document.first) { $0 }],
                    in: scratch)
                #expect(try bytes.bytes(0..<bytes.count) == whole && digest == ContentDigest(of: whole))
                #expect(try Document.read(bytes, most: 20_000) == document)
                var copy = Data(count: whole.count + 10)
                let read = try copy.withUnsafeMutableBytes { try bytes.read(into: $0, at: 3) }
                #expect(read == whole.count - 3 && copy.prefix(read) == whole.dropFirst(3))
            }
        }
    }

    @Test func howItIsWrittenDoesNotMatter() throws {
        let document = Self.document(300, 2)
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted]
        let mark = Data([0xEF, 0xBB, 0xBF])
        #expect(try Document.read(mark + encoder.encode(document)) == document)
        #expect(try Document.read(Self.whole(document).dropFirst(0)) == document)
        let escaped = #" {"version":"1","\u0066irst" : [ ] , "settings":{}, "second":null}  "#
        #expect(
            try Document.read(Data(escaped.utf8)) == Document(version: "1", first: [], settings: [:], second: nil))
    }

    /// A value that nobody asks for costs nothing, however long it is.
    @Test func whatIsLongAndUnknownIsLeftOut() throws {
        let document = Self.document(3, nil)
        let unknown = "\"unknown\":[" + String(repeating: "1,", count: 3 << 20) + "1],"
        let bytes = Data("{".utf8) + Data(unknown.utf8) + (try Self.whole(document)).dropFirst()
        #expect(try Document.read(bytes) == document)
    }

    @Test func aFaultIsSaidWithItsPlace() throws {
        let document = try Self.whole(Self.document(600, nil))
        let text = try #require(String(bytes: document, encoding: .utf8))
        let wrong = text.replacing("\"id\":511,", with: "\"id\":true,")
        #expect(throws: (any Error).self) { try Document.read(Data(wrong.utf8)) }
        do { _ = try Document.read(Data(wrong.utf8)) } catch {
            #expect("\(JSONFault(error))" == "'first[511].id' is not a whole number")
        }
        do { _ = try Document.read(Data(text.utf8), most: 599) } catch {
            #expect(MeshError(describing: error).message.contains("more than 599 first"), "\(error)")
        }
        let second = wrong.replacing("\"id\":10,", with: "\"id\":\"\",")
        do { _ = try Document.read(Data(second.utf8)) } catch {
            #expect("\(JSONFault(error))" == "'first[10].id' is not a whole number", "the first of them is told")
        }
        for (text, words) in [
            ("{\"first\":[],\"first\":[]}", "'first' twice"), ("{\"first\":[,1]}", "a value"),
            ("{\"first\":[1,]}", "a value"), ("{} x", "follows"), ("[]", "no object"), ("", "no object"),
            ("{\"a\" 1}", "colon"), ("{\"a\":1 \"b\":2}", "not JSON"), ("{\"a\":\"", "no end"),
            ("{\"a\":[[", "in the middle"),
        ] {
            do {
                _ = try Document.read(Data(text.utf8))
                Issue.record("\(text) was taken")
            } catch {
                #expect("\(JSONFault(error))".contains(words), "\(text): \(JSONFault(error))")
            }
        }
    }

    /// What is long is bounded by what it is, also where it is one value.
    @Test func nothingIsDecodedThatIsTooLong() throws {
        let long = "\"" + String(repeating: "x", count: 5 << 20) + "\""
        for text in [
            #"{"version":"1","first":[{"id":1,"name":\#(long),"inner":{}}],"settings":{}}"#,
            #"{"version":\#(long),"first":[],"settings":{}}"#,
        ] {
            #expect(throws: DecodingError.self) { try Document.read(Data(text.utf8)) }
        }
        var members = "{"
        for number in 0..<2000 { members += "\"m\(number)\":0," }
        #expect(throws: DecodingError.self) { try Document.read(Data((members + "\"version\":\"1\"}").utf8)) }
    }

    /// Documents with single bytes changed: taken as a decoder takes them, or refused as it does.
    @Test func aChangedByteIsSeenAsADecoderSeesIt() throws {
        let bytes = [UInt8](try Self.whole(Self.document(3, 2)))
        let others = Array("\"\\[]{},: 0a\u{1}".utf8) + [0xFF]
        var taken = 0
        for place in bytes.indices {
            for other in others where other != bytes[place] {
                var changed = bytes
                changed[place] = other
                let expected = try? JSONDecoder().decode(Document.self, from: Data(changed))
                let found = try? Document.read(Data(changed))
                #expect(found == expected, "byte \(place) becomes \(other)")
                if found != nil { taken += 1 }
            }
            let cut = Data(bytes[..<place])
            #expect(throws: (any Error).self) { try Document.read(cut) }
        }
        #expect(taken > 100)
    }

    @Test func listsWithinListsAreReadOneByOne() throws {
        struct Session: Codable, Equatable {
            let name: String
            var entries: [Entry]
        }
        struct Sessions: Codable { let sessions: [Session] }
        let sessions = (0..<3).map { Session(name: "\($0)", entries: Self.entries($0 * 300)) }
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        let bytes = try encoder.encode(Sessions(sessions: sessions))
        let lists = try LongLists(bytes, ["sessions": 3], single: ["sessions"])
        let read = try lists.decodeObjects("sessions", ["entries": 600]) { inner in
            var session = try inner.decodeRest(Session.self)
            session.entries = try inner.decode("entries") { $0 }
            return session
        }
        #expect(read == sessions)
        let wrong = try #require(String(bytes: bytes, encoding: .utf8)).replacing("\"id\":599,", with: "\"id\":[],")
        do {
            _ = try LongLists(Data(wrong.utf8), ["sessions": 3], single: ["sessions"])
                .decodeObjects("sessions", ["entries": 600]) { try $0.decode("entries") { (entry: Entry) in entry } }
            Issue.record("it was taken")
        } catch {
            #expect("\(JSONFault(error))" == "'sessions[2].entries[599].id' is not a whole number")
        }
    }
}
