import ServiceMesh

extension Mesh {
    /// Follows an observation until one of its values meets a condition: a test then waits for the thing itself, and not for time.
    /// - Returns: that value; nil where the observation has ended without it.
    @discardableResult
    public func firstValue<M: HandledObservation>(
        of message: M, where condition: @escaping @Sendable (M.Update) -> Bool
    ) async throws -> M.Update? {
        do {
            _ = try await observe(message) { change in
                if condition(change.value) { throw Found(value: change.value) }
            }
            return nil
        } catch let found as Found<M.Update> {
            return found.value
        }
    }
}

private struct Found<Value: Sendable>: Error {
    let value: Value
}
