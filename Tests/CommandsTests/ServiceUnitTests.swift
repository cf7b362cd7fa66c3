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

    // MARK: The system's

    private func system(_ name: String) throws -> ServiceUnit {
        try #require(ServiceUnit.system(name, programs: "/usr/bin"))
    }

    @Test("Units of the system name one socket and one folder for each account", arguments: ServiceUnit.systemNames)
    func systemUnits(name: String) async throws {
        let unit = try system(name)
        #expect(unit.text.contains("%t/smilepile/%i/control.sock"))
        if name.hasSuffix(".service") {
            #expect(line("User", of: unit) == "%i" && line("Type", of: unit) == "notify")
            #expect(line("StateDirectory", of: unit) == "smilepile/%i")
            // The socket in it is there before the first start and after the last stop.
            #expect(line("RuntimeDirectoryPreserve", of: unit) == "yes")
            #expect(line("CapabilityBoundingSet", of: unit)?.isEmpty == true)
        }
        let stage = Stage()
        #expect(await stage.run("service", "unit", name, "--programs", "/usr/bin") == .done)
        #expect(stage.results == unit.text)
    }

    @Test("What a user's unit forbids, the system's forbid too")
    func walls() throws {
        let own = ServiceUnit.daemon(programs()).text.split(separator: "\n")
        for name in ["smilepiled@.service", "smilepile-web@.service"] {
            let lines = Set(try system(name).text.split(separator: "\n"))
            for wall in own where wall.hasSuffix("=yes") || wall.hasPrefix("Restrict") && !wall.contains("Namespaces") {
                #expect(lines.contains(wall), "\(wall)")
            }
        }
        #expect(ServiceUnit.system("smilepile.service", programs: "/usr/bin") == nil)
    }

    @Test("A socket says which account's unit serves it")
    func systemSockets() throws {
        let found = try #require(ServiceUnit.system(serving: "/run/smilepile/ada/control.sock"))
        #expect(found.unit == "smilepiled@ada.service" && found.library == "/var/lib/smilepile/ada/library")
        for socket in [
            "/run/smilepile/control.sock", "/run/user/1000/smilepile/control.sock", "/run/smilepile//control.sock",
        ] {
            #expect(ServiceUnit.system(serving: socket) == nil)
        }
    }

    private static let analyze = "/usr/bin/systemd-analyze"

    @Test(
        "systemd rates what the units leave open at 2.5 or below, and knows every word of them",
        .enabled(if: FileManager.default.isExecutableFile(atPath: analyze), "systemd is not installed"),
        arguments: ["smilepiled@.service", "smilepile-web@.service"])
    func exposure(name: String) throws {
        let folder = try TemporaryFolder("units")
        for name in ServiceUnit.systemNames {
            try ServiceUnit.system(name, programs: "/bin")?.text
                .write(toFile: folder.file(name), atomically: true, encoding: .utf8)
        }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: Self.analyze)
        process.arguments = ["security", "--offline=true", "--threshold=25", "--no-pager", folder.file(name)]
        let output = Pipe()
        process.standardOutput = output
        process.standardError = output
        try process.run()
        let said = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        #expect(process.terminationStatus == 0, "\(said.suffix(400))")
        #expect(!said.contains("Unknown") && !said.contains("Failed to parse"), "\(said.suffix(400))")
    }
}
