import ControlSocket
import Foundation
import ServiceMesh
import Testing

/// What clients make the daemon hold by not reading has bounds, and who reads is not made to wait for ever.
@Suite("Replies that nobody reads", .timeLimit(.minutes(2)))
struct UnreadReplyTests {
    private func page(_ id: Int, bytes: Int = 1000, deadlineMs: String? = nil) -> String {
        request("test.holdPage", id: "\(id)", params: #"{"bytes":\#(bytes)}"#, deadlineMs: deadlineMs)
    }

    @Test("a connection starts no more than it has room for; what is small goes past, and the rest follows")
    func oneConnection() async throws {
        let limits = ControlLimits(resultBytes: 1 << 20, connectionBytes: 3 << 20)
        try await withHarness(limits: limits) { harness in
            let raw = try harness.connect()
            for id in 1...40 { await raw.send(page(id)) }
            await raw.send(request("test.hold", id: "41"))
            await harness.service.gate.arrived()
            await harness.service.pageGate.arrived(3)
            #expect(harness.service.pageGate.arrivals == 3)
            harness.service.gate.open()
            harness.service.pageGate.open()
            var ids: Set<String> = []
            for _ in 1...41 {
                let reply = try await raw.reply()
                #expect(reply.code == nil, "\(reply.json)")
                ids.insert(reply.idText)
            }
            #expect(ids.count == 41)
        }
    }

    @Test("who reads nothing gets few answers made, however many were asked for")
    func unread() async throws {
        try await withHarness(limits: ControlLimits(stallMilliseconds: 300)) { harness in
            let deaf = try harness.connect()
            for id in 1...64 { await deaf.send(request("test.big", id: "\(id)", params: #"{"bytes":1000000}"#)) }
            await deaf.hungUp()
            let answered = await harness.service.echoes
            #expect(answered <= 4, "\(answered) answers of a megabyte were made for a client that reads none")
        }
    }

    @Test("all connections together start no more than there is room for, and each gets its turn")
    func allConnections() async throws {
        let limits = ControlLimits(resultBytes: 1 << 20, connectionBytes: 2 << 20, totalBytes: 4 << 20)
        try await withHarness(limits: limits) { harness in
            var clients: [RawClient] = []
            for _ in 1...12 {
                let raw = try harness.connect()
                for id in 1...10 { await raw.send(page(id)) }
                // Of the small ones every one starts, so all of the large ones have been taken by then.
                await raw.send(request("test.hold", id: "11"))
                clients.append(raw)
            }
            await harness.service.gate.arrived(12)
            await harness.service.pageGate.arrived(4)
            #expect(harness.service.pageGate.arrivals == 4)
            harness.service.gate.open()
            harness.service.pageGate.open()
            for raw in clients {
                for _ in 1...11 { #expect(try await raw.reply().code == nil) }
            }
        }
    }

    @Test("one that takes a few bytes now and then does not keep the others waiting")
    func trickle() async throws {
        let limits = ControlLimits(
            resultBytes: 8 << 20, connectionBytes: 8 << 20, totalBytes: 8 << 20, stallMilliseconds: 300)
        try await withHarness(limits: limits) { harness in
            harness.service.pageGate.open()
            let slow = try harness.connect()
            await slow.send(page(1, bytes: 7_000_000))
            #expect(await slow.skip(1))
            let other = try harness.connect()
            await other.send(page(1))
            let pace = try harness.connect()
            let reader = Task {
                var taken = 0
                while await slow.skip(1000) {
                    taken += 1000
                    // So that it reads on while the time passes, and not all at once.
                    for _ in 1...20 { _ = try await pace.ask(request("rpc.ping")) }
                }
                return taken
            }
            #expect(try await other.reply().code == nil)
            await slow.hungUp()
            #expect(try await reader.value < 7_000_000)
        }
    }

    @Test("a request that waits for room can be cancelled, and its deadline passes")
    func waiting() async throws {
        let limits = ControlLimits(resultBytes: 1 << 20, connectionBytes: 1 << 20)
        try await withHarness(limits: limits) { harness in
            let raw = try harness.connect()
            await raw.send(page(1))
            await harness.service.pageGate.arrived()
            await raw.send(page(2))
            await raw.send(cancellation("2"))
            let cancelled = try await raw.reply()
            #expect(cancelled.id == 2 && cancelled.status == "cancelled")
            let late = try await raw.ask(page(3, deadlineMs: "20"))
            #expect(late.id == 3 && late.status == "deadline_exceeded")
            #expect(harness.service.pageGate.arrivals == 1)
            harness.service.pageGate.open()
            #expect(try await raw.reply().id == 1)
            #expect(try await raw.ask(page(4)).code == nil)
        }
    }

    @Test("a connection that goes while it waits, or holds what others wait for, leaves nothing behind")
    func gone() async throws {
        let limits = ControlLimits(resultBytes: 1 << 20, connectionBytes: 1 << 20, totalBytes: 1 << 20)
        try await withHarness(limits: limits) { harness in
            for round in 1...20 {
                let (holder, waiter, other) = (try harness.connect(), try harness.connect(), try harness.connect())
                await holder.send(page(1))
                await harness.service.pageGate.arrived(2 * round - 1)
                await waiter.send(page(1))
                await other.send(page(1))
                #expect(try await waiter.ask(request("rpc.ping", id: "2")).id == 2)
                #expect(try await other.ask(request("rpc.ping", id: "2")).id == 2)
                waiter.disconnect()
                holder.disconnect()
                await harness.service.pageGate.arrived(2 * round)
                other.disconnect()
                await harness.service.pageGate.cancelled(2 * round)
            }
            harness.service.pageGate.open()
            let raw = try harness.connect()
            #expect(try await raw.ask(page(1)).code == nil)
        }
    }

    @Test("what runs may hold so many bytes of params; then nothing is read until something is answered")
    func params() async throws {
        try await withHarness(limits: ControlLimits(lineBytes: 10_000, requestBytes: 15_000)) { harness in
            let padded = "{\(String(repeating: " ", count: 9000))}"
            let raw = try harness.connect()
            for id in 1...4 { await raw.send(request("test.hold", id: "\(id)", params: padded)) }
            await raw.send(request("rpc.ping", id: "5"))
            await harness.service.gate.arrived(2)
            // Others are not held back by that.
            let other = try harness.connect()
            for _ in 1...20 { #expect(try await other.ask(echo("x")).code == nil) }
            #expect(harness.service.gate.arrivals == 2)
            harness.service.gate.open()
            var ids: Set<String> = []
            for _ in 1...5 { ids.insert(try await raw.reply().idText) }
            #expect(ids.count == 5)
        }
    }
}
