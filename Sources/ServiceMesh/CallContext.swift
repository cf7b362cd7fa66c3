/// What travels with a call through every hop inside the process: who asked, until when, and through whom.
///
/// A class, not a struct: it is bound task-locally on every call, and a reference is one word to copy.
public final class CallContext: Sendable {
    /// The context of the running call, or nil outside any call.
    @TaskLocal public static var current: CallContext?

    /// The mesh that carries the call.
    public unowned let mesh: Mesh
    /// The role that the next call made from here has.
    public let role: Role
    /// The role of whoever asked first, for decisions that concern the person and for the log.
    public let originalRole: Role
    /// The earliest deadline of the calls on the way here.
    public let deadline: Deadline?
    /// The same for every call that follows from one request.
    public let trace: UInt64
    /// The method being performed, and the service that performs it; nil at the root.
    public let method: String?
    let service: ObjectIdentifier?
    let parent: CallContext?

    init(
        mesh: Mesh, role: Role, originalRole: Role, deadline: Deadline?, trace: UInt64, method: String?,
        service: ObjectIdentifier?, parent: CallContext?
    ) {
        self.mesh = mesh
        self.role = role
        self.originalRole = originalRole
        self.deadline = deadline
        self.trace = trace
        self.method = method
        self.service = service
        self.parent = parent
    }

    /// The context of a request that enters the process: a line on the socket, or a call of an embedding program.
    /// - Parameter trace: a new number unless told.
    public static func root(
        mesh: Mesh, role: Role, deadline: Deadline? = nil, trace: UInt64? = nil
    ) -> CallContext {
        CallContext(
            mesh: mesh, role: role, originalRole: role, deadline: deadline,
            trace: trace ?? TraceNumber.next(), method: nil, service: nil,
            parent: nil)
    }

    /// The methods on the way here, the outermost first.
    public var chain: [String] {
        var methods: [String] = []
        var context: CallContext? = self
        while let here = context {
            if let method = here.method { methods.append(method) }
            context = here.parent
        }
        return methods.reversed()
    }

    /// Whether a call to `service` from here would wait, in the end, for itself.
    func isInside(_ service: ObjectIdentifier) -> Bool {
        var context: CallContext? = self
        while let here = context {
            if here.service == service { return true }
            context = here.parent
        }
        return false
    }
}
