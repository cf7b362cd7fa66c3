import Database
import Foundation
import LibraryStorage
import ServiceMesh

/// Jobs in SQLite, as other changes of a transaction see them.
struct JobRows: JobRepository {
    let connection: Connection

    func setCheckpoint(_ checkpoint: Data, of job: JobID) throws {
        try JobTable.setCheckpoint(checkpoint, of: job, in: connection)
    }

    func unfinished(_ jobs: [JobID]) throws -> Set<JobID> {
        try Set(
            jobs.filter {
                try connection.value("SELECT EXISTS (SELECT 1 FROM jobs WHERE id = ? AND ended_at IS NULL)", $0)
                    as Bool?
                    ?? false
            })
    }

    func replaceTexts(
        from place: JobTextPlace, limit: Int, _ replacement: (String) -> String?
    ) throws -> (replaced: Int, next: JobTextPlace?) {
        place.isAtLines
            ? try replaceLines(from: place, limit: limit, replacement)
            : try replaceReceipts(from: place, limit: limit, replacement)
    }

    private func replaceReceipts(
        from place: JobTextPlace, limit: Int, _ replacement: (String) -> String?
    ) throws -> (replaced: Int, next: JobTextPlace?) {
        let jobs = try connection.query(
            "SELECT number, receipt, error FROM jobs WHERE number > ? AND ended_at IS NOT NULL ORDER BY number LIMIT ?",
            place.job, limit
        ) { (number: try $0[0] as Int64, receipt: try $0[1] as String?, error: try $0[2] as String?) }
        var replaced = 0
        for job in jobs {
            let (receipt, error) = (
                try job.receipt.flatMap { try Self.replaced($0, replacement) },
                try job.error.flatMap { try Self.replaced($0, replacement) }
            )
            guard receipt != nil || error != nil else { continue }
            replaced += 1
            try connection.execute(
                "UPDATE jobs SET receipt = coalesce(?, receipt), error = coalesce(?, error) WHERE number = ?", receipt,
                error, job.number)
        }
        var next = JobTextPlace()
        if let last = jobs.last, jobs.count == limit { next.job = last.number } else { next.isAtLines = true }
        return (replaced, next)
    }

    /// - Returns: nil where nothing is replaced.
    private static func replaced(_ json: String, _ replacement: (String) -> String?) throws -> String? {
        let value = try JSONDecoder().decode(JSONValue.self, from: Data(json.utf8))
        let other = value.replacingTexts(replacement)
        return other == value ? nil : String(decoding: try JSONEncoder().encode(other), as: UTF8.self)
    }

    private func replaceLines(
        from place: JobTextPlace, limit: Int, _ replacement: (String) -> String?
    ) throws -> (replaced: Int, next: JobTextPlace?) {
        let lines = try connection.query(
            """
            SELECT l.job, l.number, l.item, l.detail FROM job_lines l
            WHERE (l.job, l.number) > (?, ?) AND EXISTS (SELECT 1 FROM jobs WHERE number = l.job AND ended_at IS NOT NULL)
            ORDER BY l.job, l.number LIMIT ?
            """, place.job, place.line, limit
        ) {
            (
                job: try $0[0] as Int64, number: try $0[1] as Int, item: try $0[2] as String,
                detail: try $0[3] as String?
            )
        }
        var replaced = 0
        for line in lines {
            let (item, detail) = (replacement(line.item), line.detail.flatMap(replacement))
            guard item != nil || detail != nil else { continue }
            replaced += 1
            try connection.execute(
                "UPDATE job_lines SET item = ?, detail = ? WHERE job = ? AND number = ?", item ?? line.item,
                detail ?? line.detail, line.job, line.number)
        }
        guard let last = lines.last, lines.count == limit else { return (replaced, nil) }
        var next = place
        (next.job, next.line) = (last.job, last.number)
        return (replaced, next)
    }

    func openCheckpoints(of method: String) throws -> [(job: JobID, checkpoint: Data)] {
        try connection.query(
            "SELECT id, checkpoint FROM jobs WHERE method = ? AND ended_at IS NULL AND checkpoint IS NOT NULL", method
        ) { row in try? (row[0] as JobID, row[1] as Data) }.compactMap { $0 }
    }
}

extension JSONValue {
    fileprivate func replacingTexts(_ replacement: (String) -> String?) -> JSONValue {
        switch self {
        case .string(let text): replacement(text).map(JSONValue.string) ?? self
        case .array(let values): .array(values.map { $0.replacingTexts(replacement) })
        case .object(let members): .object(members.mapValues { $0.replacingTexts(replacement) })
        case .null, .bool, .integer, .number: self
        }
    }
}
