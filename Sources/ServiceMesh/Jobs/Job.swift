import Foundation
import Synchronization

/// A piece of work as its body sees it: where it reports progress, records what became of each item, keeps what it
/// needs to go on after a restart, and asks between two items whether it may go on.
public final class Job: Sendable {
    public let id: JobID
    public let method: String
    /// What was kept last, by this run or by one before it that was broken off.
    public var checkpoint: Data? { state.withLock { $0.checkpoint } }

    private struct State {
        var snapshot: JobSnapshot
        var checkpoint: Data?
        /// Counted already, on their way to the journal.
        var pending = JobLines()
        /// The last writing of lines, after which the next one comes.
        var flushing: Task<Void, any Error>?
        var lastPublished: UInt64 = 0
        var phaseBegan: UInt64
        var pausedSince: UInt64?

        /// Standing still is no part of the rate.
        mutating func estimate(at now: UInt64) {
            guard snapshot.state == .running else { return }
            snapshot.progress.estimate(after: Double(now &- phaseBegan) / 1_000_000_000)
        }
    }

    private static let publishingInterval: UInt64 = 100_000_000
    /// Lines after which the body's next question writes them down. A kill costs no more than that they are found
    /// again; a line for itself would cost a commit.
    private static let batch = 100

    private let clock: MeshClock
    private let state: Mutex<State>
    private let isBatchFull = Atomic<Bool>(false)
    private let isEndWritten: Atomic<Bool>
    private let orders = JobSwitch()
    private let journal: any JobJournal
    private let observed: ObservedValue<JobSnapshot>
    private let published: @Sendable (JobSnapshot, _ isTurn: Bool) -> Void

    /// - Parameter published: told of each state that watchers are told of, and whether it is more than progress.
    init(
        _ snapshot: JobSnapshot, checkpoint: Data? = nil, journal: any JobJournal,
        clock: MeshClock = .system,
        published: @escaping @Sendable (JobSnapshot, _ isTurn: Bool) -> Void = { _, _ in }
    ) {
        id = snapshot.id
        method = snapshot.method
        self.clock = clock
        self.journal = journal
        self.published = published
        isEndWritten = Atomic(snapshot.state.hasEnded)
        state = Mutex(State(snapshot: snapshot, checkpoint: checkpoint, phaseBegan: clock.now()))
        observed = ObservedValue(snapshot)
        if snapshot.state.hasEnded { observed.finish() }
    }

    // MARK: Progress

    /// Starts a phase: its counts begin at 0.
    public func begin(phase: String, items: Int64? = nil, bytes: Int64? = nil) {
        change(always: true) { state in
            state.phaseBegan = clock.now()
            state.snapshot.progress = JobProgress()
            state.snapshot.progress.phase = phase
            state.snapshot.progress.itemsTotal = items
            state.snapshot.progress.bytesTotal = bytes
        }
    }

    /// Adds to what the phase has done.
    public func advance(items: Int64 = 0, bytes: Int64 = 0) {
        change(always: false) { state in
            // What is counted comes from files that may claim any size.
            state.snapshot.progress.itemsDone.add(clamping: items)
            state.snapshot.progress.bytesDone.add(clamping: bytes)
        }
    }

    // MARK: The receipt

    /// Records what became of one item.
    public func record(_ line: ReceiptLine) { record([line]) }

    /// Records what became of several items, whose lines are written down together or not at all.
    public func record(_ lines: [ReceiptLine]) {
        let count = state.withLock { state in
            for line in lines {
                state.snapshot.outcomes[line.outcome, default: 0] += 1
                if state.pending.lines.count < JobLimits.lines {
                    state.pending.lines.append(line)
                } else {
                    state.pending.counted[line.outcome, default: 0] += 1
                }
            }
            return state.pending.lines.count
        }
        if count >= Self.batch { isBatchFull.store(true, ordering: .releasing) }
    }

    /// Counts a line that stands in the journal already, because it was written in one transaction with what it tells.
    public func count(journaled line: ReceiptLine) {
        state.withLock { $0.snapshot.outcomes[line.outcome, default: 0] += 1 }
    }

    /// The items that have a line, those of runs before this one included. For a job that goes on where it was.
    public func recordedItems() async throws -> RecordedItems {
        try await flush()
        return try await journal.items(of: id)
    }

    /// How many of the lines that were kept are such ones, those of runs before this one included.
    public func recordedLines(where isCounted: (ReceiptLine) -> Bool) async throws -> Int {
        var count = 0
        var read = 0
        while true {
            let page = try await lines(after: read, limit: 1000).lines
            guard !page.isEmpty else { return count }
            count += page.count(where: isCounted)
            read += page.count
        }
    }

    /// Keeps what the job needs to go on from here; what it refers to must be durable already. The lines up to here
    /// are written down with it. Returns when it is durable, even where the job is being stopped.
    /// - Throws: where it cannot be kept.
    public func keep(checkpoint: Data) async throws {
        try await flush(keeping: checkpoint)
        state.withLock { $0.checkpoint = checkpoint }
    }

    // MARK: Going on

    /// Asked between two items: returns at once while the job may go on, and waits while it is paused.
    /// - Throws: `CancellationError` where it has to stop; what the journal throws where lines cannot be written.
    public func mayContinue() async throws {
        if orders.mayGoOn && !isBatchFull.load(ordering: .acquiring) { return }
        try await flush()
        try await orders.pass()
    }

    /// Whether it has to stop because the library is closed: it goes on later, so nothing is undone or given up.
    public var isInterrupted: Bool { orders.orders.isInterrupted && !orders.orders.isCancelled }

    /// Whether it was asked to stand still.
    public var isPaused: Bool { orders.orders.isPaused }

    /// Whether it was asked to stop for good.
    public var isCancelled: Bool { orders.orders.isCancelled }

    // MARK: For the store

    public var snapshot: JobSnapshot { state.withLock { $0.snapshot } }

    /// Whether it has ended, but the journal does not know.
    var endNotPersisted: Bool { snapshot.state.hasEnded && !isEndWritten.load(ordering: .acquiring) }

    /// The job's state now, then as it changes; ends when the job has ended or the library is closed.
    func observe() -> Observation<JobSnapshot> { observed.observe() }

    /// - Parameter obstacle: why, where no person asked for it.
    func pause(because obstacle: MeshError? = nil) {
        orders.change { $0.isPaused = true }
        change(always: true) { state in
            guard !state.snapshot.state.hasEnded, state.snapshot.state != .paused else { return }
            if state.snapshot.state == .running { state.pausedSince = clock.now() }
            state.snapshot.state = .paused
            state.snapshot.obstacle = obstacle
        }
    }

    /// Takes the order to stand still back; nothing runs for the job yet.
    func unpause() { orders.change { $0.isPaused = false } }

    /// It was to go on, and cannot yet.
    /// - Returns: whether that is new.
    func wait(for obstacle: MeshError) -> Bool {
        let now = snapshot
        guard !isPaused, !now.state.hasEnded, now.state != .waiting || now.obstacle != obstacle else { return false }
        change(always: true) { state in
            state.snapshot.state = .waiting
            state.snapshot.obstacle = obstacle
        }
        return true
    }

    func resume() {
        change(always: true) { state in
            guard !state.snapshot.state.hasEnded, state.snapshot.state != .running else { return }
            state.snapshot.state = .running
            state.snapshot.obstacle = nil
            let now = clock.now()
            if let since = state.pausedSince { state.phaseBegan &+= now &- since }
            state.pausedSince = nil
        }
        orders.change { $0.isPaused = false }
    }

    func cancel() {
        orders.change { $0.isCancelled = true }
        change(always: true) { state in
            guard !state.snapshot.state.hasEnded else { return }
            state.snapshot.state = .running
            state.snapshot.obstacle = nil
        }
    }

    func interrupt() { orders.change { $0.isInterrupted = true } }

    /// What a person wants of it at the moment.
    var request: JobRequest {
        let orders = orders.orders
        return orders.isCancelled ? .cancel : orders.isPaused ? .pause : .run
    }

    /// Forgets the counts of lines that the journal has dropped.
    func beginAnew() { change(always: true) { $0.snapshot.outcomes = [:] } }

    /// Writes down the lines recorded until now.
    func flush() async throws { try await flush(keeping: nil) }

    /// One writing after the other, each in a task of its own: a job that is being stopped has to write too, and a
    /// reader of the receipt that goes away must not take lines with it.
    private func flush(keeping checkpoint: Data?) async throws {
        let task = state.withLock { state -> Task<Void, any Error>? in
            if checkpoint == nil && state.pending.isEmpty && state.flushing == nil { return nil }
            let before = state.flushing
            let task = Task(executorPreference: MeshClock.executor) {
                _ = await before?.result
                try await self.write(checkpoint)
            }
            state.flushing = task
            return task
        }
        guard let task else { return }
        defer { state.withLock { if $0.flushing == task { $0.flushing = nil } } }
        try await task.value
    }

    private func write(_ checkpoint: Data?) async throws {
        let lines = state.withLock { state in
            defer { state.pending = JobLines() }
            return state.pending
        }
        isBatchFull.store(false, ordering: .releasing)
        do {
            if let checkpoint {
                try await journal.keep(checkpoint: checkpoint, lines, of: id)
            } else if !lines.isEmpty {
                try await journal.append(lines, to: id)
            }
        } catch {
            state.withLock { state in
                state.pending.lines = lines.lines + state.pending.lines
                state.pending.counted.merge(lines.counted, uniquingKeysWith: +)
            }
            throw error
        }
    }

    func lines(after: Int, limit: Int) async throws -> (lines: [ReceiptLine], next: Int?) {
        try await flush()
        return try await journal.lines(of: id, after: after, limit: limit)
    }

    /// The job has ended: first the journal has it, then the log, then everybody is told. Who waited for a job and starts
    /// the next one finds the two in the log in this order.
    func end(_ change: (inout JobSnapshot) -> Void, log: (JobSnapshot) async -> Void) async {
        var ended = estimated
        change(&ended)
        ended.endedAt = clock.timestamp()
        let unlisted = ended.lineCount - JobLimits.lines
        ended.unlistedLines = unlisted > 0 ? unlisted : nil
        // What cannot be written down, on a full disk, is told all the same, and is tried again later. A start before
        // that finds a job that was broken off, and does again what has been done, which changes nothing.
        await write(end: ended)
        await log(ended)
        conclude(ended)
    }

    /// Writes down the end of a job of which that could not be done.
    func writeEndAgain() async { await write(end: snapshot) }

    private func write(end: JobSnapshot) async {
        try? await flush()
        guard (try? await journal.end(end)) != nil else { return }
        isEndWritten.store(true, ordering: .releasing)
    }

    /// The library is closed: the job stands still until it is opened again.
    func suspend() async {
        var suspended = estimated
        suspended.state = isPaused ? .paused : .interrupted
        if !isPaused { suspended.obstacle = nil }
        try? await flush()
        try? await journal.suspend(suspended)
        conclude(suspended)
    }

    /// As it is at this moment: what is written down and what is told last are the same.
    private var estimated: JobSnapshot {
        state.withLock { state in
            state.estimate(at: clock.now())
            return state.snapshot
        }
    }

    private func conclude(_ last: JobSnapshot) {
        change(always: true) { $0.snapshot = last }
        observed.finish()
    }

    private func change(always: Bool, _ body: (inout State) -> Void) {
        state.withLock { state in
            body(&state)
            let now = clock.now()
            guard always || now &- state.lastPublished >= Self.publishingInterval else { return }
            state.lastPublished = now
            state.estimate(at: clock.now())
            // Under the lock, so that the order of publishing is the order of the changes.
            observed.publish(state.snapshot)
            published(state.snapshot, always)
        }
    }
}
