import Foundation
import Synchronization

/// A service mesh inside one process: typed messages go in, actors answer them, and the policies that every
/// call needs stand between, in one place.
///
/// A call passes, in this order: the message's role against the caller's; its deadline; a check that it does not wait
/// for itself; its service's admission (a bounded queue, decided before the hop to the actor); then the actor; and
/// on the way back the metrics. Messages from the socket and from the same process take the same path.
///
/// Services are listed once, in the order in which they start; they stop in reverse. Calls between them form no
/// cycle: a service calls only services before it in the list.
///
/// ```swift
/// let mesh = try Mesh(services: [categoryStore, photoStore], journal: catalogue.journal)
/// try await mesh.start()
/// let category = try await mesh.send(AddCategory(displayName: "Holidays"))
/// await mesh.stop()
/// ```
public final class Mesh: Sendable {
    private struct Hosted: Sendable {
        let name: String
        let service: any MeshService
        let admission: Admission
        let health: HealthProbe
    }

    private let hosted: [Hosted]
    /// The chain before the first call.
    let rootLink: CallLink
    private let routes: RouteTable
    private let byMethod: [String: any RoutedEndpoint]
    private let startedCount = Mutex(0)
    /// The time by which deadlines pass here.
    public let clock: MeshClock
    /// The long pieces of work that messages of kind `job` start.
    public let jobs: JobStore

    /// Observations that end when the library is closed; see ``HandledObservation/endsWithTheLibrary``.
    private let followers = Followers()

    /// - Parameters:
    ///   - services: in the order of their dependencies: a service stands before those that call it.
    ///   - journal: where jobs are written down. There is no default: a program that forgot it would lose its jobs with each
    ///     restart.
    ///   - clock: the time by which deadlines pass; a simulation brings its own.
    ///   - keeping: the time by which receipts fall due, given the wall's.
    ///   - jobLog: told of the beginning and the end of each job; it returns at once.
    /// - Throws: ``MeshError`` `internal` where two messages share a name.
    public convenience init(
        services: [any MeshService], journal: any JobJournal, clock: MeshClock = .system,
        keeping: @escaping @Sendable (Timestamp) -> ReckonedTime = { ReckonedTime(at: $0) },
        jobLog: @escaping @Sendable (JobNotice) -> Void = { _ in }
    ) throws {
        try self.init(
            services: services, journal: journal, clock: clock, keeping: keeping, jobLog: jobLog, faults: nil)
    }

    /// - Parameter faults: what calls have to suffer, in tests; nothing that is shipped names any.
    package init(
        services: [any MeshService], journal: any JobJournal, clock: MeshClock = .system,
        keeping: @escaping @Sendable (Timestamp) -> ReckonedTime = { ReckonedTime(at: $0) },
        jobLog: @escaping @Sendable (JobNotice) -> Void = { _ in }, faults: FaultPlan?
    ) throws {
        self.clock = clock
        jobs = JobStore(journal: journal, clock: clock, keeping: keeping, log: jobLog)
        let anchor = MeshAnchor()
        let numbers = MessageNumbers()
        rootLink = CallLink(anchor: anchor, method: nil)
        var hosted: [Hosted] = []
        var routes: [(type: ObjectIdentifier, route: any AnyObject & Sendable)] = []
        var byMethod: [String: any RoutedEndpoint] = [:]

        func host<S: MeshService>(_ service: S) throws {
            let admission = Admission(limit: S.admission, serviceName: S.serviceName, clock: clock)
            let home = ServiceHome(
                admission: admission, anchor: anchor, clock: clock, numbers: numbers, faults: faults)
            let health = HealthProbe(serviceName: S.serviceName) { try await service.checkHealth() }
            hosted.append(Hosted(name: S.serviceName, service: service, admission: admission, health: health))
            for register in S.messages.registrations {
                guard let endpoint = register(service, home) as? any RoutedEndpoint else { continue }
                guard byMethod.updateValue(endpoint, forKey: endpoint.method) == nil else {
                    throw MeshError(.internal, "Two messages are called \(endpoint.method).")
                }
                routes.append((endpoint.messageType, endpoint.anyRoute))
            }
        }
        for service in [jobs, MeshMonitor()] + services { try host(service) }
        self.hosted = hosted
        self.routes = RouteTable(routes)
        self.byMethod = byMethod
        anchor.bind(self)
    }

    // MARK: Calls

    /// Asks the message's service and returns its reply.
    ///
    /// Inside a call the context (role, deadline, trace) is that of the call; outside any, the caller is the
    /// program that owns the library, with the role `parent`.
    /// - Parameter deadline: the earlier of this one and the running call's holds.
    /// - Throws: ``MeshError``, always; a call whose task was cancelled ends with the status `cancelled`.
    @inlinable @inline(__always)
    public func send<M: HandledMessage>(
        _ message: M, deadline: Deadline? = nil
    ) async throws -> M.Reply {
        try await send(message, from: CallContext.current, deadline)
    }

    /// Asks as `context` says: how the socket brings in a connection's role and a request's deadline.
    @inlinable @inline(__always)
    public func send<M: HandledMessage>(
        _ message: M, in context: CallContext, deadline: Deadline? = nil
    ) async throws -> M.Reply {
        try await send(message, from: context, deadline)
    }

    /// Compiled into the caller for its message, because an actor call through unspecialised generics costs more than
    /// all policies together. Not `nonisolated(nonsending)`: the executor is then known, and the compiler leaves out
    /// the three switches between caller, binding and `perform` that lead nowhere.
    @inlinable @inline(__always)
    func send<M: HandledMessage>(
        _ message: M, from parent: CallContext?, _ deadline: Deadline?
    ) async throws -> M.Reply {
        guard let found = find(ObjectIdentifier(M.self)) else { throw unhosted(M.method) }
        // The table holds, under a message's type, the route of that type and its service, so no cast has to check it.
        let route = unsafeDowncast(found, to: Route<M, M.Service>.self)
        let gate = route.gate
        let passage: Gate.Passage
        if let open = try gate.open(parent, deadline) {
            passage = open
        } else {
            passage = try await gate.queue(parent, deadline)
        }
        do {
            try Task.checkCancellation()
            let reply: M.Reply
            if passage.isPlain {
                reply = try await CallContext.$current.withValue(passage.context) {
                    try await message.perform(on: route.service)
                }
            } else {
                let service = route.service
                reply = try await within(passage, gate) { try await message.perform(on: service) }
            }
            gate.close(passage)
            return reply
        } catch {
            throw gate.close(passage, failing: error)
        }
    }

    /// Observes as the message asks and hands each change to `onChange`, which is awaited before the next one is
    /// taken. Returns the message's reply when the changes have ended.
    public func observe<M: HandledObservation>(
        _ message: M, in context: CallContext? = nil,
        onChange: @escaping @Sendable (Change<M.Update>) async throws -> Void
    ) async throws -> M.Reply {
        let parent = context ?? CallContext.current
        // The deadline is that of the whole observation, not of its beginning.
        guard let deadline = parent?.deadline else { return try await follow(message, parent, onChange) }
        return try await Deadline.enforce(deadline, on: clock) { try await self.follow(message, parent, onChange) }
    }

    private func follow<M: HandledObservation>(
        _ message: M, _ parent: CallContext?, _ onChange: @escaping @Sendable (Change<M.Update>) async throws -> Void
    ) async throws -> M.Reply {
        guard let route = find(ObjectIdentifier(M.self)) as? Route<M, M.Service> else { throw unhosted(M.method) }
        let service = route.service
        if M.endsWithTheLibrary { followers.add() }
        defer { if M.endsWithTheLibrary { followers.remove() } }
        let observation = try await pass(route.gate, parent) { try await message.observe(on: service) }
        // The place in admission is given back here: an observation may last for days.
        for try await change in observation { try await onChange(change) }
        try Task.checkCancellation()
        // Let in while the mesh drains: it belongs to a call that is running already, and who watched a job to its
        // end gets the reply.
        return try await pass(route.gate, parent, isContinued: true) { try await message.conclude(on: service) }
    }

    @usableFromInline
    func find(_ type: ObjectIdentifier) -> AnyObject? { routes.find(type) }

    @usableFromInline
    func unhosted(_ method: String) -> MeshError {
        MeshError(.unimplemented, "No service of this library answers \(method).")
    }

    /// Does the same as ``send(_:deadline:)``, for operations that need not be fast.
    private func pass<Reply: Sendable>(
        _ gate: Gate, _ parent: CallContext?, isContinued: Bool = false,
        _ operation: @Sendable @escaping () async throws -> Reply
    ) async throws -> Reply {
        let passage: Gate.Passage
        if let open = try gate.open(parent, nil, isContinued: isContinued) {
            passage = open
        } else {
            passage = try await gate.queue(parent, nil, isContinued: isContinued)
        }
        do {
            try Task.checkCancellation()
            let reply = try await within(passage, gate, operation)
            gate.close(passage)
            return reply
        } catch {
            throw gate.close(passage, failing: error)
        }
    }

    /// Performs the operation in its context, with the faults planned for it, and ends it when its deadline passes.
    @usableFromInline
    func within<Reply: Sendable>(
        _ passage: Gate.Passage, _ gate: Gate, _ operation: @Sendable @escaping () async throws -> Reply
    ) async throws -> Reply {
        try await CallContext.$current.withValue(passage.context) {
            guard let deadline = passage.timer else {
                try await gate.injectFault()
                return try await operation()
            }
            return try await Deadline.enforce(deadline, on: clock) {
                try await gate.injectFault()
                return try await operation()
            }
        }
    }

    // MARK: By name

    /// The endpoint of `method`, or nil. Messages for services only are not found from outside.
    public func endpoint(_ method: String) -> (any Endpoint)? {
        guard let endpoint = byMethod[method], endpoint.access < .service else { return nil }
        return endpoint
    }

    /// The job that a message kept by the journal stands for. Both parts may be anything.
    /// - Throws: ``InvalidParams``; `unimplemented` where there is no such message, or none that starts a job.
    func jobBody(_ method: String, params: Data) throws -> JobBody {
        guard let body = try byMethod[method]?.jobBody(params: params) else {
            throw MeshError(
                .unimplemented,
                "The job cannot go on: this version knows no job \(method.prefix(80)). Use the version that started it."
            )
        }
        return body
    }

    /// Whether a line with this outcome, in the receipt of a job of this kind, tells of something that a person should
    /// look at. Of a kind that this version does not know, each may.
    func needsAttention(_ outcome: String, of method: String) -> Bool {
        byMethod[method]?.job?.needsAttention(outcome) ?? true
    }

    /// Every message that can come from outside, by name.
    public var descriptions: [MessageDescription] {
        byMethod.values.filter { $0.access < .service }.map(\.description).sorted { $0.name < $1.name }
    }

    // MARK: Lifecycle

    /// Starts the services in order, then lets the jobs go on that were broken off, and does not wait for that: what they
    /// need may be on a file system that does not answer. Where a service fails, those already started are stopped again,
    /// in reverse.
    /// - Throws: what the service threw.
    public func start() async throws {
        for host in hosted {
            do {
                try await host.service.start(on: self)
                startedCount.withLock { $0 += 1 }
            } catch {
                await stopServices()
                throw error
            }
        }
        await jobs.beginResuming()
    }

    /// Refuses calls from outside; interrupts the jobs that can go on at the next start and cancels the others; waits
    /// until each stands still or has its receipt, until those who follow one have been told, and for running calls;
    /// then stops the services in reverse order. Calling it again does nothing more.
    public func stop() async {
        for host in hosted { host.admission.close() }
        await jobs.suspendAllAndWait()
        await followers.waitUntilEmpty()
        for host in hosted.reversed() { await host.admission.drained() }
        await stopServices()
    }

    private func stopServices() async {
        let count = startedCount.withLock { count in
            defer { count = 0 }
            return count
        }
        for host in hosted.prefix(count).reversed() { await host.service.stop() }
    }

    /// Asks all services at once whether they can work. One that has not answered by then is reported as hanging, and
    /// what it is doing does not hold up this answer.
    ///
    /// Not through a door: a watchdog has to get its answer though somebody floods `mesh.health`.
    /// - Parameter within: milliseconds for the answer.
    public func health(within milliseconds: Int64 = 2_000) async -> MeshHealth {
        let deadline = Deadline.after(milliseconds: milliseconds, on: clock)
        let context = CallContext(
            role: .service, originalRole: .service, isFromAfar: false, deadline: nil, trace: TraceNumber.next(),
            link: rootLink)
        var problems = [MeshError?](repeating: nil, count: hosted.count)
        await withTaskGroup(of: (Int, MeshError?).self) { group in
            for (index, host) in hosted.enumerated() {
                group.addTask { (index, await host.health.ask(until: deadline, on: self.clock, in: context)) }
            }
            for await (index, problem) in group { problems[index] = problem }
        }
        return MeshHealth(
            services: zip(hosted, problems).map { MeshHealth.Service(name: $0.name, problem: $1) })
    }

    var statistics: MeshStatistics {
        MeshStatistics(
            hosted.map { ($0.name, $0.admission) }, Array(byMethod.values), now: clock.now())
    }
}
