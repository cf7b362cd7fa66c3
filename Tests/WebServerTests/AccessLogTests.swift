import Foundation
import ServiceMesh
import TestSupport
import Testing

@testable import WebServer

/// What is written down of the requests of other machines.
@Suite struct AccessLogTests {
    private let token = "0123456789abcdefghijABCDEFGHIJ-_0123456789a"
    private let group = "0b7f6a52-3f0e-4c3e-9b1d-2f6d5a4c3b2a"

    @Test func aLineHasTheCommonFormat() {
        let time = Timestamp(rfc3339: "2026-11-03T08:05:09Z") ?? Timestamp(milliseconds: 0)
        let entry = AccessLog.Entry(
            client: "192.168.1.7", request: ("GET", "/api/groups"), status: 200, bytes: 512, milliseconds: 3)
        #expect(
            AccessLog.line(entry, at: time)
                == "192.168.1.7 - - [03/Nov/2026:08:05:09 +0000] \"GET /api/groups HTTP/1.1\" 200 512 3\n")
        let unknown = AccessLog.Entry(client: "", request: nil, status: nil, bytes: 0, milliseconds: 0)
        #expect(AccessLog.line(unknown, at: time) == "- - - [03/Nov/2026:08:05:09 +0000] \"-\" - 0 0\n")
    }

    @Test func everyRequestOfOthersIsWrittenDownWithoutItsToken() async throws {
        let folder = try TemporaryFolder("access-log")
        let path = folder.file("access.log")
        try Data("before\n".utf8).write(to: URL(fileURLWithPath: path))
        let daemon = try FakeDaemon()
        daemon.state.withLock { $0.members[token] = group }
        let site = try Site(daemon, accessLog: AccessLog(path: path))
        _ = try await site.ask("GET", "/api/groups?utc_offset=60&token=\(token)", ["Authorization: Bearer \(token)"])
        _ = try await site.ask("GET", "/api/groups", ["Authorization: Bearer x\(token)"])
        _ = try await site.ask("BREW", "/api/%0A\"", ["Authorization: Bearer \(token)"])
        // The house's own.
        _ = try await site.ask("GET", "/")
        daemon.gate.open()
        await site.server.stop()
        let text = try String(contentsOfFile: path, encoding: .utf8)
        let lines = text.split(separator: "\n")
        #expect(lines.count == 4 && lines[0] == "before" && !text.contains("012345"), "\(text)")
        // A line is written once its reply is on its way; whoever asks at once may be written down first.
        for said in ["\"GET /api/groups HTTP/1.1\" 200 ", "\"GET /api/groups HTTP/1.1\" 401 ", "\"-\" 40"] {
            #expect(lines.count { $0.contains(said) && $0.hasPrefix("127.0.0.1 - - [") } == 1, "\(said): \(text)")
        }
    }

    @Test func aFileThatCannotBeWrittenIsSaidBefore() throws {
        let folder = try TemporaryFolder("access-log")
        #expect(throws: MeshError.self) { try AccessLog(path: folder.file("missing/access.log")) }
        #expect(throws: MeshError.self) { try AccessLog(path: folder.path) }
    }
}
