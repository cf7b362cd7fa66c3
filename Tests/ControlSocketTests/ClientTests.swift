import CLinux
import ControlSocket
import Foundation
import ServiceMesh
import Synchronization
import TestSupport
import Testing

@Suite("The client", .timeLimit(.minutes(2)))
struct ClientTests {
    @Test("sixty requests at once on one connection, each with its own answer")
    func many() async throws {
        try await withHarness { harness in
            let client = try harness.client()
            try await withThrowingTaskGroup(of: (Int, String).self) { group in
                for number in 1...60 {
                    group.addTask { (number, try await client.call(Echo(text: "text \(number)")).text) }
                }
                for try await (number, text) in group { #expect(text == "text \(number)") }
            }
        }
    }

    @Test("an error comes back as the mesh's own, with its details")
    func meshError() async throws {
        try await withHarness { harness in
            let client = try harness.client()
            let error = await #expect(throws: MeshError.self) {
                try await client.call(Raise(status: .failedPrecondition))
            }
            #expect(error == MeshError(.failedPrecondition, "As asked.", details: ["photoCount": 3]))
            let unknown = await #expect(throws: MeshError.self) { try await client.call(method: "no.such") }
            #expect(unknown?.status == .unimplemented)
            let params = await #expect(throws: MeshError.self) {
                try await client.call(method: "test.echo", params: Data("{}".utf8))
            }
            #expect(params?.status == .invalidArgument)
        }
    }

    @Test("params may be written over several lines")
    func prettyParams() async throws {
        try await withHarness { harness in
            let params = Data("{\r\n  \"text\":\n  \"a\\nb\"\n}\n".utf8)
            let reply = try await harness.client().call(method: "test.echo", params: params)
            #expect(reply == Data(#"{"text":"a\nb"}"#.utf8))
        }
    }

    @Test("a deadline goes with the call")
    func deadline() async throws {
        try await withHarness { harness in
            let client = try harness.client()
            let error = await #expect(throws: MeshError.self) { try await client.call(Hold(), deadlineMs: 10) }
            #expect(error?.status == .deadlineExceeded)
        }
    }

    @Test("cancelling the task cancels the request there, and waits for its answer")
    func cancel() async throws {
        try await withHarness { harness in
            let client = try harness.client()
            let task = Task { try await client.call(Hold()) }
            await harness.service.gate.arrived()
            task.cancel()
            let error = await #expect(throws: MeshError.self) { try await task.value }
            #expect(error?.status == .cancelled)
            await harness.service.gate.cancelled()
            #expect(try await client.call(Echo(text: "alive")).text == "alive")
        }
    }

    @Test("a task that is cancelled already sends nothing")
    func cancelledBefore() async throws {
        try await withHarness { harness in
            let client = try harness.client()
            let held = Gate()
            let task = Task {
                try? await held.pass()
                return try await client.call(Hold())
            }
            await held.arrived()
            task.cancel()
            await #expect(throws: MeshError.self) { try await task.value }
            #expect(harness.service.gate.arrivals == 0)
        }
    }

    @Test("updates come in order, the reply after the last")
    func observe() async throws {
        try await withHarness { harness in
            let client = try harness.client()
            let seen = Mutex<[Int]>([])
            let number = harness.service.number
            let reply = try await client.observe(ObserveNumber(), updates: Int.self) { update in
                seen.withLock { $0.append(update.value) }
                if update.value < 10 { number.publish(update.value + 1) } else { number.finish() }
            }
            #expect(reply.text == "over")
            #expect(seen.withLock { $0 } == Array(0...10))
        }
    }

    @Test("an error while taking an update cancels the observation and is thrown")
    func observerFails() async throws {
        struct Enough: Error {}
        try await withHarness { harness in
            let client = try harness.client()
            await #expect(throws: Enough.self) {
                try await client.observe(ObserveNumber(), updates: Int.self) { _ in throw Enough() }
            }
            // With the observation gone, one connection can hold its 64 requests again.
            #expect(try await client.call(Echo(text: "alive")).text == "alive")
        }
    }

    @Test("an observer that is slow here gets the newest at the end, with a mark where some are missing")
    func slowObserver() async throws {
        try await withHarness { harness in
            let client = try harness.client()
            let held = Gate()
            let seen = Mutex<[ControlUpdate<Int>]>([])
            let number = harness.service.number
            async let reply = client.observe(ObserveNumber(), updates: Int.self) { update in
                seen.withLock { $0.append(update) }
                try await held.pass()
            }
            await held.arrived()
            let other = try harness.client()
            for value in 1...500 {
                number.publish(value)
                // Each value reaches the client before the next, so that the dropping happens there.
                _ = try await client.call(Ping())
            }
            number.finish()
            _ = try await other.call(Ping())
            held.open()
            #expect(try await reply.text == "over")
            let updates = seen.withLock { $0 }
            #expect(updates.last?.value == 500)
            #expect(updates.count < 100)
            #expect(updates.contains { $0.overflowed })
            for (before, after) in zip(updates, updates.dropFirst()) { #expect(after.sequence > before.sequence) }
        }
    }

    @Test("no daemon: the error says how to start one")
    func notRunning() throws {
        let folder = try TemporaryFolder("socket")
        let path = folder.file("none.sock")
        let error = #expect(throws: ControlError.self) { try ControlClient(path: path) }
        #expect(error == .notRunning(path: path))
        #expect(error?.description.contains("smilepile up") == true)
        let dead = clinux_unix_socket()
        #expect(clinux_unix_bind(dead, path, 0o600) == 0)
        close(dead)
        #expect(throws: ControlError.notRunning(path: path)) { try ControlClient(path: path) }
    }

    @Test("when the daemon goes, whoever waits is told; so is whoever asks later")
    func daemonGoes() async throws {
        let folder = try TemporaryFolder("socket")
        let listener = clinux_unix_socket()
        #expect(clinux_unix_bind(listener, folder.file("c.sock"), 0o600) == 0)
        #expect(listen(listener, 1) == 0)
        let client = try ControlClient(path: folder.file("c.sock"))
        let accepted = clinux_accept(listener)
        let task = Task { try await client.call(Ping()) }
        close(accepted)
        close(listener)
        await #expect(throws: ControlError.self) { try await task.value }
        await #expect(throws: ControlError.self) { try await client.call(Ping()) }
    }

    @Test("what the daemon said before it closed is the error")
    func verdict() async throws {
        try await withHarness(limits: ControlLimits(connections: 0)) { harness in
            let client = try harness.client()
            let error = await #expect(throws: MeshError.self) { try await client.call(Ping()) }
            #expect(error?.status == .resourceExhausted)
        }
    }

    @Test("a request that is too long ends the connection with the reason")
    func tooLong() async throws {
        try await withHarness { harness in
            let client = try harness.client()
            let error = await #expect(throws: MeshError.self) {
                try await client.call(Echo(text: String(repeating: "x", count: 1 << 20)))
            }
            #expect(error?.status == .invalidArgument)
        }
    }

    @Test("params that are not JSON are refused at once, and the connection goes on")
    func unreadable() async throws {
        try await withHarness { harness in
            let client = try harness.client()
            for params in ["{bad", "5", "[1", "\u{1}"] {
                let error = await #expect(throws: MeshError.self) {
                    try await client.call(method: "test.echo", params: Data(params.utf8))
                }
                #expect(error?.status == .invalidArgument)
            }
            #expect(try await client.call(Echo(text: "still here")).text == "still here")
        }
    }

    @Test("where several wait, a line that could not be read ends them all: nobody knows whose it was")
    func unreadableAmongSeveral() async throws {
        try await withHarness { harness in
            let client = try harness.client()
            let held = Task { try await client.call(Hold()) }
            await harness.service.gate.arrived()
            await #expect(throws: MeshError.self) {
                try await client.call(method: "test.echo", params: Data("{bad".utf8))
            }
            await #expect(throws: MeshError.self) { try await held.value }
            await harness.service.gate.cancelled()
        }
    }

    @Test("closing here ends what waits")
    func closeHere() async throws {
        try await withHarness { harness in
            let client = try harness.client()
            let task = Task { try await client.call(Hold()) }
            await harness.service.gate.arrived()
            client.close()
            await #expect(throws: ControlError.self) { try await task.value }
            await harness.service.gate.cancelled()
        }
    }

    @Test(
        "a server that answers nonsense is a broken protocol",
        arguments: [
            "hello", "{}", "[]", #"{"jsonrpc":"2.0","result":{}}"#, #"{"jsonrpc":"2.0","id":1,"error":5}"#,
            #"{"jsonrpc":"2.0","method":"a","params":{}}"#,
        ])
    func nonsense(_ line: String) async throws {
        let folder = try TemporaryFolder("socket")
        let listener = clinux_unix_socket()
        defer { close(listener) }
        #expect(clinux_unix_bind(listener, folder.file("c.sock"), 0o600) == 0)
        #expect(listen(listener, 1) == 0)
        let client = try ControlClient(path: folder.file("c.sock"))
        let accepted = clinux_accept(listener)
        defer { close(accepted) }
        let task = Task { try await client.call(Ping()) }
        let bytes = Array((line + "\n").utf8)
        #expect(bytes.withUnsafeBytes { clinux_send_now(accepted, $0.baseAddress, $0.count) } == bytes.count)
        let error = await #expect(throws: ControlError.self) { try await task.value }
        guard case .protocolViolation? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }
}
