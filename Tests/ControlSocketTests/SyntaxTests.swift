import Foundation
import Testing

@testable import ControlSocket
import Randomness

@Suite("Reading JSON as bytes")
struct SyntaxTests {
    private func members(_ text: String) throws -> [(String, String)] {
        let bytes = Array(text.utf8)
        var found: [(String, String)] = []
        try JSONSyntax.members(of: bytes.span) { name, value in
            found.append(
                (
                    String(decoding: JSONSyntax.text(of: name, in: bytes.span), as: UTF8.self),
                    String(decoding: bytes[value], as: UTF8.self)
                ))
        }
        return found
    }

    @Test("members come in order, each with the bytes of its value and no space around them")
    func slices() throws {
        let found = try members(
            " { \"a\" : [ 1 , {\"b\":null} ] ,\"c\\u0064\":-1.5e+3\t, \"e\":\"}\\\"\" , \"\":true}\r")
        #expect(found.map(\.0) == ["a", "cd", "e", ""])
        #expect(found.map(\.1) == ["[ 1 , {\"b\":null} ]", "-1.5e+3", "\"}\\\"\"", "true"])
        #expect(try members("{}").isEmpty)
        #expect(try members(" { } ").isEmpty)
    }

    @Test("a fault tells where it is")
    func faults() {
        #expect(throws: JSONSyntax.Fault(offset: 5, reason: "this is not the beginning of a value")) {
            try members(#"{"a":x}"#)
        }
        #expect(throws: JSONSyntax.Fault(offset: 7, reason: "there is more after the object")) {
            try members(#"{"a":1}}"#)
        }
    }

    @Test("it agrees with Foundation on what is JSON, for thousands of mutated texts")
    func agreesWithFoundation() {
        var random = SplitMix64(seed: 20_240_229)
        let seeds = [
            #"{"jsonrpc":"2.0","id":1,"method":"a.b","params":{"x":[1,2.5e3,-0,true,null],"y":"\u00e9\ud83d\ude00é"}}"#,
            #"{"a":{"b":{"c":[[],[{}],""]}},"d":"\\\"\/\b\f\n\r\t"}"#,
        ]
        var valid = 0
        for round in 0..<6000 {
            let bytes = random.mutate(Array(seeds[round % seeds.count].utf8))
            var mine = true
            do { try JSONSyntax.members(of: bytes.span) { _, _ in } } catch { mine = false }
            guard mine else { continue }
            valid += 1
            // One way only: Foundation also takes what is laxer (a BOM, other encodings, numbers like 1.).
            #expect(
                (try? JSONSerialization.jsonObject(with: Data(bytes))) != nil,
                "accepted, but Foundation refuses: \(String(decoding: bytes, as: UTF8.self))")
        }
        #expect(valid > 300)
    }

    @Test("a repeated name is found in mutated texts exactly where Foundation's reader drops a member")
    func repeatedNames() {
        var random = SplitMix64(seed: 1_789)
        let seeds = [
            #"{"a":{"b":1,"c":2},"d":[{"e":1,"a":2},{"e":3}],"f":"g","h":{"a":0,"b":0,"c":0,"d":0,"e":0,"f":0,"g":0}}"#,
            #"{"a":0,"b":0,"c":0,"d":0,"e":0,"f":0,"g":0,"h":0,"i":0,"j":0,"k":{"l":1}}"#,
            #"{"ab":1,"ac":2,"ad":{"ab":1,"a":"\"b\":1"},"a":[],"bc":"\u0061"}"#,
        ]
        func members(_ value: Any) -> Int {
            switch value {
            case let object as [String: Any]: object.values.reduce(object.count) { $0 + members($1) }
            case let array as [Any]: array.reduce(0) { $0 + members($1) }
            default: 0
            }
        }
        /// Outside of strings: there are as many as members are written.
        func colons(_ bytes: [UInt8]) -> Int {
            var (count, isText, isEscaped) = (0, false, false)
            for byte in bytes {
                if byte == UInt8(ascii: "\""), !isEscaped { isText.toggle() }
                if byte == UInt8(ascii: ":"), !isText { count += 1 }
                isEscaped = byte == UInt8(ascii: "\\") && !isEscaped
            }
            return count
        }
        var found = 0
        for round in 0..<20_000 {
            let bytes = random.mutate(Array(seeds[round % seeds.count].utf8))
            var at = 0
            guard (try? JSONSyntax.skipValue(bytes.span, &at, depth: 0)) != nil, at == bytes.count else { continue }
            guard let read = try? JSONSerialization.jsonObject(with: Data(bytes), options: .fragmentsAllowed) else {
                continue
            }
            let isRepeated = JSONSyntax.repeatedName(in: bytes.span) != nil
            #expect(isRepeated == (members(read) < colons(bytes)), "\(String(decoding: bytes, as: UTF8.self))")
            if isRepeated { found += 1 }
        }
        #expect(found > 30)
    }

    @Test("quoting and reading back gives the same text", arguments: ["", "a\"b\\c", "\u{0}\u{1F}\n", "é😀"])
    func quoting(_ text: String) {
        let quoted = JSONSyntax.quoted(text.utf8)
        let read = JSONSyntax.text(of: 1..<(quoted.count - 1), in: quoted.span)
        #expect(String(decoding: read, as: UTF8.self) == text)
        var at = 0
        #expect(throws: Never.self) { try JSONSyntax.skipString(quoted.span, &at) }
        #expect(at == quoted.count)
    }

    @Test("lines are the same however the bytes are cut into chunks, and wherever the reader pauses")
    func chunks() {
        var random = SplitMix64(seed: 7)
        let whole = Array("one\n\ntwo two\r\n\nthree\rthree\n\r\nfour".utf8)
        let expected = ["one", "", "two two", "", "three\rthree", "", "four"]
        for _ in 0..<2000 {
            var buffer = LineBuffer(limit: 100)
            var lines: [String] = []
            var pauses = random.below(4)
            func take(_ line: Span<UInt8>) -> Bool {
                lines.append(line.withUnsafeBufferPointer { String(decoding: $0, as: UTF8.self) })
                pauses -= 1
                return pauses != 0
            }
            var at = 0
            while at < whole.count {
                let next = min(whole.count, at + 1 + random.below(12))
                var outcome = buffer.add(whole[at..<next].span, take)
                while outcome == .paused { outcome = buffer.resume(take) }
                #expect(outcome == .drained)
                at = next
            }
            while buffer.finish(take) == .paused {}
            #expect(lines == expected)
        }
    }

    @Test("near names are found, far ones are not")
    func nearNames() {
        let names = ["category.add", "category.list", "photo.list", "photo.search", "job.list"]
        #expect(EditDistance.nearest(to: "photo.lst", among: names).first == "photo.list")
        #expect(EditDistance.nearest(to: "category", among: names) == ["category.add", "category.list"])
        #expect(EditDistance.nearest(to: "Photo.Search", among: names).first == "photo.search")
        #expect(EditDistance.nearest(to: "something.else", among: names).isEmpty)
        #expect(EditDistance.distance(Array("kitten".utf8), Array("sitting".utf8)) == 3)
    }
}
