/// The bounds of one database. The defaults suit a household's library on a small machine.
public struct DatabaseLimits: Sendable {
    /// Writes that may wait; one more gets `DatabaseError.busy`.
    public var queuedWrites = 1_024
    /// Reads that may wait; one more gets `DatabaseError.busy`.
    public var queuedReads = 1_024
    /// Writes that share one commit at most.
    public var groupSize = 256
    /// How long a group may go on taking writes, so that the first does not wait for the last of a long queue.
    public var groupTime: Duration = .milliseconds(10)
    /// Prepared statements that each connection keeps.
    public var statements = 128
    /// Pages (of 4 KiB) of the log after which it is written back. It may grow past that while a read is going on.
    public var logPages = 1_000
    /// How long the commit thread is idle before it writes the log back.
    public var idleCheckpoint: Duration = .milliseconds(500)
    /// Why nothing may be written at this moment, in a sentence for people, and nil where it may: asked before each commit,
    /// on the commit thread, so it takes microseconds. What is refused is not stored.
    public var refusal: @Sendable () -> String? = { nil }

    public init() {}
}

/// Figures of one database since it was opened.
public struct DatabaseStatistics: Sendable, Equatable {
    /// Transactions committed, each one fsync.
    public var commits: UInt64 = 0
    /// Write bodies that were committed.
    public var writes: UInt64 = 0
    /// Write bodies that threw and were undone alone.
    public var refusedWrites: UInt64 = 0
    /// The most write bodies that shared one commit.
    public var largestGroup = 0
    /// Reads done, well or not, copies and checks included.
    public var reads: UInt64 = 0
    /// Times the log was written back, or that was tried.
    public var checkpoints: UInt64 = 0
    /// Pages in the log at the last checkpoint.
    public var logPages = 0

    public init() {}
}

/// One commit, as `DatabasePool.onCommit` tells of it.
public struct CommitNotice: Sendable, Equatable {
    /// The number of the commit since the database was opened, from 1, rising. Commits that changed no row are left out.
    public let sequence: UInt64
    /// The tables that may have changed.
    public let tables: Set<String>

    public init(sequence: UInt64, tables: Set<String>) {
        self.sequence = sequence
        self.tables = tables
    }
}
