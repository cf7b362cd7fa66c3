import ServiceMesh

/// How the program ends, for scripts.
public enum ExitCode: Int32, Sendable, CaseIterable {
    case done = 0
    case failed = 1
    case usage = 2
    /// Nothing answers at the socket.
    case notRunning = 3
    /// Busy, the deadline passed, or the daemon does not answer: the same again later may succeed.
    case busy = 4
    /// Done, but something was skipped or damaged; the receipt tells what.
    case doneWithProblems = 5
    /// Stopped by Ctrl-C, or by a cancel from elsewhere.
    case cancelled = 130

    /// The only place where an error of the mesh becomes an exit code.
    package init(_ error: MeshError) {
        switch error.status {
        // A full disk is not busy: the same again later fails again, and a script that waits for its turn waits in vain.
        case .resourceExhausted: self = error.shortage == nil ? .busy : .failed
        case .unavailable, .deadlineExceeded: self = .busy
        case .cancelled: self = .cancelled
        case .invalidArgument, .notFound, .alreadyExists, .failedPrecondition, .permissionDenied, .unauthenticated,
            .dataLoss, .internal, .unimplemented:
            self = .failed
        }
    }

    /// How a job that has ended, or one that is only looked at, counts.
    package init(_ job: JobSnapshot) {
        switch job.state {
        case .running, .paused, .waiting: self = .done
        // It is not over, and nobody is there to go on with it.
        case .interrupted: self = .notRunning
        case .finished: self = job.needsAttention ? .doneWithProblems : .done
        case .failed: self = job.error.map { ExitCode($0) } ?? .failed
        case .cancelled: self = .cancelled
        }
    }

    /// What help says of it.
    package var meaning: String {
        switch self {
        case .done: "done"
        case .failed: "failed"
        case .usage: "the command was not written correctly"
        case .notRunning: "the daemon is not running"
        case .busy: "busy, the deadline passed, or the daemon does not answer; try again"
        case .doneWithProblems: "done, but something was skipped or damaged"
        case .cancelled: "cancelled"
        }
    }
}
