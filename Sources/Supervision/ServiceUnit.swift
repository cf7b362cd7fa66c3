import CommandLineInterface

/// A unit of the user's own systemd: a program that starts with the session, and again where it ends by itself.
package struct ServiceUnit: Sendable, Equatable {
    /// `smilepile.service`.
    package let name: String
    package let text: String

    package static let daemonName = "smilepile.service"
    package static let pageName = "smilepile-web.service"
    /// In the order in which they start.
    package static let names = [daemonName, pageName]

    /// Variables that say where the programs find things: what was set where the unit is made holds for it too.
    static let variables = [
        "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "SMILEPILE_IMAGE_WORKER", "SMILEPILE_KEY_FILE",
        "SMILEPILE_LIBRARY", "SMILEPILE_WORKERS", "SMILEPILE_LOG_LEVEL",
    ]

    /// What a unit runs.
    package struct Programs: Sendable {
        /// Absolute paths.
        package let daemon: String
        package let page: String
        package let socket: String
        /// Nil for the usual place.
        package let library: String?
        package let environment: [String: String]

        package init(
            daemon: String, page: String, socket: String, library: String?, environment: [String: String]
        ) {
            (self.daemon, self.page, self.socket) = (daemon, page, socket)
            (self.library, self.environment) = (library, environment)
        }
    }

    /// The daemon's.
    ///
    /// It is started again for ever: a library whose disk is not there yet has it some time later. The watchdog is fed while every
    /// actor answers, so that a daemon that hangs is ended and started too. Opening a library may take as long as it likes:
    /// after an update its catalogue is converted.
    package static func daemon(_ programs: Programs) -> ServiceUnit {
        let library = programs.library.map { ["--library", $0] } ?? []
        return ServiceUnit(
            name: daemonName,
            text: """
                # Made by 'smilepile service install', which makes it anew; changes belong into
                # 'systemctl --user edit smilepile'.
                [Unit]
                Description=SmilePile, which keeps this family's photos
                StartLimitIntervalSec=0
                \(programs.library.map { "RequiresMountsFor=" + word($0) + "\n" } ?? "")
                [Service]
                Type=notify
                ExecStart=\(line([programs.daemon, "--socket", programs.socket] + library))
                ExecReload=/bin/kill -HUP $MAINPID
                \(environment(programs))\(daemonLife)
                \(confinement)
                [Install]
                WantedBy=default.target

                """)
    }

    /// The page's. It outlives the daemon, and says so to who looks at it meanwhile; so it does not want the daemon's unit, which
    /// a person may have stopped.
    /// - Parameter options: of `smilepile-web`.
    package static func page(_ programs: Programs, options: [String]) -> ServiceUnit {
        ServiceUnit(
            name: pageName,
            text: """
                # Made by 'smilepile service install', which makes it anew; changes belong into
                # 'systemctl --user edit smilepile-web'.
                [Unit]
                Description=SmilePile's page
                After=\(daemonName)
                StartLimitIntervalSec=0

                [Service]
                Type=notify
                ExecStart=\(line([programs.page, "--socket", programs.socket] + options))
                \(environment(programs))\(life)
                \(confinement)
                [Install]
                WantedBy=default.target

                """)
    }

    /// How a program is started again.
    static let life = """
        Restart=on-failure
        RestartSec=3
        """

    static let daemonLife = """
        \(life)
        WatchdogSec=60
        TimeoutStartSec=infinity
        TimeoutStopSec=120
        """

    /// What a user's own manager can forbid without privileges. Workers and the page shut themselves in far more tightly, the page
    /// with namespaces that it makes itself.
    ///
    /// Rejected: `SystemCallFilter=@system-service`. It forbids what the cells are made with: systemd 252 has no Landlock in
    /// any of its sets, and a user's manager may be of any version. The system's units name those calls (``ServiceUnit/system(_:programs:)``).
    private static let confinement =
        walls + """
            RestrictNamespaces=\(pageNamespaces)

            """

    /// Those that the page's program makes for its cell.
    static let pageNamespaces = "user net mnt ipc"

    /// What all units forbid.
    static let walls = """
        NoNewPrivileges=yes
        LockPersonality=yes
        MemoryDenyWriteExecute=yes
        RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK
        RestrictRealtime=yes
        RestrictSUIDSGID=yes
        SystemCallArchitectures=native
        UMask=0077

        """

    /// Whether it is the one that runs a socket's program.
    package func serves(_ socket: String) -> Bool { text.contains(Self.line(["--socket", socket])) }

    /// The folder that its line names for the library; nil where it names none.
    package var library: String? {
        guard let start = text.firstRange(of: " " + Self.line(["--library"]) + " \"")?.upperBound else { return nil }
        return Self.unquoted(text[start...])
    }

    // MARK: Words of a unit

    private static func environment(_ programs: Programs) -> String {
        variables.compactMap { name in
            programs.environment[name].flatMap { $0.isEmpty ? nil : "Environment=" + word("\(name)=\($0)") + "\n" }
        }.joined()
    }

    private static func line(_ arguments: [String]) -> String {
        arguments.map { word($0).replacing("$", with: "$$") }.joined(separator: " ")
    }

    /// In quotation marks, with all that systemd would take for something else written as its bytes (systemd.syntax(7)), and no
    /// specifier (systemd.unit(5)).
    static func word(_ text: String) -> String {
        var escaped = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\": escaped += "\\\(scalar)"
            case "%": escaped += "%%"
            case _ where scalar.value < 0x20 || scalar.value == 0x7F:
                let hex = String(scalar.value, radix: 16)
                escaped += "\\x" + (hex.count < 2 ? "0" : "") + hex
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped + "\""
    }

    /// What ``line(_:)`` has made such a word of.
    /// - Parameter rest: behind the quotation mark that begins it.
    /// - Returns: nil where it does not end, or is not of our making.
    private static func unquoted(_ rest: Substring) -> String? {
        var word = String.UnicodeScalarView()
        var scalars = rest.unicodeScalars
        while let scalar = scalars.popFirst() {
            switch scalar {
            case "\"": return String(word)
            case "%", "$":
                guard scalars.popFirst() == scalar else { return nil }
                word.append(scalar)
            case "\\" where scalars.first == "x":
                let digits = scalars.dropFirst().prefix(2)
                guard digits.count == 2, let byte = UInt8(String(digits), radix: 16) else { return nil }
                word.append(Unicode.Scalar(byte))
                scalars = scalars.dropFirst(3)
            case "\\":
                guard let next = scalars.popFirst() else { return nil }
                word.append(next)
            default: word.append(scalar)
            }
        }
        return nil
    }
}
