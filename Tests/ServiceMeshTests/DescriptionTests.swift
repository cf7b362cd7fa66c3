import Foundation
import ServiceMesh
import ServiceMeshTesting
import Testing

@Suite struct DescriptionTests {
    private func call(_ mesh: Mesh, _ method: String, _ params: String) async throws -> String {
        let endpoint = try #require(mesh.endpoint(method))
        let reply = try await endpoint.call(
            params: Data(params.utf8), context: .root(mesh: mesh, role: .parent), onUpdate: { _ in })
        return String(decoding: reply, as: UTF8.self)
    }

    @Test func aCallByNameTakesAndGivesJSON() async throws {
        let (mesh, _) = try await startedMesh()
        #expect(try await call(mesh, "test.echo", #"{"text":"a/b \"c\""}"#) == #"{"text":"a/b \"c\""}"#)
        await mesh.stop()
    }

    @Test(arguments: [
        ("{}", "'text'"), (#"{"text":1}"#, "'text'"), (#"{"text":null}"#, "'text'"),
        (#"{"text":"x","tekst":1}"#, "'tekst'"), ("[]", "by name"), ("\"x\"", "by name"), ("{", "JSON"),
    ])
    func wrongParamsNameWhatIsWrong(params: String, word: String) async throws {
        let (mesh, _) = try await startedMesh()
        do {
            _ = try await call(mesh, "test.echo", params)
            Issue.record("\(params) was taken")
        } catch let error as InvalidParams {
            #expect(error.description.contains(word), "\(error.description)")
        }
        await mesh.stop()
    }

    @Test func schemasComeFromTheMessagesThemselves() throws {
        let mesh = try Mesh(services: [Workshop(), Office()], journal: MemoryJobJournal())
        let echo = try #require(mesh.descriptions.first { $0.name == "test.echo" })
        #expect(
            echo.params == [
                "type": "object", "properties": ["text": ["type": "string"]], "required": ["text"],
                "additionalProperties": false,
            ])
        let receipt = try #require(mesh.descriptions.first { $0.name == "job.receipt" })
        #expect(receipt.params["required"] == ["job"])
        #expect(receipt.result["properties"]?["lines"]?["items"]?["properties"]?["outcome"] == ["type": "string"])
        let watch = try #require(mesh.descriptions.first { $0.name == "job.watch" })
        #expect(watch.kind == .observation && watch.update?["properties"]?["state"]?["enum"] != nil)
    }

    @Test func observationsByNameEndWithAReply() async throws {
        let (mesh, _) = try await startedMesh()
        let started = try await mesh.send(Produce(items: 3, holdAt: nil))
        #expect(try await call(mesh, "job.watch", "{\"job\":\"\(started.job)\"}").contains("\"finished\""))
        await mesh.stop()
    }
}

@Suite struct TimestampTests {
    @Test(arguments: [
        ("1970-01-01T00:00:00Z", 0), ("2025-06-15T10:00:00.250Z", 1_749_981_600_250),
        ("2024-02-29T23:59:59Z", 1_709_251_199_000), ("1969-12-31T23:59:59.999Z", -1),
        ("0000-01-01T00:00:00Z", -62_167_219_200_000), ("9999-12-31T23:59:59Z", 253_402_300_799_000),
    ])
    func readsAndWrites(text: String, milliseconds: Int64) {
        #expect(Timestamp(rfc3339: text)?.milliseconds == milliseconds)
        #expect(Timestamp(milliseconds: milliseconds).rfc3339 == text)
    }

    @Test func readsOffsetsAndBareDates() {
        #expect(Timestamp(rfc3339: "2025-06-15T12:00:00+02:00") == Timestamp(rfc3339: "2025-06-15T10:00:00Z"))
        #expect(Timestamp(rfc3339: "2025-06-15") == Timestamp(rfc3339: "2025-06-15T00:00:00Z"))
        #expect(Timestamp(rfc3339: "2025-06-15t10:00:00.1234567z")?.milliseconds == 1_749_981_600_123)
    }

    @Test(arguments: [
        "", "2025", "2025-13-01", "2025-02-30", "2025-06-15T25:00:00Z", "2025-06-15T10:00:00", "2025-06-15T10:00Z",
        "2025-06-15T10:00:00+2:00", "2025-06-15T10:00:00Z ", "２０２５-06-15", "-025-06-15",
    ])
    func refusesWhatDoesNotExist(text: String) {
        #expect(Timestamp(rfc3339: text) == nil)
    }

    @Test func everyInt64SurvivesJSON() throws {
        for milliseconds in [Int64.min, Int64.min + 1, -62_167_219_200_001, 253_402_300_800_000, Int64.max, 1] {
            let encoded = try JSONEncoder().encode([Timestamp(milliseconds: milliseconds)])
            #expect(try JSONDecoder().decode([Timestamp].self, from: encoded)[0].milliseconds == milliseconds)
        }
    }
}

@Suite struct LatencyHistogramTests {
    @Test func percentilesAreWithinAnEighth() {
        var histogram = LatencyHistogram()
        #expect(histogram.percentile(0.5) == 0)
        for value in 1...10_000 { histogram.record(UInt64(value) * 100) }
        for fraction in [0.01, 0.5, 0.9, 0.99, 1] {
            let exact = 1_000_000 * fraction
            #expect(abs(Double(histogram.percentile(fraction)) - exact) <= exact / 7, "\(fraction)")
        }
        histogram.record(.max)
        #expect(histogram.percentile(1) > UInt64.max / 2)
    }
}

@Suite struct JSONValueTests {
    @Test func everyKindOfJSONComesBackAsItIs() throws {
        let text =
            #"{"a":[null,true,false,0,1,-7,2.5,1e300,9223372036854775808,"","1","true",[],{}],"b":{"c":[{"d":[1]}]}}"#
        let value: JSONValue = [
            "a": [
                .null, true, false, 0, 1, -7, .number(2.5), .number(1e300), .number(9_223_372_036_854_775_808), "", "1",
                "true", [], [:],
            ],
            "b": ["c": [["d": [1]]]],
        ]
        let decoded = try JSONDecoder().decode(JSONValue.self, from: Data(text.utf8))
        #expect(decoded == value)
        #expect(try JSONDecoder().decode(JSONValue.self, from: JSONEncoder().encode(decoded)) == value)
    }
}
