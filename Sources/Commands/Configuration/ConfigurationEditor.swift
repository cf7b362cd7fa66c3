import CommandLineInterface
import Configuring
import Foundation
import ServiceMesh

/// `smilepile config edit`: a copy in an editor, which takes the file's place where it can be used.
struct ConfigurationEditor {
    let session: Session

    func run() async throws -> ExitCode {
        guard let file = ConfigurationFile.usual(session.environment) else {
            throw CommandFailure.local("There is no place for a configuration: HOME is not set. Set it.")
        }
        let editor = try editor(file)
        let old = try await Console.offPool { try file.text() ?? "" }
        let draft = try Draft(old.isEmpty ? Self.template : old, in: session.environment["TMPDIR"])
        while true {
            let status = try await Self.open(draft.path, in: editor, session.environment)
            guard status == 0 else {
                draft.remove()
                throw CommandFailure.local("The editor ended with \(status). Nothing was changed.")
            }
            do {
                let new = try await Console.offPool { try ConfigurationFile(path: draft.path).text() ?? "" }
                guard new != (old.isEmpty ? Self.template : old) else {
                    draft.remove()
                    session.console.message("Nothing was changed.")
                    return .done
                }
                try await Self.replace(file, old, by: new, written: draft)
                break
            } catch {
                let failure = CommandFailure(describing: error)
                session.console.message(PlainText.neutralized(failure.message))
                let said = await session.console.ask("Edit it again? [Y/n] ")
                let again = said?.trimmingCharacters(in: .whitespaces).lowercased()
                guard let again, again.isEmpty || again == "y" || again == "yes" else {
                    throw CommandFailure.local(
                        "The configuration is as it was. What you wrote is kept in \(draft.path).")
                }
            }
        }
        draft.remove()
        session.console.result(PlainText.neutralized("\(file.path) is written."))
        session.console.message(
            "The daemon and the page take most of it over when they are started anew: smilepile config")
        return .done
    }

    private static func replace(_ file: ConfigurationFile, _ old: String, by new: String, written draft: Draft)
        async throws
    {
        try await Console.offPool {
            // By the name that the person sees; the file's own path comes with what else is wrong.
            _ = try Configuration(new, path: draft.path)
            _ = try file.replace { now in
                guard now == old else {
                    throw MeshError(.failedPrecondition, "Somebody has changed \(file.path) meanwhile. Edit it anew.")
                }
                return new
            }
        }
    }

    private static let template =
        "# What SmilePile is started with. Take away the # before what you want to say.\n\n"
        + ConfigurationKey.allCases.filter { !$0.rawValue.contains(".") }.map(line).joined()
        + "\n[web]\n"
        + ConfigurationKey.allCases.filter { $0.rawValue.contains(".") }.map(line).joined()

    private static func line(_ key: ConfigurationKey) -> String {
        let name = key.rawValue.split(separator: ".").last ?? ""
        return "# \(key.meaning)\n# \(name) = \(key.sample)\n"
    }

    /// What a shell runs, with the file's name behind it.
    private func editor(_ file: ConfigurationFile) throws -> String {
        for name in ["VISUAL", "EDITOR"] {
            if let said = session.environment[name], !said.trimmingCharacters(in: .whitespaces).isEmpty { return said }
        }
        for name in ["editor", "nano", "vi"] {
            if let found = OtherProgram(name, environment: session.environment) { return ShellWord.of(found.path) }
        }
        throw CommandFailure.local("No editor is found. Set EDITOR to one, or write \(file.path) by other means.")
    }

    /// Returns when the editor ends, with its exit code. It has this program's terminal, so Ctrl-C is its own.
    ///
    /// Rejected: Foundation's `Process`, which puts what it starts into a process group of its own; the terminal stops an editor there.
    private static func open(_ path: String, in editor: String, _ environment: [String: String]) async throws -> Int32 {
        try await Console.offPool {
            let arguments = ["/bin/sh", "-c", editor + " \"$1\"", "editor", path]
            var attributes = posix_spawnattr_t()
            posix_spawnattr_init(&attributes)
            defer { posix_spawnattr_destroy(&attributes) }
            var signals = sigset_t()
            sigemptyset(&signals)
            for number in [SIGINT, SIGQUIT, SIGPIPE] { sigaddset(&signals, number) }
            posix_spawnattr_setsigdefault(&attributes, &signals)
            posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGDEF))
            let kept = [SIGINT, SIGQUIT].map { ($0, signal($0, SIG_IGN)) }
            defer { for (number, handler) in kept { _ = signal(number, handler) } }
            var argv = arguments.map { strdup($0) } + [nil]
            var envp = environment.map { strdup("\($0.key)=\($0.value)") } + [nil]
            defer { for text in argv + envp { free(text) } }
            var pid: pid_t = 0
            let error = posix_spawn(&pid, "/bin/sh", nil, &attributes, &argv, &envp)
            guard error == 0 else {
                throw CommandFailure.local("The editor cannot be started: \(String(cString: strerror(error))).")
            }
            var status: Int32 = 0
            while waitpid(pid, &status, 0) < 0 && errno == EINTR {}
            let ending = status & 0x7F
            return ending == 0 ? (status >> 8) & 0xFF : 128 + ending
        }
    }
}

/// What a person writes: a file in a folder that is this user's alone.
private struct Draft: Sendable {
    let path: String
    private let folder: String

    init(_ text: String, in place: String?) throws {
        let place = place.flatMap { $0.hasPrefix("/") ? $0 : nil } ?? "/tmp"
        var template = Array((place + "/smilepile-config-XXXXXX").utf8CString)
        guard mkdtemp(&template) != nil else {
            throw CommandFailure.local(
                "No folder can be made in \(place): \(String(cString: strerror(errno))). Set TMPDIR to another.")
        }
        folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        path = folder + "/config.toml"
        guard
            FileManager.default.createFile(
                atPath: path, contents: Data(text.utf8), attributes: [.posixPermissions: 0o600])
        else { throw CommandFailure.local("\(path) cannot be written: \(String(cString: strerror(errno))).") }
    }

    func remove() {
        // An editor's own copies with it.
        try? FileManager.default.removeItem(atPath: folder)
    }
}

extension ConfigurationKey {
    /// For a file that says nothing yet.
    fileprivate var sample: String {
        switch self {
        case .library: "\"~/Pictures/SmilePile\""
        case .socket: "\"~/.local/state/smilepile/control.sock\""
        case .workers: "2"
        case .logLevel: "\"warning\""
        case .home: "true"
        case .listen: "\"127.0.0.1:8468\""
        case .certificate: "\"~/photos.pem\""
        case .certificateKey: "\"~/photos.key\""
        case .insecureHTTP: "true"
        case .names: "[\"photos.lan\"]"
        case .accessLog: "\"~/photos.log\""
        }
    }
}
