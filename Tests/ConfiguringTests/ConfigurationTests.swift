import Foundation
import ServiceMesh
import TestSupport
import Testing

@testable import Configuring

@Suite("What a configuration says")
struct ConfigurationTests {
    private func read(_ text: String) throws -> Configuration { try Configuration(text, path: "/c/config.toml") }

    private func message(_ text: String) -> String {
        do {
            _ = try read(text)
            return "nothing is wrong"
        } catch {
            return MeshError(describing: error).message
        }
    }

    @Test("Every key is read, with its line, wherever TOML lets it stand")
    func keys() throws {
        let configuration = try read(
            """
            # ours
            library = "/srv/ü \\"photos\\"" # here
            socket = '/run/x.sock'
            workers = 3
            log-level = "error"
            [web]
            home = true
            listen = "[::1]:8470"
            tls-cert = "~/a.pem"
            tls-key = "~/a.key"
            insecure-http = false
            names = [
              "photos.lan",
              "b", # another
            ]
            access-log = "/var/log/x"
            """)
        #expect(configuration.entries.count == ConfigurationKey.allCases.count)
        #expect(configuration.entries[.library] == .init(value: .text("/srv/ü \"photos\""), line: 2))
        #expect(configuration.entries[.accessLog]?.line == 16)
        #expect(configuration.names == ["photos.lan", "b"])
        #expect(configuration.flag(.home) && !configuration.flag(.insecureHTTP))
        let dotted = try read("web.home = true\nweb.listen = \":0\"\n")
        #expect(dotted.flag(.home) && dotted.entries[.listen]?.line == 2)
        #expect(try read("web = { home = true }").flag(.home))
        #expect(
            try read("[web]\n").entries.isEmpty && read("").entries.isEmpty
                && read("\u{FEFF}workers=1").entries.count == 1)
    }

    @Test(
        "What is wrong is said with the file, the line, the key and what is allowed",
        arguments: [
            ("workers = 2\nlibary = \"/a\"", "line 2: there is no key 'libary'. The keys are library, socket"),
            ("[wbe]", "line 1: there is no key 'wbe'."), ("[web]\nport = 1", "line 2: there is no key 'web.port'."),
            ("\"web.home\" = true", "there is no key '\"web.home\"'"), ("web = 1", "there is no key 'web'"),
            ("workers = \"2\"", "workers takes a whole number from 1 to 64, and not \"2\"."),
            ("workers = 0", "and not 0."), ("workers = 1.5", "and not a number with a fraction."),
            ("library = \"photos\"", "library takes an absolute path"),
            ("library = \"\"", "library takes an absolute path"),
            ("library = \"/a\\u0000b\"", "library takes an absolute path"), ("library = 1979-05-27", "and not a date."),
            ("log-level = \"loud\"", "one of \"error\", \"warning\", \"info\", and not \"loud\"."),
            ("web.home = \"yes\"", "web.home takes true or false"),
            ("web.names = [1]", "web.names takes a list of names"),
            ("web.names = [\"\"]", "web.names takes a list of names"),
            ("web.listen = \"localhost:80\"", "an address in digits"),
            ("web.listen = \"1.2.3.4:99999\"", "an address in digits"),
            ("\n\nlibrary = ", "line 3: this is not TOML: "),
            ("workers = 1\nworkers = 2", "line 2: this is not TOML: "),
            ("a = " + String(repeating: "[", count: 5_000), "maximum nested value depth"),
        ])
    func faults(_ text: String, _ part: String) {
        let said = message(text)
        #expect(said.hasPrefix("/c/config.toml, line ") && said.contains(part), "\(said)")
        #expect(said.hasSuffix("Put it right: smilepile config edit"))
    }

    @Test("The command line stands above a variable, and that above the file")
    func precedence() throws {
        let configuration = try read("library = \"~/Photos\"\nworkers = 2\n")
        let home = ["HOME": "/home/ada", "SMILEPILE_LIBRARY": ""]
        #expect(try configuration.text(.library, environment: home) == "/home/ada/Photos")
        let variable = home.merging(["SMILEPILE_LIBRARY": "near", "SMILEPILE_WORKERS": "5"]) { $1 }
        #expect(try configuration.text(.library, environment: variable) == "near")
        #expect(try configuration.setting(.workers, environment: variable)?.source == .variable("SMILEPILE_WORKERS"))
        #expect(try configuration.text(.workers, option: "7", environment: variable) == "7")
        #expect(
            try configuration.setting(.workers, environment: home)?.source == .file(path: "/c/config.toml", line: 2))
        #expect(try configuration.setting(.socket, environment: home) == nil)
        let wrong = #expect(throws: MeshError.self) {
            try configuration.setting(.workers, environment: ["SMILEPILE_WORKERS": "many"])
        }
        #expect(wrong?.message == "SMILEPILE_WORKERS takes a whole number from 1 to 64, and not 'many'.")
    }
}

@Suite("The configuration's file")
struct ConfigurationFileTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder("configuration") }

    private func file(_ text: String, mode: Int = 0o600, user: uid_t = geteuid()) throws -> ConfigurationFile {
        let path = folder.file("config.toml")
        try Data(text.utf8).write(to: URL(fileURLWithPath: path))
        #expect(chmod(path, mode_t(mode)) == 0)
        return ConfigurationFile(path: path, user: user)
    }

    private func refusal(_ file: ConfigurationFile) -> String? {
        #expect(throws: MeshError.self) { try file.read() }?.message
    }

    @Test("It is in the service's folder, else in XDG_CONFIG_HOME, else in ~/.config")
    func place() {
        func path(_ environment: [String: String]) -> String? { ConfigurationFile.usual(environment)?.path }
        #expect(path(["HOME": "/h"]) == "/h/.config/smilepile/config.toml")
        #expect(path(["HOME": "/h", "XDG_CONFIG_HOME": "/c"]) == "/c/smilepile/config.toml")
        #expect(path(["HOME": "/h", "XDG_CONFIG_HOME": "c"]) == "/h/.config/smilepile/config.toml")
        #expect(
            path(["CONFIGURATION_DIRECTORY": "/etc/smilepile/ada:/x", "HOME": "/h"]) == "/etc/smilepile/ada/config.toml"
        )
        #expect(path([:]) == nil)
    }

    @Test("One that is not there says nothing")
    func absent() throws {
        let none = try ConfigurationFile(path: folder.file("no/config.toml")).read()
        #expect(none.entries.isEmpty && none.path == nil)
    }

    @Test("What others can change, or have made, is refused with what puts it right", arguments: [0o620, 0o602, 0o666])
    func mode(_ mode: Int) throws {
        let file = try file("workers = 2", mode: mode)
        #expect(refusal(file)?.contains("chmod go-w '\(file.path)'") == true)
        #expect(throws: MeshError.self) { try file.replace { _ in "workers = 3" } }
    }

    @Test("One of another user is refused; one of root's is used")
    func owner() throws {
        let file = try file("workers = 2", user: geteuid() == 0 ? 1_234 : geteuid() + 1)
        if geteuid() == 0 {
            #expect(try file.read().entries[.workers]?.line == 1)
            #expect(chown(file.path, 4_321, 4_321) == 0)
        }
        #expect(refusal(file)?.contains("belongs to another user") == true)
    }

    @Test("What is no file, no UTF-8 or longer than 64 KiB is refused")
    func contents() throws {
        let long = try file(String(repeating: "#\n", count: 40_000))
        #expect(refusal(long)?.contains("has more than 64 KiB") == true)
        // Of 100 MB, of which nothing is read.
        #expect(truncate(long.path, 100 << 20) == 0)
        #expect(refusal(long)?.contains("has more than 64 KiB") == true)
        try Data([0x61, 0xFF]).write(to: URL(fileURLWithPath: long.path))
        #expect(refusal(long)?.contains("is not UTF-8") == true)
        let pipe = folder.file("pipe")
        #expect(mkfifo(pipe, 0o600) == 0)
        #expect(refusal(ConfigurationFile(path: pipe))?.contains("is no file") == true)
        #expect(refusal(ConfigurationFile(path: "/dev/zero"))?.contains("is no file") == true)
    }

    @Test("A text takes its place only where it can be used, with the file's mode; what a link leads to is replaced")
    func replacing() throws {
        let file = try file("workers = 2\n", mode: 0o644)
        let link = ConfigurationFile(path: folder.file("link.toml"))
        #expect(symlink(file.path, link.path) == 0)
        #expect(try link.replace { $0 + "log-level = \"error\"\n" })
        #expect(try !link.replace { $0 })
        #expect(try file.text() == "workers = 2\nlog-level = \"error\"\n")
        var status = stat()
        #expect(lstat(link.path, &status) == 0 && status.st_mode & S_IFMT == S_IFLNK)
        #expect(stat(file.path, &status) == 0 && status.st_mode & 0o777 == 0o644)
        #expect(throws: MeshError.self) { try file.replace { _ in "workers = 200" } }
        #expect(throws: MeshError.self) { try file.replace { _ in String(repeating: "#", count: 70_000) } }
        #expect(try file.read().entries.count == 2)
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() == ["config.toml", "link.toml"])
        let new = ConfigurationFile(path: folder.file("a/b/config.toml"))
        #expect(try new.replace { $0 + "workers = 1\n" } && new.read().entries.count == 1)
        #expect(stat(new.path, &status) == 0 && status.st_mode & 0o777 == 0o600)
    }

    @Test("Changes at once are all there")
    func concurrently() async throws {
        let file = try file("")
        let keys: [(ConfigurationKey, ConfigurationValue)] = [
            (.workers, .number(4)), (.library, .text("/l")), (.home, .flag(true)), (.names, .texts(["a"])),
            (.logLevel, .text("error")), (.accessLog, .text("/x")),
        ]
        DispatchQueue.concurrentPerform(iterations: keys.count) { index in
            _ = try? file.replace { try ConfigurationText($0).setting(keys[index].0, to: keys[index].1) }
        }
        #expect(try file.read().entries.count == keys.count)
    }
}
