import LibraryModel
import LibraryStorage
import ServiceMesh

/// What somebody asks for, and the messages that ask for it.
extension SyncCoordinator {
    static func noHub(_ id: String) -> MeshError {
        MeshError(.notFound, "No other machine is joined as \(id.prefix(40)). See which are: smilepile groups hubs")
    }

    func check(_ request: SyncGroups) async throws {
        guard let id = request.hubId?.lowercased() else { return }
        guard try await hubs().contains(where: { $0.id == id }) else { throw Self.noHub(id) }
    }

    func run(_ request: SyncGroups, job: Job) async throws -> SyncReceipt {
        try? await tokens.sealPlain()
        let wanted = try await hubs().filter { request.hubId == nil || $0.id == request.hubId?.lowercased() }
        var sum = HubSync.Outcome()
        var (asked, failed) = (0, 0)
        var isCancelled = false
        for hub in wanted {
            do {
                try await job.mayContinue()
                asked += 1
                links[hub.id]?.reset()
                var isBrokenOff = false
                repeat {
                    // While it stands still it is the turn of others.
                    try await job.mayContinue()
                    let outcome = try await sync(hub, job: job)
                    // At once: what a turn has done is told also where the next one does not come about.
                    (sum.sent, sum.fetched) = (sum.sent + outcome.sent, sum.fetched + outcome.fetched)
                    sum.lost += outcome.lost
                    job.record(outcome.lines)
                    if let problem = outcome.problem {
                        failed += 1
                        job.record(ReceiptLine(item: hub.address, outcome: "failed", detail: problem.message))
                    }
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
                        item: hub.address, outcome: "failed", detail: MeshError(describing: error).message))
            }
        }
        let isWhole = failed == 0 && sum.lost == 0
        return SyncReceipt(
            ending: isCancelled ? .cancelled : isWhole ? .complete : .completeWithProblems, hubs: asked,
            failed: failed, sent: sum.sent, fetched: sum.fetched, lost: sum.lost)
    }
}

extension JoinGroups: HandledMessage {
    public func perform(on service: SyncCoordinator) async throws -> GroupHub { try await service.join(self) }
}

extension ListGroupHubs: HandledMessage {
    public func perform(on service: SyncCoordinator) async throws -> GroupHubList { try await service.list() }
}

extension ForgetGroupHub: HandledMessage {
    public func perform(on service: SyncCoordinator) async throws -> GroupHub { try await service.forget(id) }
}

extension SyncGroups: HandledJob {
    public typealias Service = SyncCoordinator
    public static var resumption: JobResumption { .again }

    public static func needsAttention(_ outcome: String) -> Bool { !["sent", "fetched", "left"].contains(outcome) }

    public func prepare(on service: SyncCoordinator) async throws { try await service.check(self) }

    public func run(on service: SyncCoordinator, job: Job) async throws -> SyncReceipt {
        try await service.run(self, job: job)
    }
}
