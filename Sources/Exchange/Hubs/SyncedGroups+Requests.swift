import LibraryModel
import ServiceMesh

extension SyncPeers where Subject == SyncedGroups {
    func run(_ request: SyncGroups, job: Job) async throws -> SyncReceipt {
        let sum = try await run(job, with: request.hubId?.lowercased())
        return SyncReceipt(
            ending: sum.ending, hubs: sum.asked, failed: sum.failed, sent: sum.done.sent, fetched: sum.done.fetched,
            lost: sum.done.lost)
    }
}

extension JoinGroups: HandledMessage {
    public func perform(on service: SyncCoordinator) async throws -> GroupHub { try await service.hubs.join(self) }
}

extension ListGroupHubs: HandledMessage {
    public func perform(on service: SyncCoordinator) async throws -> GroupHubList { try await service.hubs.list() }
}

extension ForgetGroupHub: HandledMessage {
    public func perform(on service: SyncCoordinator) async throws -> GroupHub { try await service.hubs.forget(id) }
}

extension SyncGroups: HandledJob {
    public typealias Service = SyncCoordinator
    public static var resumption: JobResumption { .again }

    public static func needsAttention(_ outcome: String) -> Bool { !["sent", "fetched", "left"].contains(outcome) }

    public func prepare(on service: SyncCoordinator) async throws {
        try await service.hubs.require(hubId?.lowercased())
    }

    public func run(on service: SyncCoordinator, job: Job) async throws -> SyncReceipt {
        try await service.hubs.run(self, job: job)
    }
}
