import Foundation
import Synchronization
import TestSupport

@testable import ServiceMesh

/// A service whose jobs can be broken off: they stand at a gate before one of their items, for as long as it is shut.
actor Quarry: MeshService {
    static let serviceName = "Quarry"
    static var messages: MessageList<Quarry> {
        Dig.self
        Sift.self
        Borrow.self
        Whisper.self
    }

    nonisolated let gate = Gate()
    /// Every item that was worked on, over all runs.
    nonisolated let log: EventLog
    /// What `prepareAgain` throws.
    nonisolated let obstacle: Obstacle
    /// What `prepareAgain` passes: a file system that may not answer.
    nonisolated let mount = Gate()

    init(log: EventLog = EventLog(), obstacle: (any Error)? = nil, answers: Bool = true) {
        self.log = log
        self.obstacle = Obstacle(obstacle)
        if answers { mount.open() }
    }

    /// Something that stands in a job's way, until the test takes it out.
    final class Obstacle: Sendable {
        private let error: Mutex<(any Error)?>
        init(_ error: (any Error)?) { self.error = Mutex(error) }
        func meet() throws { if let error = error.withLock({ $0 }) { throw error } }
        func set(_ error: (any Error)?) { self.error.withLock { $0 = error } }
    }
}

/// Goes on where it was: leaves out the items that have a line.
struct Dig: HandledJob {
    typealias Service = Quarry
    typealias Reply = JobStarted
    static let method = "test.dig"
    static let access = Role.parent
    static let summary = "Digs up stones."
    static let resumption = JobResumption.onward
    static func needsAttention(_ outcome: String) -> Bool { outcome != "dug" }
    /// Negative for "all that there are", which only the quarry knows, and only now.
    let stones: Int
    let holdAt: Int?

    func complete(on service: Quarry) async throws -> Dig {
        stones < 0 ? Dig(stones: 6, holdAt: holdAt) : self
    }

    func prepareAgain(on service: Quarry, job: Job) async throws {
        await service.mount.pass()
        try service.obstacle.meet()
    }

    func receipt(on service: Quarry, failing job: Job) async -> ProduceReceipt? {
        ProduceReceipt(made: job.snapshot.outcomes["dug"] ?? 0, ending: job.isCancelled ? .cancelled : .failed)
    }

    func run(on service: Quarry, job: Job) async throws -> ProduceReceipt {
        let done = try await job.recordedItems()
        job.begin(phase: "digging", items: Int64(stones))
        for stone in 0..<stones where !done.contains("stone \(stone)") {
            do {
                try await job.mayContinue()
            } catch  where job.isCancelled {
                return ProduceReceipt(made: job.snapshot.outcomes["dug"] ?? 0, ending: .cancelled)
            }
            if stone == holdAt { await service.gate.pass() }
            service.log.add("stone \(stone)")
            job.record(ReceiptLine(item: "stone \(stone)", outcome: "dug"))
            job.advance(items: 1)
        }
        return ProduceReceipt(made: job.snapshot.outcomes["dug"] ?? 0, ending: .complete)
    }
}

/// Begins anew each time, but keeps a checkpoint of how far it was.
struct Sift: HandledJob {
    typealias Service = Quarry
    typealias Reply = JobStarted
    static let method = "test.sift"
    static let access = Role.parent
    static let summary = "Sifts sand."
    static let resumption = JobResumption.again
    let keeps: Bool

    func run(on service: Quarry, job: Job) async throws -> ProduceReceipt {
        let before = job.checkpoint.map { String(decoding: $0, as: UTF8.self) } ?? "nothing"
        service.log.add("sifting after \(before)")
        job.record(ReceiptLine(item: "sand", outcome: "sifted"))
        if keeps { try await job.keep(checkpoint: Data("half".utf8)) }
        await service.gate.pass()
        try await job.mayContinue()
        return ProduceReceipt(made: 1, ending: .complete)
    }
}

/// Looks for what is in its way only while it works.
struct Borrow: HandledJob {
    typealias Service = Quarry
    typealias Reply = JobStarted
    static let method = "test.borrow"
    static let access = Role.parent
    static let summary = "Borrows stones."
    static let resumption = JobResumption.again
    let stones: Int

    func run(on service: Quarry, job: Job) async throws -> ProduceReceipt {
        job.record(ReceiptLine(item: "cart", outcome: "fetched"))
        try service.obstacle.meet()
        try await job.mayContinue()
        return ProduceReceipt(made: stones, ending: .complete)
    }
}

/// Carries something that must not be written down.
struct Whisper: HandledJob {
    typealias Service = Quarry
    typealias Reply = JobStarted
    static let method = "test.whisper"
    static let access = Role.parent
    static let summary = "Keeps a secret."
    let secret: String

    func run(on service: Quarry, job: Job) async throws -> ProduceReceipt {
        await service.gate.pass()
        try await job.mayContinue()
        return ProduceReceipt(made: 0, ending: .complete)
    }
}

/// A mesh with a quarry, and the journal that its jobs are written to: another mesh with the same journal is the next
/// start of the daemon. Its jobs have been asked whether they can go on.
func startedQuarry(
    _ journal: any JobJournal, log: EventLog = EventLog(), obstacle: (any Error)? = nil, isOpen: Bool = false,
    clock: MeshClock = .system, jobLog: @escaping @Sendable (JobNotice) -> Void = { _ in }
) async throws -> (Mesh, Quarry) {
    let quarry = Quarry(log: log, obstacle: obstacle)
    if isOpen { quarry.gate.open() }
    let mesh = try Mesh(services: [quarry], journal: journal, clock: clock, jobLog: jobLog)
    try await mesh.start()
    await mesh.jobs.resuming?.value
    return (mesh, quarry)
}

extension JobJournal {
    /// What the next start would find now.
    func records() async throws -> [JobRecord] { try await records(JobRetention(at: .now())) }
}

extension Mesh {
    /// Stops while a job stands at the gate, which is opened once the job has been told: as a daemon stops in the
    /// middle of an item.
    func stopAtTheGate(_ quarry: Quarry) async {
        await jobs.suspendAll()
        quarry.gate.open()
        await stop()
    }
}
