import CommandLineInterface
import Foundation

/// The user's own systemd: where its units lie, and what it is asked.
package struct UserManager: Sendable {
    /// What is known of a unit.
    package struct State: Sendable {
        /// Whether its file is there.
        package let isInstalled: Bool
        package let isEnabled: Bool
        /// As systemd has it: `active`, `inactive`, `failed`, `activating`…
        package let activity: String
        /// 0 where it does not run.
        package let pid: Int32
        /// How often it was started again since it was started.
        package let restarts: Int
    }

    private let environment: [String: String]
    /// Absolute.
    package let folder: String
    private let systemctl: OtherProgram

    /// - Returns: nil where this machine has no systemd.
    package init?(_ environment: [String: String]) {
        guard let systemctl = OtherProgram("systemctl", environment: environment) else { return nil }
        let home = environment["HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil } ?? NSHomeDirectory()
        let configuration = environment["XDG_CONFIG_HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil } ?? home + "/.config"
        (self.environment, self.systemctl) = (environment, systemctl)
        folder = configuration + "/systemd/user"
    }

    package func path(of unit: String) -> String { folder + "/" + unit }

    /// The unit as its file has it; nil where there is none, or one that nobody reads whole.
    package func installed(_ name: String) -> ServiceUnit? {
        guard let bytes = FileManager.default.contents(atPath: path(of: name)), bytes.count < 64 << 10 else {
            return nil
        }
        return ServiceUnit(name: name, text: String(decoding: bytes, as: UTF8.self))
    }

    /// The unit that runs a socket's program, where there is one.
    package func unit(_ name: String, serving socket: String) -> ServiceUnit? {
        installed(name).flatMap { $0.serves(socket) ? $0 : nil }
    }

    /// - Throws: `CommandFailure` that says what to do where no manager of the user's answers.
    package func requireRunning() async throws {
        let outcome = try await systemctl.run(["--user", "show", "--property=Version"])
        guard outcome.status != 0 else { return }
        throw CommandFailure.local(
            "This user's systemd does not answer (\(PlainText.neutralized(outcome.text))). Log in as this user, at the machine or by ssh, "
                + "and not by su or sudo; then try again.")
    }

    package func state(of unit: String) async throws -> State {
        try await state(of: unit, isInstalled: access(path(of: unit), F_OK) == 0, manager: ["--user"])
    }

    /// The same of a unit of the system's, which everybody may ask for.
    package func systemState(of unit: String) async throws -> State {
        try await state(of: unit, isInstalled: true, manager: [])
    }

    private func state(of unit: String, isInstalled: Bool, manager: [String]) async throws -> State {
        let names = ["ActiveState", "MainPID", "NRestarts", "UnitFileState"]
        let text = try await systemctl.run(manager + ["show", unit, "--property=" + names.joined(separator: ",")]).text
        var values: [String: String] = [:]
        for line in text.split(separator: "\n") {
            let parts = line.split(separator: "=", maxSplits: 1).map(String.init)
            if parts.count == 2 { values[parts[0]] = parts[1] }
        }
        return State(
            isInstalled: isInstalled, isEnabled: values["UnitFileState"] == "enabled",
            activity: values["ActiveState"] ?? "unknown", pid: values["MainPID"].flatMap(Int32.init) ?? 0,
            restarts: values["NRestarts"].flatMap(Int.init) ?? 0)
    }

    /// Writes the units, whatever was there, and has them start now and with each session.
    /// - Throws: `CommandFailure`.
    package func install(_ units: [ServiceUnit]) async throws {
        do {
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            for unit in units {
                try Data(unit.text.utf8).write(to: URL(fileURLWithPath: path(of: unit.name)), options: .atomic)
            }
        } catch {
            throw CommandFailure.local(
                "The units cannot be written into \(folder): \(error.localizedDescription) Nothing was started.")
        }
        try await tell(["daemon-reload"])
        for unit in units { try await tell(["enable", unit.name]) }
        for unit in units { try await start(unit.name, again: true) }
    }

    /// Waits until it is ready.
    /// - Parameter again: also where it runs.
    /// - Throws: `CommandFailure` with what it said last.
    package func start(_ unit: String, again: Bool = false) async throws {
        let outcome = try await systemctl.run(["--user", again ? "restart" : "start", unit])
        guard outcome.status != 0 else { return }
        let log = "journalctl --user -u " + unit
        let last = try await OtherProgram("journalctl", environment: environment)?
            .run(["--user", "-u", unit, "-n", "4", "-o", "cat", "--no-pager"])
        let said = last.flatMap { $0.status == 0 ? $0.text : nil } ?? outcome.text
        throw CommandFailure.local(
            "\(unit) did not start: \(PlainText.neutralized(said.replacing("\n", with: " "))) The whole log: \(log)")
    }

    package func stop(_ unit: String) async throws { try await tell(["stop", unit]) }

    /// Stops them, and removes their files.
    /// - Throws: `CommandFailure`.
    package func remove(_ units: [String]) async throws {
        for unit in units where access(path(of: unit), F_OK) == 0 {
            try await tell(["disable", "--now", unit])
            guard unlink(path(of: unit)) == 0 || errno == ENOENT else {
                throw CommandFailure.local(
                    "\(path(of: unit)) cannot be removed: \(String(cString: strerror(errno))). It is stopped.")
            }
        }
        try await tell(["daemon-reload"])
        // What failed before is none of a unit that is gone; that it is not known is no failure.
        _ = try await systemctl.run(["--user", "reset-failed"] + units)
    }

    private func tell(_ words: [String]) async throws {
        let outcome = try await systemctl.run(["--user"] + words)
        guard outcome.status == 0 else {
            throw CommandFailure.local(
                "systemctl --user \(words.joined(separator: " ")) failed: \(PlainText.neutralized(outcome.text))")
        }
    }

    // MARK: Without anybody logged in

    /// Whether the user's units run from the start of the machine, or only while they are logged in; nil where nobody says.
    package func lingers() async throws -> Bool? {
        let words = ["show-user", String(geteuid()), "--property=Linger", "--value"]
        guard let outcome = try await OtherProgram("loginctl", environment: environment)?.run(words),
            outcome.status == 0
        else { return nil }
        return outcome.text == "yes"
    }

    /// - Returns: whether it could be set; often an administrator has to.
    package func setLingering() async throws -> Bool {
        let outcome = try await OtherProgram("loginctl", environment: environment)?.run(["enable-linger"])
        return outcome?.status == 0
    }
}
