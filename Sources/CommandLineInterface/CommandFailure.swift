import ServiceMesh

/// Why a command did not do what was asked. Each case has its exit code and a sentence that says what to do next.
package enum CommandFailure: Error, Equatable {
    /// Written wrongly: what is wrong, and the command whose usage line helps.
    case usage(String, command: [String])
    /// Nothing answers at this socket, which may be one that the command line named. What is known of others.
    case notRunning(socket: String, isNamed: Bool = false, elsewhere: [OtherSocket] = [])
    /// The connection ended before the answer came. What was started may go on.
    case connectionLost(String)
    /// The daemon is there and says nothing: what, and what to do.
    case notAnswering(String)
    /// The daemon refused or failed.
    case refused(MeshError)
    /// Something on this side: a file, a terminal, a process.
    case local(String)

    package var exitCode: ExitCode {
        switch self {
        case .usage: .usage
        case .notRunning: .notRunning
        case .connectionLost, .local: .failed
        case .notAnswering: .busy
        case .refused(let error): ExitCode(error)
        }
    }

    package var message: String {
        switch self {
        case .usage(let message, _), .local(let message), .notAnswering(let message): message
        case .notRunning(let socket, let isNamed, let elsewhere) where elsewhere.isEmpty:
            "The daemon is not running (nothing answers at \(socket)). Start it with: smilepile up"
                + (isNamed ? " --socket \(ShellWord.of(socket))" : "")
        case .notRunning(let socket, let isNamed, let elsewhere):
            "Nothing answers at \(socket), but a daemon listens at \(elsewhere.map(\.path).joined(separator: ", at ")). "
                + elsewhere[0].advice
                + ". To start another one: smilepile up" + (isNamed ? " --socket \(ShellWord.of(socket))" : "")
        case .connectionLost(let what):
            "The connection to the daemon broke: \(what) What was started may go on; look with: smilepile jobs"
        case .refused(let error): error.message
        }
    }

    /// The same for programs, as `--json` prints it.
    package var json: JSONValue {
        var error: [String: JSONValue] = ["message": .string(message), "exitCode": .integer(Int64(exitCode.rawValue))]
        if case .refused(let refused) = self {
            error["status"] = .string(refused.status.rawValue)
            if !refused.details.isEmpty { error["details"] = .object(refused.details) }
        }
        if case .notRunning(_, _, let elsewhere) = self, !elsewhere.isEmpty {
            error["sockets"] = .array(elsewhere.map { .string($0.path) })
        }
        return .object(["error": .object(error)])
    }

    /// Any error a command may throw.
    package init(describing error: any Error) {
        switch error {
        case let error as CommandFailure: self = error
        case let error as MeshError: self = .refused(error)
        case is CancellationError: self = .refused(MeshError(describing: error))
        default: self = .local("Something went wrong inside: \(error). Please report it.")
        }
    }
}
