import CommandLineInterface
import Configuring
import ControlSocket
import Foundation
import LibraryModel
import Sealing
import ServiceMesh
import Supervision

/// What can be looked at without the daemon's help.
struct Surroundings: Sendable {
    let session: Session

    /// The programs beside this one, or in PATH.
    func programs() async throws -> [InstallationChecks.Program] {
        var programs: [InstallationChecks.Program] = []
        for (name, isOptional) in [("smilepiled", false), ("smilepile-web", true)] {
            let path = try? DaemonLaunch.locate(session, name)
            var program = InstallationChecks.Program(name: name, path: path, isOptional: isOptional)
            if let path {
                let said = try? await OtherProgram(path: path, environment: session.environment).run(["--version"])
                program.version = said?.text.split(separator: " ").dropFirst().first
                    .map { PlainText.neutralized(String($0)) }
            }
            programs.append(program)
        }
        // Where the daemon looks: beside itself, and where an installation keeps what nobody types.
        let folder = programs[0].path.map { ($0 as NSString).deletingLastPathComponent }
        let folders = folder.map { [$0, ($0 as NSString).deletingLastPathComponent + "/libexec/smilepile"] } ?? []
        for (name, variable) in Self.workers {
            let named = session.environment[variable].flatMap { $0.isEmpty ? nil : session.absolute($0) }
            let places: [String] = named.map { [$0] } ?? folders.map { "\($0)/\(name)" }
            let path = places.first { access($0, X_OK) == 0 }
            programs.append(InstallationChecks.Program(name: name, path: path))
        }
        return programs
    }

    private static let workers = [
        ("smilepile-image-worker", "SMILEPILE_IMAGE_WORKER"), ("smilepile-film-worker", "SMILEPILE_FILM_WORKER"),
    ]

    /// - Parameter library: as the command line names it.
    func outside(library: String?) async throws -> InstallationChecks.Outside {
        let socket = session.socketPath
        let isNamed = socket != session.usualSocket
        let (listener, others) = try await Console.offPool {
            (ListeningDaemon.process(at: socket), ListeningDaemon.sockets(except: socket))
        }
        let log = ControlAddress.stateFolder(session.environment) + "/daemon.log"
        return InstallationChecks.Outside(
            socket: socket, listener: listener, isThere: FileFacts.look(at: socket).kind == .socket,
            others: others.map {
                OtherSocket(
                    path: $0, isNamed: isNamed, environment: session.environment, configuration: session.configuration)
            },
            log: FileFacts.look(at: log).kind == .file ? log : nil,
            start: start(library: library))
    }

    /// Whether the configuration's file can be used.
    func configuration() async throws -> Finding {
        let environment = session.environment
        return try await Console.offPool {
            do {
                let found = try ConfigurationFile.usual(in: environment)
                for key in ConfigurationKey.allCases { _ = try found.setting(key, environment: environment) }
                return InstallationChecks.configuration(path: found.path)
            } catch {
                return InstallationChecks.configuration(fault: MeshError(describing: error).message)
            }
        }
    }

    /// What to type to start the daemon.
    /// - Parameter library: nil for the one that it opens by itself.
    func start(library: String?) -> String {
        "smilepile up" + (library.map { " --library " + ShellWord.of($0) } ?? "")
    }

    /// The library that would be served: the service's, or the one in the usual place.
    func library() -> String {
        ServiceUnit.system(serving: session.socketPath)?.library
            ?? UserManager(session.environment)?.unit(ServiceUnit.daemonName, serving: session.socketPath)?.library
            ?? (try? session.namedLibrary())
            ?? LibraryPlace.usual(session.environment, home: NSHomeDirectory())
    }

    func service() async throws -> InstallationChecks.Service {
        guard let manager = UserManager(session.environment) else { return .noSystemd }
        if let (unit, _) = ServiceUnit.system(serving: session.socketPath) {
            let state = try await manager.systemState(of: unit)
            return .ofSystem(unit: unit, isEnabled: state.isEnabled, activity: state.activity)
        }
        let isInstalled = manager.installed(ServiceUnit.daemonName) != nil
        do {
            try await manager.requireRunning()
        } catch is CommandFailure {
            return .silent(isInstalled: isInstalled)
        }
        let state = try await manager.state(of: ServiceUnit.daemonName)
        return .known(
            isInstalled: isInstalled, isEnabled: state.isEnabled, activity: state.activity, restarts: state.restarts,
            isForHome: (manager.installed(ServiceUnit.pageName)?.text.contains("\"--home\"") ?? false)
                || session.configuration.flag(.home),
            lingers: try await manager.lingers())
    }

    /// Whether a process runs from a file that is not there any more.
    func isReplaced(_ pid: Int32) -> Bool {
        let program = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(pid)/exe")
        return program?.hasSuffix(" (deleted)") ?? false
    }

    /// Whose everything has to be: the daemon's user, whom root may look after. Where none runs, this one; of root's looks at others'
    /// libraries, the library's owner, so that nobody is told to give it to root.
    /// - Parameter pid: the daemon's; nil where none runs.
    func keeper(of library: String, pid: Int32?) -> UInt32 {
        if let pid, case let process = FileFacts.look(at: "/proc/\(pid)"), process.kind == .folder {
            return process.owner
        }
        let folder = FileFacts.look(at: library, followsLink: true)
        return geteuid() == 0 && folder.kind == .folder ? folder.owner : geteuid()
    }

    /// The socket and what stands around it, and the library's folder.
    func permissions(library: String, isServed: Bool, user: UInt32) -> [Finding] {
        let isEmpty = (try? FileManager.default.contentsOfDirectory(atPath: library))?.isEmpty ?? false
        let socket = session.socketPath
        return [
            PermissionChecks.library(
                .look(at: library, followsLink: true), user: user, isServed: isServed, isEmpty: isEmpty)
        ]
            + PermissionChecks.socket(
                .look(at: socket),
                folder: .look(at: (socket as NSString).deletingLastPathComponent, followsLink: true), user: user)
    }

    /// - Parameter path: the key file's, as the daemon has it; else the usual one.
    func key(_ path: String?, library: String, user: UInt32) -> [Finding] {
        let usual = KeyFile.usual(session.environment)
        guard let path = path ?? usual?.path else { return [] }
        // The daemon may have another environment than this program.
        let isCredential = (path as NSString).lastPathComponent == KeyFile.credential
        let file = PermissionChecks.keyFile(
            .look(at: path), user: user, bytes: Int64(KeyFile.bytes), isCredential: isCredential)
        let folder = (path as NSString).deletingLastPathComponent
        return [
            file, PermissionChecks.keyFolder(.look(at: folder, followsLink: true), user: user),
            PermissionChecks.keyPlace(
                file: Self.resolved(folder) + "/" + (path as NSString).lastPathComponent,
                library: Self.resolved(library)),
        ].compactMap { $0 }
    }

    private static func resolved(_ path: String) -> String {
        guard let found = realpath(path, nil) else { return path }
        defer { free(found) }
        return String(cString: found)
    }
}
