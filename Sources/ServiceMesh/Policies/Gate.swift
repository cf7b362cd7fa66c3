/// The door of one message: the policies in their order, each in its own file, and the counting.
///
/// Not generic, so that its code exists once and ``Mesh/send(_:deadline:)``, which is compiled into each caller for
/// its message, does nothing but ask here, call the actor, and report here. Synchronous where nothing has to wait: an
/// `async` step in between would cost each call a frame and a suspension check.
@usableFromInline
final class Gate: Sendable {
    let method: String
    let access: Role
    let admission: Admission
    private let clock: MeshClock
    let metrics = CallMetrics()
    /// This message among those of its service, 1 and up, and among all of the mesh.
    let indexInService: UInt8
    let number: UInt32
    private let faults: FaultPlan?
    private let service: ObjectIdentifier
    /// The chain of a call from outside: this step alone.
    private let link: CallLink

    init(method: String, access: Role, service: ObjectIdentifier, home: ServiceHome) {
        self.method = method
        self.access = access
        self.service = service
        admission = home.admission
        faults = home.faults
        clock = home.clock
        (indexInService, number) = home.nextNumbers()
        link = CallLink(anchor: home.anchor, method: method, service: service, running: admission.running)
    }

    /// A call that may go to its actor. Each must come back to ``close(_:)`` or ``close(_:failing:)``, once.
    @usableFromInline
    struct Passage: Sendable {
        @usableFromInline let context: CallContext
        /// Whether this call has to watch its deadline itself, because no call around it does.
        let isTimed: Bool
        /// Whether there is nothing to do between door and actor: no deadline to watch, no faults to suffer.
        @usableFromInline let isPlain: Bool
        let began: UInt64

        var timer: Deadline? { isTimed ? context.deadline : nil }
    }

    /// The first policy alone, before there is a message: what somebody sends who may not is not even read.
    func authorise(_ caller: CallContext) throws {
        if let refusal = Authorisation.refusal(of: caller.role, needing: access, for: method) { throw refuse(refusal) }
    }

    /// The policies in order: role, deadline, cycle, admission.
    /// - Parameters:
    ///   - parent: whose call it is; nil for the program that owns the library, outside any call.
    ///   - isContinued: whether it goes on with a call that was let in before, as those made inside one do.
    /// - Returns: nil where the call has to queue: then ``queue(_:_:isContinued:)`` comes next.
    /// - Throws: ``MeshError`` where it is refused.
    @usableFromInline
    func open(
        _ parent: CallContext?, _ own: Deadline?, isContinued: Bool = false
    ) throws -> Passage? {
        // One reading of the clock for the deadline, for the place and for the latency.
        let now = clock.now()
        if let refusal = Authorisation.refusal(of: parent?.role ?? .parent, needing: access, for: method) {
            throw refuse(refusal)
        }
        let deadline = Deadline.earlier(parent?.deadline, own)
        if let deadline, deadline.hasPassed(at: now) { throw refuse(Deadline.exceeded) }
        if let parent, let cycle = CallCycle.refusal(of: parent, asking: service, method) { throw refuse(cycle) }
        let place: Int32?
        do {
            place = try admission.enterNow(
                indexInService, now: now, isNested: isContinued || parent?.method != nil)
        } catch {
            throw refuse(error)
        }
        guard let place else { return nil }
        parent?.waits(for: number)
        return pass(parent, deadline, place, now)
    }

    /// Waits for a place, after ``open(_:_:isContinued:)`` found none.
    @usableFromInline
    func queue(
        _ parent: CallContext?, _ own: Deadline?, isContinued: Bool = false
    ) async throws -> Passage {
        let deadline = Deadline.earlier(parent?.deadline, own)
        let isNested = isContinued || parent?.method != nil
        let place: Int32
        parent?.waits(for: number)
        do {
            // The wait has to end with the deadline too: nobody may stand in a queue for an answer past its use.
            if let deadline, !isWatched(deadline, by: parent) {
                place = try await Deadline.enforce(deadline, on: clock) { [admission, indexInService] in
                    try await admission.enter(indexInService, isNested: isNested)
                }
            } else {
                place = try await admission.enter(indexInService, isNested: isNested)
            }
        } catch {
            parent?.waitsNoMore(for: number)
            throw refuse(error)
        }
        let now = clock.now()
        let passage = pass(parent, deadline, place, now)
        // Checked again: the call has waited.
        if let deadline, deadline.hasPassed(at: now) { throw close(passage, failing: Deadline.exceeded) }
        return passage
    }

    private func pass(_ parent: CallContext?, _ deadline: Deadline?, _ place: Int32, _ now: UInt64) -> Passage {
        let isTimed = deadline != nil && !isWatched(deadline, by: parent)
        return Passage(
            context: CallContext(
                role: .service, originalRole: parent?.originalRole ?? .parent, isFromAfar: parent?.isFromAfar ?? false,
                deadline: deadline, trace: parent?.trace ?? TraceNumber.next(), link: link(from: parent), place: place),
            isTimed: isTimed, isPlain: !isTimed && faults == nil, began: now)
    }

    private func link(from parent: CallContext?) -> CallLink {
        guard let parent, parent.method != nil || parent.caller != nil else { return link }
        return CallLink(
            anchor: link.anchor, method: method, service: service, parent: parent.link, running: admission.running,
            parentPlace: parent.place)
    }

    /// A deadline that a caller up the chain enforces already needs no second timer.
    private func isWatched(_ deadline: Deadline?, by parent: CallContext?) -> Bool {
        parent?.method != nil && parent?.deadline == deadline
    }

    /// What the plan, where there is one, has in store for this call.
    func injectFault() async throws { if let faults { try await faults.inject(method, on: clock) } }

    /// The call ended well: it is counted, and its place given back.
    @usableFromInline
    func close(_ passage: Passage) { leave(passage, .completed) }

    /// The call failed: the error as its caller is to see it.
    @usableFromInline
    func close(_ passage: Passage, failing error: any Error) -> MeshError {
        let known = MeshError(describing: error)
        leave(passage, known.status == .cancelled ? .cancelled : .failed)
        return known
    }

    @inline(__always)
    private func leave(_ passage: Passage, _ ending: CallMetrics.Ending) {
        metrics.end(ending, nanoseconds: clock.now() &- passage.began)
        passage.context.link.parentWaitsNoMore(for: number)
        admission.leave(passage.context.place)
    }

    private func refuse(_ error: any Error) -> MeshError {
        metrics.refuse()
        return MeshError(describing: error)
    }
}
