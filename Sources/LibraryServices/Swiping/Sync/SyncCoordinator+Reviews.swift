import Foundation
import LibraryModel
import LibraryStorage
import ServiceMesh

/// Reviews that a person's machines have in common.
extension SyncCoordinator {
    private func partners() async throws -> [StoredReviewPartner] {
        try await catalogue.read { try $0.reviewMachines.partners() }
    }

    // MARK: By itself

    /// - Returns: whether all have answered.
    func syncAllReviews() async -> Bool {
        var isWhole = true
        for partner in (try? await partners()) ?? [] {
            do {
                // What is under way does the same.
                if let running = runningReviews[partner.id] {
                    _ = try await running.value
                } else {
                    _ = try await sync(partner)
                }
            } catch {
                isWhole = false
            }
        }
        return isWhole
    }

    /// After a change here: what a review has decided is told when it has ended, and not swipe by swipe. A machine that has not answered is left to the timer.
    func sendEndedReviews() async {
        for partner in (try? await partners()) ?? [] where partner.problem == nil {
            let told = (try? ReviewCursor(partner.told)) ?? .start
            let isNews = try? await catalogue.read { try $0.reviews.hasEndedSession(after: told) }
            if isNews == true, runningReviews[partner.id] == nil { _ = try? await sync(partner) }
        }
    }

    // MARK: One machine

    /// What is under way with the same machine comes to its end first: it may be past what is asked for.
    private func sync(_ partner: StoredReviewPartner, job: Job? = nil) async throws -> ReviewSync.Outcome {
        while let running = runningReviews[partner.id] {
            _ = await running.result
            try Task.checkCancellation()
        }
        let task = Task(executorPreference: MeshClock.executor) { try await self.syncAlone(partner.id, job: job) }
        runningReviews[partner.id] = task
        defer { runningReviews[partner.id] = nil }
        return try await withTaskCancellationHandler {
            try await task.value
        } onCancel: {
            task.cancel()
        }
    }

    private func syncAlone(_ id: String, job: Job?) async throws -> ReviewSync.Outcome {
        // How far it is told of may have changed while this one waited.
        guard let mesh, let partner = try await partners().first(where: { $0.id == id }) else {
            throw Self.noPartner(id)
        }
        do {
            let turn = ReviewSync(partner: partner, link: try link(partner), catalogue: catalogue, mesh: mesh)
            let outcome = try await turn.run(job: job)
            try await catalogue.write { [clocks] transaction in
                let now = clocks.wall.now()
                try transaction.reviewMachines.note(id, syncedAt: now, problem: nil)
                try transaction.settings.setLastSyncDate(now)
            }
            return outcome
        } catch {
            // What it had said before it was left alone is the reason.
            guard !(error is CancellationError), !Task.isCancelled, !(error is HubLeftAlone) else { throw error }
            let error = MeshError(describing: error)
            if partner.problem != error.message {
                try? await catalogue.write {
                    try $0.reviewMachines.note(id, syncedAt: nil, problem: error.message)
                }
            }
            throw error
        }
    }

    private func link(_ partner: StoredReviewPartner) throws -> HubLink<any ReviewRemote> {
        if let link = reviewLinks[partner.id], link.token == partner.token { return link }
        if let old = reviewLinks[partner.id] { Task { await old.remote.close() } }
        let remote = try makeReviewRemote(try HubAddress(partner.address), partner.token)
        let link = HubLink<any ReviewRemote>(remote, token: partner.token, clock: mesh?.clock ?? .system)
        reviewLinks[partner.id] = link
        return link
    }

    // MARK: On request

    func join(_ request: JoinReviews) async throws -> ReviewMachine {
        let address = try HubAddress(request.address)
        let token = try InvitationLink.validated(token: request.token)
        try Self.requirePrivacy(address, allowsPlainHTTP: request.allowsPlainHTTP, what: "what was reviewed")
        let there = try await partners()
        let known = there.first { $0.address == address.text }
        guard known != nil || there.count < ReviewMachine.maximumCount else {
            throw MeshError(
                short: .count,
                "\(there.count) other machines are joined, which is the most. Leave one: smilepile swipe leave")
        }
        let remote = try makeReviewRemote(address, token)
        do {
            // Whether it lets us in, before anything is written down.
            _ = try await remote.changes(after: "")
        } catch {
            await remote.close()
            throw error
        }
        await remote.close()
        let partner = StoredReviewPartner(
            id: known?.id ?? UUID().uuidString.lowercased(), address: address.text, token: token,
            addedAt: known?.addedAt ?? clocks.wall.now(), syncedAt: known?.syncedAt)
        try await catalogue.write { try $0.reviewMachines.put(partner) }
        // It has let us in; should this fail, the reply says why, and it is tried again by itself.
        _ = try? await sync(partner)
        return try await partners().first { $0.id == partner.id }?.shown ?? partner.shown
    }

    func leave(_ id: String) async throws -> ReviewMachine {
        let id = id.lowercased()
        guard let partner = try await partners().first(where: { $0.id == id }) else { throw Self.noPartner(id) }
        runningReviews[id]?.cancel()
        _ = await runningReviews[id]?.result
        try await catalogue.write { _ = try $0.reviewMachines.remove(partner: id) }
        if let link = reviewLinks.removeValue(forKey: id) { await link.remote.close() }
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
                try link(partner).forgive()
                let outcome = try await sync(partner, job: job)
                (sum.sent, sum.fetched) = (sum.sent + outcome.sent, sum.fetched + outcome.fetched)
                sum.undone += outcome.undone
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
    public func perform(on service: SyncCoordinator) async throws -> ReviewMachine { try await service.leave(id) }
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
