import CommandLineInterface
import ControlSocket
import Foundation
import LibraryModel
import ServiceMesh

extension Command {
    /// What `smilepile` alone does: how things are, in one line, and what is typed most. Fifteen lines at most, on every terminal:
    /// all that there is takes more than a screen, and is asked for by `--help`.
    static let welcome = Command(words: [], summary: "How things are, and what is typed most.", examples: []) {
        _, session in try await Welcome(session: session).show()
    }
}

struct Welcome {
    let session: Session

    /// What is typed most, and what it is for.
    static let lines = [
        ("up", "start the daemon"),
        ("import ~/Pictures", "bring photos in"),
        ("photos search beach", "find them again"),
        ("swipe review", "decide photo by photo, here"),
        ("web --home", "show them on the phones of the home"),
        ("photos export --all --to DIR", "copy them out"),
        ("backup create", "make a backup, proven readable"),
        ("status", "what the library holds"),
        ("jobs", "what is being done"),
        ("doctor", "whether all is well"),
    ]

    func show() async throws -> ExitCode {
        if session.wantsJSON {
            try session.show(json: try await json())
            return .done
        }
        let columns = session.console.results.columns() ?? 80
        let state = PlainText.neutralized("SmilePile \(Release.version): \(try await state())")
        let width = Self.lines.map { TextWidth.of($0.0) }.max() ?? 0
        let style = session.console.style
        let commands = Self.lines.map { line, purpose in
            TextWidth.cut("  smilepile \(TextWidth.padded(line, to: width))  \(purpose)", to: columns)
        }
        session.console.result(
            [style.bold(TextWidth.cut(state, to: columns)), ""] + commands + [
                "", TextWidth.cut("All commands: smilepile --help", to: columns),
            ])
        return .done
    }

    /// Where the daemon says nothing in good time, that is what is told: nobody has asked it for more.
    private func state() async throws -> String {
        do {
            return try await session.withLibrary { library in
                let hello = try await library.send(Hello()).value
                guard hello.role != "\(Role.kid)" else { return "running, in kids mode" }
                let status = try await library.send(GetLibraryStatus()).value
                let jobs = try await library.send(ListJobs()).value.jobs.filter { $0.state == .running }.count
                return Self.sentence(status, jobs: jobs)
            }
        } catch CommandFailure.notRunning {
            return "the daemon is not running; start it with 'smilepile up'"
        } catch let failure as CommandFailure {
            return failure.message
        }
    }

    private static func sentence(_ status: LibraryStatus, jobs: Int) -> String {
        var parts = ["\(Figures.count(status.photos, "photo")), \(Figures.size(status.photoBytes))"]
        if jobs > 0 { parts.append("\(Figures.count(jobs, "job")) running") }
        if let age = status.newestBackup?.ageSeconds {
            parts.append("backup \(age < 86_400 ? "today" : "\(Figures.count(age / 86_400, "day")) ago")")
        } else {
            parts.append("no backup yet")
        }
        parts.append("\(Figures.size(status.freeBytes)) free")
        return parts.joined(separator: "; ")
    }

    private func json() async throws -> JSONValue {
        do {
            return try await session.withLibrary { library in
                let hello = try await library.send(Hello()).value
                return ["running": true, "version": .string(hello.version), "library": .string(hello.library)]
            }
        } catch CommandFailure.notRunning {
            return ["running": false, "version": .string(Release.version)]
        }
    }
}
