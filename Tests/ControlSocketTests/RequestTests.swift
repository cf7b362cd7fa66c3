import ControlSocket
import Foundation
import ServiceMesh
import Testing

@Suite("Requests and replies", .timeLimit(.minutes(2)))
struct RequestTests {
    @Test("an unknown method is -32601 and names those that may be meant")
    func unknownMethod() async throws {
        try await withHarness { harness in
            let raw = try harness.connect()
            let near = try await raw.ask(request("test.ecko"))
            #expect(near.code == -32601)
            #expect(near.status == "unimplemented")
            #expect(near.message.contains("test.echo"))
            let far = try await raw.ask(request("zzzzzzzzzzzz", id: "2"))
            #expect(far.code == -32601)
            #expect(far.message.contains("rpc.discover"))
            #expect(try await raw.ask(request(String(repeating: "m", count: 100_000), id: "3")).code == -32601)
        }
    }

    @Test("a method for the library's own services does not exist here")
    func servicesOnly() async throws {
        try await withHarness { harness in
            let raw = try harness.connect()
            let reply = try await raw.ask(request("test.servicesOnly"))
            #expect(reply.code == -32601)
            #expect(!reply.message.contains("Did you mean test.servicesOnly"))
        }
    }

    @Test(
        "params that are not the message's are -32602 and name the property",
        arguments: [
            (#"{"text":5}"#, "text"), (#"{}"#, "text"), (#"{"text":null}"#, "text"),
            (#"{"text":"a","more":1}"#, "more"),
            (#"["a"]"#, "by name"), (#"{"text":{"a":1}}"#, "text"),
        ])
    func wrongParams(_ params: String, _ says: String) async throws {
        try await withHarness { harness in
            let reply = try await harness.connect().ask(request("test.echo", params: params))
            #expect(reply.code == -32602)
            #expect(reply.id == 1)
            #expect(reply.status == "invalid_argument")
            #expect(reply.message.contains(says), "\(reply.message)")
        }
    }

    @Test(
        "ids come back as they were, whatever their size",
        arguments: [
            "0", "-1", "9223372036854775807", "9223372036854775808", "-9223372036854775809",
            "123456789012345678901234567890123456789012345678901234567890", #""""#, #""a b""#, #""é\n\"\\""#, #""1""#,
        ])
    func ids(_ id: String) async throws {
        try await withHarness { harness in
            let raw = try harness.connect()
            await raw.send(echo("x", id: id))
            let line = try #require(await raw.line())
            #expect(line == echoReply("x", id: id.replacingOccurrences(of: #"\n"#, with: #"\u000a"#)))
        }
    }

    @Test("requests run side by side, and replies come as they are ready")
    func outOfOrder() async throws {
        try await withHarness { harness in
            let raw = try harness.connect()
            await raw.send(request("test.hold", id: "\"slow\""))
            await harness.service.gate.arrived()
            #expect(try await raw.ask(echo("fast", id: "2")).id == 2)
            harness.service.gate.open()
            #expect(try await raw.reply().id == "slow")
        }
    }

    @Test("an id that runs is refused without that id; once answered it is free again")
    func duplicateID() async throws {
        try await withHarness { harness in
            let raw = try harness.connect()
            await raw.send(request("test.hold", id: #""a""#))
            await harness.service.gate.arrived()
            let refused = try await raw.ask(request("test.echo", id: #""\u0061""#, params: #"{"text":"x"}"#))
            #expect(refused.code == -32600)
            #expect(refused.id == .null)
            #expect(refused.json["error"]?["data"]?["duplicateId"] == #""a""#)
            #expect(try await raw.ask(request("rpc.ping", id: #""a""#)).code == -32600)
            harness.service.gate.open()
            #expect(try await raw.reply().id == "a")
            #expect(try await raw.ask(echo("again", id: #""a""#)).result?["text"] == "again")
        }
    }

    @Test("the number 1 and the text 1 are two ids")
    func idKinds() async throws {
        try await withHarness { harness in
            let raw = try harness.connect()
            await raw.send(request("test.hold", id: "1"))
            await harness.service.gate.arrived()
            #expect(try await raw.ask(echo("x", id: #""1""#)).id == "1")
        }
    }

    @Test("each status has its own code, and the details stand beside it", arguments: MeshStatus.allCases)
    func statuses(_ status: MeshStatus) async throws {
        try await withHarness { harness in
            let reply = try await harness.connect().ask(
                request("test.raise", params: #"{"status":"\#(status.rawValue)"}"#))
            let data = reply.json["error"]?["data"]
            #expect((-32099 ... -32000).contains(reply.code ?? 0))
            #expect(data?["status"]?.stringValue == status.rawValue)
            #expect(data?["retryable"]?.boolValue == status.isRetryable)
            #expect(data?["photoCount"] == 3)
            #expect(reply.message == "As asked.")
        }
    }

    @Test("no two statuses share a code")
    func distinctCodes() async throws {
        try await withHarness { harness in
            let raw = try harness.connect()
            var codes: Set<Int64> = []
            for status in MeshStatus.allCases {
                let reply = try await raw.ask(request("test.raise", params: #"{"status":"\#(status.rawValue)"}"#))
                codes.insert(try #require(reply.code))
            }
            #expect(codes.count == MeshStatus.allCases.count)
        }
    }

    @Test("a deadline ends a request; one that has passed starts nothing")
    func deadlines() async throws {
        try await withHarness { harness in
            let raw = try harness.connect()
            let late = try await raw.ask(request("test.hold", deadlineMs: "20"))
            #expect(late.status == "deadline_exceeded")
            // None where the deadline passed before the request came to the gate.
            let arrivals = harness.service.gate.arrivals
            #expect(arrivals <= 1)
            for past in ["0", "-5", "-9223372036854775808"] {
                #expect(try await raw.ask(request("test.hold", deadlineMs: past)).status == "deadline_exceeded")
            }
            #expect(harness.service.gate.arrivals == arrivals)
            let ample = echo("in time").dropLast() + #","deadlineMs":9223372036854775807}"#
            #expect(try await raw.ask(String(ample)).result?["text"] == "in time")
        }
    }

    @Test("an answer that is too large is refused, not sent")
    func tooLarge() async throws {
        try await withHarness(limits: ControlLimits(resultBytes: 1000)) { harness in
            let raw = try harness.connect()
            let reply = try await raw.ask(request("test.big", params: #"{"bytes":1000}"#))
            #expect(reply.status == "resource_exhausted")
            #expect(reply.message.contains("smaller page"))
        }
    }

    @Test("an answer of several megabytes arrives whole")
    func large() async throws {
        try await withHarness { harness in
            let raw = try harness.connect()
            let reply = try await raw.ask(request("test.big", params: #"{"bytes":5000000}"#))
            #expect(reply.result?["text"]?.stringValue?.utf8.count == 5_000_000)
        }
    }
}
