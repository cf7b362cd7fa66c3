import LibraryModel
import ServiceMesh

/// What a job has done with all machines that it was about.
struct SyncSum: Sendable {
    var done = SyncOutcome()
    /// Machines that were asked, and those of them that did not answer as they should.
    var asked = 0
    var failed = 0
    var isCancelled = false

    var ending: JobEnding {
        isCancelled ? .cancelled : failed == 0 && done.lost == 0 ? .complete : .completeWithProblems
    }
}

/// What somebody asks for.
extension SyncPeers {
    /// - Parameter id: of a machine that must be joined; nil for none in particular.
    func require(_ id: String?) async throws {
        guard let id else { return }
        guard try await peers().contains(where: { $0.id == id }) else { throw subject.missing(id) }
    }

    /// Takes turns with one machine after the other, each until all is done.
    /// - Parameter id: of the only machine that is asked; nil for all.
    func run(_ job: Job, with id: String?) async throws -> SyncSum {
        try? await subject.tokens.sealPlain()
        var sum = SyncSum()
        for peer in try await peers() where id == nil || peer.id == id {
            do {
                try await job.mayContinue()
                sum.asked += 1
                links[peer.id]?.reset()
                var isBrokenOff = false
                repeat {
                    // While it stands still it is the turn of others.
                    try await job.mayContinue()
                    let outcome = try await sync(peer.id, job: job)
                    // At once: what a turn has done is told also where the next one does not come about.
                    sum.done.add(outcome)
                    job.record(outcome.lines)
                    if let problem = outcome.problem {
                        sum.failed += 1
                        job.record(ReceiptLine(item: peer.address, outcome: "failed", detail: problem.message))
                    }
                    isBrokenOff = outcome.isBrokenOff
                } while isBrokenOff
            } catch {
                if job.isCancelled {
                    sum.isCancelled = true
                    break
                }
                if job.isInterrupted { throw error }
                sum.failed += 1
                job.record(
                    ReceiptLine(
                        item: peer.address, outcome: "failed", detail: MeshError(describing: error).message))
            }
        }
        return sum
    }
}
