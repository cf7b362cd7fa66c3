import Foundation

/// The desktop's own program for a file, by xdg-open.
package struct DesktopViewer {
    package static let missing = CommandFailure.local("There is no desktop here that could show it.")

    package let environment: [String: String]

    package init(environment: [String: String]) {
        self.environment = environment
    }

    /// Returns when xdg-open does: at once where a desktop takes the file over, else when the viewer is closed.
    /// - Throws: `CommandFailure`.
    package func open(_ path: String) async throws {
        let hasDesktop = ["DISPLAY", "WAYLAND_DISPLAY"].contains { !(environment[$0] ?? "").isEmpty }
        guard hasDesktop else { throw Self.missing }
        let folders = (environment["PATH"] ?? "").split(separator: ":").filter { $0.hasPrefix("/") }
        let programs: [String] = folders.map { $0 + "/xdg-open" }
        guard let program = programs.first(where: { access($0, X_OK) == 0 }) else {
            throw CommandFailure.local(
                "xdg-open is not installed, which starts the desktop's viewer (package xdg-utils).")
        }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: program)
        // A stored file's path is absolute, so it is never taken for an option.
        process.arguments = [path]
        process.environment = environment
        (process.standardInput, process.standardOutput) = (FileHandle.nullDevice, FileHandle.nullDevice)
        process.standardError = FileHandle.nullDevice
        let status: Int32 = try await withCheckedThrowingContinuation { continuation in
            process.terminationHandler = { continuation.resume(returning: $0.terminationStatus) }
            do {
                try process.run()
            } catch {
                process.terminationHandler = nil
                continuation.resume(
                    throwing: CommandFailure.local("xdg-open cannot be started: \(error.localizedDescription)."))
            }
        }
        guard status == 0 else {
            throw CommandFailure.local("The desktop did not show it: xdg-open ended with \(status).")
        }
    }
}
