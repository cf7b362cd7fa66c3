import ServiceMesh
import Testing

@testable import Configuring

@Suite("Changing a configuration's text")
struct ConfigurationTextTests {
    private func set(_ key: ConfigurationKey, _ value: ConfigurationValue, in text: String) throws -> String {
        try ConfigurationText(text).setting(key, to: value)
    }

    @Test("A value is replaced, and every other byte stays")
    func replacing() throws {
        #expect(
            try set(.workers, .number(8), in: "# a\nlibrary = '/ü'  # ü\nworkers=2# two\n\n[web] # w\nhome = true\n")
                == "# a\nlibrary = '/ü'  # ü\nworkers=8# two\n\n[web] # w\nhome = true\n")
        #expect(
            try set(.library, .text("/a \"b\"\\\n"), in: "workers = 1\r\nlibrary = \"/ü\" # x\r\n")
                == "workers = 1\r\nlibrary = \"/a \\\"b\\\"\\\\\\u000A\" # x\r\n")
        #expect(
            try set(.names, .texts(["c"]), in: "[web]\nnames = [\n  \"a\", # one\n  \"b\",\n] # end\nhome = true")
                == "[web]\nnames = [\"c\"] # end\nhome = true")
        #expect(try set(.home, .flag(false), in: "web = { home = true } # x") == "web = { home = false } # x")
        #expect(
            try set(.library, .text("/b"), in: "library = \"\"\"\n/a\"\"\"\nworkers = 1")
                == "library = \"/b\"\nworkers = 1")
    }

    @Test("A key that is not there is put where its like are")
    func inserting() throws {
        #expect(try set(.workers, .number(1), in: "") == "workers = 1\n")
        #expect(try set(.workers, .number(1), in: "# ours") == "# ours\nworkers = 1\n")
        #expect(try set(.home, .flag(true), in: "") == "[web]\nhome = true\n")
        #expect(try set(.home, .flag(true), in: "workers = 1") == "workers = 1\n\n[web]\nhome = true\n")
        #expect(
            try set(.workers, .number(1), in: "# file\n\n# page\n[web]\nhome = true\n")
                == "# file\n\nworkers = 1\n# page\n[web]\nhome = true\n")
        #expect(
            try set(.workers, .number(1), in: "library = \"/a\" # a\n# b\n\n[web]\n")
                == "library = \"/a\" # a\nworkers = 1\n# b\n\n[web]\n")
        #expect(
            try set(.listen, .text(":0"), in: "[ web ] # x\n\n# later\n") == "[ web ] # x\nlisten = \":0\"\n\n# later\n"
        )
        #expect(
            try set(.listen, .text(":0"), in: "web.home = true\n# z\nworkers = 1\n")
                == "web.home = true\nweb.listen = \":0\"\n# z\nworkers = 1\n")
        #expect(try set(.workers, .number(1), in: "library = \"/a\"\r\n") == "library = \"/a\"\r\nworkers = 1\r\n")
        #expect(
            try set(.home, .flag(true), in: "workers = 1\r\nlibrary = \"/a\"").hasSuffix(
                "\"/a\"\r\n\r\n[web]\r\nhome = true\r\n"))
    }

    @Test("What looks like a table inside a value is none")
    func insideValues() throws {
        let text = "library = '''\n/a\n[web]\n'''\nweb.names = [\n\"x\",\n]\n"
        #expect(
            try set(.home, .flag(true), in: text)
                == "library = '''\n/a\n[web]\n'''\nweb.names = [\n\"x\",\n]\nweb.home = true\n")
    }

    @Test("A key is taken out with its line, or only by a person")
    func removing() throws {
        #expect(
            try ConfigurationText("workers = 1 # one\nlibrary = \"/a\"\n").removing(.workers) == "library = \"/a\"\n")
        #expect(
            try ConfigurationText("[web]\nnames = [\n\"a\",\n]\nhome = true").removing(.names) == "[web]\nhome = true")
        #expect(try ConfigurationText("workers = 1").removing(.library) == "workers = 1")
        #expect(throws: MeshError.self) {
            try ConfigurationText("web = { home = true, listen = \":0\" }").removing(.home)
        }
        // In one line nothing can be added behind it.
        #expect(throws: MeshError.self) { try set(.listen, .text(":0"), in: "web = { home = true }") }
        #expect(throws: MeshError.self) { try ConfigurationText("workers = ") }
    }
}
