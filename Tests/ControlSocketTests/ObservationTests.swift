import ControlSocket
import Foundation
import ServiceMesh
import Testing

@Suite("Observing", .timeLimit(.minutes(2)))
struct ObservationTests {
    @Test("the current value first, each change in order, the last one before the reply")
    func order() async throws {
        try await withHarness { harness in
            let raw = try harness.connect()
            let number = harness.service.number
            var update = try await raw.ask(request("test.observe", id: #""o""#))
            var lastSequence: Int64 = 0
            for value in 0...20 {
                #expect(update.method == "test.observe")
                #expect(update.json["params"]?["request"] == "o")
                #expect(update.json["params"]?["value"] == .integer(Int64(value)))
                #expect(update.json["params"]?["overflow"] == nil)
                let sequence = try #require(update.json["params"]?["sequence"]?.integerValue)
                #expect(sequence > lastSequence)
                lastSequence = sequence
                if value < 20 {
                    number.publish(value + 1)
                    update = try await raw.reply()
                }
            }
            number.publish(21)
            number.finish()
            #expect(try await raw.reply().json["params"]?["value"] == 21)
            let reply = try await raw.reply()
            #expect(reply.id == "o")
            #expect(reply.result?["text"] == "over")
        }
    }

    @Test("a reader that does not keep up gets the newest state and a mark, and nothing piles up for it")
    func slowReader() async throws {
        try await withHarness { harness in
            let raw = try harness.connect()
            #expect(try await raw.ask(request("test.observe")).json["params"]?["value"] == 0)
            // Enough to fill the kernel's buffer many times over.
            for value in 1...30_000 { harness.service.number.publish(value) }
            harness.service.number.finish()
            var previous: (sequence: Int64, value: Int64) = (1, 0)
            var marks = 0
            while true {
                let line = try await raw.reply()
                guard let params = line.json["params"] else {
                    #expect(line.result?["text"] == "over")
                    break
                }
                let sequence = try #require(params["sequence"]?.integerValue)
                let value = try #require(params["value"]?.integerValue)
                #expect(sequence > previous.sequence)
                if sequence > previous.sequence + 1 {
                    #expect(params["overflow"] == true)
                    marks += 1
                }
                previous = (sequence, value)
            }
            #expect(previous.value == 30_000)
            #expect(marks > 0)
        }
    }

    @Test("observations wait while output waits, and go on with the newest value when it has gone")
    func behindReplies() async throws {
        try await withHarness { harness in
            let raw = try harness.connect()
            #expect(try await raw.ask(request("test.observe", id: "1")).json["params"]?["value"] == 0)
            await raw.send(request("test.big", id: "2", params: #"{"bytes":4000000}"#))
            // Arrived, and so in the outbox before what follows can be.
            await raw.send(request("test.hold", id: "3"))
            await harness.service.gate.arrived()
            for value in 1...1000 { harness.service.number.publish(value) }
            harness.service.number.finish()
            harness.service.gate.open()
            var last: Int64 = 0
            var replies: Set<Int64> = []
            while replies.count < 3 {
                let line = try await raw.reply()
                if let value = line.json["params"]?["value"]?.integerValue { last = value }
                if let id = line.id?.integerValue { replies.insert(id) }
                if line.id == 1 { #expect(last == 1000) }
            }
        }
    }

    @Test("a deadline is for the whole observation")
    func deadline() async throws {
        try await withHarness { harness in
            let raw = try harness.connect()
            // The current value, unless the deadline has passed before it could be sent; then, without a change, the end.
            await raw.send(request("test.observe", deadlineMs: "100"))
            var reply = try await raw.reply()
            if reply.method != nil { reply = try await raw.reply() }
            #expect(reply.id == 1)
            #expect(reply.status == "deadline_exceeded")
        }
    }

    @Test("a connection that goes ends its observations")
    func disconnect() async throws {
        let server = try await Harness()
        let raw = try server.connect()
        _ = try await raw.ask(request("test.observe"))
        raw.disconnect()
        // Returns only when no request runs any more.
        await server.stop()
    }

    @Test("a job's progress ends with its last state, then the reply")
    func job() async throws {
        try await withHarness { harness in
            let raw = try harness.connect()
            let job = try #require(try await raw.ask(request("test.work")).result?["job"]?.stringValue)
            let first = try await raw.ask(request("job.watch", id: "2", params: #"{"job":"\#(job)"}"#))
            #expect(first.json["params"]?["value"]?["state"] == "running")
            harness.service.workGate.open()
            #expect(try await raw.reply().json["params"]?["value"]?["state"] == "finished")
            let reply = try await raw.reply()
            #expect(reply.id == 2)
            #expect(reply.result?["state"] == "finished")
        }
    }
}
