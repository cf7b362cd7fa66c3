import Executors
import Files
import Foundation
import Imaging
import LibraryModel
import LibraryServices
import LibraryStorage
import ServiceMesh

/// Keeps groups that other machines keep and this library together, and reviews that a person's machines have in common: when the
/// library is opened, every quarter of an hour, when something is sent or a review ends here, when somebody looks at groups, and when somebody asks. Local work
/// never waits for it: it goes by what the catalogue has.
///
/// It calls GroupStore, to have it look anew, and SwipeSessionRecorder, which enters what came. What happens with one hub at a time
/// is in `HubSync.swift`, and of reviews in `SyncCoordinator+Reviews.swift`.
public actor SyncCoordinator: MeshService {
    public static let serviceName = "SyncCoordinator"
    public static var messages: MessageList<SyncCoordinator> {
        JoinGroups.self
        ListGroupHubs.self
        ForgetGroupHub.self
        SyncGroups.self
        JoinReviews.self
        LeaveReviews.self
        SyncReviews.self
    }

    /// Seconds between two times that all hubs are asked, and until one that has not answered is asked again.
    private static let pause = 900
    private static let pauseAfterFailure = 60
    /// Nanoseconds that one machine is spoken to at a time. What a slow one has not sent by then comes the next time.
    private static let longestTurn: UInt64 = 600_000_000_000

    let catalogue: any Catalogue
    let folder: GroupPhotoFolder
    private let pictures: GroupPictures
    let files: BlockingPool
    let tokens: SealedTokens
    private let boot: BootClock
    private var wall: WallClock?
    let makeRemote: GroupRemoteMaker
    let makeReviewRemote: ReviewRemoteMaker
    unowned var mesh: Mesh?
    var links: [String: HubLink<any GroupRemote>] = [:]
    var running: [String: Task<HubSync.Outcome, any Error>] = [:]
    /// Hubs for which something may wait here, and what sends it.
    private var groupNews: Set<String> = []
    private var sendingTo: [String: Task<Void, Never>] = [:]
    /// Hubs that did not answer as they should the last time.
    private var failing: Set<String> = []
    var reviewLinks: [String: HubLink<any ReviewRemote>] = [:]
    var runningReviews: [String: Task<ReviewSync.Outcome, any Error>] = [:]
    /// Machines of which a review that has ended may not be told, and what tells them.
    var reviewNews: Set<String> = []
    var tellingReviews: [String: Task<Void, Never>] = [:]
    private let looks: GroupLooks
    /// When hubs were asked last, by the mesh's clock, and who asks them because somebody looks.
    private var askedAt: [String: UInt64] = [:]
    private var looking: [String: Task<Void, Never>] = [:]
    private var following: [Task<Void, Never>] = []
    private let nudges: (stream: AsyncStream<Void>, continuation: AsyncStream<Void>.Continuation)
    private let reviewNudges: (stream: AsyncStream<Void>, continuation: AsyncStream<Void>.Continuation)

    /// - Parameters:
    ///   - wall: the mesh's clock unless told.
    ///   - looks: that GroupStore notes.
    ///   - makeRemote: makes the way to a hub.
    ///   - makeReviewRemote: makes the way to another machine of the same person.
    package init(
        catalogue: any Catalogue, fields: SealedFields, namedFiles: NamedFiles, workers: any BarePictureMaker,
        files: BlockingPool, boot: BootClock = .system, wall: WallClock? = nil, looks: GroupLooks = GroupLooks(),
        makeRemote: @escaping GroupRemoteMaker,
        makeReviewRemote: @escaping ReviewRemoteMaker = { try HTTPReviewRemote($0, token: $1) }
    ) {
        self.catalogue = catalogue
        self.files = files
        tokens = SealedTokens(catalogue: catalogue, fields: fields)
        self.boot = boot
        self.wall = wall
        self.looks = looks
        self.makeRemote = makeRemote
        self.makeReviewRemote = makeReviewRemote
        folder = GroupPhotoFolder(namedFiles: namedFiles)
        pictures = GroupPictures(folder: folder, maker: workers, files: files)
        // How often does not matter, only that it was since the last look.
        nudges = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
        reviewNudges = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    public func start(on mesh: Mesh) {
        self.mesh = mesh
        if wall == nil { wall = WallClock { [clock = mesh.clock] in clock.timestamp() } }
        catalogue.onCommit { [nudge = nudges.continuation, reviews = reviewNudges.continuation] parts in
            if parts.contains(.groups) { nudge.yield() }
            if parts.contains(.swipeSessions) { reviews.yield() }
        }
        following = [
            Task(executorPreference: MeshClock.executor) { [weak self, clock = mesh.clock] in
                while !Task.isCancelled, let pause = await self?.syncInTime() {
                    // A timer by nature: what others have sent does not tell of itself.
                    try? await clock.sleep(for: pause)
                }
            },
            Task(executorPreference: MeshClock.executor) { [weak self, stream = nudges.stream] in
                for await _ in stream { await self?.sendWhatWaits() }
            },
            Task(executorPreference: MeshClock.executor) { [weak self, stream = reviewNudges.stream] in
                for await _ in stream { await self?.sendEndedReviews() }
            },
            Task(executorPreference: MeshClock.executor) { [weak self, stream = looks.stream] in
                for await _ in stream { await self?.askBecauseSomebodyLooks() }
            },
        ]
    }

    public func stop() async {
        nudges.continuation.finish()
        reviewNudges.continuation.finish()
        looks.finish()
        for task in following { task.cancel() }
        for task in tellingReviews.values { task.cancel() }
        for task in sendingTo.values { task.cancel() }
        for task in looking.values { task.cancel() }
        for task in running.values { task.cancel() }
        for task in runningReviews.values { task.cancel() }
        for task in following { await task.value }
        // One more may have begun while these came to their end.
        while let telling = tellingReviews.values.first {
            telling.cancel()
            await telling.value
        }
        while let sending = sendingTo.values.first {
            sending.cancel()
            await sending.value
        }
        while let asking = looking.values.first {
            asking.cancel()
            await asking.value
        }
        for task in running.values { _ = await task.result }
        for task in runningReviews.values { _ = await task.result }
        for link in links.values { await link.remote.close() }
        for link in reviewLinks.values { await link.remote.close() }
        (links, reviewLinks) = ([:], [:])
    }

    var clocks: GroupTime.Clocks { GroupTime.Clocks(boot: boot, wall: wall ?? WallClock { .now() }) }

    func hubs() async throws -> [StoredGroupHub] { try await catalogue.read { try $0.groupHubs.all() } }

    // MARK: By itself

    /// Asks all hubs, and all machines that were joined for reviews.
    /// - Returns: when to do so again: not the same for everybody, or a hub would be asked by all of its members at once.
    private func syncInTime() async -> Duration {
        try? await tokens.sealPlain()
        let all = (try? await hubs()) ?? []
        // At once: one that is slow must not keep what is for the others.
        async let reviewsAnswered = syncAllReviews()
        let groupsAnswered = await withTaskGroup(of: Bool.self) { group in
            for hub in all {
                group.addTask { await self.syncUnlessUnderWay(hub) }
            }
            var allAnswered = true
            for await hasAnswered in group { allAnswered = hasAnswered && allAnswered }
            return allAnswered
        }
        let allAnswered = await reviewsAnswered && groupsAnswered
        let pause = allAnswered ? Self.pause : Self.pauseAfterFailure
        // By chance, as far as others can tell, and yet the same in a run that is replayed.
        let more = (mesh?.clock.now() ?? 0) % UInt64(pause / 5 + 1)
        return .seconds(pause + Int(more))
    }

    /// What is under way does the same.
    private func syncUnlessUnderWay(_ hub: StoredGroupHub) async -> Bool {
        do {
            let outcome =
                if let running = running[hub.id] { try await running.value } else { try await sync(hub) }
            return outcome.problem == nil
        } catch {
            return false
        }
    }

    /// Hubs that were not asked for a while. It waits for none: a slow one must not keep the others from being asked.
    private func askBecauseSomebodyLooks() async {
        let (now, pause) = (mesh?.clock.now() ?? 0, looks.pause / .nanoseconds(1))
        for hub in (try? await hubs()) ?? [] where looking[hub.id] == nil && !Task.isCancelled {
            if let last = askedAt[hub.id], Double(now &- last) < pause { continue }
            looking[hub.id] = Task(executorPreference: MeshClock.executor) { await self.ask(hub) }
        }
    }

    private func ask(_ hub: StoredGroupHub) async {
        _ = await syncUnlessUnderWay(hub)
        looking[hub.id] = nil
    }

    /// After a change here. A hub that has not answered is left to the timer: what cannot go out would else ask again and again;
    /// and so would one for which nothing waits, since to have asked it is a change as well. It waits for none, so that the next
    /// change is for the others even while one is slow.
    private func sendWhatWaits() async {
        for hub in await hubsToSendTo() {
            groupNews.insert(hub.id)
            guard sendingTo[hub.id] == nil, !Task.isCancelled else { continue }
            sendingTo[hub.id] = Task(executorPreference: MeshClock.executor) { await self.sendWhatWaits(for: hub.id) }
        }
    }

    private func sendWhatWaits(for id: String) async {
        while groupNews.remove(id) != nil {
            // It may be past what waits since.
            if let running = running[id] { try? await Self.end(of: running) }
            // What is under way may have sent it.
            guard !Task.isCancelled, let hub = await hubsToSendTo().first(where: { $0.id == id }) else { continue }
            _ = try? await sync(hub)
        }
        sendingTo[id] = nil
    }

    private func hubsToSendTo() async -> [StoredGroupHub] {
        let clocks = clocks
        let waiting = try? await catalogue.read { transaction in
            let now = try clocks.time(in: transaction).now
            return try transaction.groupHubs.all().filter { hub in
                try transaction.groupHubs.hasOutgoing(to: hub.id, at: now)
            }
        }
        return (waiting ?? []).filter { !failing.contains($0.id) }
    }

    // MARK: One hub

    /// What is under way with the same hub comes to its end first: it may be past what is asked for.
    func sync(_ hub: StoredGroupHub, job: Job? = nil) async throws -> HubSync.Outcome {
        while let running = running[hub.id] { try await Self.end(of: running) }
        let task = Task(executorPreference: MeshClock.executor) { try await self.syncAlone(hub.id, job: job) }
        running[hub.id] = task
        defer { running[hub.id] = nil }
        return try await outcome(of: task)
    }

    /// Waits for the end of somebody's turn, which the end of whoever waits is no reason for.
    /// - Throws: `CancellationError` at once where whoever waits is called off.
    static func end<Outcome: Sendable>(of turn: Task<Outcome, any Error>) async throws {
        let (end, continuation) = AsyncStream<Void>.makeStream()
        Task(executorPreference: MeshClock.executor) {
            _ = await turn.result
            continuation.finish()
        }
        for await _ in end {}
        try Task.checkCancellation()
    }

    /// - Throws: `deadline_exceeded` when the turn has taken too long.
    func outcome<Outcome: Sendable>(of turn: Task<Outcome, any Error>) async throws -> Outcome {
        // A timer by nature: a machine may go on telling a little, and never be done.
        let end = Task(executorPreference: MeshClock.executor) { [clock = mesh?.clock ?? .system] in
            try await clock.sleep(until: clock.now() + Self.longestTurn)
            turn.cancel()
        }
        defer { end.cancel() }
        return try await withTaskCancellationHandler {
            do {
                return try await turn.value
            } catch is CancellationError where !Task.isCancelled {
                throw MeshError(
                    .deadlineExceeded, "The other machine is slow. What is missing is asked for the next time.")
            }
        } onCancel: {
            turn.cancel()
        }
    }

    /// - Parameter id: of the hub as it is by now: it may have been joined once more, or forgotten, since it was looked up.
    private func syncAlone(_ id: String, job: Job?) async throws -> HubSync.Outcome {
        askedAt[id] = mesh?.clock.now()
        guard let hub = try await hubs().first(where: { $0.id == id }) else { return HubSync.Outcome() }
        do {
            let turn = HubSync(
                hub: hub, link: try await link(hub), catalogue: catalogue, folder: folder, pictures: pictures,
                files: files, clocks: clocks)
            let outcome = try await turn.run(job: job) { await self.refresh() }
            // The job's next turn is this one's end.
            if outcome.isBrokenOff { return outcome }
            let isDone = outcome.problem == nil
            // Before it is noted, which is a change that has it looked at what waits.
            if isDone { failing.remove(hub.id) } else { failing.insert(hub.id) }
            try await catalogue.write { [clocks] transaction in
                let now = clocks.wall.now()
                try transaction.groupHubs.note(
                    hub.id, syncedAt: isDone ? now : nil, problem: outcome.problem?.message ?? outcome.notice)
                if isDone { try transaction.settings.setLastSyncDate(now) }
            }
            return outcome
        } catch {
            await refresh()
            guard !(error is CancellationError), !Task.isCancelled else { throw error }
            failing.insert(hub.id)
            // What it had said before that is the reason.
            guard !(error is CircuitOpen) else { throw error }
            let error = MeshError(describing: error)
            if error.status == .unauthenticated, try await forgetIfLeft(hub) {
                var outcome = HubSync.Outcome()
                outcome.lines = [
                    ReceiptLine(
                        item: hub.address, outcome: "left", detail: "you are in none of its groups any more")
                ]
                return outcome
            }
            // Only what is new is written, or each note would be the change that lets it be tried again.
            if hub.problem != error.message {
                try? await catalogue.write {
                    try $0.groupHubs.note(hub.id, syncedAt: nil, problem: error.message)
                }
            }
            throw error
        }
    }

    /// Who has left all groups of a hub is not known there any more, and has no use for it either.
    private func forgetIfLeft(_ hub: StoredGroupHub) async throws -> Bool {
        let isLeft = try await catalogue.write { transaction in
            guard try !transaction.groups.groups(nil).contains(where: { $0.hub == hub.id }) else { return false }
            return try transaction.groupHubs.remove(hub.id)
        }
        if isLeft, let link = links.removeValue(forKey: hub.id) { await link.remote.close() }
        return isLeft
    }

    /// As a service: the timer is nobody's call, and would ask as the program that owns the library, which may not.
    func refresh() async {
        guard let mesh else { return }
        _ = try? await mesh.send(RefreshGroups(), in: .root(mesh: mesh, role: .service))
    }

    private func link(_ hub: StoredGroupHub) async throws -> HubLink<any GroupRemote> {
        let token = try await tokens.open(hub.token, at: SealedTokens.place(ofHub: hub.id))
        if let link = links[hub.id], link.token == token { return link }
        if let old = links[hub.id] { Task { await old.remote.close() } }
        let address = try HubAddress(hub.address)
        let link = HubLink<any GroupRemote>(
            try makeRemote(address, token), token: token, clock: mesh?.clock ?? .system)
        links[hub.id] = link
        return link
    }
}
