import ControlSocket
import Foundation
import ServiceMesh
import Testing

@Suite("Cancelling", .timeLimit(.minutes(2)))
struct CancellationTests {
    @Test("a cancelled request ends and gets exactly one reply, however often it is cancelled")
    func cancel() async throws {
        try await withHarness { harness in
            let raw = try harness.connect()
            await raw.send(request("test.hold", id: #""a""#))
            await harness.service.gate.arrived()
            for id in [#""a""#, #""a""#, #""\u0061""#] { await raw.send(cancellation(id)) }
            await harness.service.gate.cancelled()
            raw.endSending()
            let replies = try await raw.rest().map(Reply.init)
            #expect(replies.count == 1)
            #expect(replies.first?.id == "a")
            #expect(replies.first?.status == "cancelled")
        }
    }

    @Test("cancelling what does not run does nothing, also when that id comes later")
    func unknown() async throws {
        try await withHarness { harness in
            let raw = try harness.connect()
            await raw.send(cancellation("5"))
            #expect(try await raw.ask(echo("runs", id: "5")).result?["text"] == "runs")
            await raw.send(cancellation("5"))
            raw.endSending()
            #expect(await raw.rest() == [])
        }
    }

    @Test("a request and its cancellation in one piece: one reply, and nothing left at the gate")
    func inOnePiece() async throws {
        try await withHarness { harness in
            let raw = try harness.connect()
            for round in 1...50 {
                let lines = request("test.hold", id: "\(round)") + "\n" + cancellation("\(round)") + "\n"
                await raw.send(bytes: Array(lines.utf8))
                let reply = try await raw.reply()
                #expect(reply.id == .integer(Int64(round)))
                #expect(reply.status == "cancelled")
            }
            raw.endSending()
            #expect(await raw.rest() == [])
        }
    }

    @Test("the number 1 does not cancel the text 1")
    func otherKind() async throws {
        try await withHarness { harness in
            let raw = try harness.connect()
            await raw.send(request("test.hold", id: "1"))
            await harness.service.gate.arrived()
            await raw.send(cancellation(#""1""#))
            #expect(try await raw.ask(echo("x", id: "2")).id == 2)
            harness.service.gate.open()
            let reply = try await raw.reply()
            #expect(reply.id == 1)
            #expect(reply.code == nil)
        }
    }

    @Test("a cancellation on one connection does not reach another's request")
    func otherConnection() async throws {
        try await withHarness { harness in
            let one = try harness.connect()
            let other = try harness.connect()
            await one.send(request("test.hold", id: "1"))
            await harness.service.gate.arrived()
            await other.send(cancellation("1"))
            #expect(try await other.ask(echo("x", id: "2")).id == 2)
            harness.service.gate.open()
            #expect(try await one.reply().code == nil)
        }
    }

    @Test(
        "a cancellation that names no request is answered with an error",
        arguments: [
            #"{"jsonrpc":"2.0","method":"$/cancelRequest"}"#,
            #"{"jsonrpc":"2.0","method":"$/cancelRequest","params":{}}"#,
            #"{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":null}}"#,
        ])
    func nameless(_ line: String) async throws {
        try await withHarness { harness in
            let reply = try await harness.connect().ask(line)
            #expect(reply.code == -32602)
            #expect(reply.id == .null)
        }
    }

    @Test("cancelling an observation ends it with one reply")
    func observation() async throws {
        try await withHarness { harness in
            let raw = try harness.connect()
            let first = try await raw.ask(request("test.observe"))
            #expect(first.method == "test.observe")
            await raw.send(cancellation("1"))
            let reply = try await raw.reply()
            #expect(reply.status == "cancelled")
            harness.service.number.publish(1)
            raw.endSending()
            #expect(await raw.rest() == [])
        }
    }
}
