import Configuring
import ControlSocket
import Executors
import Foundation
import LibraryModel

/// What the daemon is started with. Paths are absolute: the daemon leaves the folder that it was started in.
struct DaemonOptions {
    let library: String
    let socket: String
    /// Pictures that are opened at once; nil for one to each processor.
    let workers: Int?
    let logLevel: LogLevel
    /// The configuration's file; nil where there is none.
    let configuration: String?
    /// Nil where it is to be looked for beside this program.
    let imageWorker: String?
    /// Where it is noted which libraries were opened.
    let openedLibraries: String
    /// What keeps the token of a monitor.
    let metricsToken: String
    /// Whether a library is made in a folder in which one was opened before, and none is now.
    let makesNew: Bool
    /// Whether the PIN is to be removed, and nothing else done.
    let resetsPIN: Bool

    private static let usage = """
        Usage: smilepiled [--library DIR] [--socket PATH] [--workers N] [--log-level LEVEL] [--new]
               smilepiled --reset-pin [--library DIR]

        Keeps a photo library and serves it on a Unix socket, in the foreground. 'smilepile up' starts it in the
        background; a service manager starts it as it is.

        Options:
          --library DIR   The library's folder, made where there is none. Else $SMILEPILE_LIBRARY, what the
                          configuration says, $STATE_DIRECTORY, $XDG_DATA_HOME/smilepile, or
                          ~/.local/share/smilepile.
          --new           Make a new library where one was opened before and none is now. Without it that is
                          refused: the library's disk may not be mounted.
          --socket PATH   Else $SMILEPILE_SOCKET, what the configuration says, or
                          $XDG_RUNTIME_DIR/smilepile/control.sock. Without a session: $RUNTIME_DIRECTORY/control.sock,
                          else /run/smilepile/control.sock for root and ~/.local/state/smilepile/control.sock
                          for others.
          --workers N     Pictures that are opened at once, 1 to 64, each in a helper process. Else
                          $SMILEPILE_WORKERS, what the configuration says, or one for each processor.
          --log-level LEVEL
                          error, warning, or info for everything, the default. Else $SMILEPILE_LOG_LEVEL, or what
                          the configuration says.
          --reset-pin     Remove the library's PIN and leave kids mode, where no daemon serves it, and exit. A
                          PIN keeps children out, not those who may write the library's files.
          --version       Print the version and exit.
          --help          Print this and exit.

        Configuration: $CONFIGURATION_DIRECTORY/config.toml, else smilepile/config.toml in $XDG_CONFIG_HOME or
        ~/.config. 'smilepile config' shows what it says.

        Example:
          smilepiled --library ~/Pictures/SmilePile

        Signals: SIGTERM and SIGINT stop it cleanly, a second one at once. SIGHUP has it read the configuration
        again: the log level counts at once, the rest at the next start.

        """

    /// Reads the command line; prints and exits where it asks for help or is wrong (2).
    static func parse(
        _ arguments: [String] = CommandLine.arguments,
        environment: [String: String] = ProcessInfo.processInfo.environment,
        currentFolder: String = FileManager.default.currentDirectoryPath
    ) -> Spoken {
        var spoken = Spoken(environment: environment, currentFolder: currentFolder)
        var rest = arguments.dropFirst()[...]
        while let argument = rest.popFirst() {
            switch argument {
            case "--help", "-h":
                print(usage, terminator: "")
                exit(0)
            case "--version":
                print(Release.line("smilepiled"))
                exit(0)
            case "--reset-pin": spoken.resetsPIN = true
            case "--new": spoken.makesNew = true
            default:
                let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                let name = String(parts[0])
                guard let key = Spoken.options[name] else { refuse("There is no option '\(argument)'.") }
                guard let value = parts.count == 2 ? String(parts[1]) : rest.popFirst(), !value.isEmpty else {
                    refuse("\(name) needs a value.")
                }
                guard key.kind == .path || key.kind.value(typed: [value]) != nil else {
                    refuse("\(name) takes \(key.kind.allowed), and not '\(value)'.")
                }
                spoken.values[key] = value
            }
        }
        return spoken
    }

    /// What the command line says. With the configuration, which may say something else later, it makes options.
    struct Spoken: Sendable {
        static let options: [String: ConfigurationKey] = [
            "--library": .library, "--socket": .socket, "--workers": .workers, "--log-level": .logLevel,
        ]

        let environment: [String: String]
        let currentFolder: String
        var values: [ConfigurationKey: String] = [:]
        var makesNew = false
        var resetsPIN = false

        /// Reads the configuration. Blocks.
        /// - Throws: `MeshError`: why it cannot be used.
        func options() throws -> DaemonOptions {
            let configuration = try ConfigurationFile.usual(in: environment)
            func text(_ key: ConfigurationKey) throws -> String? {
                try configuration.text(key, option: values[key], environment: environment)
            }
            let worker = environment["SMILEPILE_IMAGE_WORKER"].flatMap { $0.isEmpty ? nil : $0 }
            return DaemonOptions(
                library: absolute(try text(.library) ?? LibraryPlace.usual(environment, home: NSHomeDirectory())),
                socket: absolute(ControlAddress.resolve(option: try text(.socket), environment: environment)),
                workers: try text(.workers).flatMap(Int.init),
                logLevel: try text(.logLevel).flatMap(LogLevel.init) ?? .info, configuration: configuration.path,
                imageWorker: worker.map(absolute),
                openedLibraries: ControlAddress.stateFolder(environment) + "/opened-libraries",
                metricsToken: ControlAddress.stateFolder(environment) + "/metrics-token", makesNew: makesNew,
                resetsPIN: resetsPIN)
        }

        private func absolute(_ path: String) -> String { path.hasPrefix("/") ? path : currentFolder + "/" + path }
    }

    private static func refuse(_ sentence: String) -> Never {
        StandardError.write("smilepiled: \(sentence)\n\n\(usage)")
        exit(2)
    }
}
