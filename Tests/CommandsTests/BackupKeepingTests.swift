import LibraryModel
import ServiceMesh
import Testing

@Suite("Backups by themselves on the command line")
struct BackupKeepingCommandTests {
    private static let schedule = BackupSchedule(
        folder: "/media/stick", everyHours: 168, keep: 4, hasPassphrase: false,
        nextAt: Timestamp(milliseconds: 1_750_000_000_000), problem: "/media/stick is not there.")

    private func backup(
        _ day: Int, verified: Bool = true, whole: Bool = true, presence: KnownBackup.Presence = .there
    ) -> KnownBackup {
        KnownBackup(
            path: "/media/stick/SmilePileBackup_2025-06-0\(day)_100000.zip",
            madeAt: Timestamp(milliseconds: 1_748_736_000_000 + Int64(day) * 86_400_000),
            verifiedAt: verified ? Timestamp(milliseconds: 0) : nil, photos: 5_000, bytes: 501_000_000, damaged: 0,
            isWhole: whole, presence: presence)
    }

    @Test("A schedule is sent in hours, and shown with why it is late")
    func schedule() async throws {
        let stage = Stage(environment: ["TZ": "UTC"])
        try stage.answer("backup.schedule", ScheduledBackups(schedule: Self.schedule))
        #expect(await stage.run("backup", "schedule", "stick/", "--every", "1d12h", "--keep", "9") == .done)
        #expect(
            stage.params("backup.schedule") == ["folder": "/home/ada/stick", "everyHours": 36, "keep": 9])
        #expect(stage.results.contains(#/Every +7 days\n/#))
        #expect(stage.results.contains(#/Late because +/media/stick is not there\.\n/#))
        try stage.answer("backup.list", BackupList(backups: [], schedule: nil))
        #expect(await stage.run("backup", "schedule") == .done)
        #expect(stage.messages.contains("No backups are made by themselves."))
    }

    @Test(
        "What cannot be meant is said before anything is sent",
        arguments: [
            ["/a", "--every", "90m"], ["/a", "--every", "7"], ["/a", "--every", "-1d"], ["/a", "--every", "400d"],
            ["/a", "--keep", "0"], ["--every", "7d"], ["/a", "--off"], ["--off", "--keep", "3"],
        ])
    func refused(_ arguments: [String]) async throws {
        let stage = Stage()
        #expect(await stage.program.run(["backup", "schedule"] + arguments) == .usage)
        #expect(stage.methods.isEmpty)
    }

    @Test("The list says of each what has become of it, within 80 columns")
    func list() async throws {
        let stage = Stage(terminalColumns: 80, environment: ["TZ": "UTC", "NO_COLOR": "1"])
        let all = [
            backup(5), backup(4, whole: false), backup(3, verified: false), backup(2, presence: .outOfReach),
            backup(1, presence: .gone),
        ]
        try stage.answer("backup.list", BackupList(backups: all))
        #expect(await stage.run("backup", "list") == .done)
        let lines = stage.results.split(separator: "\n")
        #expect(lines.allSatisfy { $0.count <= 80 })
        for (line, state) in zip(lines.dropFirst(), ["verified", "a part", "damaged", "not plugged in", "gone"]) {
            #expect(line.contains(state))
        }
    }

    @Test("Nothing is removed before a person has seen what goes, or said --yes")
    func prune() async throws {
        let pruned = PrunedBackups(folder: "/media/stick", removed: [backup(1), backup(2)], kept: 4)
        let cautious = Stage(personSays: "n")
        try cautious.answer("backup.prune", pruned)
        #expect(await cautious.run("backup", "prune") == .failed)
        #expect(cautious.allParams("backup.prune") == [["dryRun": true]])
        #expect(cautious.messages.contains("/media/stick/SmilePileBackup_2025-06-01_100000.zip"))
        let sure = Stage()
        try sure.answer("backup.prune", pruned)
        #expect(await sure.run("backup", "prune", "/media/stick", "--keep", "4", "--yes") == .done)
        #expect(sure.allParams("backup.prune") == [["folder": "/media/stick", "keep": 4]])
        #expect(sure.results.hasSuffix("4 verified backups are in /media/stick.\n"))
    }
}
