import Configuring
import ControlSocket
import Executors
import Foundation
import HomeAuthority
import LibraryModel
import WebServer

/// What the web program is started with.
struct WebOptions {
    /// Nil for a home's addresses, whatever they are.
    let listen: ListeningAddress?
    /// Whether it listens for the devices of a home, under an authority that it makes.
    let isHome: Bool
    let socket: String
    let certificate: String?
    let key: String?
    let accessLog: String?
    let names: [String]

    private static let usage = """
        Usage: smilepile-web [--home] [--listen ADDRESS] [--tls-cert FILE --tls-key FILE] [--name NAME]...
                             [--access-log FILE] [--socket PATH]

        Serves the page on which a family looks at its photos, for a daemon that runs on this machine. In the
        foreground; 'smilepile web' starts it in the background and prints where to look.

        Options:
          --home             For the phones and computers of the home: at this machine's private addresses, with TLS
                             under an authority that is made once and kept beside the sealing key; at port 8469 is
                             what each device installs once. With --listen, at that private address alone.
          --listen ADDRESS   Where browsers reach it, in digits: 127.0.0.1:8468 unless given. 0.0.0.0:8468 is every
                             address of this machine; that needs --home, a certificate, or --insecure-http.
          --tls-cert FILE    The certificate and what leads to its root, as PEM.
          --tls-key FILE     Its key, as PEM.
          --insecure-http    Serve others than this machine without TLS: whoever is in the same network can read
                             along. Also for a reverse proxy that has the certificate.
          --name NAME        Another name under which browsers reach it, for a reverse proxy or a name of the house.
                             This machine's own name, alone and with .local, is one already. May be repeated.
          --access-log FILE  Writes down there what other machines ask of groups, without their tokens.
          --socket PATH      The daemon's socket: else $SMILEPILE_SOCKET, what the configuration says, or
                             $XDG_RUNTIME_DIR/smilepile/control.sock.
          --version          Print the version and exit.
          --help             Print this and exit.

        Configuration: the table [web] of $CONFIGURATION_DIRECTORY/config.toml, else of smilepile/config.toml in
        $XDG_CONFIG_HOME or ~/.config. It counts where no option says otherwise; --home, --listen, --tls-cert, --tls-key
        and --insecure-http belong together, and one of them is in place of all that the file says of them.

        Examples:
          smilepile-web --home
          smilepile-web --listen 192.168.1.5:8468 --tls-cert photos.pem --tls-key photos.key

        Signals: SIGTERM and SIGINT stop it cleanly, a second one at once.

        """

    /// Reads the command line and the configuration; prints and exits where it asks for help or is wrong (2). Blocks.
    /// - Throws: `MeshError`: why the configuration cannot be used.
    static func parse(
        _ arguments: [String] = CommandLine.arguments,
        environment: [String: String] = ProcessInfo.processInfo.environment,
        currentFolder: String = FileManager.default.currentDirectoryPath
    ) throws -> WebOptions {
        var values: [String: String] = [:]
        var names: [String] = []
        var (isInsecure, isHome) = (false, false)
        var rest = arguments.dropFirst()[...]
        while let argument = rest.popFirst() {
            switch argument {
            case "--help", "-h":
                print(usage, terminator: "")
                exit(0)
            case "--version":
                print(Release.line("smilepile-web"))
                exit(0)
            case "--insecure-http": isInsecure = true
            case "--home": isHome = true
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
        let configuration = try ConfigurationFile.usual(in: environment)
        let saysAddress =
            isHome || isInsecure || ["--listen", "--tls-cert", "--tls-key"].contains { values[$0] != nil }
        if !saysAddress {
            (isHome, isInsecure) = (configuration.flag(.home), configuration.flag(.insecureHTTP))
            for (option, key) in [("--listen", .listen), ("--tls-cert", .certificate), ("--tls-key", .certificateKey)]
                as [(String, ConfigurationKey)]
            {
                values[option] = try configuration.text(key, environment: environment)
            }
        }
        if values["--access-log"] == nil {
            values["--access-log"] = try configuration.text(.accessLog, environment: environment)
        }
        if names.isEmpty { names = configuration.names }
        let socket = try configuration.text(.socket, option: values["--socket"], environment: environment)
        let listen = values["--listen"].map { text -> ListeningAddress in
            guard let listen = ListeningAddress(text) else {
                refuse("--listen takes an address in digits and a port, such as 127.0.0.1:8468, and not '\(text)'.")
            }
            return listen
        }
        let (certificate, key) = (values["--tls-cert"], values["--tls-key"])
        guard (certificate == nil) == (key == nil) else { refuse("--tls-cert and --tls-key belong together.") }
        if isHome {
            guard certificate == nil, !isInsecure else {
                refuse("--home brings its own certificate: leave out --tls-cert, --tls-key and --insecure-http.")
            }
            guard listen.map({ PrivateAddress($0.host) != nil }) != false else {
                refuse("--home is for private addresses. For others, give --tls-cert and --tls-key.")
            }
        }
        guard isHome || (listen ?? .standard).isLoopback || certificate != nil || isInsecure else {
            refuse(
                "Others than this machine would reach \(listen ?? .standard) without TLS, and read along. For the devices of "
                    + "your home say --home. Else give --tls-cert and --tls-key, or say --insecure-http.")
        }
        func absolute(_ path: String) -> String { path.hasPrefix("/") ? path : currentFolder + "/" + path }
        return WebOptions(
            listen: listen ?? (isHome ? nil : .standard), isHome: isHome,
            socket: absolute(ControlAddress.resolve(option: socket, environment: environment)),
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
        // Without the whole usage: what started this shows the last lines as the reason.
        StandardError.write("smilepile-web: \(sentence)\nUsage and examples: smilepile-web --help\n")
        exit(2)
    }
}
