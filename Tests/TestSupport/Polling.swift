/// Looks again and again for what nothing in this process tells of: what another program does, or a file. All else has something
/// to wait for: ``Gate``, ``Awaited``, ``StandstillExecutor``, or an observation.
/// - Parameter what: is waited for, for the error.
/// - Throws: ``NeverCame`` where it is not there within a minute.
public func poll(for what: String, _ isThere: () async throws -> Bool) async throws {
    let end = ContinuousClock.now + .seconds(60)
    while try await !isThere() {
        guard ContinuousClock.now < end else { throw NeverCame(what: what) }
        try await Task.sleep(for: .milliseconds(1))
    }
}

/// Something that a test waited for in vain.
public struct NeverCame: Error, CustomStringConvertible {
    let what: String

    public var description: String { "Waited for a minute, and it never came: \(what)" }
}
