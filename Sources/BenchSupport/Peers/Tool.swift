import Foundation
import Synchronization

/// A program of somebody else's that we measure ourselves against.
package struct Tool: Sendable {
    package let name: String
    /// The Debian package that has it.
    let package: String

    package init(name: String, package: String) {
        self.name = name
        self.package = package
    }

    package static let borg = Tool(name: "borg", package: "borgbackup")
    package static let bsdtar = Tool(name: "bsdtar", package: "libarchive-tools")
    package static let erlang = Tool(name: "erlc", package: "erlang-base")
    package static let go = Tool(name: "go", package: "golang-go")
    package static let heif = Tool(name: "heif-enc", package: "libheif-examples")
    package static let magick = Tool(name: "compare", package: "imagemagick")
    package static let vips = Tool(name: "vipsthumbnail", package: "libvips-tools")
    package static let zip = Tool(name: "zip", package: "zip")
    package static let restic = Tool(name: "restic", package: "restic")
    package static let rsync = Tool(name: "rsync", package: "rsync")
    package static let sevenZip = Tool(name: "7z", package: "p7zip-full")
    package static let unzip = Tool(name: "unzip", package: "unzip")
    package static let redis = Tool(name: "redis-server", package: "redis-server")
    package static let xfs = Tool(name: "mkfs.xfs", package: "xfsprogs")

    /// Its path, or nil where PATH has no such program.
    package var path: String? {
        (ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin").split(separator: ":")
            .map { "\($0)/\(name)" }.first { access($0, X_OK) == 0 }
    }
}

/// A command line and what became of it.
package struct Command: Sendable {
    package struct Failure: Error, CustomStringConvertible {
        let command: String
        package let status: Int32
        let output: String

        package init(command: String, status: Int32, output: String) {
            self.command = command
            self.status = status
            self.output = output
        }

        package var description: String { "'\(command)' ended with \(status): \(output.suffix(400))" }
    }

    let arguments: [String]
    var folder: String?
    /// Beside this process's own.
    var environment: [String: String] = [:]

    package init(arguments: [String], folder: String? = nil, environment: [String: String] = [:]) {
        self.arguments = arguments
        self.folder = folder
        self.environment = environment
    }

    package init(_ arguments: [String], in folder: String? = nil, environment: [String: String] = [:]) {
        self.arguments = arguments
        self.folder = folder
        self.environment = environment
    }

    /// Starts it, with standard output and error going into `log`.
    /// - Parameter ended: called when it has ended, on a thread of its own.
    package func start(log: FileHandle, ended: (@Sendable () -> Void)? = nil) throws -> Process {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = arguments
        if let folder { process.currentDirectoryURL = URL(fileURLWithPath: folder) }
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = log
        process.standardError = log
        if let ended { process.terminationHandler = { _ in ended() } }
        try process.run()
        StartedProcesses.add(process.processIdentifier)
        return process
    }

    /// Runs all of `commands` at once and returns what each wrote. Blocks: for a program that does nothing else.
    package static func run(_ commands: [Command], in work: WorkFolder) throws -> [String] {
        let logs = try commands.map { _ in try work.newLog() }
        // Not `waitUntilExit`, which looks every 50 ms: a command line that takes 12 would be measured as 52.
        let ended = DispatchSemaphore(value: 0)
        let started = try zip(commands, logs).map { command, log in
            try command.start(log: log, ended: { ended.signal() })
        }
        for _ in started { ended.wait() }
        for process in started { StartedProcesses.remove(process.processIdentifier) }
        let outputs = try logs.map { log in
            try log.seek(toOffset: 0)
            return String(decoding: try log.readToEnd() ?? Data(), as: UTF8.self)
        }
        for (index, process) in started.enumerated() where process.terminationStatus != 0 {
            throw Failure(
                command: commands[index].arguments.joined(separator: " "), status: process.terminationStatus,
                output: outputs[index])
        }
        return outputs
    }

    @discardableResult
    package func run(in work: WorkFolder) throws -> String { try Self.run([self], in: work)[0] }
}

/// The programs that run for us at the moment: Ctrl-C ends them too.
///
/// By SIGKILL: they have other signals blocked, because Foundation starts them from threads that block all, and what
/// they leave behind is in a folder that goes.
package enum StartedProcesses {
    private static let pids = Mutex<Set<Int32>>([])

    package static func add(_ pid: Int32) { pids.withLock { _ = $0.insert(pid) } }

    package static func remove(_ pid: Int32) { pids.withLock { _ = $0.remove(pid) } }

    static func endAll() { for pid in pids.withLock({ $0 }) { kill(pid, SIGKILL) } }
}

extension Process {
    /// Ends a server, and waits until it has.
    package func stop() {
        kill(processIdentifier, SIGKILL)
        waitUntilExit()
        StartedProcesses.remove(processIdentifier)
    }
}
