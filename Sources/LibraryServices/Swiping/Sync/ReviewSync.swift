import LibraryModel
import LibraryStorage
import ServiceMesh

/// Brings the reviews of one machine and this library together, once: what is new there comes in, then what is new here goes out,
/// part by part. After each part it is noted how far that is, so it can be broken off anywhere; what was told and not noted is
/// told again, which changes nothing.
struct ReviewSync: Sendable {
    let partner: StoredReviewPartner
    let link: HubLink<any ReviewRemote>
    let catalogue: any Catalogue
    let mesh: Mesh

    struct Outcome: Sendable {
        var sent = 0
        var fetched = 0
        var undone = 0
    }

    /// Parts of one turn, each way: whatever a machine says, this ends. What is left comes with the next turn.
    private static let mostParts = 2000

    func run(job: Job?) async throws -> Outcome {
        var outcome = Outcome()
        try await fetch(job, &outcome)
        try await send(job, &outcome)
        return outcome
    }

    private func fetch(_ job: Job?, _ outcome: inout Outcome) async throws {
        var heard = partner.heard
        for _ in 0..<Self.mostParts {
            try await job?.mayContinue()
            let after = heard
            let changes = try await link.ask { try await $0.changes(after: after) }
            let taken: TakenReviews
            do {
                // The timer is nobody's call, and would ask as the program that owns the library, who may not.
                taken = try await mesh.send(
                    MergeReviews(source: partner.id, changes: changes), in: .root(mesh: mesh, role: .service))
            } catch let error as MeshError where error.status == .invalidArgument {
                throw MeshError(.dataLoss, error.message)
            }
            outcome.fetched += taken.decisions
            outcome.undone += taken.undone
            guard changes.next != heard else { return }
            heard = changes.next
            let id = partner.id
            try await catalogue.write { [heard] in try $0.reviewMachines.note(id, heard: heard, told: nil) }
            if !changes.more { return }
        }
    }

    private func give(_ changes: ReviewChanges) async throws {
        do {
            try await link.ask { try await $0.take(changes) }
        } catch let error as MeshError where error.status == .invalidArgument {
            throw MeshError(
                .failedPrecondition,
                "The other machine does not take what was reviewed here. Set the clocks of both, and bring both up to date."
            )
        }
    }

    private func send(_ job: Job?, _ outcome: inout Outcome) async throws {
        // A cursor that this version cannot read was some other version's: all is told once more.
        var told = (try? ReviewCursor(partner.told)) ?? .start
        let id = partner.id
        for _ in 0..<Self.mostParts {
            try await job?.mayContinue()
            let changes = try await catalogue.read { [told] in
                try $0.reviews.changes(after: told, except: id, limit: ReviewChanges.maximumCount)
            }
            if !changes.isEmpty { try await give(changes) }
            outcome.sent += changes.decisions.count
            let next = try ReviewCursor(changes.next)
            guard next != told else { return }
            told = next
            try await catalogue.write { try $0.reviewMachines.note(id, heard: nil, told: next.description) }
            if !changes.more { return }
        }
    }
}
