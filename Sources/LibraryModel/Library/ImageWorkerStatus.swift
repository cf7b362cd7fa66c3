/// The helper processes that open photos.
public struct ImageWorkerStatus: Codable, Sendable, Equatable {
    public let started: Int
    /// Ended by themselves over a photo.
    public let crashed: Int
    /// Killed from outside over a photo: for want of memory, or by a person.
    public let lost: Int?
    public let timedOut: Int
    /// Those that live now, and the process that they are copies of.
    public let pids: [Int32]
    /// The most memory that each of those has had resident, added up, or that one had that has ended, where that is more; in bytes.
    public let peakMemoryBytes: Int64
    /// What all of them together may use for big photos, beside ``ImageWorkerCell/ownMemoryBytes`` of each.
    public let sharedMemoryBytes: Int64?
    /// What keeps them in. Absent where none could be started yet.
    public let cell: ImageWorkerCell?

    public init(
        started: Int, crashed: Int, lost: Int? = nil, timedOut: Int, pids: [Int32], peakMemoryBytes: Int64,
        sharedMemoryBytes: Int64? = nil, cell: ImageWorkerCell? = nil
    ) {
        self.started = started
        self.crashed = crashed
        self.lost = lost
        self.timedOut = timedOut
        self.pids = pids
        self.peakMemoryBytes = peakMemoryBytes
        self.sharedMemoryBytes = sharedMemoryBytes
        self.cell = cell
    }
}

/// What the kernel granted to keep a worker in that a hostile photo has taken over, as the worker itself found it. One
/// wall may be missing where a kernel is old or a container forbids it; then the others hold.
public struct ImageWorkerCell: Codable, Sendable, Equatable {
    /// It has the system calls of a list and no others.
    public let seccomp: Bool
    /// The version of Landlock that forbids it files, connections and signals; absent where there is none.
    public let landlock: Int?
    /// It cannot gain privileges.
    public let noNewPrivileges: Bool
    /// The limits that hold, absent where one does not. Memory is what it may take beyond what it starts with.
    public let ownMemoryBytes: Int64?
    public let processorSeconds: Int?
    public let descriptors: Int?
    public let fileBytes: Int64?
    public let processes: Int?
    /// What is missing, each with the reason.
    public let missing: [String]

    public init(
        seccomp: Bool, landlock: Int?, noNewPrivileges: Bool, ownMemoryBytes: Int64?, processorSeconds: Int?,
        descriptors: Int?, fileBytes: Int64?, processes: Int?, missing: [String]
    ) {
        self.seccomp = seccomp
        self.landlock = landlock
        self.noNewPrivileges = noNewPrivileges
        self.ownMemoryBytes = ownMemoryBytes
        self.processorSeconds = processorSeconds
        self.descriptors = descriptors
        self.fileBytes = fileBytes
        self.processes = processes
        self.missing = missing
    }
}
