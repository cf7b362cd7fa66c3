import Foundation
import LibraryModel
import ServiceMesh

/// Jobs, as far as other changes of a transaction touch them; everything else about them is the journal's.
package protocol JobRepository {
    /// Keeps what a job needs to go on, in the transaction of its changes. Nothing happens where the job is not known.
    func setCheckpoint(_ checkpoint: Data, of job: JobID) throws
    /// Those of `jobs` that have not ended.
    func unfinished(_ jobs: [JobID]) throws -> Set<JobID>
    /// Replaces texts of jobs that have ended: of lines, and in receipts and errors, whatever their form. A part at a time.
    /// - Parameters:
    ///   - limit: lines and jobs that are looked at.
    ///   - replacement: what is to stand in a text's place; nil where it stays.
    /// - Returns: how many lines and jobs changed, and where the next part begins; nil behind the last.
    func replaceTexts(
        from place: JobTextPlace, limit: Int, _ replacement: (String) -> String?
    ) throws -> (replaced: Int, next: JobTextPlace?)
    /// The checkpoints of jobs of one kind that have not ended, in no order.
    func openCheckpoints(of method: String) throws -> [(job: JobID, checkpoint: Data)]
}

/// How far the texts of jobs have been looked through: jobs themselves, then their lines.
package struct JobTextPlace: Sendable {
    /// The number of the last job that was looked at, as the catalogue gave it (``Catalogue``).
    package var job: Int64 = .min
    /// The last line of it.
    package var line = -1
    package var isAtLines = false

    package init() {}
}
