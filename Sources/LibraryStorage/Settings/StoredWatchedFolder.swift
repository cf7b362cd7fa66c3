import ServiceMesh

/// A folder from which is imported by itself, as a catalogue keeps it.
package struct StoredWatchedFolder: Codable, Sendable, Equatable {
    package let path: String
    package let categoryId: Int64?
    package let addedAt: Timestamp
    /// Whether what was imported is removed there; nil in what older versions wrote, for no.
    package let moves: Bool?
    /// The newest job that imported from it.
    package var job: JobID?

    package init(path: String, categoryId: Int64?, addedAt: Timestamp, moves: Bool? = nil, job: JobID? = nil) {
        (self.path, self.categoryId, self.addedAt, self.moves, self.job) = (path, categoryId, addedAt, moves, job)
    }
}
