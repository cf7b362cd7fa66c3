import CommandLineInterface
import Foundation
import ServiceMesh
import Synchronization

/// Shows the values of an observation until the person leaves or the daemon does. A connection that broke is made
/// again: a daemon closes one whose client was stopped for a while, and the first value of the next is the whole state.
struct Watcher: Sendable {
    let session: Session
    let observed: WatchedObservation

    /// - Throws: ``CommandFailure``, `notRunning` where the daemon has gone.
    func run() async throws -> ExitCode {
        let interrupts = session.interrupts()
        return try await withThrowingTaskGroup(of: ExitCode?.self) { group in
            group.addTask { try await follow() }
            group.addTask {
                for await _ in interrupts { return .cancelled }
                return nil
            }
            defer { group.cancelAll() }
            while let ended = try await group.next() {
                if let ended { return ended }
            }
            return .cancelled
        }
    }

    private func follow() async throws -> ExitCode {
        let display = WatchDisplay(session: session, report: observed.report)
        while true {
            let library = try await session.connect(session.socketPath)
            display.begin()
            do {
                try await observe(library, display)
                await library.close()
                return .done
            } catch {
                await library.close()
                if Task.isCancelled { return .cancelled }
                try judge(CommandFailure(describing: error), display)
            }
        }
    }

    private func observe(_ library: any LibraryConnection, _ display: WatchDisplay) async throws {
        try await withTaskCancellationHandler {
            _ = try await library.watch(observed.method, params: observed.params) { try display.show($0) }
        } onCancel: {
            // Leaving does not wait for a daemon that may be busy; it notices that the connection has gone.
            Task { await library.close() }
        }
    }

    /// Returns where it is worth connecting again.
    private func judge(_ failure: CommandFailure, _ display: WatchDisplay) throws {
        switch failure {
        case .connectionLost where display.mayConnectAgain: return
        case .refused(let error) where error.status == .unavailable:
            throw CommandFailure.notRunning(socket: session.socketPath)
        default: throw failure
        }
    }
}

/// What has been shown, and how the next value is.
final class WatchDisplay: Sendable {
    private struct State {
        var report: any ChangeReport
        var connections = 0
        /// Connections since the last value; the one that is under way is the first of them until it brings one.
        var withoutValue = 0
    }

    private let session: Session
    private let state: Mutex<State>

    init(session: Session, report: any ChangeReport) {
        self.session = session
        state = Mutex(State(report: report))
    }

    /// Whether a connection that broke is worth another one: after values, and once more. A daemon that is killed may
    /// still have taken a connection into its queue, and only the one after that is refused.
    var mayConnectAgain: Bool {
        state.withLock { $0.withoutValue == 0 || ($0.withoutValue == 1 && $0.connections > 1) }
    }

    /// A connection begins.
    func begin() {
        state.withLock { state in
            state.connections += 1
            state.withoutValue += 1
        }
    }

    func show(_ update: ObservedUpdate) throws {
        try state.withLock { state in
            let isAgain = state.connections > 1 && state.withoutValue > 0
            state.withoutValue = 0
            if isAgain {
                session.console.message(
                    "The connection broke and was made again. Changes between are left out; this is the state now.")
            }
            if session.wantsJSON {
                session.show(json: Self.line(update, isIncomplete: update.overflowed || isAgain))
            } else {
                session.console.result(try state.report.lines(for: update.value))
            }
        }
    }

    private static func line(_ update: ObservedUpdate, isIncomplete: Bool) -> Data {
        Data("{\"sequence\":\(update.sequence),\"overflowed\":\(isIncomplete),\"value\":".utf8) + update.value
            + Data("}".utf8)
    }
}
