import Foundation

/// A program of the system's, which a command starts and waits for.
package struct OtherProgram: Sendable {
    package struct Outcome: Sendable {
        package let status: Int32
        /// What it wrote, both streams together, without the last line feed; the first 64 KiB of it.
        package let text: String
    }

    package let path: String
    package let environment: [String: String]

    private static let most = 64 << 10

    /// Looks for it in PATH.
    /// - Returns: nil where it is not installed.
    package init?(_ name: String, environment: [String: String]) {
        let folders = (environment["PATH"] ?? "").split(separator: ":").filter { $0.hasPrefix("/") }
        let programs: [String] = folders.map { "\($0)/\(name)" }
        guard let path = programs.first(where: { access($0, X_OK) == 0 }) else { return nil }
        (self.path, self.environment) = (path, environment)
    }

    /// - Parameter path: absolute.
    package init(path: String, environment: [String: String]) {
        (self.path, self.environment) = (path, environment)
    }

    /// Runs it with nothing to read.
    /// - Parameter collects: whether what it writes is kept. What it starts itself may go on, and holds its streams: then
    ///   nobody waits for the end of those.
    /// - Throws: `CommandFailure` where it cannot be started. What it ends with is the caller's to judge.
    package func run(_ arguments: [String], collects: Bool = true) async throws -> Outcome {
        try await Console.offPool { [self] in
            let process = Process()
            process.executableURL = URL(fileURLWithPath: path)
            process.arguments = arguments
            process.environment = environment
            process.standardInput = FileHandle.nullDevice
            let output = collects ? Pipe() : nil
            process.standardOutput = output ?? FileHandle.nullDevice
            process.standardError = output ?? FileHandle.nullDevice
            do {
                try process.run()
            } catch {
                throw CommandFailure.local("\(path) cannot be started: \(error.localizedDescription).")
            }
            var bytes = Data()
            // To the end, so that it never waits for somebody to read.
            while let some = output?.fileHandleForReading.availableData, !some.isEmpty {
                bytes.append(some.prefix(Self.most - bytes.count))
            }
            process.waitUntilExit()
            let text = String(decoding: bytes, as: UTF8.self)
            return Outcome(
                status: process.terminationStatus, text: text.trimmingCharacters(in: .whitespacesAndNewlines))
        }
    }
}
