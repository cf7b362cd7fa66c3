import Database
import Foundation
import ServiceMesh

/// The SQL of jobs. Every function works inside the caller's transaction.
///
/// What is read may have been written by anybody: a row that cannot be understood is one job less, not a library
/// that does not open.
enum JobTable {
    /// Every job, the oldest first. Rows beyond the bound, the oldest, and rows that are no jobs are removed.
    static func takeAll(atMost limit: Int, in connection: Connection) throws -> [JobRecord] {
        try connection.execute(
            "DELETE FROM jobs WHERE number NOT IN (SELECT number FROM jobs ORDER BY number DESC LIMIT ?)", limit)
        var unreadable: [Int64] = []
        let found = try connection.query("SELECT * FROM jobs ORDER BY number") { row -> (Int64, JobRecord)? in
            let number: Int64 = try row["number"]
            do {
                return (number, try record(row))
            } catch {
                unreadable.append(number)
                return nil
            }
        }
        for number in unreadable { try connection.execute("DELETE FROM jobs WHERE number = ?", number) }
        return try found.compactMap { $0 }.map { number, record in
            var record = record
            record.snapshot.outcomes = try JobLineTable.outcomes(of: number, in: connection)
            record.mark &+= record.snapshot.outcomes.values.reduce(Int64(0)) { $0 &+ Int64($1) }
            return record
        }
    }

    private static func record(_ row: borrowing Row) throws -> JobRecord {
        func json<T: Decodable>(_ text: String?) -> T? {
            text.flatMap { try? JSONDecoder().decode(T.self, from: Data($0.utf8)) }
        }
        let startedAt: Int64 = try row["started_at"]
        let endedAt: Int64? = try row["ended_at"]
        var snapshot = JobSnapshot(
            id: try row["id"], method: try row["method"],
            state: JobState(rawValue: try row["state"]) ?? .running, startedAt: Timestamp(milliseconds: startedAt))
        snapshot.endedAt = endedAt.map(Timestamp.init(milliseconds:))
        snapshot.needsAttention = try row["needs_attention"]
        snapshot.progress = json(try row["progress"]) ?? snapshot.progress
        snapshot.receipt = json(try row["receipt"])
        snapshot.error = json(try row["error"])
        if endedAt == nil {
            // One that has not ended has no error: the column says why it was held.
            snapshot.obstacle = snapshot.error
            snapshot.error = nil
        }
        let params: String? = try row["params"]
        let role: Int = try row["role"]
        let checkpoints: Int64 = try row["checkpoints"]
        return JobRecord(
            snapshot: snapshot, params: params.map { Data($0.utf8) }, role: Role(rawValue: role) ?? .kid,
            request: JobRequest(rawValue: try row["request"]) ?? .run, checkpoint: try row["checkpoint"],
            mark: checkpoints, attempts: JobAttempts(count: try row["attempts"], mark: try row["attempts_mark"]))
    }

    static func insert(_ record: JobRecord, in connection: Connection) throws {
        try connection.execute(
            """
            INSERT INTO jobs (id, method, params, role, state, request, started_at, needs_attention)
            VALUES (?, ?, ?, ?, ?, ?, ?, 0)
            """,
            record.snapshot.id, record.snapshot.method, record.params.map { String(decoding: $0, as: UTF8.self) },
            record.role.rawValue, record.snapshot.state.rawValue, record.request.rawValue,
            record.snapshot.startedAt.milliseconds)
    }

    /// The number by which lines refer to a job, or nil where there is no such job.
    static func number(of job: JobID, in connection: Connection) throws -> Int64? {
        try connection.first("SELECT number FROM jobs WHERE id = ?", job) { try $0[0] as Int64 }
    }

    static func setCheckpoint(_ checkpoint: Data, of job: JobID, in connection: Connection) throws {
        try connection.execute(
            "UPDATE jobs SET checkpoint = ?, checkpoints = checkpoints + 1 WHERE id = ?", checkpoint, job)
    }

    static func setRequest(_ request: JobRequest, of job: JobID, in connection: Connection) throws {
        let state: JobState = request == .pause ? .paused : .running
        try connection.execute(
            "UPDATE jobs SET request = ?, state = ? WHERE id = ? AND ended_at IS NULL", request.rawValue,
            state.rawValue, job)
    }

    static func setRunning(_ job: JobID, _ attempts: JobAttempts, in connection: Connection) throws {
        try connection.execute(
            "UPDATE jobs SET state = ?, attempts = ?, attempts_mark = ?, error = NULL WHERE id = ?",
            JobState.running.rawValue, attempts.count, attempts.mark, job)
    }

    /// - Parameter reason: why it was held, as JSON; in the column of the error that it may end with.
    static func setStanding(
        _ job: JobID, _ state: JobState, progress: String, reason: String?, in connection: Connection
    ) throws {
        try connection.execute(
            "UPDATE jobs SET state = ?, progress = ?, error = ? WHERE id = ? AND ended_at IS NULL", state.rawValue,
            progress, reason, job)
    }

    /// A job's end in the form of its columns.
    struct Ending: Sendable {
        let state: JobState
        let endedAt: Timestamp
        let needsAttention: Bool
        let progress: String
        let receipt: String?
        let error: String?
    }

    /// What only going on needs goes with the end.
    static func end(_ job: JobID, _ ending: Ending, in connection: Connection) throws {
        try connection.execute(
            """
            UPDATE jobs SET state = ?, ended_at = ?, needs_attention = ?, progress = ?, receipt = ?, error = ?,
                params = NULL, checkpoint = NULL
            WHERE id = ?
            """,
            ending.state.rawValue, ending.endedAt.milliseconds, ending.needsAttention, ending.progress, ending.receipt,
            ending.error, job)
    }

    static func delete(_ job: JobID, in connection: Connection) throws {
        try connection.execute("DELETE FROM jobs WHERE id = ?", job)
    }
}

/// The SQL of receipt lines, and of how many there are of each outcome.
enum JobLineTable {
    /// Adds a line at the end of a job's receipt; past the bound it is counted only.
    static func append(_ line: ReceiptLine, to job: JobID, in connection: Connection) throws {
        guard let number = try JobTable.number(of: job, in: connection) else { return }
        try append(line, to: number, in: connection)
    }

    static func append(_ line: ReceiptLine, to job: Int64, in connection: Connection) throws {
        let next = try count(of: job, in: connection)
        if next < JobLimits.lines {
            try connection.execute(
                "INSERT INTO job_lines (job, number, item, outcome, detail) VALUES (?, ?, ?, ?, ?)", job, next,
                line.item, line.outcome, line.detail)
        }
        try add(1, of: line.outcome, to: job, in: connection)
    }

    static func append(_ lines: JobLines, to job: JobID, in connection: Connection) throws {
        guard let number = try JobTable.number(of: job, in: connection) else { return }
        for line in lines.lines { try append(line, to: number, in: connection) }
        for (outcome, count) in lines.counted { try add(count, of: outcome, to: number, in: connection) }
    }

    private static func add(_ count: Int, of outcome: String, to job: Int64, in connection: Connection) throws {
        try connection.execute(
            """
            INSERT INTO job_outcomes (job, outcome, count) VALUES (?, ?, ?)
            ON CONFLICT (job, outcome) DO UPDATE SET count = count + excluded.count
            """, job, outcome, count)
    }

    /// Lines are numbered without gaps, so the last number tells; counting them would read them all.
    static func count(of job: Int64, in connection: Connection) throws -> Int {
        let last = try connection.first("SELECT max(number) FROM job_lines WHERE job = ?", job) { try $0[0] as Int? }
        return last.flatMap { $0 }.map { $0 + 1 } ?? 0
    }

    static func outcomes(of job: Int64, in connection: Connection) throws -> [String: Int] {
        let counts = try connection.query("SELECT outcome, count FROM job_outcomes WHERE job = ? LIMIT 1000", job) {
            (try $0[0] as String, try $0[1] as Int)
        }
        return Dictionary(counts, uniquingKeysWith: { first, _ in first })
    }

    static func page(of job: Int64, after: Int, limit: Int, in connection: Connection) throws -> [ReceiptLine] {
        try connection.query(
            "SELECT item, outcome, detail FROM job_lines WHERE job = ? AND number >= ? ORDER BY number LIMIT ?", job,
            after, limit
        ) { try ReceiptLine(item: $0[0], outcome: $0[1], detail: $0[2]) }
    }

    static func items(of job: Int64, in connection: Connection) throws -> Set<String> {
        Set(try connection.query("SELECT item FROM job_lines WHERE job = ?", job) { try $0[0] as String })
    }

    /// Removes the lowest `limit` lines. Whoever removes many does it in steps: other writes wait meanwhile.
    /// - Returns: how many there were to be removed.
    static func deleteSome(of job: Int64, limit: Int, in connection: Connection) throws -> Int {
        let first = try connection.first("SELECT min(number) FROM job_lines WHERE job = ?", job) { try $0[0] as Int? }
        guard let first = first.flatMap({ $0 }) else { return 0 }
        return try connection.execute(
            "DELETE FROM job_lines WHERE job = ? AND number < ?", job, first.addingReportingOverflow(limit).partialValue
        )
    }

    static func deleteAll(of job: Int64, in connection: Connection) throws {
        try connection.execute("DELETE FROM job_lines WHERE job = ?", job)
        try connection.execute("DELETE FROM job_outcomes WHERE job = ?", job)
    }
}
