import Executors
import LibraryModel
import LibraryServices
import LibraryStorage
import ServiceMesh

/// What has become of the files of backups, for who must not wait long: ``GetLibraryStatus``.
///
/// A file system that does not answer, as that of a machine that was switched off, keeps a thread for as long as it likes. So
/// there is one thread for these looks and for nothing else. One that takes too long goes on, and until it has ended all are
/// out of reach.
package actor BackupAvailability: BackupLookup {
    /// The longest that one question waits.
    private static let patience: UInt64 = 2_000_000_000

    private let made: MadeBackups
    private let look: @Sendable (MadeBackup) -> KnownBackup.Presence
    private let thread = BlockingPool(name: "backup-looks", threads: 1)
    /// Those under way, by the backup's path.
    private var looks: [String: Task<KnownBackup.Presence, Never>] = [:]
    /// Paths of those that somebody has given up waiting for.
    private var late: Set<String> = []

    package init(catalogue: any Catalogue, places: BackupPlaces, pool: BlockingPool) {
        self.init(MadeBackups(catalogue: catalogue, places: places, pool: pool))
    }

    /// - Parameter look: blocks; as ``MadeBackups/presence(of:)`` unless told.
    init(_ made: MadeBackups, look: (@Sendable (MadeBackup) -> KnownBackup.Presence)? = nil) {
        self.made = made
        self.look = look ?? { made.presence(of: $0) }
    }

    package nonisolated func path(of backup: MadeBackup) -> String { made.path(of: backup) }

    package func newest(
        of all: [MadeBackup], in folder: String?, on clock: MeshClock
    ) async -> (anywhere: MadeBackup?, inFolder: MadeBackup?) {
        let end = clock.now() &+ Self.patience
        let anywhere = await newest(of: all, nil, until: end, on: clock)
        guard let folder else { return (anywhere, nil) }
        return (anywhere, await newest(of: all, folder, until: end, on: clock))
    }

    private func newest(
        of all: [MadeBackup], _ folder: String?, until end: UInt64, on clock: MeshClock
    ) async -> MadeBackup? {
        for backup in all where made.isProven(backup, in: folder) {
            if await presence(of: backup, until: end, on: clock).mayBeThere { return backup }
        }
        return nil
    }

    private func presence(
        of backup: MadeBackup, until end: UInt64, on clock: MeshClock
    ) async -> KnownBackup.Presence {
        guard late.isEmpty else { return .outOfReach }
        let look = looks[backup.path] ?? begin(backup)
        let (answers, answer) = AsyncStream.makeStream(
            of: KnownBackup.Presence.self, bufferingPolicy: .bufferingOldest(1))
        Task(executorPreference: MeshClock.executor) {
            answer.yield(await look.value)
            answer.finish()
        }
        // A timer by nature: what does not answer does not say so.
        let timer = Task(executorPreference: MeshClock.executor) {
            try? await clock.sleep(until: end)
            answer.finish()
        }
        defer { timer.cancel() }
        for await presence in answers { return presence }
        if !Task.isCancelled, looks[backup.path] == look { late.insert(backup.path) }
        return .outOfReach
    }

    private func begin(_ backup: MadeBackup) -> Task<KnownBackup.Presence, Never> {
        let (thread, look) = (thread, look)
        let task = Task(executorPreference: MeshClock.executor) {
            let presence = try? await thread.run { look(backup) }
            await self.end(backup.path)
            return presence ?? .outOfReach
        }
        looks[backup.path] = task
        return task
    }

    private func end(_ path: String) {
        looks[path] = nil
        late.remove(path)
    }
}
