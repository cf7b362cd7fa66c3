import LibraryModel
import ServiceMesh
import Testing

@Suite("Settings on the command line")
struct SettingsTests {
    private func stage(_ settings: Settings = Settings()) throws -> Stage {
        let stage = Stage(environment: ["TZ": "UTC"])
        try stage.answer("settings.get", settings)
        try stage.answer("settings.set", settings)
        return stage
    }

    @Test("The list shows every setting with its value; what is not set is none")
    func list() async throws {
        let stage = try stage(Settings(swipeThreshold: 0.25, currentAppMode: .kids))
        #expect(await stage.run("settings") == .done)
        let lines = stage.results.split(separator: "\n").map(String.init)
        for key in SettingKey.allCases {
            #expect(lines.contains { $0.hasPrefix(key.rawValue + " ") } && lines.contains("    " + key.meaning))
        }
        #expect(lines.allSatisfy { $0.count <= 80 })
        #expect(stage.results.contains(#/swipeThreshold +0\.25\n +How far/#))
        #expect(stage.results.contains(#/currentAppMode +kids\n/#))
        #expect(stage.results.contains(#/lastBackupDate +none\n/#))
    }

    @Test("One value alone, for a script")
    func get() async throws {
        let plain = try stage()
        #expect(await plain.run("settings", "get", "keepOriginals") == .done)
        #expect(plain.results == "true\n")
        let json = try stage()
        #expect(await json.run("settings", "get", "lastSyncDate", "--json") == .done)
        #expect(try json.json() == ["lastSyncDate": .null])
    }

    @Test("A value is sent under its setting's name, with its type")
    func set() async throws {
        let stage = try stage(Settings(swipeThreshold: 0.4))
        #expect(await stage.run("settings", "set", "swipeThreshold", "0.4") == .done)
        #expect(stage.params("settings.set") == ["swipeThreshold": .number(0.4)])
        #expect(stage.results == "swipeThreshold is 0.4 now.\n")
        #expect(await stage.run("settings", "set", "keepOriginals", "off") == .done)
        #expect(stage.params("settings.set") == ["keepOriginals": false])
    }

    @Test(
        "What is wrong is said before anything is sent",
        arguments: [
            ("swipeThreshold", "2", "swipeThreshold is a number from 0.05 to 1."),
            ("keepOriginals", "perhaps", "keepOriginals is true or false."),
            ("lastBackupDate", "2025-06-15", "lastBackupDate is set by backups."),
            ("currentAppMode", "kids", "currentAppMode is set by smilepile mode."),
            ("keepOriginal", "true", "Did you mean 'keepOriginals'?"),
        ])
    func refused(key: String, value: String, sentence: String) async throws {
        let stage = try stage()
        #expect(await stage.run("settings", "set", key, value) == .usage)
        #expect(stage.messages.contains(sentence))
        #expect(stage.methods.isEmpty)
    }

    @Test("Help names every setting with its range, within 80 columns")
    func help() async throws {
        for (verb, keys) in [("list", SettingKey.allCases), ("get", SettingKey.allCases), ("set", SettingKey.settable)]
        {
            let stage = Stage()
            #expect(await stage.run("settings", verb, "--help") == .done)
            for key in keys {
                #expect(stage.results.contains("  \(key.rawValue): \(key.values.range)"))
                #expect(stage.results.contains("      \(key.meaning)\n"))
            }
            let long = stage.results.split(separator: "\n").filter { $0.count > 80 }
            #expect(long.isEmpty)
        }
    }
}
