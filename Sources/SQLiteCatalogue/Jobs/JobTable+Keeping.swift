import Database
import ServiceMesh

// What becomes of jobs that did not end lately: their receipts are cut down, and they go. What is asked after each job is
// answered by the index alone; in the order of numbers SQLite would rather read every row, with its receipt.
extension JobTable {
    /// Jobs that ended before then and are not cut down yet, the oldest first.
    static func whole(endedBefore time: Timestamp, in connection: Connection) throws -> [(job: Int64, method: String)] {
        try connection.query(
            """
            SELECT number, method FROM jobs INDEXED BY jobs_by_end WHERE ended_at < ? AND kept_bytes IS NULL ORDER BY number
            """, time.milliseconds
        ) { (try $0[0], try $0[1]) }
    }

    /// Jobs whose time is over, and of those that are cut down the oldest past the bounds.
    static func expired(_ retention: JobRetention, in connection: Connection) throws -> [Int64] {
        var (jobs, bytes) = (retention.jobs, retention.bytes)
        let oldest = retention.oldest.milliseconds
        return try connection.query(
            """
            SELECT number, ended_at, kept_bytes FROM jobs INDEXED BY jobs_by_end WHERE ended_at IS NOT NULL
            ORDER BY number DESC
            """
        ) { row -> Int64? in
            let (number, end, size): (Int64, Int64, Int64?) = (try row[0], try row[1], try row[2])
            guard end >= oldest else { return number }
            guard let size else { return nil }
            (jobs, bytes) = (jobs - 1, max(-1, bytes - max(0, size)))
            return jobs < 0 || bytes < 0 ? number : nil
        }.compactMap { $0 }
    }

    /// Only so many of the lines that are counted are going to be listed.
    static func noteUnlisted(_ number: Int64, listing limit: Int, in connection: Connection) throws {
        let unlisted = try JobLineTable.counted(of: number, in: connection) - limit
        try connection.execute("UPDATE jobs SET unlisted_lines = ? WHERE number = ?", max(0, unlisted), number)
    }

    /// The receipt is as it is going to stay.
    static func noteKept(_ number: Int64, in connection: Connection) throws {
        let (lines, bytes) = try JobLineTable.size(of: number, in: connection)
        let unlisted = try JobLineTable.counted(of: number, in: connection) - lines
        try connection.execute(
            """
            UPDATE jobs SET unlisted_lines = ?,
                kept_bytes = ? + ifnull(length(CAST(receipt AS BLOB)), 0) + ifnull(length(CAST(error AS BLOB)), 0) + 500
            WHERE number = ?
            """, max(0, unlisted), bytes, number)
    }
}

extension JobLineTable {
    /// How many lines there are of each outcome, without the lines that are only counted.
    static func listed(of job: Int64, in connection: Connection) throws -> [String: Int] {
        let counts = try connection.query("SELECT outcome, count(*) FROM job_lines WHERE job = ? GROUP BY outcome", job)
        {
            (try $0[0] as String, try $0[1] as Int)
        }
        return Dictionary(counts, uniquingKeysWith: { first, _ in first })
    }

    /// How many lines were told of, with the lines that are only counted.
    static func counted(of job: Int64, in connection: Connection) throws -> Int {
        try outcomes(of: job, in: connection).values.reduce(0) { sum, count in
            let (sum, overflow) = sum.addingReportingOverflow(max(0, count))
            return overflow ? .max : sum
        }
    }

    /// How many lines there are, and about how many bytes they take.
    static func size(of job: Int64, in connection: Connection) throws -> (lines: Int, bytes: Int64) {
        try connection.first(
            """
            SELECT count(*), ifnull(sum(20 + length(CAST(item AS BLOB)) + length(CAST(outcome AS BLOB))
                + ifnull(length(CAST(detail AS BLOB)), 0)), 0)
            FROM job_lines WHERE job = ?
            """, job
        ) { (try $0[0], try $0[1]) } ?? (0, 0)
    }

    /// Removes the lines that do not stay, of the next `limit` ones.
    /// - Parameter keeping: asked for the outcome of each line, in their order.
    /// - Returns: where to go on, nil after the last.
    static func thin(
        _ job: Int64, from: Int, limit: Int, in connection: Connection, keeping: (String) -> Bool
    ) throws -> Int? {
        let lines = try connection.query(
            "SELECT number, outcome FROM job_lines WHERE job = ? AND number >= ? ORDER BY number LIMIT ?", job, from,
            limit
        ) { (number: try $0[0] as Int, outcome: try $0[1] as String) }
        for line in lines where !keeping(line.outcome) {
            try connection.execute("DELETE FROM job_lines WHERE job = ? AND number = ?", job, line.number)
        }
        guard lines.count == limit, let last = lines.last?.number else { return nil }
        return last == .max ? nil : last + 1
    }
}
