import Database
import Foundation
import LibraryStorage
import ServiceMesh

/// Keeps jobs in the catalogue, so that what they tell and what they did are in one file and, where a step asks for
/// it, in one transaction.
struct CatalogueJobJournal: JobJournal {
    /// Jobs that have not ended, and as many that ended lately: more were made by nobody but hand.
    private static let inMemory = 4096
    /// Bytes of the receipts of one page of jobs, of which a reply has room for eight times as many.
    private static let pageBytes: Int64 = 1 << 20
    private static let linesAtOnce = 5000

    let database: DatabasePool
    let reserve: SpaceReserve?

    func records(_ retention: JobRetention) async throws -> [JobRecord] {
        try await write { connection in
            try JobTable.correctEnds(at: retention.reckoned.latest, in: connection)
            return try JobTable.take(endedSince: retention.recent, atMost: Self.inMemory, in: connection)
        }
    }

    func jobs(beginningWith beginning: String, limit: Int) async throws -> [JobSnapshot] {
        try await database.read { try JobTable.find(beginningWith: beginning, limit: limit, in: $0) }
    }

    func page(
        after: Int64?, limit: Int, _ retention: JobRetention
    ) async throws -> (jobs: [JobSnapshot], next: Int64?) {
        try await database.read {
            try JobTable.page(
                before: after ?? .max, limit: limit, bytes: Self.pageBytes, endedSince: retention.oldest, in: $0)
        }
    }

    func begin(_ record: JobRecord) async throws { try await write { try JobTable.insert(record, in: $0) } }

    func append(_ lines: JobLines, to job: JobID) async throws {
        try await write { try JobLineTable.append(lines, to: job, in: $0) }
    }

    func keep(checkpoint: Data, _ lines: JobLines, of job: JobID) async throws {
        try await write { connection in
            try JobLineTable.append(lines, to: job, in: connection)
            try JobTable.setCheckpoint(checkpoint, of: job, in: connection)
        }
    }

    func note(_ request: JobRequest, of job: JobID) async throws {
        try await write { try JobTable.setRequest(request, of: job, in: $0) }
    }

    func resume(_ job: JobID, attempts: JobAttempts, droppingLines: Bool) async throws {
        try await write { connection in
            if droppingLines, let number = try JobTable.number(of: job, in: connection) {
                try JobLineTable.deleteAll(of: number, in: connection)
            }
            try JobTable.setRunning(job, attempts, in: connection)
        }
    }

    func suspend(_ snapshot: JobSnapshot) async throws {
        let progress = try Self.text(snapshot.progress)
        // What a waiting job waits for is found again; why one was held is known to nobody else.
        let reason = try snapshot.state == .paused ? snapshot.obstacle.map(Self.text) : nil
        try await write {
            try JobTable.setStanding(snapshot.id, snapshot.state, progress: progress, reason: reason, in: $0)
        }
    }

    func end(_ snapshot: JobSnapshot) async throws {
        let ending = JobTable.Ending(
            state: snapshot.state, endedAt: snapshot.endedAt ?? .now(), needsAttention: snapshot.needsAttention,
            progress: try Self.text(snapshot.progress), receipt: try snapshot.receipt.map(Self.text),
            error: try snapshot.error.map(Self.text), unlistedLines: snapshot.unlistedLines ?? 0)
        try await write { try JobTable.end(snapshot.id, ending, in: $0) }
    }

    func lines(of job: JobID, after: Int, limit: Int) async throws -> (lines: [ReceiptLine], next: Int?) {
        try await database.read { connection in
            guard let number = try JobTable.number(of: job, in: connection) else { return ([], nil) }
            return try JobLineTable.page(of: number, after: after, limit: limit, in: connection)
        }
    }

    func items(of job: JobID) async throws -> RecordedItems {
        try await database.read { connection in
            guard let number = try JobTable.number(of: job, in: connection) else { return [] }
            return try JobLineTable.items(of: number, in: connection)
        }
    }

    func forget(_ jobs: [JobID]) async throws {
        for job in jobs {
            let number = try await database.read { try JobTable.number(of: job, in: $0) }
            if let number { try await remove(number) }
        }
    }

    private func remove(_ job: Int64) async throws {
        var removed: Int
        repeat {
            removed = try await write { try JobLineTable.deleteSome(of: job, limit: Self.linesAtOnce, in: $0) }
        } while removed > 0
        try await write { try JobTable.delete(job, in: $0) }
    }

    // MARK: Keeping

    /// In small steps, and only where there is something to be done: other writes wait for each.
    func tidy(
        _ retention: JobRetention, needsAttention: @escaping @Sendable (String, String) -> Bool
    ) async throws {
        for (job, method) in try await database.read({ try JobTable.whole(endedBefore: retention.whole, in: $0) }) {
            try await cut(job, to: retention.lines) { needsAttention($0, method) }
        }
        for job in try await database.read({ try JobTable.expired(retention, in: $0) }) {
            try Task.checkCancellation()
            try await remove(job)
        }
    }

    /// From the first line to the last, and from the first again where it is broken off: which lines stay does not depend
    /// on how many of the others are gone. First it is noted how many will be.
    private func cut(_ job: Int64, to limit: Int, needsAttention: @escaping @Sendable (String) -> Bool) async throws {
        let listed = try await database.read { try JobLineTable.listed(of: job, in: $0) }
        var allowance = LineAllowance(of: listed, limit: limit, needsAttention: needsAttention)
        var next: Int? = listed.values.reduce(0, +) > limit ? 0 : nil
        if next != nil { try await write { try JobTable.noteUnlisted(job, listing: limit, in: $0) } }
        while let from = next {
            try Task.checkCancellation()
            let before = allowance
            (next, allowance) = try await write { connection in
                var allowance = before
                let next = try JobLineTable.thin(
                    job, from: from, limit: Self.linesAtOnce, in: connection,
                    keeping: { allowance.take(needingAttention: needsAttention($0)) })
                return (next, allowance)
            }
        }
        try await write { try JobTable.noteKept(job, in: $0) }
    }

    /// A job that is being stopped has to write too, and the catalogue refuses a cancelled task; and what a job did is told also on a
    /// full disk.
    @discardableResult
    private func write<T: Sendable>(_ body: @escaping @Sendable (Connection) throws -> T) async throws -> T {
        try await uncancelled { [database, reserve] in
            try await SpaceReserve.spending(reserve) { try await database.write(body) }
        }
    }

    private static func text<T: Encodable>(_ value: T) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.withoutEscapingSlashes]
        return String(decoding: try encoder.encode(value), as: UTF8.self)
    }
}
