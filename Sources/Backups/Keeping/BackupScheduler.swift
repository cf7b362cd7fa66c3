import BackupFormats
import Executors
import Files
import Foundation
import LibraryModel
import LibraryServices
import LibraryStorage
import ServiceMesh

/// Has backups made when they are due, and removes the oldest. It makes none itself: each is a job of the
/// ``BackupCoordinator``, as if somebody had asked for it.
///
/// All that it knows is in the catalogue: when the last one was made, which job it waits for, why the next one is late. A
/// kill at any moment costs a look, and never a second backup, because one that is under way is seen among the jobs.
public actor BackupScheduler: MeshService {
    public static let serviceName = "BackupScheduler"
    public static var messages: MessageList<BackupScheduler> {
        ScheduleBackups.self
        ListBackups.self
        ListBackupPlaces.self
        PruneBackups.self
    }

    /// Between two looks while one is due and cannot be made.
    private static let lookEvery = Duration.seconds(300)
    /// The longest sleep: by the clock on the wall a night may pass in a second.
    private static let sleepAtMost: Int64 = 3_600_000
    /// For how long a busy machine is spared, in milliseconds; after that the backup is more urgent.
    private static let patience: Int64 = 6 * 3_600_000

    private let catalogue: any Catalogue
    private let places: BackupPlaces
    private let namedFiles: NamedFiles
    private let made: MadeBackups
    private let fields: SealedFields
    private let pool: BlockingPool
    private let isIdle: @Sendable () -> Bool
    private let due: DueTime
    /// Since when one is due, on the mesh's clock: the wall may be set while it waits.
    private var dueSince: UInt64?
    private unowned var mesh: Mesh?
    private var keeping: Task<Void, Never>?

    /// - Parameters:
    ///   - isIdle: whether the machine has little to do at this moment.
    ///   - due: while it doubts the clock, no backup is removed.
    package init(
        catalogue: any Catalogue, places: BackupPlaces, namedFiles: NamedFiles, fields: SealedFields,
        pool: BlockingPool,
        isIdle: @escaping @Sendable () -> Bool = MachineLoad.isIdle, due: DueTime = .following()
    ) {
        self.catalogue = catalogue
        self.places = places
        self.namedFiles = namedFiles
        self.fields = fields
        self.pool = pool
        self.isIdle = isIdle
        self.due = due
        made = MadeBackups(catalogue: catalogue, places: places, pool: pool)
    }

    public func start(on mesh: Mesh) {
        self.mesh = mesh
        keep(on: mesh)
    }

    public func stop() async {
        keeping?.cancel()
        await keeping?.value
    }

    /// Begins anew, with the schedule that there is now.
    private func keep(on mesh: Mesh) {
        let before = keeping
        before?.cancel()
        keeping = Task(executorPreference: MeshClock.executor) { [weak self, clock = mesh.clock] in
            await before?.value
            while !Task.isCancelled, let pause = await self?.turn(on: mesh) {
                // A timer by nature: backups are due because time has passed, and a stick does not tell that it is there.
                try? await clock.sleep(for: pause)
            }
        }
    }

    // MARK: One look

    /// Does what is to be done now.
    /// - Returns: when to look again; nil where nothing is scheduled.
    private func turn(on mesh: Mesh) async -> Duration? {
        do {
            guard var schedule = try await catalogue.read({ try $0.madeBackups.schedule() }) else { return nil }
            if let job = schedule.job {
                let end = try await end(of: job, on: mesh)
                try await note(end, in: &schedule, on: mesh)
            }
            if try await isThere(schedule) {
                try await made.forgetGone(in: schedule.folder)
            } else if schedule.failedAt != nil {
                // That explains it, and once it is there again nothing has to be waited for.
                schedule.failedAt = nil
                try await store(schedule)
            }
            let now = mesh.clock.timestamp()
            let (next, newest) = try await described(schedule, at: now)
            if next.problem == nil, schedule.problem != nil {
                (schedule.failedAt, schedule.problem) = (nil, nil)
                try await store(schedule)
            }
            let left = next.nextAt.milliseconds - now.milliseconds
            guard left <= 0 else {
                dueSince = nil
                return .milliseconds(min(left, Self.sleepAtMost))
            }
            let late = late(-left, isKnown: newest != nil || schedule.scheduledAt <= now, on: mesh)
            if let obstacle = try await obstacle(schedule, late: late, on: mesh) {
                try await tell(obstacle, in: &schedule)
                return Self.lookEvery
            }
            return try await begin(schedule, on: mesh)
        } catch {
            // Of a catalogue that cannot be read or written everybody is told elsewhere.
            return Self.lookEvery
        }
    }

    /// For how long it has been due, in milliseconds: by the wall, or for as long as it was seen to be where that is longer.
    /// - Parameter isKnown: whether there is a moment from which the wall tells it. Where all that there is lies in the future, nobody
    ///   knows how long there has been no backup, and it is taken to be long.
    private func late(_ byWall: Int64, isKnown: Bool, on mesh: Mesh) -> Int64 {
        let now = mesh.clock.now()
        let since = dueSince ?? now
        dueSince = since
        return isKnown ? max(byWall, Int64(clamping: (now &- since) / 1_000_000)) : .max
    }

    /// Nil where nobody knows of the job any more.
    private func end(of job: JobID, on mesh: Mesh) async throws -> JobSnapshot? {
        do {
            return try await mesh.send(WaitForJob(job: job))
        } catch let error as MeshError where error.status == .notFound {
            return nil
        }
    }

    private func note(_ end: JobSnapshot?, in schedule: inout StoredBackupSchedule, on mesh: Mesh) async throws {
        guard end?.state.hasEnded != false else { throw CancellationError() }
        let isMade = end?.state == .finished
        schedule.job = nil
        schedule.failedAt = isMade || end == nil ? nil : mesh.clock.timestamp()
        schedule.problem =
            switch end?.state {
            case .failed: "The last try failed: \(end?.error?.message ?? "nobody knows why.")"
            case .cancelled: "The last one was called off."
            default: nil
            }
        if let end, isMade, try await !isKnown(end, schedule) {
            // Else it would be due at once, again and again, until the disk is full.
            schedule.failedAt = mesh.clock.timestamp()
            schedule.problem = "The last one was made, and was removed or changed since, or could not be noted."
        }
        try await store(schedule)
        // A clock that is set forth and back has one made each time, and must not have an old one removed for it. The next
        // prune removes what this one leaves.
        guard isMade, due.jump() == nil else { return }
        _ = try await prune(schedule.folder, keep: schedule.keep, dryRun: false)
    }

    /// Whether what a job has made is remembered, and was not removed or changed since.
    private func isKnown(_ end: JobSnapshot, _ schedule: StoredBackupSchedule) async throws -> Bool {
        guard case .string(let path)? = end.receipt?["path"] else { return false }
        let (name, made) = (places.name(path), made)
        let known = try await catalogue.read { try $0.madeBackups.all() }.first { $0.path == name }
        guard let known else { return false }
        return try await pool.run { made.presence(of: known).mayBeThere }
    }

    /// Why a backup that is due cannot be made now; nil where it can.
    private func obstacle(
        _ schedule: StoredBackupSchedule, late: Int64, on mesh: Mesh
    ) async throws -> String? {
        guard try await isThere(schedule) else { return "\(schedule.folder) is not there." }
        let jobs = try await mesh.send(ListJobs()).jobs.filter { !$0.state.hasEnded }
        if let other = jobs.first(where: { $0.method == CreateBackup.method }) {
            return "Another backup comes first: job \(other.id)."
        }
        guard late < min(Self.patience, schedule.interval) else { return nil }
        if let busy = jobs.first(where: { $0.state == .running }) { return "It waits for the end of job \(busy.id)." }
        return isIdle() ? nil : "It waits for the machine to have less to do, and then for six hours at most."
    }

    private func begin(_ schedule: StoredBackupSchedule, on mesh: Mesh) async throws -> Duration {
        var schedule = schedule
        do {
            let started = try await mesh.send(
                CreateBackup(path: schedule.folder, incremental: schedule.isZip ? nil : true, key: schedule.key))
            dueSince = nil
            schedule.job = started.job
            schedule.problem = nil
            try await store(schedule)
            return .zero
        } catch let error as MeshError where error.status != .cancelled {
            schedule.failedAt = mesh.clock.timestamp()
            schedule.problem = "The last try failed: \(error.message)"
            try await store(schedule)
            return Self.lookEvery
        }
    }

    private func tell(_ problem: String, in schedule: inout StoredBackupSchedule) async throws {
        guard schedule.problem != problem else { return }
        schedule.problem = problem
        try await store(schedule)
    }

    /// Keeps how the schedule stands, where nobody has made another one of it meanwhile. The rest of it is as it is by now: its
    /// key is wrapped anew by a change of the library's keys.
    private func store(_ schedule: StoredBackupSchedule) async throws {
        try await catalogue.write { transaction in
            guard var now = try transaction.madeBackups.schedule(), now.folder == schedule.folder,
                now.scheduledAt == schedule.scheduledAt
            else { return }
            (now.job, now.failedAt, now.problem) = (schedule.job, schedule.failedAt, schedule.problem)
            try transaction.madeBackups.setSchedule(now)
        }
    }

    /// Whether the folder is there, and not only the place where a stick's file system is mounted.
    private func isThere(_ schedule: StoredBackupSchedule) async throws -> Bool {
        try await pool.run { FileSystem.mountPoint(of: schedule.folder) == schedule.mount }
    }

    private func described(
        _ schedule: StoredBackupSchedule, at now: Timestamp
    ) async throws -> (schedule: BackupSchedule, newest: MadeBackup?) {
        let (made, all) = (made, try await catalogue.read { try $0.madeBackups.all() })
        let newest = try await pool.run { made.newest(of: all, in: schedule.folder, at: now) }
        return (BackupSchedule(schedule, newest: newest, now: now), newest)
    }

    // MARK: What is asked

    var offered: OfferedPlaces { OfferedPlaces(catalogue: catalogue, places: places, pool: pool) }

    func schedule(_ request: ScheduleBackups) async throws -> ScheduledBackups {
        guard let mesh else { throw MeshError(.unavailable, "The backup service is not started.") }
        if request.off == true {
            try await catalogue.write { try $0.madeBackups.setSchedule(nil) }
            keep(on: mesh)
            return ScheduledBackups(schedule: nil)
        }
        let every = request.everyHours ?? ScheduleBackups.standardEveryHours
        guard ScheduleBackups.everyHoursRange.contains(every) else {
            throw MeshError(.invalidArgument, "'everyHours' is a number of hours, 1 to 8784. A week has 168.")
        }
        let keep = try Self.checked(keep: request.keep ?? ScheduleBackups.standardKeep)
        let folder = try folder(request.folder ?? places.standard)
        try await offered.requireFolder(folder)
        if let key = request.key { _ = try key.opened(try await fields.keyring()) }
        let places = places
        let mount = try await pool.run {
            guard let mount = FileSystem.mountPoint(of: folder) else {
                throw MeshError(.notFound, "There is no folder \(folder). Make it first, or plug its disk in.")
            }
            try places.requireFree(folder)
            if request.zip != true { try SnapshotFolderHold.requireUsable(SnapshotFolder(folder)) }
            return mount
        }
        let schedule = StoredBackupSchedule(
            folder: folder, mount: mount, everyHours: every, keep: keep, isZip: request.zip == true, key: request.key,
            scheduledAt: mesh.clock.timestamp())
        try await catalogue.write { try $0.madeBackups.setSchedule(schedule) }
        self.keep(on: mesh)
        return ScheduledBackups(schedule: try await described(schedule, at: schedule.scheduledAt).schedule)
    }

    func list() async throws -> BackupList {
        let now = mesh?.clock.timestamp() ?? .now()
        let stored = try await catalogue.read { try $0.madeBackups.schedule() }
        var schedule: BackupSchedule?
        if let stored { schedule = try await described(stored, at: now).schedule }
        return BackupList(backups: try await made.all(), schedule: schedule)
    }

    func prune(_ request: PruneBackups) async throws -> PrunedBackups {
        let schedule = try await catalogue.read { try $0.madeBackups.schedule() }
        guard let wanted = request.folder ?? schedule?.folder,
            let keep = request.keep ?? (wanted == schedule?.folder ? schedule?.keep : nil)
        else {
            throw MeshError(
                .failedPrecondition,
                "No backups are scheduled there, so nothing says how many stay: name the folder and the number.")
        }
        let number = try Self.checked(keep: keep)
        let folder = try folder(wanted)
        try await offered.requireFolder(folder)
        try await pool.run {
            guard FileSystem.mountPoint(of: folder) != nil else {
                throw MeshError(.notFound, "There is no folder \(folder). Plug its disk in, or name another one.")
            }
        }
        if request.dryRun != true { try await made.forgetGone(in: folder) }
        return try await prune(folder, keep: number, dryRun: request.dryRun == true)
    }

    /// The oldest backups go, and of a backup folder the files that were only theirs.
    private func prune(_ folder: String, keep: Int, dryRun: Bool) async throws -> PrunedBackups {
        let pruned = try await made.prune(folder, keep: keep, dryRun: dryRun)
        guard !dryRun, let library = try await catalogue.read({ try $0.settings.libraryID() }) else { return pruned }
        let sweep = FolderSweep(folder: folder, library: library, namedFiles: namedFiles)
        let removed = try await pool.run { try sweep.run() } ?? 0
        return PrunedBackups(
            folder: pruned.folder, removed: pruned.removed, kept: pruned.kept, files: removed > 0 ? removed : nil)
    }

    private static func checked(keep: Int) throws -> Int {
        guard ScheduleBackups.keepRange.contains(keep) else {
            throw MeshError(.invalidArgument, "'keep' is a number of backups, 1 to 1000.")
        }
        return keep
    }

    /// As paths of backups begin: without a slash at the end.
    private func folder(_ path: String) throws -> String {
        try BackupCoordinator.requireAbsolute(path)
        var folder = path[...]
        while folder.count > 1, folder.last == "/" { folder.removeLast() }
        return String(folder)
    }
}

/// What else the machine has to do.
package enum MachineLoad {
    /// Whether half of its processors had nothing to do, in the mean of the last minute.
    package static func isIdle() -> Bool {
        var load: [Double] = [0]
        guard getloadavg(&load, 1) == 1 else { return true }
        return load[0] <= Double(ProcessInfo.processInfo.activeProcessorCount) / 2
    }
}

extension ScheduleBackups: HandledMessage {
    public func perform(on service: BackupScheduler) async throws -> ScheduledBackups {
        try await service.schedule(self)
    }
}

extension ListBackups: HandledMessage {
    public func perform(on service: BackupScheduler) async throws -> BackupList { try await service.list() }
}

extension ListBackupPlaces: HandledMessage {
    public func perform(on service: BackupScheduler) async throws -> BackupPlaceList {
        try await service.offered.list()
    }
}

extension PruneBackups: HandledMessage {
    public func perform(on service: BackupScheduler) async throws -> PrunedBackups { try await service.prune(self) }
}
