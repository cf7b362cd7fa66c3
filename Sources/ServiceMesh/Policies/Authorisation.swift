/// The message's role against its caller's: the only place in the library where it is asked who may do what.
enum Authorisation {
    /// - Returns: nil where `role` may send it, else the refusal.
    @inline(__always)
    static func refusal(of role: Role, needing access: Role, for method: String) -> MeshError? {
        role >= access ? nil : refusal(role, access, method)
    }

    private static func refusal(_ role: Role, _ access: Role, _ method: String) -> MeshError {
        MeshError(
            .permissionDenied,
            access == .service
                ? "\(method) is for the library's own services."
                : "\(method) needs the \(access) role; this connection has the \(role) role.")
    }
}
