import Synchronization

/// What travels with a call through every hop inside the process: who asked, until when, and through whom.
///
/// A struct with one reference in it. It is bound task-locally on every call, in memory of the task's own, and for a
/// call from outside nothing is allocated: as a class it cost each call 50 ns more.
public struct CallContext: Sendable {
    /// The context of the running call, or nil outside any call.
    @TaskLocal public static var current: CallContext?

    // In an order that fits into 32 bytes: every call copies it.
    let link: CallLink
    /// The same for every call that follows from one request.
    public let trace: UInt64
    /// The earliest deadline of the calls on the way here.
    public let deadline: Deadline?
    /// The role that the next call made from here has.
    public let role: Role
    /// The role of the client that asked first, for decisions that concern the person and for the log.
    public let originalRole: Role
    /// Whether the client that asked first did so through a program that asks on behalf of others, and is not at this machine.
    public let isFromAfar: Bool
    /// The running call's place in its service's table; negative outside any.
    let place: Int32

    init(
        role: Role, originalRole: Role, isFromAfar: Bool, deadline: Deadline?, trace: UInt64, link: CallLink,
        place: Int32 = -1
    ) {
        self.link = link
        self.trace = trace
        self.deadline = deadline
        self.role = role
        self.originalRole = originalRole
        self.isFromAfar = isFromAfar
        self.place = place
    }

    /// The mesh that carries the call, which must still be there.
    public var mesh: Mesh { link.anchor.mesh }

    /// The method being performed; nil at the root.
    public var method: String? { link.method }

    /// The context of a request that enters the process: a line on the socket, or a call of an embedding program.
    /// - Parameters:
    ///   - isFromAfar: whether a program asks on behalf of somebody who is not at this machine.
    ///   - caller: who that is, where it is known.
    ///   - trace: a new number unless told.
    public static func root(
        mesh: Mesh, role: Role, isFromAfar: Bool = false, caller: String? = nil, deadline: Deadline? = nil,
        trace: UInt64? = nil
    ) -> CallContext {
        let link = caller.map { CallLink(anchor: mesh.rootLink.anchor, method: nil, caller: $0) } ?? mesh.rootLink
        return CallContext(
            role: role, originalRole: role, isFromAfar: isFromAfar, deadline: deadline,
            trace: trace ?? TraceNumber.next(), link: link)
    }

    /// Who asked first, where a program asks on behalf of others and has said for whom; nil for who is at this machine.
    public var caller: String? { link.caller }

    /// The methods on the way here, the outermost first.
    public var chain: [String] { link.onTheWay.compactMap(\.method).reversed() }

    /// Whether a call to `service` from here would wait, in the end, for itself.
    func isInside(_ service: ObjectIdentifier) -> Bool {
        var link: CallLink? = link
        while let here = link {
            if here.service == service { return true }
            link = here.parent
        }
        return false
    }

    /// Tells `mesh.stats` what the running call waits for.
    func waits(for message: UInt32) {
        if place >= 0 { link.running?.mark(place, waitsFor: message) }
    }

    func waitsNoMore(for message: UInt32) {
        if place >= 0 { link.running?.unmark(place, waitsFor: message) }
    }
}

/// One step of a call chain. Calls from outside share the step of their message; a call inside a call has its own.
final class CallLink: Sendable {
    let anchor: MeshAnchor
    /// The method being performed, and the service that performs it; nil at the root.
    let method: String?
    let service: ObjectIdentifier?
    let parent: CallLink?
    /// As ``CallContext/caller``. Here, since few calls have one and the context is copied by all.
    let caller: String?
    /// Where the service's running calls stand, and where the call that made this one does; negative for none.
    let running: InFlightTable?
    private let parentPlace: Int32

    init(
        anchor: MeshAnchor, method: String?, service: ObjectIdentifier? = nil, parent: CallLink? = nil,
        caller: String? = nil, running: InFlightTable? = nil, parentPlace: Int32 = -1
    ) {
        self.caller = caller ?? parent?.caller
        self.running = running
        self.parentPlace = parentPlace
        self.anchor = anchor
        self.method = method
        self.service = service
        self.parent = parent
    }

    func parentWaitsNoMore(for message: UInt32) {
        if parentPlace >= 0 { parent?.running?.unmark(parentPlace, waitsFor: message) }
    }

    /// This step and those before it.
    fileprivate var onTheWay: some Sequence<CallLink> { sequence(first: self, next: \.parent) }
}

/// Where the links of one mesh find it. The mesh holds its links, so they must not hold the mesh.
final class MeshAnchor: Sendable {
    private struct Slot {
        weak var mesh: Mesh?
    }

    private let slot = Mutex(Slot())

    func bind(_ mesh: Mesh) { slot.withLock { $0.mesh = mesh } }

    var mesh: Mesh {
        guard let mesh = slot.withLock({ $0.mesh }) else {
            preconditionFailure("a call outlived its mesh: await mesh.stop() before letting the mesh go")
        }
        return mesh
    }
}
