import Foundation
import ServiceMesh
import Synchronization
import Testing

@testable import CommandLineInterface

@Suite("Following a job")
struct JobFollowerTests {
    /// Something that happens once, and those who wait for it.
    private final class Gate: Sendable {
        private let stream: AsyncStream<Void>
        private let feed: AsyncStream<Void>.Continuation

        init() { (stream, feed) = AsyncStream.makeStream() }

        func open() { feed.finish() }
        func wait() async { for await _ in stream {} }
    }

    private final class LeftWith: Sendable {
        private let code = Mutex<ExitCode?>(nil)

        func set(_ given: ExitCode) { code.withLock { $0 = given } }
        var value: ExitCode? { code.withLock { $0 } }
    }

    private func follower(
        _ stage: Stage, cancels: Bool = true, interrupts: AsyncStream<Void>,
        leave: @escaping @Sendable (ExitCode) -> Void = { _ in }
    ) -> JobFollower {
        var session = stage.session(interrupts: interrupts)
        session.leave = leave
        return JobFollower(session: session, library: stage.connection, cancelsOnInterrupt: cancels)
    }

    @Test("The first Ctrl-C cancels the job once and waits for its receipt")
    func cancel() async throws {
        let cancelled = Gate()
        let stage = Stage(gate: { await cancelled.wait() }, onCancel: { cancelled.open() })
        stage.answer("job.cancel", try Sample.importJob(state: .running))
        stage.answer("job.watch", try Sample.importJob(state: .cancelled, ending: .cancelled))
        let (interrupts, press) = AsyncStream<Void>.makeStream()
        press.yield()
        let job = try await follower(stage, interrupts: interrupts).run { "import-3f9a2c" }
        #expect(job?.value.state == .cancelled)
        #expect(stage.params("job.cancel") == ["job": "import-3f9a2c"])
        #expect(stage.methods.count { $0 == "job.cancel" } == 1)
        #expect(stage.messages.contains("Stopping."))
    }

    @Test("A Ctrl-C that comes before the job has its id cancels it all the same")
    func early() async throws {
        let heard = Gate()
        let cancelled = Gate()
        let stage = Stage(gate: { await cancelled.wait() }, onCancel: { cancelled.open() }, onMessage: { heard.open() })
        stage.answer("job.cancel", try Sample.importJob(state: .running))
        stage.answer("job.watch", try Sample.importJob(state: .cancelled, ending: .cancelled))
        let (interrupts, press) = AsyncStream<Void>.makeStream()
        press.yield()
        let job = try await follower(stage, interrupts: interrupts).run {
            await heard.wait()
            return "import-3f9a2c"
        }
        #expect(job?.value.state == .cancelled)
        #expect(stage.methods.count { $0 == "job.cancel" } == 1)
    }

    @Test("The second Ctrl-C leaves at once, with 130")
    func second() async throws {
        let left = Gate()
        let code = LeftWith()
        let stage = Stage(gate: { await left.wait() })
        stage.answer("job.cancel", try Sample.importJob(state: .running))
        stage.answer("job.watch", try Sample.importJob(state: .running))
        let (interrupts, press) = AsyncStream<Void>.makeStream()
        press.yield()
        press.yield()
        let follower = follower(stage, interrupts: interrupts) { given in
            code.set(given)
            left.open()
        }
        _ = try await follower.run { "import-3f9a2c" }
        #expect(code.value == .cancelled)
        #expect(stage.methods.count { $0 == "job.cancel" } == 1)
    }

    @Test("Who only watches leaves the job alone")
    func watching() async throws {
        let left = Gate()
        let stage = Stage(gate: { await left.wait() }, onMessage: { left.open() })
        stage.answer("job.watch", try Sample.importJob(state: .running))
        let (interrupts, press) = AsyncStream<Void>.makeStream()
        press.yield()
        _ = try await follower(stage, cancels: false, interrupts: interrupts).run { "import-3f9a2c" }
        #expect(!stage.methods.contains("job.cancel"))
        #expect(stage.messages.contains("The job goes on."))
    }
}
