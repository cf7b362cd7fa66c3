import ServiceMesh

/// Runs `work` to its end whether or not the calling task is cancelled.
///
/// The catalogue refuses a cancelled task before its turn, and that is right for requests; a step that tidies up, or
/// that has passed the point of no return, must not be one. So it gets a task of its own.
package func uncancelled<T: Sendable>(_ work: @escaping @Sendable () async throws -> T) async throws -> T {
    try await Task(executorPreference: MeshClock.executor) { try await work() }.value
}
