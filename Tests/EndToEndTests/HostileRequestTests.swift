import ControlSocket
import EndToEndSupport
import Foundation
import LibraryModel
import ServiceMesh
import TestSupport
import Testing

/// Requests about photos and categories as no client of ours would write them, to the real daemon.
@Suite(.serialized) struct HostileRequestTests {
    /// The status of the refusal, or nil where there was an answer.
    private func refusal(_ client: ControlClient, _ method: String, _ params: String) async -> MeshStatus? {
        do {
            _ = try await client.call(method: method, params: Data(params.utf8))
            return nil
        } catch {
            return MeshError(describing: error).status
        }
    }

    private static let hasSocat = ["/usr/bin/socat", "/usr/local/bin/socat", "/bin/socat"].contains {
        FileManager.default.isExecutableFile(atPath: $0)
    }

    @Test(.enabled(if: hasSocat, "socat is not installed")) func badValuesAreRefusedAndTheDaemonGoesOn() async throws {
        let place = try Installation()
        try await place.up()
        let client = try place.client()
        let refused = [
            ("category.add", #"{"displayName":"\u0000"}"#), ("category.add", #"{"displayName":"a\u0000b"}"#),
            ("category.add", #"{"displayName":"   "}"#), ("category.add", #"{"displayName":null}"#),
            ("category.add", #"{"displayName":"\#(String(repeating: "x", count: 10_000))"}"#),
            ("category.addAll", #"{"categories":[{"displayName":"x"},{}]}"#),
            ("category.addAll", #"{"categories":[]}"#), ("category.list", #"{"order":"random"}"#),
            ("photo.edit", #"{"id":1}"#), ("photo.edit", #"{"id":1e400,"name":"x"}"#),
            ("photo.edit", #"{"id":1,"takenAt":"2025-02-31"}"#), ("photo.delete", "{}"),
            ("photo.delete", #"{"ids":[1],"categoryId":1}"#), ("photo.get", #"{"id":1,"path":"photos/x.jpg"}"#),
            ("photo.get", #"{"id":9223372036854775808}"#), ("photo.search", #"{"from":9223372036854775808}"#),
            ("photo.search", #"{"after":"9223372036854775808.1"}"#), ("photo.count", #"{"from":2,"to":1}"#),
            ("photo.count", #"{"limit":1}"#), ("storage.list", #"{"limit":-1}"#),
            ("photo.listSealed", #"{"after":"\u0000"}"#), ("photo.select", #"{"limit":0}"#),
            ("photo.select", #"{"limit":10001}"#), ("photo.select", #"{"firstId":2,"lastId":1}"#),
            ("photo.select", #"{"after":"1.1"}"#), ("photo.select", #"{"lastId":9223372036854775808}"#),
            ("photo.search", #"{"words":"a b"}"#), ("photo.search", #"{"words":[1]}"#),
            ("photo.count", #"{"words":[\#(Array(repeating: "\"a\"", count: 17).joined(separator: ","))]}"#),
            ("photo.move", #"{"ids":[],"categoryId":1,"ignoreMissing":true}"#),
            ("category.add", #"{"displayName":"2025"}"#), ("category.add", #"{"displayName":" #3 "}"#),
        ]
        for (method, params) in refused {
            #expect(await refusal(client, method, params) == .invalidArgument, "\(method) \(params.prefix(80))")
        }
        let answered = [
            ("photo.search", #"{"text":"% _ ' \" * \\ \u0000 \ud83d\ude00 \u202e"}"#),
            ("photo.search", #"{"from":-9223372036854775808,"to":9223372036854775807}"#),
            ("photo.search", #"{"after":"9223372036854775807.9223372036854775807"}"#),
            ("photo.count", #"{"categoryId":-9223372036854775808}"#),
            ("photo.select", #"{"firstId":-9223372036854775808,"lastId":9223372036854775807}"#),
            ("photo.select", #"{"firstId":-9223372036854775808,"after":9223372036854775807}"#),
            ("photo.search", #"{"words":["% _ ' \" *","\u0000","","\ud83d\ude00"]}"#),
            ("photo.delete", #"{"ids":[99],"ignoreMissing":true}"#),
            ("category.list", #"{"text":"\u05e9\u05dc","order":"displayName"}"#),
            ("category.checkName", #"{"displayName":"\u0000"}"#),
            ("category.add", #"{"displayName":"\u05e9\u05dc\u05d5\u05dd \ud83d\udc68\u200d\ud83d\udc69"}"#),
        ]
        for (method, params) in answered {
            #expect(await refusal(client, method, params) == nil, "\(method) \(params.prefix(80))")
        }
        // Service-only messages are not there for a socket.
        #expect(await refusal(client, "photo.addAll", #"{"photos":[]}"#) != nil)
        // Half a character is no JSON: its line is refused, and the next one is answered.
        for text in [#"\ud800"#, #"\udc00\ud800"#, #"a\udfff"#, #"\ud800\u0041"#] {
            let lines = """
                {"jsonrpc":"2.0","id":1,"method":"photo.search","params":{"text":"\(text)"}}
                {"jsonrpc":"2.0","id":2,"method":"photo.count"}

                """
            let file = place.folder.file("lines")
            try Data(lines.utf8).write(to: URL(fileURLWithPath: file))
            let answers = try await place.run(
                "/bin/sh", ["-c", "exec socat -t 20 - UNIX-CONNECT:\(place.socket) < \(file)"]
            ).output.split(separator: "\n")
            #expect(answers.count == 2 && answers.contains { $0.contains("half a surrogate pair") }, "\(answers)")
            #expect(answers.contains { $0.contains(#""id":2,"result":{"count":0}"#) }, "\(answers)")
        }
        #expect(try await client.call(CountCategories()) == CategoryCount(count: 5))
        client.close()
        #expect(try await place.smilepile("down").status == 0)
    }
}
