import BenchSupport
import LibraryModel
import ServiceMesh

/// What a run prints at its end: the conservation table with latencies, what was done to the daemon, and what is wrong.
struct StressReport {
    let seed: UInt64
    let seconds: Int
    let clients: Int
    let ledger: RequestLedger
    let accounts: StressAccounts
    let leftOut: [String: String]
    let disturber: StressDisturber
    let before: StressDaemon.Facts
    let after: StressDaemon.Facts
    let check: LibraryCheck
    let problems: [String]

    var text: String {
        ([table, ""] + facts + [""] + verdict).joined(separator: "\n")
    }

    private static let columns = [
        "method", "sent", "ok", "error", "lost", "| admitted", "=completed", "+failed", "+cancelled", "refused",
        "| p50", "p99", "max", "mesh p99",
    ]

    private var table: String {
        let rows = accounts.rows.filter { $0.line.sent > 0 }.map { row -> [String] in
            let line = row.line
            let times = line.microseconds.map(Double.init)
            func time(_ microseconds: Double) -> String { times.isEmpty ? "" : Format.seconds(microseconds / 1e6) }
            let counts = row.mesh.map {
                [$0.admitted, $0.completed, $0.failed, $0.cancelled, $0.refused].map(String.init)
            }
            return [row.method] + [line.sent, line.succeeded, line.failed + line.faults, line.lost].map(String.init)
                + (counts ?? Array(repeating: "", count: 5))
                + [
                    time(Measuring.percentile(times, 0.5)), time(Measuring.percentile(times, 0.99)),
                    time(times.max() ?? 0),
                ]
                + [row.mesh.map { Format.seconds($0.p99 / 1e6) } ?? ""]
        }
        let widths = Self.columns.indices.map { column in ([Self.columns] + rows).map { $0[column].count }.max() ?? 0 }
        return ([Self.columns] + rows).map { cells in
            cells.indices.map { column in
                let space = String(repeating: " ", count: widths[column] - cells[column].count)
                return column == 0 ? cells[column] + space : space + cells[column]
            }.joined(separator: " ")
        }.joined(separator: "\n")
    }

    private var libraryFacts: String {
        let compared = "\(Format.megabytes(check.bytes)) compared with their digests"
        return "library    \(check.photos) photos, \(check.trashed) in the trash, \(compared), "
            + "\(check.facts) acknowledged values looked up, \(ledger.withoutThumbnail) restored without a thumbnail"
    }

    private var daemonFacts: String {
        let resident = "\(Format.megabytes(before.residentBytes)) and \(Format.megabytes(after.residentBytes))"
        return "daemon     peak memory \(Format.megabytes(after.peakBytes)); before and after: \(resident), "
            + "\(before.descriptors) and \(after.descriptors) descriptors, \(before.threads) and \(after.threads) threads"
    }

    private var facts: [String] {
        func list<Key: Comparable>(_ counts: [Key: Int], _ name: (Key) -> String) -> String {
            counts.isEmpty
                ? "none"
                : counts.sorted { $0.key < $1.key }.map { "\(name($0.key)) \($0.value)" }.joined(separator: ", ")
        }
        let inside = accounts.rows.filter { $0.line.sent == 0 }.compactMap(\.mesh)
        let statuses = Dictionary(uniqueKeysWithValues: ledger.statuses.map { ($0.key.rawValue, $0.value) })
        return [
            "requests   \(ledger.sent) in \(seconds) s from \(clients) clients on \(ledger.connections) connections; "
                + "\(ledger.malformed) lines that are none, each refused",
            "errors     " + list(statuses) { $0 },
            "jobs       " + list(ledger.jobs) { $0 },
            "inside     " + inside.map { "\($0.method) \($0.admitted)" }.joined(separator: ", "),
            "disturbed  \(disturber.killed) workers killed, \(disturber.workersStopped) stopped for a while, "
                + "the daemon \(disturber.daemonStopped) times; \(disturber.lent) times in kids mode",
            daemonFacts,
            libraryFacts,
        ] + leftOut.sorted { $0.key < $1.key }.map { "left out   \($0.key): \($0.value)" }
    }

    private var verdict: [String] {
        guard problems.isEmpty else {
            return problems.prefix(40).map { "WRONG      " + $0 }
                + [
                    "\(problems.count) things are wrong. Again: smilepile-bench stress --seconds \(seconds) --seed \(seed) --clients \(clients)"
                ]
        }
        return ["The table closes, the library agrees with itself, and everything acknowledged is there."]
    }
}
