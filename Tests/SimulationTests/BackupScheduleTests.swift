import Foundation
import LibraryModel
import ServiceMesh
import ServiceMeshTesting
import Synchronization
import Testing

/// Backups that are made by themselves, over a month that passes in a moment: with a stick that is often away, a machine that
/// is often busy, and a daemon that is killed.
@Suite struct BackupScheduleTests {
    private static let keep = 3
    private static let hour = Duration.seconds(3600)

    private static var limits: Simulation.Limits {
        var limits = Simulation.Limits()
        limits.time = 40 * 86_400_000_000_000
        limits.steps = 20_000_000
        return limits
    }

    @Test(arguments: [1, 2, 3] as [UInt64]) func aMonthWithTheStickAwayHalfOfTheDays(_ seed: UInt64) async throws {
        let template = try await CatalogueTemplate()
        let run = await Simulation.run(seed: seed, limits: Self.limits) { simulation in
            try await template.withCopy { path in try await Self.month(at: path, simulation) }
        }
        #expect(run.failure == nil, "seed \(seed): \(run.failure ?? "")")
    }

    private static func month(at path: String, _ simulation: Simulation) async throws {
        let library = try await ScheduledLibrary(at: path, in: simulation)
        try await library.addPhoto()
        let schedule = try await library.send(
            ScheduleBackups(folder: library.stick, everyHours: 24, keep: keep, zip: true)
        ).schedule
        guard schedule?.nextAt == simulation.clock.timestamp() else { throw BrokenRule("The first is due at once.") }
        // What somebody put there is nobody's business.
        try Data("mine".utf8).write(to: URL(fileURLWithPath: library.stick + "/SmilePileBackup_2020-01-01_000000.zip"))
        var (made, daysAway) = (Set<String>(), 0)
        for day in 0..<30 {
            let isThere = simulation.oneIn(2)
            if isThere { try library.plugIn() } else { try library.pullOut() }
            daysAway += isThere ? 0 : 1
            if simulation.oneIn(3) { try await library.addPhoto() }
            if simulation.oneIn(3) {
                // Most of these hit what follows from the stick's coming, five minutes later at the most.
                try await simulation.clock.sleep(for: .seconds(290 + simulation.choose(20)))
                for _ in 0..<simulation.choose(600) { await simulation.pause() }
                try await library.crash()
            }
            // A busy machine is spared for six hours.
            try await simulation.clock.sleep(for: hour * 8)
            let known = try await library.send(ListBackups())
            let whole = known.backups.filter { $0.presence == .there && $0.isWhole && $0.verifiedAt != nil }
            made.formUnion(known.backups.map(\.path))
            let there = try library.files().filter { $0 != "SmilePileBackup_2020-01-01_000000.zip" }
            guard isThere else {
                let late = known.schedule.map { $0.nextAt <= simulation.clock.timestamp() } ?? false
                guard !late || known.schedule?.problem == "\(library.stick) is not there." else {
                    throw BrokenRule("Day \(day): late, and said is \(String(describing: known.schedule?.problem)).")
                }
                guard there.count(where: { $0.hasSuffix(".zip") }) >= min(keep, made.count) else {
                    throw BrokenRule("Day \(day): of \(made.count) there are only \(there).")
                }
                try await simulation.clock.sleep(for: hour * 16)
                continue
            }
            guard whole.count == min(keep, made.count), there.count == whole.count else {
                throw BrokenRule("Day \(day): of \(made.count) there are \(there), and known \(known.backups).")
            }
            let age = simulation.clock.timestamp().milliseconds - (whole.map(\.madeAt.milliseconds).max() ?? 0)
            guard age <= 32 * 3_600_000, known.schedule?.problem == nil else {
                throw BrokenRule("Day \(day): the newest is \(age / 3_600_000) hours old; \(known)")
            }
            try await simulation.clock.sleep(for: hour * 16)
        }
        guard daysAway > 5, made.count > 5 else { throw BrokenRule("\(daysAway) days away, \(made.count) made.") }
        try library.plugIn()
        for backup in try await library.send(ListBackups()).backups {
            let started = try await library.send(VerifyBackup(path: backup.path))
            let end = try await library.send(WaitForJob(job: started.job))
            guard end.state == .finished else { throw BrokenRule("\(backup.path): \(String(describing: end.error))") }
        }
        guard try library.files().contains("SmilePileBackup_2020-01-01_000000.zip") else {
            throw BrokenRule("A file of others is gone.")
        }
        await library.close()
    }

    /// One was made, and the schedule too, while the clock was years ahead. However busy the machine is, there is one of now soon.
    @Test func whatLiesInTheFutureDoesNotCount() async throws {
        let template = try await CatalogueTemplate()
        let run = await Simulation.run(seed: 11, limits: Self.limits) { simulation in
            try await template.withCopy { path in
                let library = try await ScheduledLibrary(at: path, in: simulation, isBusy: true)
                try await library.addPhoto()
                _ = try await library.send(
                    ScheduleBackups(folder: library.stick, everyHours: 24, keep: Self.keep, zip: true))
                try await simulation.clock.sleep(for: Self.hour * 7)
                guard try await library.send(ListBackups()).backups.count == 1 else {
                    throw BrokenRule("A busy machine is spared for six hours at most.")
                }
                try await library.makeThePastTheFuture()
                try await library.crash()
                try await simulation.clock.sleep(for: Self.hour)
                let known = try await library.send(ListBackups())
                guard known.backups.count == 2, let next = known.schedule?.nextAt else { throw BrokenRule("\(known)") }
                let left = next.milliseconds - simulation.clock.timestamp().milliseconds
                guard (22 * 3_600_000...24 * 3_600_000).contains(left) else { throw BrokenRule("\(known)") }
                await library.close()
            }
        }
        #expect(run.failure == nil, "\(run.failure ?? "")")
    }

    /// The disk is full for ten days: one try a day, each of which says why it failed.
    @Test func whatFailsIsTriedOnceADay() async throws {
        let template = try await CatalogueTemplate()
        let run = await Simulation.run(seed: 7, limits: Self.limits) { simulation in
            try await template.withCopy { path in
                let library = try await ScheduledLibrary(at: path, in: simulation)
                try await library.addPhoto()
                // There is never any room in there.
                _ = try await library.send(ScheduleBackups(folder: "/proc/sys", everyHours: 168, keep: 1, zip: true))
                try await simulation.clock.sleep(for: Self.hour * 240)
                let tries = try await library.send(ListJobs(all: true)).jobs
                guard (9...12).contains(tries.count), tries.allSatisfy({ $0.state == .failed }) else {
                    throw BrokenRule("\(tries.count) tries: \(tries.map(\.state))")
                }
                let schedule = try await library.send(ListBackups()).schedule
                guard schedule?.problem?.hasPrefix("The last try failed: ") == true else {
                    throw BrokenRule("\(String(describing: schedule))")
                }
                await library.close()
            }
        }
        #expect(run.failure == nil, "\(run.failure ?? "")")
    }

    /// One that somebody asked for, and that stands still, is neither joined nor called a failure.
    @Test func aBackupThatIsUnderWayComesFirst() async throws {
        let template = try await CatalogueTemplate()
        let seen = Atomic<Int>(0)
        for seed in 1...8 as ClosedRange<UInt64> {
            let run = await Simulation.run(seed: seed, limits: Self.limits) { simulation in
                try await template.withCopy { path in
                    let library = try await ScheduledLibrary(at: path, in: simulation)
                    try await library.addPhoto()
                    let job = try await library.send(CreateBackup()).job
                    _ = try? await library.send(PauseJob(job: job))
                    let isUnderWay = try await library.send(GetJob(job: job)).state == .paused
                    _ = try await library.send(
                        ScheduleBackups(folder: library.stick, everyHours: 24, keep: 1, zip: true))
                    try await simulation.clock.sleep(for: Self.hour)
                    if isUnderWay {
                        seen.wrappingAdd(1, ordering: .relaxed)
                        let known = try await library.send(ListBackups())
                        guard known.schedule?.problem == "Another backup comes first: job \(job)." else {
                            throw BrokenRule("\(known)")
                        }
                        _ = try await library.send(CancelJob(job: job))
                    }
                    try await simulation.clock.sleep(for: Self.hour * 7)
                    let made = try await library.send(ListBackups()).backups.filter {
                        $0.path.hasPrefix(library.stick + "/")
                    }
                    guard made.count == 1 else { throw BrokenRule("\(made)") }
                    await library.close()
                }
            }
            #expect(run.failure == nil, "seed \(seed): \(run.failure ?? "")")
        }
        #expect(seen.load(ordering: .relaxed) > 0)
    }
}
