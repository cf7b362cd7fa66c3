import Foundation
import LibraryModel
import LibraryServices
import LibraryStorage
import ServiceMesh

/// Reviews that a person's machines have in common.
extension SyncCoordinator {
    private func partners() async throws -> [StoredReviewPartner] {
        // One that is being left (``LeaveReviews/forget``) is asked nothing any more.
        try await catalogue.read { try $0.reviewMachines.partners().filter { $0.token != .none } }
    }

    // MARK: By itself

    /// - Returns: whether all have answered.
    func syncAllReviews() async -> Bool {
        // At once: one that is slow must not keep what is for the others.
        await withTaskGroup(of: Bool.self) { group in
            for partner in (try? await partners()) ?? [] {
                group.addTask { await self.syncUnlessUnderWay(partner) }
            }
            var allAnswered = true
            for await hasAnswered in group { allAnswered = hasAnswered && allAnswered }
            return allAnswered
        }
    }

    /// What is under way does the same.
    private func syncUnlessUnderWay(_ partner: StoredReviewPartner) async -> Bool {
        do {
            if let running = runningReviews[partner.id] {
                _ = try await running.value
            } else {
                _ = try await sync(partner)
            }
            return true
        } catch {
            return false
        }
    }

    /// After a change here: what a review has decided is told when it has ended, and not swipe by swipe. A machine that has not
    /// answered is left to the timer. It waits for none, so that the next change is for the others even while one is slow.
    func sendEndedReviews() async {
        for partner in (try? await partners()) ?? [] where partner.problem == nil {
            let id = partner.id
            reviewNews.insert(id)
            guard tellingReviews[id] == nil, !Task.isCancelled else { continue }
            tellingReviews[id] = Task(executorPreference: MeshClock.executor) { await self.tellEndedReviews(to: id) }
        }
    }

    private func tellEndedReviews(to id: String) async {
        while reviewNews.remove(id) != nil {
            // It may be past what has ended since.
            while let running = runningReviews[id], !Task.isCancelled { try? await Self.end(of: running) }
            guard !Task.isCancelled, let partner = try? await partners().first(where: { $0.id == id }),
                partner.problem == nil
            else { continue }
            let told = (try? ReviewCursor(partner.told)) ?? .start
            let isNews = try? await catalogue.read { try $0.reviews.hasEndedSession(after: told) }
            if isNews == true, !Task.isCancelled { _ = try? await sync(partner) }
        }
        tellingReviews[id] = nil
    }

    // MARK: One machine

    /// What is under way with the same machine comes to its end first: it may be past what is asked for.
    private func sync(_ partner: StoredReviewPartner, job: Job? = nil) async throws -> ReviewSync.Outcome {
        while let running = runningReviews[partner.id] { try await Self.end(of: running) }
        let task = Task(executorPreference: MeshClock.executor) { try await self.syncAlone(partner.id, job: job) }
        runningReviews[partner.id] = task
        defer { runningReviews[partner.id] = nil }
        return try await outcome(of: task)
    }

    private func syncAlone(_ id: String, job: Job?) async throws -> ReviewSync.Outcome {
        // How far it is told of may have changed while this one waited.
        guard let mesh, let partner = try await partners().first(where: { $0.id == id }) else {
            throw Self.noPartner(id)
        }
        do {
            let turn = ReviewSync(
                partner: partner, link: try await link(partner), catalogue: catalogue, mesh: mesh)
            let outcome = try await turn.run(job: job)
            // The job's next turn is this one's end.
            if outcome.isBrokenOff { return outcome }
            try await catalogue.write { [clocks] transaction in
                let now = clocks.wall.now()
                try transaction.reviewMachines.note(partner, syncedAt: now, problem: nil)
                try transaction.settings.setLastSyncDate(now)
            }
            return outcome
        } catch {
            // What it had said before it was left alone is the reason.
            guard !(error is CancellationError), !Task.isCancelled, !(error is CircuitOpen) else { throw error }
            let error = MeshError(describing: error)
            if partner.problem != error.message {
                try? await catalogue.write {
                    try $0.reviewMachines.note(partner, syncedAt: nil, problem: error.message)
                }
            }
            throw error
        }
    }

    private func link(_ partner: StoredReviewPartner) async throws -> HubLink<any ReviewRemote> {
        // It is being left; what answers there may let anybody in, and tell more.
        guard partner.token != .none else { throw Self.noPartner(partner.id) }
        let token = try await tokens.open(partner.token, at: SealedTokens.place(ofPartner: partner.id))
        if let link = reviewLinks[partner.id], link.token == token { return link }
        if let old = reviewLinks[partner.id] { Task { await old.remote.close() } }
        let remote = try makeReviewRemote(try HubAddress(partner.address), token)
        let link = HubLink<any ReviewRemote>(remote, token: token, clock: mesh?.clock ?? .system)
        reviewLinks[partner.id] = link
        return link
    }

    // MARK: On request

    func join(_ request: JoinReviews) async throws -> ReviewMachine {
        let address = try HubAddress(request.address)
        let token = try InvitationLink.validated(token: request.token)
        try Self.requirePrivacy(address, allowsPlainHTTP: request.allowsPlainHTTP, what: "what was reviewed")
        _ = try await catalogue.read { try Self.known(address, in: $0) }
        let remote = try makeReviewRemote(address, token)
        do {
            // Whether it lets us in, before anything is written down.
            _ = try await remote.changes(after: "")
        } catch {
            await remote.close()
            throw Self.answerFromAfar(to: error, of: address)
        }
        await remote.close()
        let (id, now) = (UUID().uuidString.lowercased(), clocks.wall.now())
        let keyring = await tokens.keyring()
        let partner = try await catalogue.write { transaction in
            // Another request may have joined it meanwhile.
            let known = try Self.known(address, in: transaction)
            let id = known?.id ?? id
            let token = try SealedTokens.sealed(token, keyring, at: SealedTokens.place(ofPartner: id), in: transaction)
            let partner = StoredReviewPartner(
                id: id, address: address.text, token: token, joins: (known?.joins ?? 0) + 1,
                addedAt: known?.addedAt ?? now, syncedAt: known?.syncedAt)
            try transaction.reviewMachines.put(partner)
            return partner
        }
        // It has let us in; should this fail, the reply says why, and it is tried again by itself.
        _ = try? await sync(partner)
        return try await partners().first { $0.id == partner.id }?.shown ?? partner.shown
    }

    /// - Throws: `resource_exhausted` where it is not known, and no more can be.
    private static func known(
        _ address: HubAddress, in transaction: any CatalogueTransaction
    ) throws -> StoredReviewPartner? {
        let there = try transaction.reviewMachines.partners()
        if let known = there.first(where: { $0.address == address.text }) {
            // What it told is being forgotten under its id, and with the last of that its row goes.
            guard known.token != .none else {
                throw MeshError(
                    .failedPrecondition,
                    "This machine is being left, and what it told forgotten. End that first: smilepile swipe leave \(known.id) --forget"
                )
            }
            return known
        }
        guard there.count < ReviewMachine.maximumCount else {
            throw MeshError(
                short: .count,
                "\(there.count) other machines are joined, which is the most. Leave one: smilepile swipe leave")
        }
        return nil
    }

    func leave(_ request: LeaveReviews) async throws -> ReviewMachine {
        let id = request.id.lowercased()
        let partner = try await catalogue.write { transaction in
            guard let partner = try transaction.reviewMachines.partners().first(where: { $0.id == id }) else {
                throw Self.noPartner(id)
            }
            // As a machine that was let in.
            if request.forget == true {
                try transaction.reviewMachines.setToken(.none, of: id)
            } else {
                _ = try transaction.reviewMachines.remove(partner: id)
            }
            return partner
        }
        // What begins from now on finds nobody to ask. What is under way must not enter anything after the reply.
        while let running = runningReviews[id] {
            running.cancel()
            _ = await running.result
        }
        if let link = reviewLinks.removeValue(forKey: id) { await link.remote.close() }
        if request.forget == true {
            try await catalogue.forgetArrived(from: id)
            _ = try await catalogue.write { try $0.reviewMachines.remove(partner: id) }
        }
        return partner.shown
    }

    static func noPartner(_ id: String) -> MeshError {
        MeshError(.notFound, "No other machine is joined as \(id.prefix(40)). See which are: smilepile swipe machines")
    }

    func check(_ request: SyncReviews) async throws {
        guard let id = request.machineId?.lowercased() else { return }
        guard try await partners().contains(where: { $0.id == id }) else { throw Self.noPartner(id) }
    }

    func run(_ request: SyncReviews, job: Job) async throws -> ReviewSyncReceipt {
        try? await tokens.sealPlain()
        let wanted = try await partners().filter {
            request.machineId == nil || $0.id == request.machineId?.lowercased()
        }
        var sum = ReviewSync.Outcome()
        var (asked, failed) = (0, 0)
        var isCancelled = false
        for partner in wanted {
            do {
                try await job.mayContinue()
                asked += 1
                reviewLinks[partner.id]?.reset()
                var isBrokenOff = false
                repeat {
                    // While it stands still it is the turn of others.
                    try await job.mayContinue()
                    let outcome = try await sync(partner, job: job)
                    (sum.sent, sum.fetched) = (sum.sent + outcome.sent, sum.fetched + outcome.fetched)
                    sum.undone += outcome.undone
                    isBrokenOff = outcome.isBrokenOff
                } while isBrokenOff
            } catch {
                if job.isCancelled {
                    isCancelled = true
                    break
                }
                if job.isInterrupted { throw error }
                failed += 1
                job.record(
                    ReceiptLine(
                        item: partner.address, outcome: "failed", detail: MeshError(describing: error).message))
            }
        }
        return ReviewSyncReceipt(
            ending: isCancelled ? .cancelled : failed == 0 ? .complete : .completeWithProblems, machines: asked,
            failed: failed, sent: sum.sent, fetched: sum.fetched, undone: sum.undone)
    }
}

extension JoinReviews: HandledMessage {
    public func perform(on service: SyncCoordinator) async throws -> ReviewMachine { try await service.join(self) }
}

extension LeaveReviews: HandledMessage {
    public func perform(on service: SyncCoordinator) async throws -> ReviewMachine { try await service.leave(self) }
}

extension SyncReviews: HandledJob {
    public typealias Service = SyncCoordinator
    public static var resumption: JobResumption { .again }

    public static func needsAttention(_ outcome: String) -> Bool { true }

    public func prepare(on service: SyncCoordinator) async throws { try await service.check(self) }

    public func run(on service: SyncCoordinator, job: Job) async throws -> ReviewSyncReceipt {
        try await service.run(self, job: job)
    }
}
