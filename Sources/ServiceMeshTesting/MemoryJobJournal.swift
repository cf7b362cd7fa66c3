import Foundation
import ServiceMesh
import Synchronization

/// Keeps jobs for as long as the process lives: the journal of a test's mesh, which has no catalogue. It keeps the promises of
/// `JobJournal` but one: nothing of it is durable.
public final class MemoryJobJournal: JobJournal {
    /// Bytes of the receipts of jobs that did not end lately: memory is not as large as a disk.
    private static let bytes: Int64 = 16 << 20

    fileprivate struct Entry {
        let number: Int64
        var record: JobRecord
        /// Each with the number that it has for good, also when others are gone.
        var lines: [(number: Int, line: ReceiptLine)] = []
        /// Once it is cut down.
        var bytes: Int64?

        mutating func add(_ more: JobLines) {
            for line in more.lines {
                if lines.count < JobLimits.lines { lines.append((lines.count, line)) }
                record.snapshot.outcomes[line.outcome, default: 0] += 1
            }
            record.snapshot.outcomes.merge(more.counted, uniquingKeysWith: +)
            record.mark += Int64(more.lines.count)
        }

        mutating func cut(to limit: Int, needsAttention: (String) -> Bool) {
            let listed = lines.reduce(into: [:]) { $0[$1.line.outcome, default: 0] += 1 }
            var allowance = LineAllowance(of: listed, limit: limit, needsAttention: needsAttention)
            lines = lines.filter { allowance.take(needingAttention: needsAttention($0.line.outcome)) }
            let unlisted = record.snapshot.lineCount - lines.count
            record.snapshot.unlistedLines = unlisted > 0 ? unlisted : nil
            bytes = lines.reduce(Int64(0)) { sum, entry in
                sum + Int64(entry.line.item.utf8.count + (entry.line.detail?.utf8.count ?? 0) + 64)
            }
        }
    }

    private struct State {
        var entries: [JobID: Entry] = [:]
        var order: [JobID] = []
        var last: Int64 = 0

        mutating func forget(_ jobs: some Sequence<JobID>) {
            for job in jobs { entries[job] = nil }
            order.removeAll { entries[$0] == nil }
        }
    }

    private let state = Mutex(State())

    public init() {}

    public func records(_ retention: JobRetention) async throws -> [JobRecord] {
        state.withLock { state in
            for job in state.order {
                guard var entry = state.entries[job], entry.record.snapshot.state.hasEnded else { continue }
                let latest = retention.reckoned.latest
                entry.record.snapshot.endedAt = min(entry.record.snapshot.endedAt ?? latest, latest)
                state.entries[job] = entry
            }
            return state.order.compactMap { state.entries[$0]?.record }.filter { record in
                record.snapshot.endedAt.map { $0 >= retention.recent } ?? true
            }
        }
    }

    public func jobs(beginningWith beginning: String, limit: Int) async throws -> [JobSnapshot] {
        state.withLock { state in
            state.order.filter { $0.hasPrefix(beginning) }.sorted().prefix(limit).compactMap {
                state.entries[$0]?.record.snapshot
            }
        }
    }

    public func page(
        after: Int64?, limit: Int, _ retention: JobRetention
    ) async throws -> (jobs: [JobSnapshot], next: Int64?) {
        state.withLock { state in
            let found = state.order.reversed().compactMap { state.entries[$0] }.filter { entry in
                entry.number < after ?? .max && retention.keeps(entry.record.snapshot)
            }
            let page = found.prefix(limit)
            return (page.map(\.record.snapshot), found.count > limit ? page.last?.number : nil)
        }
    }

    public func begin(_ record: JobRecord) async throws {
        state.withLock { state in
            state.last += 1
            state.entries[record.snapshot.id] = Entry(number: state.last, record: record)
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

    public func lines(of job: JobID, after: Int, limit: Int) async throws -> (lines: [ReceiptLine], next: Int?) {
        state.withLock { state in
            let lines = state.entries[job]?.lines ?? []
            // Where none is gone, a line's number is its place.
            let isWhole = lines.last.map { $0.number == lines.count - 1 } ?? true
            let first = isWhole ? after : lines.firstIndex { $0.number >= after } ?? lines.count
            let page = lines.dropFirst(first).prefix(limit)
            return (page.map(\.line), page.endIndex < lines.count ? page.last.map { $0.number + 1 } : nil)
        }
    }

    public func items(of job: JobID) async throws -> RecordedItems {
        state.withLock { RecordedItems($0.entries[job]?.lines.map(\.line.item) ?? []) }
    }

    public func forget(_ jobs: [JobID]) async throws { state.withLock { $0.forget(jobs) } }

    public func tidy(
        _ retention: JobRetention, needsAttention: @escaping @Sendable (String, String) -> Bool
    ) async throws {
        state.withLock { state in
            for job in state.order {
                guard var entry = state.entries[job], entry.bytes == nil,
                    let ended = entry.record.snapshot.endedAt, ended < retention.whole
                else { continue }
                let method = entry.record.snapshot.method
                entry.cut(to: retention.lines) { needsAttention($0, method) }
                state.entries[job] = entry
            }
            var (jobs, bytes) = (retention.jobs, min(retention.bytes, Self.bytes))
            let gone = state.order.reversed().filter { job in
                guard let entry = state.entries[job] else { return true }
                if !retention.keeps(entry.record.snapshot) { return true }
                guard let size = entry.bytes else { return false }
                (jobs, bytes) = (jobs - 1, bytes - size)
                return jobs < 0 || bytes < 0
            }
            if !gone.isEmpty { state.forget(gone) }
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
