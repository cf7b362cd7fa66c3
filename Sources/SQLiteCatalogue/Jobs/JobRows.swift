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

    func openCheckpoints(of method: String) throws -> [(job: JobID, checkpoint: Data)] {
        try connection.query(
            "SELECT id, checkpoint FROM jobs WHERE method = ? AND ended_at IS NULL AND checkpoint IS NOT NULL", method
        ) { row in try? (row[0] as JobID, row[1] as Data) }.compactMap { $0 }
    }
}
