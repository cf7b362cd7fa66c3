import ControlSocket
import Executors
import Foundation
import LibraryModel
import WebServer

/// What the web program is started with.
struct WebOptions {
    let listen: ListeningAddress
    let socket: String
    let certificate: String?
    let key: String?
    let accessLog: String?
    let names: [String]

    private static let usage = """
        Usage: smilepile-web [--listen ADDRESS] [--tls-cert FILE --tls-key FILE] [--name NAME]...
                             [--access-log FILE] [--socket PATH]

        Serves the page on which a family looks at its photos, for a daemon that runs on this machine. In the
        foreground; 'smilepile web' starts it in the background and prints where to look.

        Options:
          --listen ADDRESS   Where browsers reach it, in digits: 127.0.0.1:8468 unless given. 0.0.0.0:8468 is every
                             address of this machine; that needs TLS, or --insecure-http.
          --tls-cert FILE    The certificate and what leads to its root, as PEM.
          --tls-key FILE     Its key, as PEM.
          --insecure-http    Serve others than this machine without TLS: whoever is in the same network can read
                             along. Also for a reverse proxy that has the certificate.
          --name NAME        Another name under which browsers reach it, for a reverse proxy or a name of the house.
                             This machine's own name, alone and with .local, is one already. May be repeated.
          --access-log FILE  Writes down there what other machines ask of groups, without their tokens.
          --socket PATH      The daemon's socket: $SMILEPILE_SOCKET, else $XDG_RUNTIME_DIR/smilepile/control.sock.
          --version          Print the version and exit.
          --help             Print this and exit.

        Example:
          smilepile-web --listen 192.168.1.5:8468 --tls-cert photos.pem --tls-key photos.key

        Signals: SIGTERM and SIGINT stop it cleanly, a second one at once.

        """

    /// Reads the command line; prints and exits where it asks for help or is wrong (2).
    static func parse(
        _ arguments: [String] = CommandLine.arguments,
        environment: [String: String] = ProcessInfo.processInfo.environment,
        currentFolder: String = FileManager.default.currentDirectoryPath
    ) -> WebOptions {
        var values: [String: String] = [:]
        var names: [String] = []
        var isInsecure = false
        var rest = arguments.dropFirst()[...]
        while let argument = rest.popFirst() {
            switch argument {
            case "--help", "-h":
                print(usage, terminator: "")
                exit(0)
            case "--version":
                print("smilepile-web \(Release.version)")
                exit(0)
            case "--insecure-http": isInsecure = true
            default:
                let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                let name = String(parts[0])
                guard ["--listen", "--tls-cert", "--tls-key", "--access-log", "--name", "--socket"].contains(name)
                else {
                    refuse("There is no option '\(argument)'.")
                }
                guard let value = parts.count == 2 ? String(parts[1]) : rest.popFirst(), !value.isEmpty else {
                    refuse("\(name) needs a value.")
                }
                if name == "--name" { names.append(value) } else { values[name] = value }
            }
        }
        let wanted = values["--listen"] ?? ListeningAddress.standard.description
        guard let listen = ListeningAddress(wanted) else {
            refuse("--listen takes an address in digits and a port, such as 127.0.0.1:8468, and not '\(wanted)'.")
        }
        let (certificate, key) = (values["--tls-cert"], values["--tls-key"])
        guard (certificate == nil) == (key == nil) else { refuse("--tls-cert and --tls-key belong together.") }
        guard listen.isLoopback || certificate != nil || isInsecure else {
            refuse(
                "Others than this machine would reach \(listen) without TLS, and read along. Give --tls-cert and "
                    + "--tls-key, or say --insecure-http.")
        }
        func absolute(_ path: String) -> String { path.hasPrefix("/") ? path : currentFolder + "/" + path }
        return WebOptions(
            listen: listen,
            socket: absolute(ControlAddress.resolve(option: values["--socket"], environment: environment)),
            certificate: certificate.map(absolute), key: key.map(absolute),
            accessLog: values["--access-log"].map(absolute), names: names)
    }

    /// Names under which browsers reach this machine.
    var allNames: [String] {
        let host = ProcessInfo.processInfo.hostName.lowercased()
        let short = host.split(separator: ".").first.map(String.init) ?? host
        return [host, short, short + ".local"].filter { !$0.isEmpty } + names
    }

    private static func refuse(_ sentence: String) -> Never {
        StandardError.write("smilepile-web: \(sentence)\n\n\(usage)")
        exit(2)
    }
}
