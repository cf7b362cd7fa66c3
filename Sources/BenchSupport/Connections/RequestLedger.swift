import ServiceMesh

/// What clients have sent and what came back, method by method; the client's half of the conservation table.
package struct RequestLedger: Sendable {
    package struct Line: Sendable {
        /// Complete requests written.
        package var sent = 0
        package var succeeded = 0
        /// Refused before the mesh: see ``ReplyFault/isBeforeTheMesh``.
        package var faults = 0
        package var errors: [MeshStatus: Int] = [:]
        /// Without an answer, because the client closed the connection first.
        package var lost = 0
        /// From request to reply, in microseconds, of those answered to clients that were reading.
        package var microseconds: [UInt32] = []

        package var failed: Int { errors.values.reduce(0, +) }
        package var answered: Int { succeeded + faults + failed }
    }

    package private(set) var lines: [String: Line] = [:]
    /// Jobs that have ended, by method and how.
    package var jobs: [String: Int] = [:]
    /// Photos that restores have put back without a thumbnail, and said so.
    package var withoutThumbnail = 0
    /// Lines that were no requests, each of which had its one refusal.
    package var malformed = 0
    package var connections = 0
    /// What must not happen, in words.
    package private(set) var failures: [String] = []

    package subscript(method: String) -> Line {
        get { lines[method] ?? Line() }
        set { lines[method] = newValue }
    }

    package mutating func fail(_ what: String) {
        // A broken daemon fails everything; the first ones tell why.
        if failures.count < 20 { failures.append(what) }
    }

    package mutating func merge(_ other: RequestLedger) {
        for (method, theirs) in other.lines {
            lines[method, default: Line()].sent += theirs.sent
            lines[method, default: Line()].succeeded += theirs.succeeded
            lines[method, default: Line()].faults += theirs.faults
            lines[method, default: Line()].lost += theirs.lost
            lines[method, default: Line()].errors.merge(theirs.errors, uniquingKeysWith: +)
            lines[method, default: Line()].microseconds += theirs.microseconds
        }
        jobs.merge(other.jobs, uniquingKeysWith: +)
        withoutThumbnail += other.withoutThumbnail
        malformed += other.malformed
        connections += other.connections
        for failure in other.failures { fail(failure) }
    }

    package var sent: Int { lines.values.reduce(0) { $0 + $1.sent } }

    /// Errors by status, over all methods.
    package var statuses: [MeshStatus: Int] {
        lines.values.reduce(into: [:]) { $0.merge($1.errors, uniquingKeysWith: +) }
    }
}
