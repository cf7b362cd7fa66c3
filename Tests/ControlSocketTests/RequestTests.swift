import ControlSocket
import Foundation
import ServiceMesh
import Testing

@Suite("Requests and replies")
struct RequestTests {
    @Test("a line gets its reply")
    func echo() async throws {
        try await withHarness { harness in
            let raw = try harness.connect()
            await raw.send(#"{"jsonrpc":"2.0","id":1,"method":"test.echo","params":{"text":"hello"}}"#)
            let line = await raw.line()
            #expect(line == #"{"jsonrpc":"2.0","id":1,"result":{"text":"hello"}}"#)
        }
    }

    @Test("the client calls by message")
    func client() async throws {
        try await withHarness { harness in
            let client = try harness.client()
            #expect(try await client.call(Echo(text: "hello")) == Text(text: "hello"))
        }
    }
}
