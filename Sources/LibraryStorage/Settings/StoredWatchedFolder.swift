import ServiceMesh

/// A folder from which is imported by itself, as a catalogue keeps it.
package struct StoredWatchedFolder: Codable, Sendable, Equatable {
    package let path: String
    package let categoryId: Int64?
    package let addedAt: Timestamp
    /// The newest job that imported from it.
    package var job: JobID?

    package init(path: String, categoryId: Int64?, addedAt: Timestamp, job: JobID? = nil) {
        (self.path, self.categoryId, self.addedAt, self.job) = (path, categoryId, addedAt, job)
    }
}
