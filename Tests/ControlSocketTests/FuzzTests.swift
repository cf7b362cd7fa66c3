import ControlSocket
import Foundation
import Randomness
import ServiceMesh
import Testing

@Suite("Mutated lines", .timeLimit(.minutes(5)))
struct FuzzTests {
    /// Lines that work, of every kind.
    private static let seeds = [
        echo("hello", id: "1"), echo(#"\u00e9\ud83d\ude00"#, id: #""a""#), request("rpc.ping", id: "2"),
        request("rpc.hello", id: "3", params: #"{"role":"parent"}"#), request("test.observe", id: "4"),
        request("test.big", id: "5", params: #"{"bytes":100}"#), cancellation("4"), cancellation(#""a""#),
        request("test.raise", id: "6", params: #"{"status":"not_found"}"#), request("job.list", id: "7"),
        request("job.get", id: "8", params: #"{"job":"x"}"#), request("test.hold", id: "9", deadlineMs: "1"),
    ]

    @Test("whatever comes, every line from the server is well formed, and the server goes on", arguments: 1...8)
    func mutations(_ seed: Int) async throws {
        try await withHarness { harness in
            harness.service.gate.open()
            harness.service.number.finish()
            var random = SplitMix64(seed: UInt64(seed))
            for _ in 0..<12 {
                let raw = try harness.connect()
                var bytes: [UInt8] = []
                for _ in 0..<25 {
                    bytes += random.mutate(Array(Self.seeds[random.below(Self.seeds.count)].utf8))
                    bytes.append(0x0A)
                }
                async let sent = raw.send(bytes: bytes)
                _ = await sent
                raw.endSending()
                for line in await raw.rest() {
                    let reply = try Reply(line)
                    #expect(reply.json["jsonrpc"] == "2.0")
                    let kinds = [reply.result != nil, reply.json["error"] != nil, reply.method != nil]
                    #expect(kinds.count { $0 } == 1, "\(line)")
                    if let code = reply.code {
                        #expect((-32099 ... -32000).contains(code) || (-32700 ... -32600).contains(code))
                        #expect(!reply.message.isEmpty)
                    }
                }
            }
            #expect(try await harness.connect().ask(echo("alive")).result?["text"] == "alive")
        }
    }

    @Test("noise without any order does no more", arguments: 1...4)
    func noise(_ seed: Int) async throws {
        try await withHarness(limits: ControlLimits(lineBytes: 5000)) { harness in
            var random = SplitMix64(seed: UInt64(seed))
            for _ in 0..<10 {
                let raw = try harness.connect()
                let count = random.below(20_000)
                await raw.send(bytes: (0..<count).map { _ in UInt8(truncatingIfNeeded: random.next()) })
                raw.endSending()
                for line in await raw.rest() { #expect(try Reply(line).code != nil) }
            }
            #expect(try await harness.connect().ask(echo("alive")).result?["text"] == "alive")
        }
    }
}
