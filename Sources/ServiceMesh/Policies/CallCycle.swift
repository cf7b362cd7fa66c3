/// A call that would wait, in the end, for itself: A asks B, which asks A.
///
/// With admission limits such a ring is a deadlock that strikes under load alone, so it is refused always, in the first
/// test that walks it. A mistake in the program and nobody's input: a debug build stops right there, where the
/// debugger shows the chain; a release build, which has photos to look after, answers `internal`.
enum CallCycle {
    /// - Returns: nil where no call on the way here is at `service`.
    @inline(__always)
    static func refusal(of caller: CallContext, asking service: ObjectIdentifier, _ method: String) -> MeshError? {
        guard caller.isInside(service) else { return nil }
        let error = error(caller.chain + [method])
        #if DEBUG
            preconditionFailure(error.message)
        #else
            return error
        #endif
    }

    static func error(_ chain: [String]) -> MeshError {
        MeshError(.internal, "A call cycle: \(chain.joined(separator: " → ")). Please report it.")
    }
}
