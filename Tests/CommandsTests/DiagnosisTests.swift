import Foundation
import LibraryModel
import ServiceMesh
import Supervision
import TestSupport
import Testing

@testable import CommandLineInterface
@testable import Diagnosis

/// What each check makes of each fact.
@Suite("What the doctor finds")
struct DiagnosisTests {
    private let user: UInt32 = 1000

    private func name(_ finding: Finding?) -> String? { finding.map { "\($0.id) \($0.severity.rawValue)" } }

    private func names(_ findings: [Finding]) -> [String] { findings.compactMap(name) }

    @Test("A library's folder is its owner's alone")
    func libraryFolder() {
        func found(
            _ kind: FileFacts.Kind, _ owner: UInt32 = 1000, _ mode: UInt32 = 0o700, isServed: Bool = true,
            isEmpty: Bool = false
        )
            -> Finding
        {
            PermissionChecks.library(
                FileFacts(path: "/srv/our photos", kind: kind, owner: owner, mode: mode), user: user,
                isServed: isServed, isEmpty: isEmpty)
        }
        #expect(name(found(.folder)) == "library-mode ok")
        #expect(name(found(.folder, 0)) == "library-owner problem")
        #expect(name(found(.nothing)) == "library-folder problem")
        #expect(name(found(.nothing, isServed: false)) == "library-folder advice")
        #expect(name(found(.file)) == "library-folder problem")
        #expect(name(found(.folder, isEmpty: true)) == "library-folder problem")
        #expect(name(found(.folder, isServed: false, isEmpty: true)) == "library-folder warning")
        let open = found(.folder, 1000, 0o755)
        #expect(name(open) == "library-mode warning" && open.what.contains("755"))
        #expect(open.command == "chmod 700 '/srv/our photos'")
        #expect(open.repair == .mode(path: "/srv/our photos", 0o700))
    }

    @Test("A socket is its owner's alone, and nobody can exchange it")
    func socket() {
        func found(
            _ kind: FileFacts.Kind = .socket, _ owner: UInt32 = 1000, _ mode: UInt32 = 0o600,
            folder: (owner: UInt32, mode: UInt32) = (1000, 0o700)
        ) -> [String] {
            names(
                PermissionChecks.socket(
                    FileFacts(path: "/run/s/control.sock", kind: kind, owner: owner, mode: mode),
                    folder: FileFacts(path: "/run/s", kind: .folder, owner: folder.owner, mode: folder.mode), user: user
                )
            )
        }
        #expect(found() == ["socket-mode ok", "socket-folder ok"])
        #expect(found(.nothing) == ["socket-folder ok"])
        #expect(found(.socket, 1000, 0o666).first == "socket-mode warning")
        #expect(found(.socket, 1001).first == "socket-owner problem")
        // A system service's, which root has opened for those who may.
        #expect(found(.socket, 0, 0o660, folder: (0, 0o755)) == ["socket-mode ok", "socket-folder ok"])
        #expect(found(.file).first == "socket-taken problem")
        #expect(found(folder: (1000, 0o777)).last == "socket-folder problem")
        #expect(found(folder: (1001, 0o700)).last == "socket-folder problem")
        #expect(found(folder: (0, 0o1777)).last == "socket-folder ok")
    }

    @Test("A key file is as the daemon takes it")
    func keyFile() {
        func found(
            _ kind: FileFacts.Kind = .file, _ owner: UInt32 = 1000, _ mode: UInt32 = 0o600, links: Int = 1,
            bytes: Int64 = 81, isCredential: Bool = false
        ) -> String? {
            name(
                PermissionChecks.keyFile(
                    FileFacts(path: "/home/ada/key", kind: kind, owner: owner, mode: mode, links: links, bytes: bytes),
                    user: user, bytes: 81, isCredential: isCredential))
        }
        #expect(found() == "key-file ok")
        #expect(found(.nothing) == nil)
        #expect(found(.link) == "key-file-kind problem" && found(.folder) == "key-file-kind problem")
        #expect(found(.file, 0) == "key-file-owner problem" && found(.file, 0, isCredential: true) == "key-file ok")
        #expect(found(.file, 1000, 0o644) == "key-file-mode problem")
        #expect(found(.file, 1000, 0o440, isCredential: true) == "key-file ok")
        #expect(found(links: 2) == "key-file-names problem")
        #expect(found(bytes: 80) == "key-file-contents problem")
    }

    @Test("A key beside its lock is none, and neither is one that others can exchange")
    func keyPlace() {
        func folder(_ mode: UInt32, owner: UInt32 = 1000) -> Finding? {
            PermissionChecks.keyFolder(FileFacts(path: "/k", kind: .folder, owner: owner, mode: mode), user: user)
        }
        #expect(folder(0o755) == nil && folder(0o1777) == nil)
        #expect(folder(0o777)?.repair == .mode(path: "/k", 0o755))
        #expect(folder(0o777, owner: 0)?.severity == .warning && folder(0o777, owner: 0)?.repair == nil)
        #expect(PermissionChecks.keyPlace(file: "/srv/photos/key", library: "/srv/photos")?.severity == .problem)
        #expect(PermissionChecks.keyPlace(file: "/srv/photos-key", library: "/srv/photos") == nil)
    }

    @Test("Keys that do not open, and keys that nothing but one file opens")
    func keys() {
        func found(_ state: KeyState, exported: Bool = false, values: Int = 0, foreign: Int = 0, fault: Bool = false)
            -> [String]
        {
            let moment = Timestamp(milliseconds: 0)
            let keys =
                state == .unused
                ? []
                : [
                    KeySummary(
                        id: "ab", isActive: true, createdAt: moment, values: values, exportedAt: exported ? moment : nil
                    )
                ]
            return names(
                KeyChecks.findings(
                    KeyStatus(
                        state: state, keyFile: "/k", problem: nil, keys: keys, values: values, photos: 0,
                        foreignValues: foreign), isFileFaulty: fault))
        }
        #expect(found(.unused) == ["keys ok"])
        #expect(found(.ready, exported: true, values: 3) == ["keys ok", "key-copy ok"])
        #expect(found(.ready, values: 3) == ["keys ok", "key-copy warning"])
        #expect(found(.ready) == ["keys ok", "key-copy advice"])
        #expect(found(.locked) == ["keys problem"] && found(.locked, fault: true) == [])
        #expect(found(.unused, foreign: 2) == ["keys ok", "keys-foreign advice"])
    }

    @Test("What a check of all files has found")
    func files() {
        func found(_ findings: [StorageFinding: Int], bytes: Int64 = 0) -> [Finding] {
            let counts = Dictionary(uniqueKeysWithValues: findings.map { ($0.key.rawValue, $0.value) })
            return LibraryChecks.findings(
                RescanReceipt(photos: 9, bytes: bytes, findings: counts, ending: .complete))
        }
        #expect(names(found([:])) == ["files ok", "thumbnails ok"])
        #expect(found([:], bytes: 12_345).first?.what == "9 photos are whole, to the last byte (12.3 KB).")
        let lost = found([.missing: 1, .damaged: 2, .unreadable: 1])[0]
        #expect(lost.severity == .problem && lost.what.contains("1 missing, 3 damaged, of 9 photos"))
        #expect(names(found([.withoutFile: 1])) == ["files ok", "photos-without-file advice", "thumbnails ok"])
        #expect(found([.noThumbnail: 4])[1].repair == .thumbnails)
        #expect(names(found([.unknown: 1])).last == "unknown-files advice")
    }

    @Test("What the daemon says of its library")
    func status() {
        func found(
            cell: ImageWorkerCell? = nil, problems: [String]? = nil, rows: [UnreadableEntry]? = nil, lost: Int? = nil
        )
            -> [String]
        {
            let workers = ImageWorkerStatus(
                started: 0, crashed: 0, timedOut: 0, pids: [], peakMemoryBytes: 0, cell: cell)
            return names(
                LibraryChecks.findings(
                    LibraryStatus(
                        version: "", pid: 1, path: "/l", photos: 1, favorites: 0, categories: 0, trashed: 0,
                        photoBytes: 0, photosWithoutOriginal: 0, freeBytes: 0, lastBackupDate: nil,
                        imageWorkers: workers, peakMemoryBytes: 0, catalogueProblems: problems, lostLogLines: lost,
                        unreadable: rows)))
        }
        func cell(seccomp: Bool, missing: [String]) -> ImageWorkerCell {
            ImageWorkerCell(
                seccomp: seccomp, landlock: nil, noNewPrivileges: true, ownMemoryBytes: 1, processorSeconds: 1,
                descriptors: 1, fileBytes: 1, processes: 0, missing: missing)
        }
        #expect(found() == ["catalogue ok"])
        #expect(found(problems: ["A page is torn."]) == ["catalogue problem"])
        let row = UnreadableEntry(kind: "photo", id: "12", problem: "no date")
        #expect(found(rows: [row]) == ["catalogue ok", "catalogue-rows problem"])
        #expect(found(lost: 3) == ["catalogue ok", "log warning"])
        #expect(found(cell: cell(seccomp: true, missing: [])).last == "worker-cell ok")
        #expect(found(cell: cell(seccomp: true, missing: ["landlock"])).last == "worker-cell advice")
        #expect(found(cell: cell(seccomp: false, missing: ["seccomp"])).last == "worker-cell warning")
    }

    @Test("Watched folders, and what keeps one from being looked at")
    func watched() {
        func folder(_ state: WatchedFolder.State, _ problem: String? = nil) -> WatchedFolder {
            WatchedFolder(
                path: "/p", categoryId: nil, addedAt: Timestamp(milliseconds: 0), state: state, job: nil,
                problem: problem)
        }
        func found(_ folders: WatchedFolder...) -> [String] { names(LibraryChecks.watched(folders)) }
        #expect(found() == [])
        #expect(found(folder(.watching), folder(.polling)) == ["watched-folder ok"])
        #expect(found(folder(.watching), folder(.missing)) == ["watched-folder advice"])
        #expect(found(folder(.watching, "It may not be read.")) == ["watched-folder warning"])
    }

    // MARK: Backups

    private let day: Int64 = 86_400_000

    private func backup(
        _ path: String, daysAgo: Int64, verified: Bool = true, whole: Bool = true,
        _ presence: KnownBackup.Presence = .there
    ) -> KnownBackup {
        let madeAt = Timestamp(milliseconds: 1_000 * day - daysAgo * day)
        return KnownBackup(
            path: path, madeAt: madeAt, verifiedAt: verified ? madeAt : nil, photos: 1, bytes: 1, damaged: 0,
            isWhole: whole, presence: presence)
    }

    private func backups(
        _ known: [KnownBackup], newest: KnownBackup?, photos: Int = 3, problem: String? = nil, scheduled: Bool = true
    ) -> [String] {
        let now = Timestamp(milliseconds: 1_000 * day)
        let status = LibraryStatus(
            version: "", pid: 1, path: "/l", photos: photos, favorites: 0, categories: 0, trashed: 0, photoBytes: 0,
            photosWithoutOriginal: 0, freeBytes: 0, lastBackupDate: nil,
            newestBackup: newest.map {
                NewestBackup(
                    path: $0.path, madeAt: $0.madeAt, verifiedAt: $0.madeAt,
                    ageSeconds: (now.milliseconds - $0.madeAt.milliseconds) / 1000)
            },
            imageWorkers: .init(started: 0, crashed: 0, timedOut: 0, pids: [], peakMemoryBytes: 0), peakMemoryBytes: 0)
        let schedule = BackupSchedule(
            folder: "/b", everyHours: 1, keep: 1, hasPassphrase: false, nextAt: now, problem: problem)
        func folder(_ path: String, _ isOnDisk: Bool?) -> BackupFolder {
            BackupFolder(path: path, kind: .earlier, isWritable: true, freeBytes: nil, isOnLibraryDisk: isOnDisk)
        }
        return names(
            BackupChecks.findings(
                status, BackupList(backups: known, schedule: scheduled ? schedule : nil),
                folders: [folder("/b", true), folder("/b/stick", false), folder("/far", nil)]))
    }

    @Test("A backup is young, proven, whole and elsewhere")
    func backupFindings() {
        let here = backup("/b/snapshots/a.json", daysAgo: 1)
        let stick = backup("/b/stick/a.zip", daysAgo: 20)
        let ok = ["backup-age ok", "backup-place ok", "backup-schedule ok"]
        #expect(backups([], newest: nil, photos: 0) == [])
        #expect(backups([], newest: nil) == ["backup-none warning", "backup-schedule ok"])
        #expect(backups([stick], newest: stick) == ok)
        #expect(backups([here, stick], newest: here) == ok)
        #expect(backups([here], newest: here)[1] == "backup-place warning")
        // What is not there, too old or unproven does not count beside it.
        for other in [
            backup("/b/stick/b.zip", daysAgo: 60), backup("/b/stick/b.zip", daysAgo: 2, verified: false),
            backup("/b/stick/b.zip", daysAgo: 2, .gone), backup("/b/stick/b.zip", daysAgo: 2, whole: false),
        ] { #expect(backups([here, other], newest: here)[1] == "backup-place warning", "\(other)") }
        let away = backup("/media/stick/c.zip", daysAgo: 2, .outOfReach)
        #expect(backups([here, away], newest: here) == ok)
        let old = backup("/b/stick/a.zip", daysAgo: 31)
        #expect(backups([old], newest: old) == ["backup-age warning"] + ok.dropFirst())
        #expect(
            backups([backup("/b/a.zip", daysAgo: 30)], newest: backup("/b/a.zip", daysAgo: 30))[0] == "backup-age ok")
        #expect(backups([backup("/b/a.zip", daysAgo: 1, .gone)], newest: nil)[0] == "backup-proven problem")
        #expect(backups([backup("/b/a.zip", daysAgo: 1, whole: false)], newest: nil)[0] == "backup-none warning")
        #expect(backups([stick], newest: stick, problem: "It is not there.").last == "backup-schedule warning")
        #expect(backups([stick], newest: stick, scheduled: false).last == "backup-schedule advice")
    }

    // MARK: The machine and the programs

    @Test("Room, file system and clock")
    func machine() {
        func disk(_ free: Int64, of total: Int64 = 1 << 40, _ kind: Int? = 0xef53) -> DiskFacts {
            DiskFacts(path: "/l", kind: kind, freeBytes: free, totalBytes: total)
        }
        #expect(name(MachineChecks.space(disk(1 << 39))) == "free-space ok")
        #expect(name(MachineChecks.space(disk((1 << 30) - 1, of: 1 << 31))) == "free-space warning")
        #expect(name(MachineChecks.space(disk(1 << 35))) == "free-space warning")
        #expect(name(MachineChecks.space(disk(1 << 30, of: 1 << 31))) == "free-space ok")
        #expect(name(MachineChecks.fileSystem(disk(1))) == "file-system ok")
        #expect(name(MachineChecks.fileSystem(disk(1, of: 1, nil))) == "file-system ok")
        for kind in [0x4d44, 0x2011_bab0, 0x6969, 0xff53_4d42] {
            #expect(name(MachineChecks.fileSystem(disk(1, of: 1, kind))) == "file-system warning")
        }
        #expect(name(MachineChecks.fileSystem(disk(1, of: 1, 0x0102_1994))) == "file-system problem")
        let now = Timestamp(milliseconds: 1_704_067_200_000)
        #expect(name(MachineChecks.clock(now: now, jump: nil)) == "clock ok")
        #expect(
            name(MachineChecks.clock(now: Timestamp(milliseconds: 1_704_067_199_999), jump: nil)) == "clock problem")
        let jump = ClockJump(from: nil, to: now, endsAt: now, photos: 2)
        let jumped = MachineChecks.clock(now: now, jump: jump)
        #expect(name(jumped) == "clock warning" && jumped.what.contains("2 photos in the trash"))
    }

    @Test("Programs, the daemon and its service")
    func installation() {
        func programs(_ daemon: String?, web: String? = "/p/web", version: String = "2") -> [String] {
            names(
                InstallationChecks.programs(
                    [
                        .init(name: "smilepiled", path: daemon, version: daemon.map { _ in version }),
                        .init(name: "smilepile-web", path: web, version: nil, isOptional: true),
                    ], version: "2"))
        }
        #expect(programs("/p/d") == ["programs ok", "program-versions ok"])
        #expect(programs(nil) == ["program-smilepiled problem", "program-versions ok"])
        #expect(programs("/p/d", web: nil) == ["program-smilepile-web advice", "program-versions ok"])
        #expect(programs("/p/d", version: "1") == ["programs ok", "program-versions warning"])
        func running(_ version: String, isReplaced: Bool = false) -> String? {
            name(
                InstallationChecks.running(
                    pid: 1, version: version, own: "2", isReplaced: isReplaced, start: "smilepile up"))
        }
        #expect(running("2") == "daemon ok" && running("1") == "daemon warning")
        #expect(running("2", isReplaced: true) == "daemon advice")
        func service(
            _ installed: Bool = true, _ enabled: Bool = true, _ activity: String = "active", restarts: Int = 0,
            home: Bool = false, lingers: Bool? = false
        ) -> String? {
            name(
                InstallationChecks.service(
                    .known(
                        isInstalled: installed, isEnabled: enabled, activity: activity, restarts: restarts,
                        isForHome: home, lingers: lingers)))
        }
        #expect(service() == "service ok" && service(home: true, lingers: true) == "service ok")
        #expect(service(false, false) == "service advice" && service(home: true) == "service advice")
        #expect(service(true, false) == "service warning" && service(restarts: 5) == "service warning")
        #expect(service(true, true, "failed") == "service problem")
        #expect(name(InstallationChecks.service(.noSystemd)) == "service advice")
        func system(_ isEnabled: Bool, _ activity: String = "active") -> Finding {
            InstallationChecks.service(
                .ofSystem(unit: "smilepiled@ada.service", isEnabled: isEnabled, activity: activity))
        }
        #expect(name(system(true)) == "service ok" && name(system(false)) == "service warning")
        #expect(name(system(true, "failed")) == "service problem")
        #expect(name(InstallationChecks.service(.silent(isInstalled: true))) == "service warning")
        #expect(name(InstallationChecks.service(.silent(isInstalled: false))) == "service advice")
    }

    @Test("Without a daemon it is said which start would help")
    func notRunning() {
        func found(_ others: [OtherSocket] = [], isThere: Bool = false) -> Finding {
            InstallationChecks.notRunning(
                .init(
                    socket: "/run/a.sock", listener: nil, isThere: isThere, others: others, log: "/l/daemon.log",
                    start: "smilepile up"))
        }
        let none = found()
        #expect(
            none.severity == .warning && none.command == "smilepile up"
                && none.remedy?.contains("/l/daemon.log") == true)
        #expect(found(isThere: true).what.contains("The socket of its last run is left"))
        let other = found([OtherSocket(path: "/run/b.sock", isNamed: false, environment: [:])])
        #expect(
            other.what.contains("one does at /run/b.sock") && other.command == "export SMILEPILE_SOCKET=/run/b.sock")
    }

    @Test("A mode is given to what is there, and through no link but one to a folder")
    func modes() throws {
        let folder = try TemporaryFolder("modes")
        func mode(_ name: String) -> UInt32 { FileFacts.look(at: folder.file(name)).mode }
        let (file, inner) = (folder.file("file"), folder.file("inner"))
        _ = FileManager.default.createFile(atPath: file, contents: nil, attributes: [.posixPermissions: 0o644])
        try FileManager.default.createDirectory(
            atPath: inner, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o755])
        #expect(symlink("file", folder.file("to-file")) == 0 && symlink("inner", folder.file("to-inner")) == 0)
        #expect(!FileFacts.setMode(0o600, of: folder.file("to-file")) && mode("file") == 0o644)
        #expect(FileFacts.setMode(0o700, of: folder.file("to-inner")) && mode("inner") == 0o700)
        #expect(FileFacts.setMode(0o600, of: file) && mode("file") == 0o600)
        #expect(!FileFacts.setMode(0o600, of: folder.file("nothing")))
    }

    @Test("Libraries with known faults, as their packages have them")
    func libraries() throws {
        let webp = try #require(KnownFault.all.first { $0.library == "libwebp" })
        #expect(webp.finding(version: nil, hasRepair: nil) == nil)
        #expect(name(webp.finding(version: [1, 3, 2], hasRepair: nil)) == "library-libwebp ok")
        #expect(name(webp.finding(version: [1, 10, 0], hasRepair: nil)) == "library-libwebp ok")
        #expect(name(webp.finding(version: [1, 2, 4], hasRepair: true)) == "library-libwebp ok")
        #expect(name(webp.finding(version: [1, 2, 4], hasRepair: false)) == "library-libwebp warning")
        #expect(name(webp.finding(version: [1, 2, 4], hasRepair: nil)) == "library-libwebp advice")
    }

    @Test("Each library tells its version")
    func libraryVersions() throws {
        for fault in KnownFault.all {
            let version = try #require(fault.version(), "\(fault.library)")
            #expect((1...2).contains(version[0]) && version[1] < 100, "\(fault.library) \(version)")
        }
    }

    @Test(
        "A unit says which library it serves, as it was written",
        arguments: ["/srv/photos", "/srv/100 % \"our\" $HOME\\ph\n", "/s\u{7f}ö"])
    func unitLibrary(path: String) {
        func unit(_ library: String?) -> ServiceUnit {
            ServiceUnit.daemon(
                .init(
                    daemon: "/p/smilepiled", page: "/p/web", socket: "/run/s.sock", library: library, environment: [:]))
        }
        #expect(unit(path).library == path)
        #expect(unit(nil).library == nil)
    }
}
