import ControlSocket
import Foundation
import ServiceMesh
import Synchronization
import Testing

/// A client gives up a daemon that says nothing, and none that is only busy.
@Suite("A daemon that does not answer", .timeLimit(.minutes(2)))
struct LivenessTests {
    @Test("is given up, and named by its process")
    func silent() async throws {
        let server = try StubServer()
        server.serve { _ in [] }
        let client = try ControlClient(path: server.path, patience: .milliseconds(200))
        await #expect(throws: ControlError.notAnswering(path: server.path, pid: getpid())) {
            try await client.call(Ping())
        }
        await #expect(throws: ControlError.notAnswering(path: server.path, pid: getpid())) {
            try await client.call(Ping())
        }
    }

    @Test("one that takes nobody in is given up too; where it does in time, the request goes through")
    func fullQueue() async throws {
        let server = try StubServer(backlog: 0)
        let first = try RawClient(path: server.path)
        let client = try ControlClient(path: server.path, patience: .milliseconds(200))
        await #expect(throws: ControlError.notAnswering(path: server.path, pid: 0)) { try await client.call(Ping()) }

        let patient = try ControlClient(path: server.path, patience: .seconds(60))
        async let answer = patient.call(Ping())
        server.dropOne()
        #expect(await first.line() == nil)
        server.serve { request in [#"{"jsonrpc":"2.0","id":\#(request.id?.integerValue ?? 0),"result":{}}"#] }
        _ = try await answer
    }

    @Test("one that takes long is asked for a sign of life, and waited for as long as it gives one")
    func slow() async throws {
        let server = try StubServer()
        let pings = Mutex(0)
        server.serve { request in
            guard request.method == "rpc.ping" else { return [] }
            let count = pings.withLock { pings in
                pings += 1
                return pings
            }
            let answer = #"{"jsonrpc":"2.0","id":\#(request.id?.integerValue ?? 0),"result":{}}"#
            // Longer than the patience.
            return count == 3 ? [answer, #"{"jsonrpc":"2.0","id":1,"result":{"text":"done"}}"#] : [answer]
        }
        let client = try ControlClient(path: server.path, patience: .seconds(2))
        let reply = try await client.call(method: "test.slow")
        #expect(String(decoding: reply, as: UTF8.self) == #"{"text":"done"}"#)
        #expect(pings.withLock { $0 } == 3)
    }

    @Test("nobody is asked while nobody waits, and a request after a long silence has its own time")
    func idle() async throws {
        let server = try StubServer()
        let seen = Mutex<[String]>([])
        server.serve { request in
            seen.withLock { $0.append(request.method ?? "") }
            return [#"{"jsonrpc":"2.0","id":\#(request.id?.integerValue ?? 0),"result":{}}"#]
        }
        let client = try ControlClient(path: server.path, patience: .seconds(1))
        _ = try await client.call(method: "test.one")
        // For longer than the first one would wait.
        let other = try StubServer()
        other.serve { _ in [] }
        let patient = try ControlClient(path: other.path, patience: .milliseconds(1500))
        await #expect(throws: ControlError.self) { try await patient.call(Ping()) }
        _ = try await client.call(method: "test.two")
        #expect(seen.withLock { $0.filter { $0 != "rpc.ping" } } == ["test.one", "test.two"])
    }
}
