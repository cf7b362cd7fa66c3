import LibraryModel
import LibraryStorage
import ServiceMesh

/// Brings the reviews of one machine and this library together, once: what is new there comes in, then what is new here goes out,
/// part by part. After each part it is noted how far that is, so it can be broken off anywhere; what was told and not noted is
/// told again, which changes nothing.
struct ReviewSync: Sendable {
    let partner: StoredReviewPartner
    let link: PeerLink<any ReviewRemote>
    let catalogue: any Catalogue
    let mesh: Mesh

    /// Parts of one turn, each way: whatever a machine says, this ends. What is left comes with the next turn.
    private static let mostParts = 2000

    func run(job: Job?) async throws -> SyncOutcome {
        var outcome = SyncOutcome()
        let preferences = try await fetch(job, &outcome)
        if !outcome.isBrokenOff { try await send(job, knowing: preferences, &outcome) }
        return outcome
    }

    /// - Returns: how the other machine says that reviews are made.
    private func fetch(_ job: Job?, _ outcome: inout SyncOutcome) async throws -> ReviewChanges.Preferences? {
        var heard = partner.heard
        var preferences: ReviewChanges.Preferences?
        for _ in 0..<Self.mostParts {
            guard try outcome.mayContinue(job) else { return preferences }
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
            preferences = changes.preferences
            outcome.fetched += taken.decisions
            outcome.undone += taken.undone
            guard changes.next != heard, try await advance(.heard, from: heard, to: changes.next), changes.more else {
                return preferences
            }
            heard = changes.next
        }
        return preferences
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

    /// - Parameter known: how the other machine says that reviews are made.
    private func send(
        _ job: Job?, knowing known: ReviewChanges.Preferences?, _ outcome: inout SyncOutcome
    ) async throws {
        // With the first part, however little there is of it.
        var preferences = try await catalogue.read { try $0.settings.reviewPreferences() }.flatMap { own in
            known.map { $0.changedAt < own.changedAt } ?? true ? own : nil
        }
        // A cursor that this version cannot read was some other version's: all is told once more.
        var told = (text: partner.told, cursor: (try? ReviewCursor(partner.told)) ?? .start)
        let id = partner.id
        for _ in 0..<Self.mostParts {
            guard try outcome.mayContinue(job) else { return }
            var changes = try await catalogue.read { [told] in
                try $0.reviews.changes(after: told.cursor, except: id, limit: ReviewChanges.maximumCount)
            }
            changes.preferences = preferences
            if !changes.isEmpty || preferences != nil { try await give(changes) }
            preferences = nil
            outcome.sent += changes.decisions.count
            guard changes.next != told.text, try await advance(.told, from: told.text, to: changes.next), changes.more
            else { return }
            told = (changes.next, try ReviewCursor(changes.next))
        }
    }

    /// - Returns: whether this turn is still the one that notes it.
    private func advance(_ way: ReviewWay, from before: String, to after: String) async throws -> Bool {
        try await catalogue.write { [partner] in
            try $0.reviewMachines.advance(partner, way, from: before, to: after)
        }
    }
}
