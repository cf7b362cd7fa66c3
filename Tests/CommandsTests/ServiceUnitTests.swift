import Foundation
import Supervision
import TestSupport
import Testing

@testable import Commands

@Suite("Units of systemd")
struct ServiceUnitTests {
    private func programs(
        library: String? = nil, socket: String = "/run/user/1000/smilepile/control.sock",
        _ environment: [String: String] = [:]
    ) -> ServiceUnit.Programs {
        .init(
            daemon: "/opt/smile pile/smilepiled", page: "/opt/smile pile/smilepile-web", socket: socket,
            library: library,
            environment: environment)
    }

    private func line(_ name: String, of unit: ServiceUnit) -> String? {
        unit.text.split(separator: "\n").first { $0.hasPrefix(name + "=") }.map { String($0.dropFirst(name.count + 1)) }
    }

    @Test("Paths are quoted, and nothing in them is a specifier, a variable or the end of a line")
    func paths() {
        let unit = ServiceUnit.daemon(programs(library: "/srv/100 % \"our\" $HOME\\photos\n[Service]"))
        #expect(
            line("ExecStart", of: unit)
                == #""/opt/smile pile/smilepiled" "--socket" "/run/user/1000/smilepile/control.sock" "--library" "#
                + #""/srv/100 %% \"our\" $$HOME\\photos\x0a[Service]""#)
        #expect(line("RequiresMountsFor", of: unit) == #""/srv/100 %% \"our\" $HOME\\photos\x0a[Service]""#)
        #expect(unit.text.split(separator: "\n").filter { $0 == "[Service]" }.count == 1)
    }

    @Test("Where programs find their things is as where the unit is made, and nothing else of that comes in")
    func environment() {
        let unit = ServiceUnit.page(
            programs(["SMILEPILE_KEY_FILE": "/media/key 1", "XDG_DATA_HOME": "", "SECRET": "x", "HOME": "/home/ada"]),
            options: ["--home"])
        #expect(line("Environment", of: unit) == #""SMILEPILE_KEY_FILE=/media/key 1""#)
        #expect(!unit.text.contains("SECRET") && !unit.text.contains("XDG_DATA_HOME"))
        #expect(line("ExecStart", of: unit)?.hasSuffix(#"control.sock" "--home""#) == true)
        #expect(line("RequiresMountsFor", of: ServiceUnit.daemon(programs())) == nil)
    }

    @Test("A unit is that of one socket")
    func sockets() {
        let unit = ServiceUnit.daemon(programs(socket: "/run/a$b/control.sock"))
        #expect(unit.serves("/run/a$b/control.sock"))
        #expect(!unit.serves("/run/a$b/control.soc") && !unit.serves("/run/a") && !unit.serves(""))
    }

    @Test("Without systemd it is said what to do instead", arguments: ["install", "remove", "status"])
    func withoutSystemd(verb: String) async throws {
        let folder = try TemporaryFolder("no-systemd")
        let stage = Stage(environment: ["HOME": folder.path, "PATH": folder.path])
        #expect(await stage.run("service", verb) == .failed)
        #expect(stage.messages.contains("has no systemd") && stage.messages.contains("@reboot"))
    }

    @Test("A manager that does not answer is told, and nothing is written")
    func withoutSession() async throws {
        let folder = try TemporaryFolder("no-session")
        let stage = Stage(
            environment: ["HOME": folder.path, "PATH": "/usr/bin:/bin", "XDG_RUNTIME_DIR": folder.file("nothing")])
        #expect(await stage.run("service", "install") == .failed)
        #expect(stage.messages.contains("does not answer") && stage.messages.contains("Log in as this user"))
        #expect(!FileManager.default.fileExists(atPath: folder.file(".config")))
    }
}
