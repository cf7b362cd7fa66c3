/// What keeps a worker in, as the kernel granted it to that worker; its first word tells.
///
/// Each wall can be missing: a kernel may be old, or a container may forbid what it would be made of. The worker works all
/// the same, behind what is left, because photos that cannot be opened at all help nobody; ``missing`` says so.
public struct WorkerCell: Codable, Sendable, Equatable {
    /// Whether it has the system calls of a list and no others (seccomp).
    public var seccomp: Bool
    /// The version of Landlock that forbids it files, TCP ports and signals to others; nil where there is none.
    public var landlock: Int?
    /// Whether it can gain no privileges by running another program, which it cannot either.
    public var noNewPrivileges: Bool
    /// Bytes of address space that it may use beyond what it starts with; the daemon lends it more for a big photo.
    public var ownMemoryBytes: Int?
    /// Seconds on a processor in its whole life.
    public var processorSeconds: Int?
    /// Descriptors that it may have open.
    public var descriptors: Int?
    /// Bytes of a file that it writes.
    public var fileBytes: Int?
    /// Further processes and threads of its user; not counted for root.
    public var processes: Int?
    /// What was refused, each with the reason, for people.
    public var missing: [String]

    package init(
        seccomp: Bool = false, landlock: Int? = nil, noNewPrivileges: Bool = false, ownMemoryBytes: Int? = nil,
        processorSeconds: Int? = nil, descriptors: Int? = nil, fileBytes: Int? = nil, processes: Int? = nil,
        missing: [String] = []
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
