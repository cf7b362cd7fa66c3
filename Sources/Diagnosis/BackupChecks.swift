import CommandLineInterface
import LibraryModel
import ServiceMesh

/// Whether a loss of this disk, or of this machine, would be one of photos.
enum BackupChecks {
    /// In days.
    static let oldest: Int64 = 30

    /// - Parameter folders: as `backup.places` has them; they say which are on the library's own disk.
    static func findings(_ status: LibraryStatus, _ list: BackupList, folders: [BackupFolder]) -> [Finding] {
        guard status.photos + status.trashed > 0 else { return [] }
        return newest(status, list, folders) + [schedule(list.schedule)].compactMap { $0 }
    }

    private static func newest(_ status: LibraryStatus, _ list: BackupList, _ folders: [BackupFolder]) -> [Finding] {
        guard let newest = status.newestBackup else { return [none(list)] }
        var findings: [Finding] = []
        let days = newest.ageSeconds / 86_400
        if days > oldest {
            findings.append(
                Finding(
                    "backup-age", .backups, .warning,
                    "The newest backup is \(days) days old: what came since then is on this disk alone.",
                    remedy: "Make one now.", command: "smilepile backup create FOLDER"))
        } else {
            findings.append(
                .fine(
                    "backup-age", .backups, "The newest backup was read back, and is \(Figures.count(days, "day")) old."
                ))
        }
        findings.append(place(newest, list, folders))
        return findings
    }

    /// One that is elsewhere, and not too old, is enough: another one beside it may lie wherever it likes.
    private static func place(_ newest: NewestBackup, _ list: BackupList, _ folders: [BackupFolder]) -> Finding {
        let madeAt = newest.madeAt.milliseconds - oldest * 86_400_000
        let fresh = list.backups.filter {
            $0.isWhole && $0.verifiedAt != nil && $0.presence != .gone && $0.presence != .changed
                && $0.madeAt.milliseconds >= madeAt
        }
        let paths = fresh.isEmpty ? [newest.path] : fresh.map(\.path)
        guard paths.allSatisfy({ isOnLibraryDisk($0, folders) }) else {
            return .fine("backup-place", .backups, "A backup lies on another disk than the library.")
        }
        return Finding(
            "backup-place", .backups, .warning,
            "Every backup lies on the library's own disk, and is lost with it: \(newest.path)",
            remedy: "Make one on another disk, and keep that somewhere else.",
            command: "smilepile backup create /media/STICK")
    }

    /// What is not plugged in is not on it. The folder is that of the file, or of the snapshots that the file lies among.
    private static func isOnLibraryDisk(_ path: String, _ folders: [BackupFolder]) -> Bool {
        folders.filter { path.hasPrefix($0.path + "/") }.max { $0.path.utf8.count < $1.path.utf8.count }?
            .isOnLibraryDisk == true
    }

    private static func none(_ list: BackupList) -> Finding {
        let whole = list.backups.filter(\.isWhole)
        if let last = whole.first {
            let what =
                switch last.presence {
                case .gone: "is gone"
                case .changed: "was changed since"
                case .there, .outOfReach: last.verifiedAt == nil ? "was found damaged" : "is not sound"
                }
            return Finding(
                "backup-proven", .backups, .problem,
                "No backup of the whole library is known to be sound: \(last.path) \(what).",
                remedy: "Make a new one; it is read back at once.", command: "smilepile backup create FOLDER")
        }
        return Finding(
            "backup-none", .backups, .warning,
            list.backups.isEmpty
                ? "There is no backup: the photos are on this disk alone."
                : "There are backups of parts alone, and none of the whole library.",
            remedy: "Make one on another disk; it is read back at once.", command: "smilepile backup create FOLDER")
    }

    private static func schedule(_ schedule: BackupSchedule?) -> Finding? {
        guard let schedule else {
            return Finding(
                "backup-schedule", .backups, .advice, "No backups are made by themselves.",
                remedy: "Have one made each week.", command: "smilepile backup schedule FOLDER")
        }
        guard let problem = schedule.problem else {
            return .fine("backup-schedule", .backups, "Backups are made by themselves.")
        }
        return Finding(
            "backup-schedule", .backups, .warning, "The next backup is late: \(problem)",
            remedy: "Put right what it says; for another folder:", command: "smilepile backup schedule FOLDER")
    }
}
