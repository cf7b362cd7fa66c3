// Units of the system's manager, for a machine that several families share. Each is a template; its instance is the account of
// one family: `smilepiled@ada.service`. They say the same as the units of a user's own manager, and shut in what only root can.

extension ServiceUnit {
    /// Those that there are, in the order in which they start.
    ///
    /// Rejected: a timer for backups. The daemon has a schedule of its own (`smilepile backup schedule`), which waits for
    /// the backup's disk, checks what it has written and thins out old ones; a second one would race with it.
    package static let systemNames = ["smilepiled@.socket", "smilepiled@.service", "smilepile-web@.service"]

    /// - Parameter folder: where the programs are, absolute.
    /// - Returns: nil where there is no such unit.
    package static func system(_ name: String, programs folder: String) -> ServiceUnit? {
        let text: String
        switch name {
        case "smilepiled@.socket": text = systemSocket
        case "smilepiled@.service": text = systemDaemon(folder + "/smilepiled")
        case "smilepile-web@.service": text = systemPage(folder + "/smilepile-web")
        default: return nil
        }
        return ServiceUnit(name: name, text: "# Made by 'smilepile service unit \(name)'.\n" + text)
    }

    /// What serves a socket where one of these units does.
    /// - Returns: the unit and the library's folder; nil for a socket that is at none of their places.
    package static func system(serving socket: String) -> (unit: String, library: String)? {
        let parts = socket.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 5, parts[0].isEmpty, parts[1] == "run", parts[2] == "smilepile", !parts[3].isEmpty,
            parts[4] == "control.sock"
        else { return nil }
        return ("smilepiled@\(parts[3]).service", "/var/lib/smilepile/\(parts[3])/library")
    }

    /// The account's name stands for the family: in paths, which systemd replaces it in (systemd.unit(5)).
    private static let state = "%S/smilepile/%i"
    private static let socket = "%t/smilepile/%i/control.sock"

    private static let systemSocket = """
        [Unit]
        Description=The socket of SmilePile for %i
        Documentation=man:smilepiled(8)

        [Socket]
        ListenStream=\(socket)
        SocketUser=%i
        SocketMode=0600
        RemoveOnStop=yes

        [Install]
        WantedBy=sockets.target

        """

    private static func systemDaemon(_ program: String) -> String {
        """
        [Unit]
        Description=SmilePile, which keeps the photos of %i
        Documentation=man:smilepiled(8)
        Requires=smilepiled@%i.socket
        RequiresMountsFor=\(state)
        StartLimitIntervalSec=0

        [Service]
        Type=notify
        ExecStart=\(word(program)) --socket \(socket) --library \(state)/library
        ExecReload=/bin/kill -HUP $MAINPID
        LoadCredential=smilepile-key:smilepile-key.%i
        \(place)
        \(daemonLife)
        \(walls)\(systemWalls)RestrictNamespaces=yes
        ProtectHome=read-only
        ReadWritePaths=-/media -/mnt -/srv -/run/media
        \(calls)

        [Install]
        WantedBy=multi-user.target
        Also=smilepiled@%i.socket

        """
    }

    private static func systemPage(_ program: String) -> String {
        """
        [Unit]
        Description=SmilePile's page for %i
        Documentation=man:smilepile-web(8)
        Wants=smilepiled@%i.socket network-online.target
        After=smilepiled@%i.socket network-online.target
        RequiresMountsFor=\(state)
        StartLimitIntervalSec=0

        [Service]
        Type=notify
        EnvironmentFile=-%E/smilepile/%i/web.conf
        ExecStart=\(word(program)) --socket \(socket) $SMILEPILE_WEB_OPTIONS
        \(place)
        \(life)
        \(walls)\(systemWalls)RestrictNamespaces=\(pageNamespaces)
        ProtectHome=yes
        InaccessiblePaths=-\(state)/library
        \(calls)
        SystemCallFilter=mount chroot unshare capset

        [Install]
        WantedBy=multi-user.target

        """
    }

    /// Whose it is, and where its things are. The runtime folder is the socket's and both programs' and goes with the last start
    /// of the machine, not with the first of them that stops.
    private static let place = """
        User=%i
        StateDirectory=smilepile/%i
        StateDirectoryMode=0700
        RuntimeDirectory=smilepile/%i
        RuntimeDirectoryMode=0700
        RuntimeDirectoryPreserve=yes
        ConfigurationDirectory=smilepile/%i
        Environment=XDG_CONFIG_HOME=\(state)/config XDG_STATE_HOME=\(state)/state
        """

    /// What the system's manager can forbid beside ``walls``. Both programs see the machine's own users and root, and no others.
    private static let systemWalls = """
        CapabilityBoundingSet=
        DevicePolicy=closed
        KeyringMode=private
        PrivateDevices=yes
        PrivateTmp=yes
        PrivateUsers=yes
        ProtectClock=yes
        ProtectControlGroups=yes
        ProtectHostname=yes
        ProtectKernelLogs=yes
        ProtectKernelModules=yes
        ProtectKernelTunables=yes
        ProtectProc=invisible
        ProtectSystem=strict
        RemoveIPC=yes
        SystemCallErrorNumber=EPERM

        """

    /// Calls of services, without those that change privileges and shares of the machine, and with what the cells of workers and of
    /// the page are made with. Workers lower their priority.
    private static let calls = """
        SystemCallFilter=@system-service landlock_create_ruleset landlock_add_rule landlock_restrict_self seccomp
        SystemCallFilter=~@privileged @resources
        SystemCallFilter=setpriority
        """
}
