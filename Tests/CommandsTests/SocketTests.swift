import ControlSocket
import Foundation
import LibraryModel
import ServiceMesh
import ServiceMeshTesting
import Synchronization
import TestSupport
import Testing

@testable import CommandLineInterface
@testable import Commands

/// Work that goes on until it is cancelled.
private actor Yard: MeshService {
    static let serviceName = "Yard"
    static var messages: MessageList<Yard> { Dig.self }
}

private struct Dig: HandledJob {
    typealias Service = Yard
    typealias Reply = JobStarted
    static let method = "yard.dig"
    static let access = Role.parent
    static let summary = "Digs."

    struct Receipt: JobReceipt { let ending: JobEnding }

    func run(on service: Yard, job: Job) async throws -> Receipt {
        job.begin(phase: "digging", items: 2)
        job.record(ReceiptLine(item: "stone", outcome: "imported"))
        // Nothing ever comes; the wait ends when the job is cancelled.
        let (silence, feed) = AsyncStream<Void>.makeStream()
        for await _ in silence {}
        feed.finish()
        return Receipt(ending: .cancelled)
    }
}

@Suite("On the real socket")
struct SocketTests {
    /// A served mesh for the time of one test.
    private func withServer(_ body: (String) async throws -> Void) async throws {
        let folder = try TemporaryFolder("cli")
        let mesh = try Mesh(services: [Yard()], journal: MemoryJobJournal())
        try await mesh.start()
        let path = folder.file("control.sock")
        let server = try ControlServer(
            mesh: mesh, listener: try ListeningSocket(at: path),
            configuration: .init(version: Release.version, library: folder.path))
        do {
            try await body(path)
        } catch {
            await mesh.stop()
            await server.close()
            throw error
        }
        await server.drain()
        await mesh.stop()
        await server.close()
    }

    private func program(_ stage: Stage) -> Program {
        Program(
            environment: [:], currentFolder: "/", console: stage.console, connect: { try SocketConnection.open($0) })
    }

    @Test("ping, jobs, call and errors of the daemon")
    func plain() async throws {
        try await withServer { path in
            let stage = Stage()
            #expect(await program(stage).run(["ping", "--socket", path]) == .done)
            #expect(stage.results.hasPrefix("smilepiled \(Release.version) (process \(getpid())) answered in "))
            let jobs = Stage()
            #expect(await program(jobs).run(["jobs", "--json", "--socket", path]) == .done)
            #expect(jobs.results == "{\"jobs\":[]}\n")
            let call = Stage()
            #expect(await program(call).run(["call", "--socket", path, "job.get", "{\n\"job\": \"none\"}"]) == .failed)
            #expect(call.messages.contains("There is no job none."))
            let methods = Stage()
            #expect(await program(methods).run(["call", "--socket", path, "rpc.discover"]) == .done)
            let list = try methods.json()["methods"]?.arrayValue ?? []
            #expect(list.contains { $0["name"] == "yard.dig" })
            let name = Stage()
            #expect(await program(name).run(["call", "--socket", path, "job.lst\n\"}"]) == .failed)
        }
    }

    @Test("Ctrl-C cancels the job in the daemon, and its receipt comes back")
    func cancel() async throws {
        try await withServer { path in
            let (interrupts, press) = AsyncStream<Void>.makeStream()
            // The first line of progress means that the job is there and is watched.
            let stage = Stage(onMessage: {
                press.yield()
                press.finish()
            })
            let library = try SocketConnection.open(path)
            let follower = JobFollower(
                session: stage.session(interrupts: interrupts), library: library, cancelsOnInterrupt: true)
            let job = try await follower.run {
                let reply = try await library.call("yard.dig", params: Data("{}".utf8))
                return try Reply.decode(JobStarted.self, from: reply, of: "yard.dig").job
            }
            let ended = try #require(job)
            #expect(ended.value.state == .cancelled)
            #expect(stage.messages.contains("Stopping."))
            let report = Stage()
            let show = JobReport(session: report.session(wantsJSON: true), library: library, isVerbose: false)
            #expect(try await show.show(ended) == .cancelled)
            #expect(try report.json()["lines"] == [["item": "stone", "outcome": "imported"]])
            #expect(try report.json()["receipt"] == ["ending": "cancelled"])
        }
    }

    @Test("Nothing there: exit 3 and how to start it. A daemon that goes away: exit 1 and how to look")
    func gone() async throws {
        let folder = try TemporaryFolder("cli")
        let nobody = Stage()
        #expect(await program(nobody).run(["status", "--socket", folder.file("none.sock")]) == .notRunning)
        #expect(nobody.messages.contains("smilepile up --socket \(folder.file("none.sock"))"))

        let path = folder.file("rude.sock")
        let listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(listener) }
        try #require(UnixAddress.with(path) { bind(listener, $0, $1) } == 0)
        try #require(listen(listener, 1) == 0)
        Thread {
            let connection = accept(listener, nil, nil)
            var bytes = [UInt8](repeating: 0, count: 4096)
            _ = recv(connection, &bytes, bytes.count, 0)
            close(connection)
        }.start()
        let stage = Stage()
        #expect(await program(stage).run(["jobs", "--socket", path]) == .failed)
        #expect(stage.messages.contains("The connection to the daemon broke:"))
        #expect(stage.messages.contains("smilepile jobs"))
    }
}
