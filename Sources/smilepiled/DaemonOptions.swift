import ControlSocket
import Executors
import Foundation
import LibraryModel

/// What the daemon is started with. Paths are absolute: the daemon leaves the folder that it was started in.
struct DaemonOptions {
    let library: String
    let socket: String
    /// Nil where it is to be looked for beside this program.
    let imageWorker: String?
    /// Where it is noted which libraries were opened.
    let openedLibraries: String
    /// Whether a library is made in a folder in which one was opened before, and none is now.
    let makesNew: Bool
    /// Whether the PIN is to be removed, and nothing else done.
    let resetsPIN: Bool

    private static let usage = """
        Usage: smilepiled [--library DIR] [--socket PATH] [--new]
               smilepiled --reset-pin [--library DIR]

        Keeps a photo library and serves it on a Unix socket, in the foreground. 'smilepile up' starts it in the
        background; a service manager starts it as it is.

        Options:
          --library DIR   The library's folder, made where there is none. Default: $STATE_DIRECTORY, else
                          $XDG_DATA_HOME/smilepile, else ~/.local/share/smilepile.
          --new           Make a new library where one was opened before and none is now. Without it that is
                          refused: the library's disk may not be mounted.
          --socket PATH   Default: $SMILEPILE_SOCKET, else $XDG_RUNTIME_DIR/smilepile/control.sock. Without a
                          session: $RUNTIME_DIRECTORY/control.sock, else /run/smilepile/control.sock for root
                          and ~/.local/state/smilepile/control.sock for others.
          --reset-pin     Remove the library's PIN and leave kids mode, where no daemon serves it, and exit. A
                          PIN keeps children out, not those who may write the library's files.
          --version       Print the version and exit.
          --help          Print this and exit.

        Example:
          smilepiled --library ~/Pictures/SmilePile

        Signals: SIGTERM and SIGINT stop it cleanly, a second one at once.

        """

    /// Reads the command line; prints and exits where it asks for help or is wrong (2).
    static func parse(
        _ arguments: [String] = CommandLine.arguments,
        environment: [String: String] = ProcessInfo.processInfo.environment,
        currentFolder: String = FileManager.default.currentDirectoryPath
    ) -> DaemonOptions {
        var values: [String: String] = [:]
        var (resetsPIN, makesNew) = (false, false)
        var rest = arguments.dropFirst()[...]
        while let argument = rest.popFirst() {
            switch argument {
            case "--help", "-h":
                print(usage, terminator: "")
                exit(0)
            case "--version":
                print(Release.line("smilepiled"))
                exit(0)
            case "--reset-pin": resetsPIN = true
            case "--new": makesNew = true
            default:
                let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                let name = String(parts[0])
                guard name == "--library" || name == "--socket" else {
                    refuse("There is no option '\(argument)'.")
                }
                guard let value = parts.count == 2 ? String(parts[1]) : rest.popFirst(), !value.isEmpty else {
                    refuse("\(name) needs a value.")
                }
                values[name] = value
            }
        }
        func absolute(_ path: String) -> String { path.hasPrefix("/") ? path : currentFolder + "/" + path }
        let worker = environment["SMILEPILE_IMAGE_WORKER"].flatMap { $0.isEmpty ? nil : $0 }
        return DaemonOptions(
            library: absolute(values["--library"] ?? LibraryPlace.usual(environment, home: NSHomeDirectory())),
            socket: absolute(ControlAddress.resolve(option: values["--socket"], environment: environment)),
            imageWorker: worker.map(absolute),
            openedLibraries: ControlAddress.stateFolder(environment) + "/opened-libraries", makesNew: makesNew,
            resetsPIN: resetsPIN)
    }

    private static func refuse(_ sentence: String) -> Never {
        StandardError.write("smilepiled: \(sentence)\n\n\(usage)")
        exit(2)
    }
}
