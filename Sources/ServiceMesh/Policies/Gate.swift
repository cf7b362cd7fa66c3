/// The door of one message: everything about a call that is decided and counted without knowing its types.
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
    private let service: ObjectIdentifier
    /// The chain of a call from outside: this step alone.
    private let link: CallLink

    init(method: String, access: Role, service: ObjectIdentifier, home: ServiceHome) {
        self.method = method
        self.access = access
        self.service = service
        admission = home.admission
        clock = home.clock
        link = CallLink(anchor: home.anchor, method: method, service: service, parent: nil)
    }

    /// A call that may go to its actor. Each must come back to ``close(_:)`` or ``close(_:failing:)``, once.
    @usableFromInline
    struct Passage: Sendable {
        @usableFromInline let context: CallContext
        /// The deadline that this call has to watch, where no call around it does.
        @usableFromInline let timer: Deadline?
        let began: UInt64
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
        guard (parent?.role ?? .parent) >= access else { throw refusal(parent?.role ?? .parent) }
        let deadline = Deadline.earlier(parent?.deadline, own)
        if let deadline, clock.now() >= deadline.nanoseconds {
            metrics.refuse()
            throw Deadline.exceeded
        }
        if let parent, parent.isInside(service) { throw cycle(parent) }
        do {
            guard try admission.enterNow(isNested: isContinued || parent?.method != nil) else { return nil }
        } catch {
            metrics.refuse()
            throw error
        }
        return pass(parent, deadline)
    }

    /// Waits for a place, after ``open(_:_:isContinued:)`` found none.
    @usableFromInline
    func queue(
        _ parent: CallContext?, _ own: Deadline?, isContinued: Bool = false
    ) async throws -> Passage {
        let deadline = Deadline.earlier(parent?.deadline, own)
        let isNested = isContinued || parent?.method != nil
        do {
            // The wait has to end with the deadline too: nobody may stand in a queue for an answer past its use.
            if let deadline, !isWatched(deadline, by: parent) {
                try await Deadline.enforce(deadline, on: clock) { [admission] in
                    try await admission.enter(isNested: isNested)
                }
            } else {
                try await admission.enter(isNested: isNested)
            }
        } catch {
            metrics.refuse()
            throw MeshError(describing: error)
        }
        let passage = pass(parent, deadline)
        // Checked again: the call has waited.
        if let deadline = passage.context.deadline, clock.now() >= deadline.nanoseconds {
            throw close(passage, failing: Deadline.exceeded)
        }
        return passage
    }

    private func pass(_ parent: CallContext?, _ deadline: Deadline?) -> Passage {
        metrics.admit()
        return Passage(
            context: CallContext(
                role: .service, originalRole: parent?.originalRole ?? .parent, deadline: deadline,
                trace: parent?.trace ?? TraceNumber.next(), link: link(from: parent)),
            timer: isWatched(deadline, by: parent) ? nil : deadline, began: clock.now())
    }

    private func link(from parent: CallContext?) -> CallLink {
        guard let parent, parent.method != nil else { return link }
        return CallLink(anchor: link.anchor, method: method, service: service, parent: parent.link)
    }

    /// A deadline that a caller up the chain enforces already needs no second timer.
    private func isWatched(_ deadline: Deadline?, by parent: CallContext?) -> Bool {
        parent?.method != nil && parent?.deadline == deadline
    }

    /// The call ended well: it is counted, and its place given back.
    @usableFromInline
    func close(_ passage: Passage) {
        metrics.end(.completed, nanoseconds: clock.now() &- passage.began)
        admission.leave()
    }

    /// The call failed: the error as its caller is to see it.
    @usableFromInline
    func close(_ passage: Passage, failing error: any Error) -> MeshError {
        let known = MeshError(describing: error)
        metrics.end(
            known.status == .cancelled ? .cancelled : .failed, nanoseconds: clock.now() &- passage.began)
        admission.leave()
        return known
    }

    private func refusal(_ role: Role) -> MeshError {
        metrics.refuse()
        return MeshError(
            .permissionDenied,
            access == .service
                ? "\(method) is for the library's own services."
                : "\(method) needs the \(access) role; this connection has the \(role) role.")
    }

    private func cycle(_ caller: CallContext) -> MeshError {
        metrics.refuse()
        return MeshError(.internal, "A call cycle: \((caller.chain + [method]).joined(separator: " → ")).")
    }
}
