import Foundation
import ServiceMesh
import Synchronization

/// Starts a job or joins one, shows its progress until it has ended, and turns Ctrl-C into its cancellation.
package struct JobFollower: Sendable {
    package let session: Session
    package let library: any LibraryConnection
    /// Whether Ctrl-C stops the job. Who only watches stops watching.
    package let cancelsOnInterrupt: Bool

    package init(session: Session, library: any LibraryConnection, cancelsOnInterrupt: Bool) {
        self.session = session
        self.library = library
        self.cancelsOnInterrupt = cancelsOnInterrupt
    }

    /// What both tasks know of the job. A class, because a `Mutex` alone cannot be shared by closures.
    private final class Course: Sendable {
        struct State {
            var job: JobID?
            var interrupts = 0
        }

        let state = Mutex(State())
    }

    private enum Ending: Sendable {
        case job(Answer<JobSnapshot>)
        /// The person has left; the job may go on.
        case left
        /// No more interrupts will come.
        case undisturbed
    }

    /// - Returns: the job at its end, or nil where the person left before.
    package func run(_ start: @escaping @Sendable () async throws -> JobID) async throws -> Answer<JobSnapshot>? {
        let display = ProgressDisplay(console: session.console)
        defer { display.end() }
        let course = Course()
        // Before the start: a signal that comes while the daemon answers must not leave a job behind unheard.
        let interrupts = session.interrupts()
        return try await withThrowingTaskGroup(of: Ending.self) { group in
            group.addTask { try await .job(follow(start, course, display)) }
            group.addTask {
                for await _ in interrupts where await hasLeft(course, display) { return .left }
                return .undisturbed
            }
            defer { group.cancelAll() }
            for try await ending in group {
                switch ending {
                case .job(let answer): return answer
                case .left: return nil
                case .undisturbed: continue
                }
            }
            return nil
        }
    }

    private func follow(
        _ start: @Sendable () async throws -> JobID, _ course: Course, _ display: ProgressDisplay
    ) async throws -> Answer<JobSnapshot> {
        let job = try await start()
        let isCancelled = course.state.withLock { state in
            state.job = job
            return state.interrupts > 0
        }
        if isCancelled { await cancel(job) }
        do {
            let json = try await library.observe(WatchJob.method, params: JSONText.encode(WatchJob(job: job))) {
                update in
                // A change that is not understood costs one step of the display; the final reply is checked.
                guard let snapshot = try? JSONDecoder().decode(JobSnapshot.self, from: update) else { return }
                if snapshot.state == .waiting, let obstacle = snapshot.obstacle {
                    display.message("Waiting: " + PlainText.neutralized(obstacle.message))
                } else {
                    display.show(snapshot.progress)
                }
            }
            return Answer(value: try Reply.decode(JobSnapshot.self, from: json, of: WatchJob.method), json: json)
        } catch CommandFailure.connectionLost(let why) {
            throw CommandFailure.connectionLost("\(why) (job \(job))")
        } catch CommandFailure.notAnswering(let why) {
            throw CommandFailure.notAnswering("\(why) Job \(job) may go on: smilepile jobs watch \(job)")
        }
    }

    /// Whether this interrupt was the one to leave at.
    private func hasLeft(_ course: Course, _ display: ProgressDisplay) async -> Bool {
        let (count, job) = course.state.withLock { state in
            state.interrupts += 1
            return (state.interrupts, state.job)
        }
        guard cancelsOnInterrupt else {
            display.message("The job goes on. Watch it again with: smilepile jobs watch \(job ?? "ID")")
            return true
        }
        guard count == 1 else {
            display.message("Left without waiting. See what became of it with: smilepile jobs")
            session.leave(.cancelled)
            return true
        }
        display.message("Stopping. What is done stays done; Ctrl-C again leaves at once.")
        if let job { await cancel(job) }
        return false
    }

    /// Where this fails, the job has ended or the connection has; either way following it tells.
    private func cancel(_ job: JobID) async { _ = try? await library.send(CancelJob(job: job)) }
}
