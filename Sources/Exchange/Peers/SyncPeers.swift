import LibraryModel
import LibraryServices
import LibraryStorage
import ServiceMesh

/// The machines with which this library has one thing in common, and the turns with them: one turn at a time with each machine, all
/// machines at once. What a turn does, and to whom something waits to be told, ``Synced`` says.
///
/// A turn is taken when all are asked in time, when something here has changed that a machine is told, when somebody looks, and
/// when somebody asks for it (`SyncPeers+Requests.swift`).
///
/// Rejected: one turn that takes groups and reviews along. A hub is another family's machine and a reviewer's is one's own; they are
/// joined, left and refused each for itself, and a machine that is both is two peers, so that neither waits for the other.
actor SyncPeers<Subject: Synced> {
    /// Nanoseconds that one machine is spoken to at a time. What a slow one has not sent by then comes the next time.
    private static var longestTurn: UInt64 { 600_000_000_000 }

    nonisolated let subject: Subject
    private let boot: BootClock
    private var wall: WallClock?
    unowned var mesh: Mesh?
    var links: [String: PeerLink<Subject.Remote>] = [:]
    private var turns: [String: Task<SyncOutcome, any Error>] = [:]
    /// Machines for which something may wait here, and what tells them.
    private var news: Set<String> = []
    private var telling: [String: Task<Void, Never>] = [:]
    /// Machines that did not answer as they should the last time.
    private var failing: Set<String> = []
    /// When machines were asked last, by the mesh's clock, and who asks them because somebody looks.
    private var askedAt: [String: UInt64] = [:]
    private var looking: [String: Task<Void, Never>] = [:]

    /// - Parameter wall: the mesh's clock unless told.
    init(_ subject: Subject, boot: BootClock, wall: WallClock?) {
        (self.subject, self.boot, self.wall) = (subject, boot, wall)
    }

    func start(on mesh: Mesh) {
        self.mesh = mesh
        if wall == nil { wall = WallClock { [clock = mesh.clock] in clock.timestamp() } }
    }

    /// Calls off what is under way.
    func cancel() {
        for task in telling.values { task.cancel() }
        for task in looking.values { task.cancel() }
        for task in turns.values { task.cancel() }
    }

    /// Waits for the end of what was called off. More may have begun while it came to its end.
    func stop() async {
        while let task = telling.values.first ?? looking.values.first {
            task.cancel()
            await task.value
        }
        for turn in turns.values { _ = await turn.result }
        for link in links.values { await subject.close(link.remote) }
        links = [:]
    }

    var clocks: GroupTime.Clocks { GroupTime.Clocks(boot: boot, wall: wall ?? WallClock { .now() }) }

    func peers() async throws -> [Subject.Peer] {
        try await subject.catalogue.read { [subject] in try subject.peers(in: $0) }
    }

    // MARK: By itself

    /// Asks all of them, at once: one that is slow must not keep what is for the others.
    /// - Returns: whether all have answered.
    func syncAll() async -> Bool {
        await withTaskGroup(of: Bool.self) { group in
            for peer in (try? await peers()) ?? [] {
                group.addTask { await self.syncUnlessUnderWay(peer.id) }
            }
            var allAnswered = true
            for await hasAnswered in group { allAnswered = hasAnswered && allAnswered }
            return allAnswered
        }
    }

    /// What is under way does the same.
    private func syncUnlessUnderWay(_ id: String) async -> Bool {
        do {
            let outcome = if let turn = turns[id] { try await turn.value } else { try await sync(id) }
            return outcome.problem == nil
        } catch {
            return false
        }
    }

    /// Asks those that were not asked for a while, since somebody looks. It waits for none: a slow one must not keep the others from
    /// being asked.
    func ask(unlessAskedWithin pause: Duration) async {
        let (now, pause) = (mesh?.clock.now() ?? 0, pause / .nanoseconds(1))
        for peer in (try? await peers()) ?? [] where looking[peer.id] == nil && !Task.isCancelled {
            if let last = askedAt[peer.id], Double(now &- last) < pause { continue }
            looking[peer.id] = Task(executorPreference: MeshClock.executor) { await self.look(peer.id) }
        }
    }

    private func look(_ id: String) async {
        _ = await syncUnlessUnderWay(id)
        looking[id] = nil
    }

    /// After a change here. A machine that has not answered is left to the timer: what cannot go out would else ask again and again;
    /// and so would one for which nothing waits, since to have asked it is a change as well. It waits for none, so that the next
    /// change is for the others even while one is slow.
    func tellNews() async {
        for peer in await peersToTell() {
            news.insert(peer.id)
            guard telling[peer.id] == nil, !Task.isCancelled else { continue }
            telling[peer.id] = Task(executorPreference: MeshClock.executor) { await self.tellNews(to: peer.id) }
        }
    }

    private func tellNews(to id: String) async {
        while news.remove(id) != nil {
            // It may be past what waits since.
            while let turn = turns[id], !Task.isCancelled { try? await Self.end(of: turn) }
            // What was under way may have told it.
            guard !Task.isCancelled, await peersToTell().contains(where: { $0.id == id }) else { continue }
            _ = try? await sync(id)
        }
        telling[id] = nil
    }

    private func peersToTell() async -> [Subject.Peer] {
        let peers = try? await subject.catalogue.read { [subject, clocks] transaction in
            try subject.peersWithNews(at: clocks, in: transaction)
        }
        return (peers ?? []).filter { !failing.contains($0.id) }
    }

    // MARK: One machine

    /// What is under way with the same machine comes to its end first: it may be past what is asked for.
    func sync(_ id: String, job: Job? = nil) async throws -> SyncOutcome {
        while let turn = turns[id] { try await Self.end(of: turn) }
        let turn = Task(executorPreference: MeshClock.executor) { try await self.turn(with: id, job: job) }
        turns[id] = turn
        return try await outcome(of: turn)
    }

    /// Waits for the end of somebody's turn, which the end of whoever waits is no reason for.
    /// - Throws: `CancellationError` at once where whoever waits is called off.
    private static func end(of turn: Task<SyncOutcome, any Error>) async throws {
        let (end, continuation) = AsyncStream<Void>.makeStream()
        Task(executorPreference: MeshClock.executor) {
            _ = await turn.result
            continuation.finish()
        }
        for await _ in end {}
        try Task.checkCancellation()
    }

    /// - Throws: `deadline_exceeded` when the turn has taken too long.
    private func outcome(of turn: Task<SyncOutcome, any Error>) async throws -> SyncOutcome {
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

    /// - Parameter id: of the machine as it is by now: it may have been joined once more, or forgotten, since it was looked up; and
    ///   how far it is told of may have changed.
    private func turn(with id: String, job: Job?) async throws -> SyncOutcome {
        // Before whoever waits for this turn looks whether there is another.
        defer { turns[id] = nil }
        askedAt[id] = mesh?.clock.now()
        guard let mesh, let peer = try await peers().first(where: { $0.id == id }) else {
            return try subject.outcome(withoutPeer: id)
        }
        do {
            let outcome = try await subject.turn(
                with: peer, over: try await link(peer), clocks: clocks, on: mesh, job: job)
            // The job's next turn is this one's end.
            if outcome.isBrokenOff { return outcome }
            let isDone = outcome.problem == nil
            // Before it is noted, which is a change that has it looked at what waits.
            if isDone { failing.remove(id) } else { failing.insert(id) }
            try await subject.catalogue.write { [subject, clocks] transaction in
                let now = clocks.wall.now()
                try subject.note(
                    peer, syncedAt: isDone ? now : nil, problem: outcome.problem?.message ?? outcome.notice,
                    in: transaction)
                if isDone { try transaction.settings.setLastSyncDate(now) }
            }
            return outcome
        } catch {
            guard !(error is CancellationError), !Task.isCancelled else { throw error }
            failing.insert(id)
            // What it had said before it was left alone is the reason.
            guard !(error is CircuitOpen) else { throw error }
            let error = MeshError(describing: error)
            if let outcome = try await subject.forget(peer, after: error) {
                await closeLink(to: id)
                return outcome
            }
            // Only what is new is written, or each note would be the change that lets it be tried again.
            if peer.problem != error.message {
                try? await subject.catalogue.write { [subject] in
                    try subject.note(peer, syncedAt: nil, problem: error.message, in: $0)
                }
            }
            throw error
        }
    }

    private func link(_ peer: Subject.Peer) async throws -> PeerLink<Subject.Remote> {
        let token = try await subject.token(of: peer)
        if let link = links[peer.id], link.token == token { return link }
        if let old = links[peer.id] { Task { [subject] in await subject.close(old.remote) } }
        let remote = try subject.remote(at: try HubAddress(peer.address), token: token)
        let link = PeerLink(remote, token: token, clock: mesh?.clock ?? .system)
        links[peer.id] = link
        return link
    }

    private func closeLink(to id: String) async {
        if let link = links.removeValue(forKey: id) { await subject.close(link.remote) }
    }

    // MARK: Joining and leaving

    /// What a machine says that is not joined yet: whether it lets this one in, before anything is written down.
    func firstAnswer<Answer: Sendable>(
        of address: HubAddress, token: String, to question: (Subject.Remote) async throws -> Answer
    ) async throws -> Answer {
        let remote = try subject.remote(at: address, token: token)
        do {
            let answer = try await question(remote)
            await subject.close(remote)
            return answer
        } catch {
            await subject.close(remote)
            throw Joining.answerFromAfar(to: error, of: address)
        }
    }

    /// Ends what is under way with a machine that is not in the catalogue any more: nothing of it goes on after the reply. What begins
    /// from now on finds nobody to ask.
    func endTurns(with id: String) async {
        while let turn = turns[id] {
            turn.cancel()
            _ = await turn.result
        }
        await closeLink(to: id)
        failing.remove(id)
        askedAt[id] = nil
    }
}
