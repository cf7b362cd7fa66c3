import Database
import Foundation
import ServiceMesh

/// The SQL of jobs. Every function works inside the caller's transaction.
///
/// What is read may have been written by anybody: a row that cannot be understood is one job less, not a library
/// that does not open.
enum JobTable {
    /// Gives each job that has ended an end that is not in the future: a clock that was wrong must not keep it for ever.
    static func correctEnds(at now: Timestamp, in connection: Connection) throws {
        try connection.execute(
            """
            UPDATE jobs SET ended_at = ?1
            WHERE ended_at > ?1 OR (ended_at IS NULL AND state IN ('finished', 'failed', 'cancelled'))
            """, now.milliseconds)
    }

    /// The jobs that have not ended, and those that ended since then, the oldest first. Of each, those beyond the bound are
    /// left out, the oldest; rows that have not ended and are beyond it, and rows that are no jobs, are removed.
    static func take(endedSince time: Timestamp, atMost limit: Int, in connection: Connection) throws -> [JobRecord] {
        try connection.execute(
            """
            DELETE FROM jobs WHERE ended_at IS NULL AND number NOT IN
                (SELECT number FROM jobs WHERE ended_at IS NULL ORDER BY number DESC LIMIT ?)
            """, limit)
        var unreadable: [Int64] = []
        let found = try connection.query(
            """
            SELECT * FROM jobs WHERE ended_at IS NULL
                OR number IN (SELECT number FROM jobs WHERE ended_at >= ? ORDER BY number DESC LIMIT ?)
            ORDER BY number
            """, time.milliseconds, limit
        ) { row -> (Int64, JobRecord)? in
            let number: Int64 = try row["number"]
            do {
                return (number, try record(row))
            } catch {
                unreadable.append(number)
                return nil
            }
        }
        for number in unreadable { try delete(number, in: connection) }
        return try found.compactMap { $0 }.map { number, record in
            var record = record
            record.snapshot.outcomes = try JobLineTable.outcomes(of: number, in: connection)
            record.mark &+= record.snapshot.outcomes.values.reduce(Int64(0)) { $0 &+ Int64($1) }
            return record
        }
    }

    /// By the beginning of their ids, in the ids' order.
    static func find(beginningWith beginning: String, limit: Int, in connection: Connection) throws -> [JobSnapshot] {
        // The index on ids finds them; LIKE would need its special characters taken out.
        let numbers = try connection.query(
            "SELECT number FROM jobs WHERE id >= ?1 AND id < ?1 || char(0x10FFFF) ORDER BY id LIMIT ?2", beginning,
            limit
        ) { try $0[0] as Int64 }
        return try numbers.compactMap { try snapshot(of: $0, in: connection) }
    }

    /// A page of the jobs that have not ended or ended since then, the newest first.
    /// - Parameters:
    ///   - before: a job's number.
    ///   - bytes: of receipts, after which the page ends; one job is on it in any case.
    static func page(
        before: Int64, limit: Int, bytes: Int64, endedSince time: Timestamp, in connection: Connection
    ) throws -> (jobs: [JobSnapshot], next: Int64?) {
        let found = try connection.query(
            """
            SELECT number, ifnull(length(CAST(receipt AS BLOB)), 0) + ifnull(length(CAST(error AS BLOB)), 0) + 500
            FROM jobs WHERE number < ? AND (ended_at IS NULL OR ended_at >= ?) ORDER BY number DESC LIMIT ?
            """, before, time.milliseconds, limit + 1
        ) { (number: try $0[0] as Int64, bytes: try $0[1] as Int64) }
        var left = bytes
        let numbers = found.prefix(limit).enumerated().prefix { index, job in
            left -= min(left, job.bytes)
            return index == 0 || left > 0
        }.map(\.element.number)
        let jobs = try numbers.compactMap { try snapshot(of: $0, in: connection) }
        return (jobs, numbers.count < found.count ? numbers.last : nil)
    }

    /// Nil where the row is no job.
    private static func snapshot(of number: Int64, in connection: Connection) throws -> JobSnapshot? {
        let found = try connection.first("SELECT * FROM jobs WHERE number = ?", number) { try? record($0).snapshot }
        guard var snapshot = found.flatMap({ $0 }) else { return nil }
        snapshot.outcomes = try JobLineTable.outcomes(of: number, in: connection)
        return snapshot
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
        // What a later version may end as is an end all the same.
        if endedAt != nil && !snapshot.state.hasEnded { snapshot.state = .failed }
        snapshot.needsAttention = try row["needs_attention"]
        let unlisted: Int = try row["unlisted_lines"]
        snapshot.unlistedLines = unlisted > 0 ? unlisted : nil
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
        let unlistedLines: Int
    }

    /// What only going on needs goes with the end.
    static func end(_ job: JobID, _ ending: Ending, in connection: Connection) throws {
        try connection.execute(
            """
            UPDATE jobs SET state = ?, ended_at = ?, needs_attention = ?, progress = ?, receipt = ?, error = ?,
                unlisted_lines = ?, params = NULL, checkpoint = NULL
            WHERE id = ?
            """,
            ending.state.rawValue, ending.endedAt.milliseconds, ending.needsAttention, ending.progress, ending.receipt,
            ending.error, ending.unlistedLines, job)
    }

    static func delete(_ number: Int64, in connection: Connection) throws {
        try connection.execute("DELETE FROM jobs WHERE number = ?", number)
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

    /// By their numbers, which stay when other lines go.
    static func page(
        of job: Int64, after: Int, limit: Int, in connection: Connection
    ) throws -> (lines: [ReceiptLine], next: Int?) {
        let found = try connection.query(
            "SELECT number, item, outcome, detail FROM job_lines WHERE job = ? AND number >= ? ORDER BY number LIMIT ?",
            job, after, limit + 1
        ) { (number: try $0[0] as Int, line: ReceiptLine(item: try $0[1], outcome: try $0[2], detail: try $0[3])) }
        return (found.prefix(limit).map(\.line), found.count > limit ? found[limit].number : nil)
    }

    static func items(of job: Int64, in connection: Connection) throws -> RecordedItems {
        RecordedItems(try connection.query("SELECT item FROM job_lines WHERE job = ?", job) { try $0[0] as String })
    }

    /// Removes the lowest `limit` lines. A caller that removes many does it in steps: other writes wait meanwhile.
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
