import BenchSupport
import ServiceMesh

/// The conservation table: what clients sent and heard, beside what the daemon's mesh counted, and whether the two
/// belong together.
///
/// At the daemon, for each method: admitted = completed + failed + cancelled + in flight, and nothing is in flight when
/// all is quiet. Between the two: every request that was answered by the mesh came to its door (admitted or refused), and
/// every request that came there was sent. Those whose client went away first may have come there or not. An
/// observation passes the door twice, at its beginning and for its reply.
struct StressAccounts {
    struct Row {
        let method: String
        let line: RequestLedger.Line
        let mesh: MeshStatistics.Message?
    }

    let rows: [Row]
    private(set) var problems: [String] = []

    /// Methods that services ask each other, beside clients: they may come to the door more often than clients sent them.
    private static let askedInside: Set<String> = ["category.get", "category.list", "settings.get"]

    /// - Parameter statistics: taken by the last request of all, which is in flight in it.
    init(_ ledger: RequestLedger, _ statistics: MeshStatistics, observations: Set<String>) {
        let counted = Dictionary(uniqueKeysWithValues: statistics.messages.map { ($0.method, $0) })
        let methods = Set(ledger.lines.keys).union(counted.keys).sorted()
        rows = methods.map { Row(method: $0, line: ledger[$0], mesh: counted[$0]) }
        for row in rows { check(row, isObservation: observations.contains(row.method)) }
        for service in statistics.services where service.waiting > 0 || service.running > 1 {
            problems.append(
                "\(service.name): \(service.running) at work and \(service.waiting) waiting in a quiet daemon")
        }
    }

    private mutating func check(_ row: Row, isObservation: Bool) {
        let line = row.line
        func require(_ holds: Bool, _ what: String) {
            if !holds { problems.append("\(row.method): \(what)") }
        }
        require(
            line.sent == line.answered + line.lost, "sent \(line.sent) ≠ \(line.answered) answered + \(line.lost) lost")
        guard let mesh = row.mesh else { return }
        let isAsking = row.method == GetMeshStatistics.method ? 1 : 0
        require(
            mesh.admitted == mesh.completed + mesh.failed + mesh.cancelled + mesh.inFlight,
            "admitted \(mesh.admitted) ≠ \(mesh.completed) + \(mesh.failed) + \(mesh.cancelled) + \(mesh.inFlight)")
        require(mesh.inFlight == isAsking, "\(mesh.inFlight) in flight in a quiet daemon")
        guard line.sent > 0 else { return }
        let arrived = mesh.admitted + mesh.refused
        // When a connection becomes a child's, what reads is refused wherever it is: before the door, or after its answer.
        let denied = line.errors[.permissionDenied] ?? 0
        // Who waits for room for its reply, or comes while the daemon stops, is not at the door yet.
        let mayHaveEndedBefore = [MeshStatus.cancelled, .deadlineExceeded, .unavailable]
            .reduce(denied) { $0 + (line.errors[$1] ?? 0) }
        let least = line.succeeded * (isObservation ? 2 : 1) + line.failed - mayHaveEndedBefore
        let most = (line.succeeded + line.failed + line.lost) * (isObservation ? 2 : 1)
        require(arrived >= least, "\(arrived) came to the door, \(least) were answered")
        guard !Self.askedInside.contains(row.method) else { return }
        require(arrived <= most, "\(arrived) came to the door, at most \(most) were sent")
        guard !isObservation else { return }
        require(
            (line.succeeded - isAsking...line.succeeded - isAsking + line.lost + denied).contains(mesh.completed),
            "\(mesh.completed) completed, \(line.succeeded) replies and \(line.lost) lost")
    }
}
