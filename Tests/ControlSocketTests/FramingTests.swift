import ControlSocket
import Foundation
import ServiceMesh
import Testing

@Suite("Lines", .timeLimit(.minutes(2)))
struct FramingTests {
    @Test("a line gets its reply, byte for byte")
    func reply() async throws {
        try await withHarness { harness in
            let raw = try harness.connect()
            await raw.send(echo("hello"))
            #expect(await raw.line() == echoReply("hello"))
        }
    }

    @Test("a line that comes in pieces is one line")
    func split() async throws {
        try await withHarness { harness in
            let raw = try harness.connect()
            for byte in Array(echo("split").utf8) + [0x0A] { await raw.send(bytes: [byte]) }
            #expect(await raw.line() == echoReply("split"))
        }
    }

    @Test("lines that come in one piece are several, and a piece of the next one waits")
    func merged() async throws {
        try await withHarness { harness in
            let raw = try harness.connect()
            let first = (1...20).map { echo("text \($0)", id: "\($0)") }.joined(separator: "\n")
            let last = Array(echo("last", id: "21").utf8)
            await raw.send(bytes: Array(first.utf8) + [0x0A] + last[..<10])
            var replies: Set<String> = []
            for _ in 1...20 { replies.insert(try #require(await raw.line())) }
            #expect(replies == Set((1...20).map { echoReply("text \($0)", id: "\($0)") }))
            await raw.send(bytes: last[10...] + [0x0A])
            #expect(await raw.line() == echoReply("last", id: "21"))
        }
    }

    @Test("CRLF ends a line, and blank lines are nothing")
    func carriageReturns() async throws {
        try await withHarness { harness in
            let raw = try harness.connect()
            await raw.send(bytes: Array("\r\n\n  \n\t\r\n\(echo("crlf"))\r\n\n".utf8))
            #expect(await raw.line() == echoReply("crlf"))
            raw.endSending()
            #expect(await raw.rest() == [])
        }
    }

    @Test("a last line without its end counts when the client has ended")
    func unterminated() async throws {
        try await withHarness { harness in
            let raw = try harness.connect()
            await raw.send(bytes: Array(echo("no end").utf8))
            raw.endSending()
            #expect(await raw.rest() == [echoReply("no end")])
        }
    }

    @Test("half a request is an error when the client has ended")
    func truncated() async throws {
        try await withHarness { harness in
            let raw = try harness.connect()
            await raw.send(bytes: Array(echo("cut").utf8.dropLast(3)))
            raw.endSending()
            #expect(try await raw.reply().code == -32700)
            #expect(await raw.rest() == [])
        }
    }

    @Test("a line of 1 MiB is taken; one byte more is refused, and the connection closed")
    func longestLine() async throws {
        try await withHarness { harness in
            let empty = echo("").utf8.count
            let text = String(repeating: "x", count: (1 << 20) - empty)
            let raw = try harness.connect()
            await raw.send(bytes: Array(echo(text).utf8) + [0x0D, 0x0A])
            #expect(await raw.line() == echoReply(text))
            await raw.send(echo(text + "x"))
            let reply = try await raw.reply()
            #expect(reply.code == -32600)
            #expect(reply.id == .null)
            #expect(await raw.rest() == [])
        }
    }

    @Test("who sends 2 MiB without a line's end can still send it all and read why it was refused")
    func endlessLine() async throws {
        try await withHarness { harness in
            let raw = try harness.connect()
            let sent = await raw.send(bytes: [UInt8](repeating: UInt8(ascii: "a"), count: 2 << 20))
            #expect(sent)
            let reply = try await raw.reply()
            #expect(reply.code == -32600)
            #expect(reply.message.contains("1048576"))
            #expect(await raw.rest() == [])
        }
    }

    @Test("a line that is too long cancels what runs, and that is still answered")
    func tooLongCancels() async throws {
        try await withHarness { harness in
            let raw = try harness.connect()
            await raw.send(request("test.hold", id: "7"))
            await harness.service.gate.arrived()
            await raw.send(bytes: [UInt8](repeating: UInt8(ascii: " "), count: (1 << 20) + 2))
            let replies = try await raw.rest().map(Reply.init)
            #expect(replies.count == 2)
            #expect(replies.contains { $0.id == 7 && $0.status == "cancelled" })
            #expect(replies.contains { $0.id == .null && $0.code == -32600 })
        }
    }

    @Test("a client that goes on sending after it was refused is cut off")
    func floodAfterRefusal() async throws {
        try await withHarness { harness in
            let raw = try harness.connect()
            let all = await raw.send(bytes: [UInt8](repeating: UInt8(ascii: "a"), count: 64 << 20))
            #expect(!all)
        }
    }

    @Test("a refused client that stays is closed when its time is over")
    func lingering() async throws {
        try await withHarness(limits: ControlLimits(lineBytes: 100, stallMilliseconds: 30)) { harness in
            let raw = try harness.connect()
            await raw.send(String(repeating: "a", count: 200))
            await raw.hungUp()
            #expect(await raw.send("x") == false)
        }
    }
}
