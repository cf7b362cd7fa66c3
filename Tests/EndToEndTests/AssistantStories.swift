import EndToEndSupport
import Foundation
import LibraryModel
import SampleAlbum
import ServiceMesh
import Testing

/// An assistant that starts `smilepile mcp` and asks: what it is offered, told and refused.
@Suite struct AssistantStories {
    private func album(_ count: Int) async throws -> Installation {
        let place = try Installation("assistant")
        try await place.up()
        try SampleAlbum(width: 320, height: 240).write(count: count, to: place.folder.file("album"))
        _ = try await place.smilepile("import", place.folder.file("album"))
        return place
    }

    /// The answers to lines that come all at once, by their ids; those without one by `null`.
    private func answers(
        _ place: Installation, _ options: [String] = [], _ lines: [String]
    ) async throws -> [String: JSONValue] {
        let file = place.folder.file("requests")
        try lines.map { $0 + "\n" }.joined().write(toFile: file, atomically: true, encoding: .utf8)
        let program = try ReadProgram(
            "/bin/sh",
            ["-c", #"requests=$1; shift; exec "$0" mcp "$@" <"$requests""#, Installation.programs + "/smilepile", file]
                + options, environment: place.environment)
        var answers: [String: JSONValue] = [:]
        for await line in program.lines {
            let answer = try JSONDecoder().decode(JSONValue.self, from: Data(line.utf8))
            #expect(answer["jsonrpc"] == "2.0")
            let id = answer["id"]
            answers[id?.stringValue ?? id?.integerValue.map(String.init) ?? "null"] = answer
        }
        #expect(await program.status() == 0, "\(program.errors)")
        return answers
    }

    private func request(_ id: Int, _ method: String, _ params: JSONValue = [:]) throws -> String {
        let request: JSONValue = [
            "jsonrpc": "2.0", "id": .integer(Int64(id)), "method": .string(method), "params": params,
        ]
        return String(decoding: try JSONEncoder().encode(request), as: UTF8.self)
    }

    private func use(_ id: Int, _ tool: String, _ arguments: JSONValue = [:]) throws -> String {
        try request(id, "tools/call", ["name": .string(tool), "arguments": arguments])
    }

    private func text(_ answer: JSONValue?) -> String? {
        answer?["result"]?["content"]?.arrayValue?.first?["text"]?.stringValue
    }

    @Test func anAssistantFindsPhotosAndChangesNothing() async throws {
        let place = try await album(3)
        _ = try await place.smilepile("photos", "caption", "2", "Grandma’s garden")
        let answers = try await answers(
            place, [],
            [
                try request(1, "initialize", ["protocolVersion": "2025-06-18", "capabilities": [:]]),
                #"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
                try request(2, "tools/list"), try request(3, "ping"),
                try use(4, "photo_search", ["text": "garden"]),
                try use(5, "photo_delete", ["ids": [1]]), try use(6, "photo_detail", ["id": 1]),
                try use(7, "photo_search", ["limit": "many"]), try use(8, "photo_get", ["id": 999]),
                try request(9, "resources/list"), "{", "[]", #"{"jsonrpc":"2.0","id":null,"method":"ping"}"#,
            ])
        let hello = answers["1"]?["result"]
        #expect(hello?["protocolVersion"] == "2025-06-18")
        #expect(hello?["serverInfo"]?["name"] == "smilepile")
        let tools = try #require(answers["2"]?["result"]?["tools"]?.arrayValue)
        let names = Set(tools.compactMap { $0["name"]?.stringValue })
        #expect(names.isSuperset(of: ["photo_search", "category_list", "job_list", "trash_list", "library_status"]))
        #expect(tools.allSatisfy { $0["annotations"]?["readOnlyHint"] == true })
        #expect(tools.allSatisfy { $0["inputSchema"]?["type"] == "object" && $0["description"]?.stringValue != "" })
        #expect(answers["3"]?["result"] == [:])
        #expect(text(answers["4"])?.contains("Grandma’s garden") == true)
        #expect(answers["4"]?["result"]?["isError"] == false)
        // Neither what it was not allowed, nor what nobody is.
        #expect(answers["5"]?["error"]?["message"]?.stringValue?.contains("--allow-changes") == true)
        #expect(answers["6"]?["error"]?["code"] == -32602)
        // What it did wrong it is told, so that it can do better.
        for id in ["7", "8"] {
            #expect(answers[id]?["result"]?["isError"] == true)
            #expect(text(answers[id])?.isEmpty == false)
        }
        #expect(answers["9"]?["error"]?["code"] == -32601)
        #expect(answers["null"]?["error"] != nil)
        let client = try place.client()
        defer { client.close() }
        #expect(try await place.allPhotos(client).count == 3)
    }

    @Test func anAssistantThatMayRemovesNothingForGood() async throws {
        let place = try await album(2)
        let answers = try await answers(
            place, ["--allow-changes"],
            [
                try request(1, "tools/list"), try use(2, "photo_delete", ["ids": [1]]),
                try use(3, "trash_purge", ["all": true]), try use(4, "pin_set", ["pin": "1234"]),
                try use(5, "backup_create", ["path": .string(place.folder.file("all.zip"))]),
            ])
        let tools = try #require(answers["1"]?["result"]?["tools"]?.arrayValue)
        let changing = tools.filter { $0["annotations"]?["readOnlyHint"] == false }.compactMap {
            $0["name"]?.stringValue
        }
        #expect(Set(changing).isSuperset(of: ["photo_caption", "photo_delete", "trash_restore"]))
        #expect(tools.allSatisfy { $0["annotations"]?["destructiveHint"] != $0["annotations"]?["readOnlyHint"] })
        #expect(answers["2"]?["result"]?["isError"] == false)
        #expect(["3", "4", "5"].allSatisfy { answers[$0]?["error"]?["code"] == -32602 })
        let client = try place.client()
        defer { client.close() }
        #expect(try await place.allPhotos(client).map(\.id) == [2])
        _ = try await place.smilepile("trash", "restore", "1")
        #expect(try await place.allPhotos(client).count == 2)
    }

    @Test func withoutADaemonItIsToldWhatToDoAndLongLinesAreRefused() async throws {
        let place = try Installation("assistant")
        let long =
            #"{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":""# + String(repeating: "a", count: 2 << 20)
            + #""}}"#
        let answers = try await answers(place, [], [long, try use(2, "photo_search"), try request(3, "tools/list")])
        #expect(answers["null"]?["error"]?["code"] == -32600)
        #expect(text(answers["2"])?.contains("smilepile up") == true)
        #expect(answers["3"]?["error"]?["message"]?.stringValue?.contains("smilepile up") == true)
    }
}
