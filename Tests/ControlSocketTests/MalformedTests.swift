import ControlSocket
import Foundation
import ServiceMesh
import Testing

@Suite("Lines that are not requests", .timeLimit(.minutes(2)))
struct MalformedTests {
    /// Sends `line`, expects the code, and shows that the connection lives on.
    private func expect(_ line: [UInt8], _ code: Int64, id: JSONValue, says: String? = nil) async throws {
        try await withHarness { harness in
            let raw = try harness.connect()
            await raw.send(bytes: line + [0x0A])
            let reply = try await raw.reply()
            #expect(reply.code == code, "\(reply.json)")
            #expect(reply.id == id)
            if let says { #expect(reply.message.contains(says), "\(reply.message)") }
            await raw.send(echo("alive", id: "99"))
            #expect(await raw.line() == echoReply("alive", id: "99"))
        }
    }

    @Test(
        "what is not JSON is -32700",
        arguments: [
            "{", "}", "nonsense", #"{"jsonrpc":"2.0","id":1,"method":"test.echo""#, #"{"a":1,}"#, #"{"a" 1}"#,
            #"{"a":01}"#, #"{"a":1.}"#, #"{"a":.5}"#, #"{"a":1e}"#, #"{"a":-}"#, #"{"a":+1}"#, #"{"a":tru}"#,
            #"{"a":NaN}"#, #"{'a':1}"#, #"{"a":"\x"}"#, #"{"a":"\u12"}"#, #"{"a":"\ud800"}"#, #"{"a":"\udc00"}"#,
            #"{"a":"\ud800\u0041"}"#, "{\"a\":\"\u{1}\"}", "{\"a\":\"tab\there\"}", #"{"a":1} {"b":2}"#, #"[1"#,
            #"{"a":[1,]}"#, #"{"a":[1 2]}"#, #"{a:1}"#, "\u{FEFF}{}", #"{"a":"open}"#, "1 2", "//", "{,}", #"{"a"}"#,
        ])
    func notJSON(_ line: String) async throws {
        try await expect(Array(line.utf8), -32700, id: .null)
    }

    @Test(
        "bytes that are not UTF-8 are -32700",
        arguments: [
            [0xFF], [0xC0, 0x80], [0xC1, 0xBF], [0x80], [0xC3], [0xE0, 0x80, 0x80], [0xED, 0xA0, 0x80],
            [0xF0, 0x80, 0x80, 0x80], [0xF4, 0x90, 0x80, 0x80], [0xF5, 0x80, 0x80, 0x80], [0xE2, 0x82],
        ] as [[UInt8]])
    func notUTF8(_ bytes: [UInt8]) async throws {
        let whole = echo("X").utf8.flatMap { $0 == UInt8(ascii: "X") ? bytes : [$0] }
        try await expect(whole, -32700, id: .null, says: "UTF-8")
    }

    @Test("text of every length in UTF-8 passes, also escaped")
    func unicode() async throws {
        try await withHarness { harness in
            let raw = try harness.connect()
            await raw.send(echo("aé€😀\u{10FFFF}"))
            #expect(await raw.line() == echoReply("aé€😀\u{10FFFF}"))
            await raw.send(echo(#"\u0061\u00e9\u20AC\ud83d\ude00\/"#))
            #expect(await raw.line() == echoReply("aé€😀/"))
        }
    }

    @Test("64 levels pass the scanner, 65 do not, and a megabyte of brackets ends no process")
    func depth() async throws {
        func nested(_ levels: Int) -> [UInt8] {
            let inner = String(repeating: "[", count: levels - 2) + String(repeating: "]", count: levels - 2)
            return Array(request("test.echo", params: #"{"text":\#(inner)}"#).utf8)
        }
        try await expect(nested(64), -32602, id: 1)
        try await expect(nested(65), -32700, id: .null, says: "64 levels")
        try await expect([UInt8](repeating: UInt8(ascii: "["), count: 1_000_000), -32700, id: .null, says: "64 levels")
        let objects = String(repeating: #"{"a":"#, count: 200_000)
        try await expect(Array(objects.utf8), -32700, id: .null, says: "64 levels")
    }

    @Test(
        "JSON that is no request is -32600, with the id where there is one",
        arguments: [
            (#"[]"#, JSONValue.null), (#"[{"jsonrpc":"2.0","id":1,"method":"test.echo"}]"#, .null), (#"1"#, .null),
            (#""text""#, .null), (#"null"#, .null), (#"{}"#, .null), (#"{"jsonrpc":"2.0","id":1}"#, 1),
            (#"{"id":1,"method":"test.echo"}"#, 1), (#"{"jsonrpc":"1.0","id":1,"method":"test.echo"}"#, 1),
            (#"{"jsonrpc":2.0,"id":1,"method":"test.echo"}"#, 1), (#"{"jsonrpc":"2.0","id":"x","method":5}"#, "x"),
            (#"{"jsonrpc":"2.0","id":1,"method":null}"#, 1), (#"{"jsonrpc":"2.0","method":"test.echo"}"#, .null),
            (#"{"jsonrpc":"2.0","id":null,"method":"test.echo"}"#, .null),
            (#"{"jsonrpc":"2.0","id":1.5,"method":"test.echo"}"#, .null),
            (#"{"jsonrpc":"2.0","id":1e2,"method":"test.echo"}"#, .null),
            (#"{"jsonrpc":"2.0","id":true,"method":"test.echo"}"#, .null),
            (#"{"jsonrpc":"2.0","id":{},"method":"test.echo"}"#, .null),
            (#"{"jsonrpc":"2.0","id":[1],"method":"test.echo"}"#, .null),
            (#"{"jsonrpc":"2.0","id":1,"id":2,"method":"test.echo"}"#, .null),
            (#"{"jsonrpc":"2.0","id":1,"method":"test.echo","\u006dethod":"test.big"}"#, 1),
            (#"{"jsonrpc":"2.0","id":1,"method":"test.echo","params":{},"params":{}}"#, 1),
            (#"{"jsonrpc":"2.0","id":1,"method":"test.echo","deadlineMS":5}"#, 1),
            (#"{"jsonrpc":"2.0","id":1,"method":"test.echo","params":null}"#, 1),
            (#"{"jsonrpc":"2.0","id":1,"method":"test.echo","params":5}"#, 1),
            (#"{"jsonrpc":"2.0","id":1,"method":"test.echo","deadlineMs":"5"}"#, 1),
            (#"{"jsonrpc":"2.0","id":1,"method":"test.echo","deadlineMs":1.5}"#, 1),
            (#"{"jsonrpc":"2.0","id":1,"method":"test.echo","deadlineMs":99999999999999999999}"#, 1),
            (#"{"jsonrpc":"2.0","id":1,"method":"test.echo","deadlineMs":null}"#, 1),
            (#"{"jsonrpc":"2.0","id":1,"method":"$/cancelRequest"}"#, 1),
        ])
    func invalidRequest(_ line: String, _ id: JSONValue) async throws {
        // A cancellation with an id is a request for a method that does not exist.
        let code: Int64 = line.contains("cancelRequest") ? -32601 : -32600
        try await expect(Array(line.utf8), code, id: id)
    }

    @Test(
        "a name that comes twice in one object of the params is -32602 and is told",
        arguments: [
            (#"{"text":"a","text":"b"}"#, "text"), (#"{"text":"a","te\u0078t":"b"}"#, "text"),
            (#"{"text":"a","extra":{"deep":1,"deep":1}}"#, "deep"), (#"{"text":[1,[{"a":{"b":0,"c":1,"b":2}}]]}"#, "b"),
            (#"{"a":1,"b":2,"c":3,"d":4,"e":5,"f":6,"g":7,"h":8,"i":9,"j":10,"c":11}"#, "c"),
            (#"{"\"":1,"\u0022":2}"#, "\""), (#"{"":1,"":2}"#, ""), (#"{"K":1,"\u212a":2}"#, "\u{212A}"),
        ])
    func repeatedNames(_ params: String, _ name: String) async throws {
        try await withHarness { harness in
            let reply = try await harness.connect().ask(request("test.echo", params: params))
            #expect(reply.code == -32602 && reply.id == 1, "\(reply.json)")
            #expect(reply.message.contains("comes twice"))
            #expect(reply.json["error"]?["data"]?["repeatedName"]?.stringValue == name)
        }
    }

    @Test("the same name in two objects, and as a value, is no repetition; a cancellation's params are looked at too")
    func notRepeated() async throws {
        try await withHarness { harness in
            let raw = try harness.connect()
            let params =
                #"{"a":{"text":"text"},"b":{"text":["text","text"]},"c":"text","text":"{\"text\":1,\"text\":2}"}"#
            // Refused for what test.echo does not know, not for a repetition.
            let reply = try await raw.ask(request("test.echo", params: params))
            #expect(reply.code == -32602 && reply.message.contains("no parameter"), "\(reply.message)")
            let cancellation = try await raw.ask(
                #"{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":1,"id":2}}"#)
            #expect(cancellation.code == -32602 && cancellation.id == .null)
        }
    }

    @Test("an object of a hundred thousand names costs no more than its length")
    func manyNames() async throws {
        try await withHarness { harness in
            let raw = try harness.connect()
            let names = (0..<90_000).map { "\"\($0)\":0" }.joined(separator: ",")
            let reply = try await raw.ask(request("test.echo", params: "{\(names),\"89999\":1}"))
            #expect(reply.json["error"]?["data"]?["repeatedName"] == "89999")
        }
    }

    @Test("the refusals say what to do")
    func sentences() async throws {
        try await expect(Array("[]".utf8), -32600, id: .null, says: "one request a line")
        try await expect(
            Array((request("test.echo").dropLast() + #","deadlinems":5}"#).utf8), -32600, id: 1, says: "deadlineMs")
        try await expect(
            Array(#"{"jsonrpc":"2.0","method":"test.echo"}"#.utf8), -32600, id: .null, says: "has an id")
    }

    @Test("an id that is too long is refused")
    func longID() async throws {
        let long = String(repeating: "i", count: 2000)
        try await expect(Array(echo("x", id: "\"\(long)\"").utf8), -32600, id: .null, says: "1024")
    }
}
