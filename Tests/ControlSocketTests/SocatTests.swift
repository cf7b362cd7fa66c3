import ControlSocket
import Foundation
import ServiceMesh
import Testing

@Suite("From a shell", .timeLimit(.minutes(2)))
struct SocatTests {
    static let socat = ["/usr/bin/socat", "/usr/local/bin/socat", "/bin/socat"].first {
        FileManager.default.isExecutableFile(atPath: $0)
    }

    @Test("the line from the documentation works", .enabled(if: SocatTests.socat != nil, "socat is not installed"))
    func oneLiner() async throws {
        let socat = try #require(Self.socat)
        try await withHarness { harness in
            let process = Process()
            let (input, output) = (Pipe(), Pipe())
            process.executableURL = URL(fileURLWithPath: socat)
            process.arguments = ["-", "UNIX:\(harness.path)"]
            process.standardInput = input
            process.standardOutput = output
            let ended = Gate()
            process.terminationHandler = { _ in ended.open() }
            try process.run()
            try input.fileHandleForWriting.write(contentsOf: Data((echo("from a shell") + "\n").utf8))
            try input.fileHandleForWriting.close()
            try await ended.pass()
            // The process has ended, so the pipe's end is there: this reads what it holds and does not wait.
            let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
            #expect(text == echoReply("from a shell") + "\n")
            #expect(process.terminationStatus == 0)
        }
    }
}
