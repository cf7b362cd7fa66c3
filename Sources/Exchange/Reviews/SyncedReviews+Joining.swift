import Foundation
import LibraryModel
import LibraryServices
import LibraryStorage
import ServiceMesh

/// Machines of the same person that share reviews with this library.
extension SyncPeers where Subject == SyncedReviews {
    func join(_ request: JoinReviews) async throws -> ReviewMachine {
        let (address, token) = try Joining.invitation(
            request.address, request.token, allowsPlainHTTP: request.allowsPlainHTTP, what: "what was reviewed")
        _ = try await subject.catalogue.read { try Self.known(address, in: $0) }
        _ = try await firstAnswer(of: address, token: token) { try await $0.changes(after: "") }
        let (id, now) = (UUID().uuidString.lowercased(), clocks.wall.now())
        let keyring = await subject.tokens.keyring()
        let partner = try await subject.catalogue.write { transaction in
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
        _ = try? await sync(partner.id)
        return try await peers().first { $0.id == partner.id }?.shown ?? partner.shown
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
        let partner = try await subject.catalogue.write { [subject] transaction in
            guard let partner = try transaction.reviewMachines.partners().first(where: { $0.id == id }) else {
                throw subject.missing(id)
            }
            // As a machine that was let in.
            if request.forget == true {
                try transaction.reviewMachines.setToken(.none, of: id)
            } else {
                _ = try transaction.reviewMachines.remove(partner: id)
            }
            return partner
        }
        await endTurns(with: id)
        if request.forget == true {
            try await subject.catalogue.forgetArrived(from: id)
            _ = try await subject.catalogue.write { try $0.reviewMachines.remove(partner: id) }
        }
        return partner.shown
    }

    func run(_ request: SyncReviews, job: Job) async throws -> ReviewSyncReceipt {
        let sum = try await run(job, with: request.machineId?.lowercased())
        return ReviewSyncReceipt(
            ending: sum.ending, machines: sum.asked, failed: sum.failed, sent: sum.done.sent,
            fetched: sum.done.fetched, undone: sum.done.undone)
    }
}

extension JoinReviews: HandledMessage {
    public func perform(on service: SyncCoordinator) async throws -> ReviewMachine {
        try await service.machines.join(self)
    }
}

extension LeaveReviews: HandledMessage {
    public func perform(on service: SyncCoordinator) async throws -> ReviewMachine {
        try await service.machines.leave(self)
    }
}

extension SyncReviews: HandledJob {
    public typealias Service = SyncCoordinator
    public static var resumption: JobResumption { .again }

    public static func needsAttention(_ outcome: String) -> Bool { true }

    public func prepare(on service: SyncCoordinator) async throws {
        try await service.machines.require(machineId?.lowercased())
    }

    public func run(on service: SyncCoordinator, job: Job) async throws -> ReviewSyncReceipt {
        try await service.machines.run(self, job: job)
    }
}
