import Foundation
import LibraryModel
import LibraryTestSupport
import ServiceMesh
import SmilePile
import TestSupport
import Testing

/// What can be set, what it is called, and where it goes.
@Suite(.timeLimit(.minutes(2))) struct SettingsTests {
    private static let everyone = Settings(
        lastBackupDate: Timestamp(milliseconds: 1), lastSyncDate: Timestamp(milliseconds: 2))

    private static let changed = ChangeSettings(
        swipeThreshold: 0.75, enableHapticFeedback: false, autoProcessActions: true, storageCleanupEnabled: false,
        keepOriginals: false, groupPhotoMegabytes: 20.5, biometricAuthEnabled: true)

    /// Of the settings that a person sets, by name.
    private func settable(_ settings: Settings) throws -> [String: JSONValue] {
        let all = try JSONDecoder().decode([String: JSONValue].self, from: JSONEncoder().encode(settings))
        return all.filter { SettingKey(rawValue: $0.key)?.setBy == nil }
    }

    @Test func theTableHasEverySettingAndNothingElse() throws {
        let members = try JSONDecoder().decode([String: JSONValue].self, from: JSONEncoder().encode(Self.everyone))
        #expect(Set(members.keys) == Set(SettingKey.allCases.map(\.rawValue)))
        let change = try JSONDecoder().decode([String: JSONValue].self, from: JSONEncoder().encode(Self.changed))
        #expect(Set(change.keys) == Set(SettingKey.settable.map(\.rawValue)))
        for key in SettingKey.allCases {
            #expect(key.meaning.hasSuffix("."))
            switch (key.values, members[key.rawValue]) {
            case (.flag, .bool?), (.number, .number?), (.number, .integer?), (.date, .string?): break
            case (.words(let words), .string(let word)?): #expect(words.contains(word))
            default: Issue.record("\(key) is not \(key.values.range)")
            }
        }
    }

    @Test func theDocumentationSaysWhatTheTableSays() throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let text = try String(
            contentsOf: root.appendingPathComponent("Sources/LibraryModel/LibraryModel.docc/LibrarySettings.md"),
            encoding: .utf8)
        let rows = text.split(separator: "\n").filter { $0.hasPrefix("| `") }.map(String.init)
        #expect(
            rows
                == SettingKey.allCases.map {
                    "| `\($0.rawValue)` | \($0.values.range) | \($0.setBy ?? "a person") | \($0.meaning) |"
                })
    }

    @Test func whatIsSetStaysSetAndTheRestStays() async throws {
        let folder = try TemporaryFolder("settings")
        let first = try await PhotoLibrary.open(at: folder.path)
        let fresh = try await first.mesh.send(GetSettings())
        #expect(fresh == Settings(defaultCategoriesInitialized: true))
        let all = try await first.mesh.send(Self.changed)
        #expect(
            try settable(all)
                == settable(
                    Settings(
                        swipeThreshold: 0.75, enableHapticFeedback: false, autoProcessActions: true,
                        storageCleanupEnabled: false,
                        keepOriginals: false, groupPhotoMegabytes: 20.5, biometricAuthEnabled: true)))
        let one = try await first.mesh.send(ChangeSettings(keepOriginals: true))
        #expect(one.keepOriginals && one.swipeThreshold == 0.75 && one.biometricAuthEnabled)
        await first.close()
        let second = try await PhotoLibrary.open(at: folder.path)
        #expect(try await second.mesh.send(GetSettings()) == one)
        await second.close()
    }

    @Test(arguments: [-0.01, 0.04, 1.01, .infinity, -.infinity, .nan])
    func aThresholdOutOfItsRangeChangesNothing(_ threshold: Double) async throws {
        let test = try await TestLibrary("settings")
        let before = try await test.mesh.send(GetSettings())
        let refused = await status {
            _ = try await test.mesh.send(ChangeSettings(swipeThreshold: threshold, keepOriginals: false))
        }
        #expect(refused == .invalidArgument)
        #expect(try await test.mesh.send(GetSettings()) == before)
        await test.library.close()
    }

    @Test(arguments: SettingKey.allCases)
    func whatIsTypedIsTakenOrExplained(_ key: SettingKey) throws {
        if key.setBy != nil {
            #expect(throws: MeshError.self) { try key.value(typed: "true") }
            return
        }
        switch key.values {
        case .flag:
            #expect(try ["true", "ON", "yes"].map(key.value(typed:)) == [true, true, true])
            #expect(try ["false", "off", "No"].map(key.value(typed:)) == [false, false, false])
        case .number(let range):
            for number in [range.lowerBound, range.lowerBound + 0.5, range.upperBound] {
                #expect(try key.value(typed: String(number)) == .number(number))
            }
        case .words(let words): #expect(try words.map(key.value(typed:)) == words.map(JSONValue.string))
        case .date: Issue.record("nobody types a date here")
        }
        for text in ["", "2", "-1", "nan", "maybe", "\u{0}"] {
            #expect(throws: MeshError.self) { try key.value(typed: text) }
        }
    }

    /// The date of the last backup is the backup's own doing: a restore of an older one does not set it back.
    @Test func backupsHoldSettingsAndARestoreBringsThemBack() async throws {
        let test = try await TestLibrary("settings")
        let mesh = test.mesh
        let saved = try await mesh.send(Self.changed)
        // A library that was not used yet would become the backup, with its settings.
        _ = try await mesh.send(AddCategory(displayName: "Used"))
        let path = test.folder.file("settings.zip")
        #expect(try await test.run(CreateBackup(path: path)).state == .finished)
        let date = try #require(try await mesh.send(GetSettings()).lastBackupDate)
        _ = try await mesh.send(
            ChangeSettings(swipeThreshold: 0.1, enableHapticFeedback: true, biometricAuthEnabled: false))
        #expect(try await test.run(RestoreBackup(path: path, mode: .merge)).state == .finished)
        #expect(try await mesh.send(GetSettings()).swipeThreshold == 0.1)
        #expect(try await test.run(RestoreBackup(path: path, mode: .replace)).state == .finished)
        let restored = try await mesh.send(GetSettings())
        #expect(try settable(restored) == settable(saved))
        #expect(restored.lastBackupDate == date)
        await test.library.close()
    }

    @Test func anObserverGetsThemAsTheyAreAndThenEachChange() async throws {
        let test = try await TestLibrary("settings")
        let settings = Watched.follow(ObserveSettings(), on: test.mesh)
        await settings.becomes(try await test.mesh.send(GetSettings()))
        await settings.becomes(try await test.mesh.send(Self.changed))
        await test.library.close()
    }
}
