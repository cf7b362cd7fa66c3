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
        guard let program = OtherProgram("xdg-open", environment: environment) else {
            throw CommandFailure.local(
                "xdg-open is not installed, which starts the desktop's viewer (package xdg-utils).")
        }
        // A stored file's path is absolute, so it is never taken for an option.
        let status = try await program.run([path], collects: false).status
        guard status == 0 else {
            throw CommandFailure.local("The desktop did not show it: xdg-open ended with \(status).")
        }
    }
}
