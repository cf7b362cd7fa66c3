import Foundation

/// A program of somebody else's that we measure ourselves against.
struct Tool: Sendable {
    let name: String
    /// The Debian package that has it.
    let package: String

    static let erlang = Tool(name: "erlc", package: "erlang-base")
    static let go = Tool(name: "go", package: "golang-go")
    static let vips = Tool(name: "vipsthumbnail", package: "libvips-tools")
    static let zip = Tool(name: "zip", package: "zip")
    static let unzip = Tool(name: "unzip", package: "unzip")
    static let redis = Tool(name: "redis-server", package: "redis-server")

    /// Its path, or nil where PATH has no such program.
    var path: String? {
        (ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin").split(separator: ":")
            .map { "\($0)/\(name)" }.first { access($0, X_OK) == 0 }
    }
}

/// A command line and what became of it.
struct Command: Sendable {
    struct Failure: Error, CustomStringConvertible {
        let command: String
        let status: Int32
        let output: String

        var description: String { "'\(command)' ended with \(status): \(output.suffix(400))" }
    }

    let arguments: [String]
    var folder: String?
    /// Beside this process's own.
    var environment: [String: String] = [:]

    init(_ arguments: [String], in folder: String? = nil, environment: [String: String] = [:]) {
        self.arguments = arguments
        self.folder = folder
        self.environment = environment
    }

    /// Starts it, with standard output and error going into `log`.
    func start(log: FileHandle) throws -> Process {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = arguments
        if let folder { process.currentDirectoryURL = URL(fileURLWithPath: folder) }
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = log
        process.standardError = log
        try process.run()
        return process
    }

    /// Runs all of `commands` at once and returns what each wrote. Blocks: for a program that does nothing else.
    static func run(_ commands: [Command], in work: WorkFolder) throws -> [String] {
        let logs = commands.map { _ in work.newPath("log") }
        let started = try zip(commands, logs).map { command, log in
            _ = FileManager.default.createFile(atPath: log, contents: nil)
            return try command.start(log: FileHandle(forWritingTo: URL(fileURLWithPath: log)))
        }
        for process in started { process.waitUntilExit() }
        let outputs = try logs.map { log in
            defer { unlink(log) }
            return try String(contentsOfFile: log, encoding: .utf8)
        }
        for (index, process) in started.enumerated() where process.terminationStatus != 0 {
            throw Failure(
                command: commands[index].arguments.joined(separator: " "), status: process.terminationStatus,
                output: outputs[index])
        }
        return outputs
    }

    @discardableResult
    func run(in work: WorkFolder) throws -> String { try Self.run([self], in: work)[0] }
}
