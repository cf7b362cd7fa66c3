import Foundation
import Synchronization

/// Keeps jobs for as long as the process lives: the journal of a mesh that has no other.
public final class MemoryJobJournal: JobJournal {
    fileprivate struct Entry {
        var record: JobRecord
        var lines: [ReceiptLine] = []

        mutating func add(_ more: JobLines) {
            lines += more.lines.prefix(max(0, JobLimits.lines - lines.count))
            for line in more.lines { record.snapshot.outcomes[line.outcome, default: 0] += 1 }
            record.snapshot.outcomes.merge(more.counted, uniquingKeysWith: +)
            record.mark += Int64(more.lines.count)
        }
    }

    private struct State {
        var entries: [JobID: Entry] = [:]
        var order: [JobID] = []
    }

    private let state = Mutex(State())

    public init() {}

    public func records() async throws -> [JobRecord] {
        state.withLock { state in state.order.compactMap { state.entries[$0]?.record } }
    }

    public func begin(_ record: JobRecord) async throws {
        state.withLock { state in
            state.entries[record.snapshot.id] = Entry(record: record)
            state.order.append(record.snapshot.id)
        }
    }

    public func append(_ lines: JobLines, to job: JobID) async throws { change(job) { $0.add(lines) } }

    public func keep(checkpoint: Data, _ lines: JobLines, of job: JobID) async throws {
        change(job) { entry in
            entry.add(lines)
            entry.record.checkpoint = checkpoint
            entry.record.mark += 1
        }
    }

    public func note(_ request: JobRequest, of job: JobID) async throws {
        change(job) { entry in
            guard !entry.record.snapshot.state.hasEnded else { return }
            entry.record.request = request
            entry.record.snapshot.state = request == .pause ? .paused : .running
        }
    }

    public func resume(_ job: JobID, attempts: JobAttempts, droppingLines: Bool) async throws {
        change(job) { entry in
            entry.record.attempts = attempts
            entry.record.snapshot.state = .running
            entry.record.snapshot.obstacle = nil
            guard droppingLines else { return }
            entry.lines = []
            entry.record.snapshot.outcomes = [:]
        }
    }

    public func suspend(_ snapshot: JobSnapshot) async throws { change(snapshot.id) { $0.put(snapshot) } }

    public func end(_ snapshot: JobSnapshot) async throws {
        change(snapshot.id) { entry in
            entry.put(snapshot)
            entry.record.params = nil
            entry.record.checkpoint = nil
        }
    }

    public func lines(of job: JobID, after: Int, limit: Int) async throws -> (lines: [ReceiptLine], total: Int) {
        state.withLock { state in
            let lines = state.entries[job]?.lines ?? []
            return (Array(lines.dropFirst(after).prefix(limit)), lines.count)
        }
    }

    public func items(of job: JobID) async throws -> Set<String> {
        state.withLock { Set($0.entries[job]?.lines.map(\.item) ?? []) }
    }

    public func forget(_ jobs: [JobID]) async throws {
        state.withLock { state in
            for job in jobs { state.entries[job] = nil }
            state.order.removeAll { state.entries[$0] == nil }
        }
    }

    private func change(_ job: JobID, _ body: (inout Entry) -> Void) {
        state.withLock { state in
            guard var entry = state.entries.removeValue(forKey: job) else { return }
            body(&entry)
            state.entries[job] = entry
        }
    }
}

extension MemoryJobJournal.Entry {
    /// The counts are the journal's own.
    fileprivate mutating func put(_ snapshot: JobSnapshot) {
        let outcomes = record.snapshot.outcomes
        record.snapshot = snapshot
        record.snapshot.outcomes = outcomes
    }
}
