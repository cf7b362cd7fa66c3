import Foundation
import LibraryModel
import ServiceMesh

/// What other changes of a transaction have to do with jobs; everything else about them is the journal's.
package protocol JobRepository {
    /// Keeps what a job needs to go on, together with what it did.
    func setCheckpoint(_ checkpoint: Data, of job: JobID) throws
    /// Those of `jobs` that have not ended.
    func unfinished(_ jobs: [JobID]) throws -> Set<JobID>
    /// The checkpoints of jobs of one kind that have not ended.
    func openCheckpoints(of method: String) throws -> [(job: JobID, checkpoint: Data)]
}
