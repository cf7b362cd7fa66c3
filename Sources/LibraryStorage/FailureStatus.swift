import ServiceMesh

extension MeshError {
    private static let outcome = "outcome"

    /// The detail of a change that may have been stored although it failed.
    package static let unknownOutcome: [String: JSONValue] = [outcome: .string("unknown")]

    /// Whether the change may have been stored although it failed. What belongs to it stays as it is then, staged and
    /// published: the next start sees whether its row is there.
    package var mayHaveBeenStored: Bool { details[Self.outcome] == .string("unknown") }
}
