import Foundation
import ServiceMesh
import Testing

@testable import BackupFormats

/// Elements of lists are the bytes that Foundation writes, and are read as it reads them or left to it.
@Suite struct ElementCodingTests {
    private struct Inner: Codable, Equatable {
        let path: String
        let bytes: Data?
    }

    private struct Entry: Codable, Equatable {
        let zone: String
        let id: Int64
        let name: String?
        let when: Timestamp
        let isShown: Bool
        let width: Int?
        let inner: [Inner]?
        let one: Inner?
        let small: UInt8
    }

    private struct Share: Codable { let part: Double }

    private static func entry(_ number: Int) -> Entry {
        let names: [String?] = [
            nil, "", "plain", "a \"b\\ /\n\t\r\u{8}\u{C}é\u{1F468}\u{200D}\u{1F469}", "\u{FFFD}\u{2028}",
        ]
        let inner = Inner(
            path: "originals/\(number)", bytes: number % 2 == 0 ? Data([0, 1, UInt8(number % 256)]) : nil)
        return Entry(
            zone: "z", id: Int64(number) * (number % 2 == 0 ? 1 : -1_000_000_007), name: names[number % 5],
            when: Timestamp(milliseconds: Int64(number) * 86_400_123), isShown: number % 3 == 0,
            width: number % 4 == 0 ? nil : number,
            inner: number % 6 == 0 ? nil : Array(repeating: inner, count: number % 3),
            one: number % 7 == 0 ? inner : nil, small: UInt8(number % 256))
    }

    private static func written(_ entries: [some Encodable]) throws -> Data {
        Data(try ElementWriter.encoder().encode(entries).dropFirst().dropLast())
    }

    private static func read<Element: Decodable>(_ type: Element.Type, _ bytes: Data) -> [Element]? {
        try? JSONDecoder().decode([Element].self, from: Data("[".utf8) + bytes + Data("]".utf8))
    }

    @Test func itWritesWhatFoundationWrites() throws {
        let entries = (0..<420).map(Self.entry)
        let written = try ElementWriter.elements(entries)
        #expect(try written == Self.written(entries))
        #expect(ElementReader.elements(Entry.self, written) == entries)
        // All that is escaped.
        let texts = (0..<0x90).map { [String(UnicodeScalar(UInt8($0)))] }
        #expect(try ElementWriter.elements(texts) == Self.written(texts))
        let sorted = [["b": 1, "a": 2, "é": 3, "Z": 4, "": 5], ["c": 1], [:]]
        #expect(try ElementWriter.elements(sorted) == Self.written(sorted))
        #expect(try ElementWriter.elements([] as [Entry]).isEmpty)
    }

    @Test func whatHasOtherFormsIsLeftToFoundation() throws {
        let shares = [Share(part: 0.1), Share(part: 1)]
        let written = try ElementWriter.elements(shares)
        #expect(try written == Self.written(shares))
        #expect(ElementReader.elements(Share.self, written) == nil)
        let dates = [Date(timeIntervalSinceReferenceDate: 5)]
        #expect(try ElementWriter.elements(dates) == Self.written(dates))
        for text in [
            #"{"path":"\u0061"}"#, #"{"path": "a"}"#, #"{"path":"a","more":1}"#, #"{"path":"a","path":"b"}"#,
            #"{"path":"a"},"#,
            #"{"path":"a"}x"#, #"{"path":"a"#, #"{"path":1}"#, #"{}"#, "", #"{"path":"a"} "#, "{\"path\":\"\u{1}\"}",
        ] {
            #expect(ElementReader.elements(Inner.self, Data(text.utf8)) == nil, "\(text)")
        }
        #expect(
            ElementReader.elements(
                Inner.self, Data([0x7B, 0x22, 0x70, 0x61, 0x74, 0x68, 0x22, 0x3A, 0x22, 0xFF, 0x22, 0x7D])) == nil)
        for text in ["1.0", "1e2", "01", "-", "9223372036854775808", "256"] {
            #expect(ElementReader.elements([UInt8].self, Data("[\(text)]".utf8)) == nil, "\(text)")
        }
        #expect(ElementReader.elements(Timestamp.self, Data(#""2025-06-15T10:00:00Z",86400000"#.utf8))?.count == 2)
    }

    /// Elements with single bytes changed: where they are taken, it is for what a decoder takes them for.
    @Test func aChangedByteIsSeenAsADecoderSeesIt() throws {
        let bytes = [UInt8](try ElementWriter.elements((3..<8).map(Self.entry)))
        var taken = 0
        for place in bytes.indices {
            for other in Array("\"\\[]{},:- 0a.u".utf8) + [0xFF, 0x01] where other != bytes[place] {
                var changed = bytes
                changed[place] = other
                guard let found = ElementReader.elements(Entry.self, Data(changed)) else { continue }
                taken += 1
                #expect(found == Self.read(Entry.self, Data(changed)), "byte \(place) becomes \(other)")
            }
        }
        #expect(taken > 300)
    }
}
