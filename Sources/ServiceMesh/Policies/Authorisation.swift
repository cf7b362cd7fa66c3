/// The message's role against its caller's, and where it may come from: the only place in the library where it is asked who may do
/// what.
enum Authorisation {
    /// - Returns: nil where `role` may send it, else the refusal.
    @inline(__always)
    static func refusal(of role: Role, needing access: Role, for method: String) -> MeshError? {
        role >= access ? nil : refusal(role, access, method)
    }

    /// - Returns: nil where its contents may come from whom and from where they come, else the refusal.
    static func refusal<M: Message>(of message: M, in context: CallContext) -> MeshError? {
        if let refusal = refusal(of: context.role, needing: message.contentAccess, for: M.method) { return refusal }
        guard context.isFromAfar, message.isForThisMachine else { return nil }
        return MeshError(
            .permissionDenied,
            "\(M.method) with a path, a key or an address is for whoever is at this machine. Use its command line there."
        )
    }

    private static func refusal(_ role: Role, _ access: Role, _ method: String) -> MeshError {
        MeshError(
            .permissionDenied,
            access == .service
                ? "\(method) is for the library's own services."
                : role == .nobody
                    ? "\(method) needs the \(access) role; nobody has said yet who this connection is for."
                    : "\(method) needs the \(access) role; this connection has the \(role) role. Ask a parent.",
            details: MeshError.detail(of: access))
    }
}

extension MeshError {
    /// A call that was allowed when it began is not allowed any more, because its caller's role has fallen.
    public init(losing access: Role, for method: String) {
        self.init(
            .permissionDenied, "\(method) needs the \(access) role, which this connection had before.",
            details: Self.detail(of: access))
    }

    /// A call that was allowed when it began has ended, because its caller may do other things now: asked anew, it is answered as that.
    public static let renewed = MeshError(
        .unavailable, "What this device may do has just been changed. Ask once more, over a new connection.")

    /// The role that was missing, where that is why it was refused: `neededRole` in the details.
    public var neededRole: Role? {
        guard status == .permissionDenied, let name = details["neededRole"]?.stringValue else { return nil }
        return Role.allCases.first { "\($0)" == name }
    }

    fileprivate static func detail(of access: Role) -> [String: JSONValue] { ["neededRole": .string("\(access)")] }
}
