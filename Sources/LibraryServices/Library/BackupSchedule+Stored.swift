import LibraryModel
import LibraryStorage
import ServiceMesh

extension BackupSchedule {
    /// Between two tries where one has failed, in milliseconds.
    private static let retry: Int64 = 86_400_000

    /// A schedule as it is told.
    /// - Parameter newest: of its folder, as ``MadeBackups/newest(of:in:at:)`` has it.
    package init(_ stored: StoredBackupSchedule, newest: MadeBackup?, now: Timestamp) {
        // What is from the future is from a clock that was wrong, and says nothing of when the next is due.
        var next = min(stored.scheduledAt, now).milliseconds
        if let newest {
            next = newest.madeAt > now ? now.milliseconds : newest.madeAt.milliseconds &+ stored.interval
        }
        // Somebody may have made one since it was noted why the next is late.
        let problem = next > now.milliseconds ? nil : stored.problem
        if let failed = stored.failedAt, failed <= now {
            next = max(next, failed.milliseconds &+ min(stored.interval, Self.retry))
        }
        self.init(
            folder: stored.folder, everyHours: stored.everyHours, keep: stored.keep,
            isZip: stored.isZip, hasPassphrase: stored.key != nil, nextAt: Timestamp(milliseconds: next),
            problem: problem)
    }
}
