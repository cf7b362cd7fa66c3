import Database
import Foundation
import LibraryStorage
import ServiceMesh

/// Keeps jobs in the catalogue, so that what they tell and what they did are in one file and, where a step asks for
/// it, in one transaction.
struct CatalogueJobJournal: JobJournal {
    private static let kept = 4096
    private static let linesAtOnce = 5000

    let database: DatabasePool

    func records() async throws -> [JobRecord] {
        try await write { try JobTable.takeAll(atMost: Self.kept, in: $0) }
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
            error: try snapshot.error.map(Self.text))
        try await write { try JobTable.end(snapshot.id, ending, in: $0) }
    }

    func lines(of job: JobID, after: Int, limit: Int) async throws -> (lines: [ReceiptLine], total: Int) {
        try await database.read { connection in
            guard let number = try JobTable.number(of: job, in: connection) else { return ([], 0) }
            return (
                try JobLineTable.page(of: number, after: after, limit: limit, in: connection),
                try JobLineTable.count(of: number, in: connection)
            )
        }
    }

    func items(of job: JobID) async throws -> Set<String> {
        try await database.read { connection in
            guard let number = try JobTable.number(of: job, in: connection) else { return [] }
            return try JobLineTable.items(of: number, in: connection)
        }
    }

    func forget(_ jobs: [JobID]) async throws {
        for job in jobs {
            var removed: Int
            repeat {
                removed = try await write { connection in
                    guard let number = try JobTable.number(of: job, in: connection) else { return 0 }
                    return try JobLineTable.deleteSome(of: number, limit: Self.linesAtOnce, in: connection)
                }
            } while removed > 0
            try await write { try JobTable.delete(job, in: $0) }
        }
    }

    /// A job that is being stopped has to write too, and the catalogue refuses a cancelled task.
    @discardableResult
    private func write<T: Sendable>(_ body: @escaping @Sendable (Connection) throws -> T) async throws -> T {
        let database = database
        return try await uncancelled { try await database.write(body) }
    }

    private static func text<T: Encodable>(_ value: T) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.withoutEscapingSlashes]
        return String(decoding: try encoder.encode(value), as: UTF8.self)
    }
}
