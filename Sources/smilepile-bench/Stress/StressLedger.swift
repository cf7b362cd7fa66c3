import ServiceMesh

/// What clients have sent and what came back, method by method; the client's half of the conservation table.
struct StressLedger: Sendable {
    struct Line: Sendable {
        /// Complete requests written.
        var sent = 0
        var succeeded = 0
        /// Refused before the mesh: see ``StressFault/isBeforeTheMesh``.
        var faults = 0
        var errors: [MeshStatus: Int] = [:]
        /// Without an answer, because the client closed the connection first.
        var lost = 0
        /// From request to reply, in microseconds, of those answered to clients that were reading.
        var microseconds: [UInt32] = []

        var failed: Int { errors.values.reduce(0, +) }
        var answered: Int { succeeded + faults + failed }
    }

    private(set) var lines: [String: Line] = [:]
    /// Jobs that have ended, by method and how.
    var jobs: [String: Int] = [:]
    /// Lines that were no requests, each of which had its one refusal.
    var malformed = 0
    var connections = 0
    /// What must not happen, in words.
    private(set) var failures: [String] = []

    subscript(method: String) -> Line {
        get { lines[method] ?? Line() }
        set { lines[method] = newValue }
    }

    mutating func fail(_ what: String) {
        // A broken daemon fails everything; the first ones tell why.
        if failures.count < 20 { failures.append(what) }
    }

    mutating func merge(_ other: StressLedger) {
        for (method, theirs) in other.lines {
            lines[method, default: Line()].sent += theirs.sent
            lines[method, default: Line()].succeeded += theirs.succeeded
            lines[method, default: Line()].faults += theirs.faults
            lines[method, default: Line()].lost += theirs.lost
            lines[method, default: Line()].errors.merge(theirs.errors, uniquingKeysWith: +)
            lines[method, default: Line()].microseconds += theirs.microseconds
        }
        jobs.merge(other.jobs, uniquingKeysWith: +)
        malformed += other.malformed
        connections += other.connections
        for failure in other.failures { fail(failure) }
    }

    var sent: Int { lines.values.reduce(0) { $0 + $1.sent } }

    /// Errors by status, over all methods.
    var statuses: [MeshStatus: Int] {
        lines.values.reduce(into: [:]) { $0.merge($1.errors, uniquingKeysWith: +) }
    }
}
