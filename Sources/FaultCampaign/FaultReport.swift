import BenchSupport
import Synchronization

/// The report of a run, which every lane adds to.
final class SharedReport: Sendable {
    private let report = Mutex(FaultReport())

    func change<Result: Sendable>(_ body: (inout FaultReport) -> Result) -> Result { report.withLock { body(&$0) } }
}

/// The counts of a run, by operation and by call, and what was found.
struct FaultReport: Sendable {
    enum Kind: String, CaseIterable, Sendable { case kills, faults, states }

    private struct Line {
        var counts: [Kind: Int] = [:]
        var findings = 0
    }

    private var byOperation: [FaultOperation: Line] = [:]
    private var byCall: [FaultCall: Line] = [:]
    private(set) var counts: [Kind: Int] = [:]
    /// Rounds in which the call that was chosen never came.
    private(set) var missed = 0
    private var acknowledged = 0
    private var findings: [FaultFinding.Kind: Int] = [:]
    private var again: [String] = []
    var seconds: [Kind: Double] = [:]

    /// The operation with the fewest states until now: how many a recording is good for differs.
    var leastCrashed: FaultOperation {
        FaultOperation.allCases.min {
            (byOperation[$0]?.counts[.states] ?? 0) < (byOperation[$1]?.counts[.states] ?? 0)
        } ?? .importing
    }

    var hasFindings: Bool { !findings.isEmpty }

    mutating func add(_ kind: Kind, _ operation: FaultOperation, _ call: FaultCall?, acknowledged: Int) {
        counts[kind, default: 0] += 1
        byOperation[operation, default: Line()].counts[kind, default: 0] += 1
        if let call { byCall[call, default: Line()].counts[kind, default: 0] += 1 }
        self.acknowledged += acknowledged
    }

    mutating func miss() { missed += 1 }

    /// - Parameter command: what repeats it.
    mutating func add(
        _ found: [FaultFinding], _ operation: FaultOperation, _ call: FaultCall?, again command: String
    ) {
        guard !found.isEmpty else { return }
        for finding in found { findings[finding.kind, default: 0] += 1 }
        byOperation[operation, default: Line()].findings += 1
        if let call { byCall[call, default: Line()].findings += 1 }
        again.append("smilepile-bench faults --repeat \(command)")
        note((found.map { "\($0.kind.rawValue): \($0.text)" } + ["again: \(again.last ?? "")"]).joined(separator: "\n"))
    }

    var text: String {
        func rows(_ lines: [(name: String, line: Line)]) -> [[String]] {
            lines.map { name, line in
                [name] + Kind.allCases.map { "\(line.counts[$0] ?? 0)" } + ["\(line.findings)"]
            }
        }
        let operations = FaultOperation.allCases.compactMap { name in byOperation[name].map { (name.rawValue, $0) } }
        let calls = FaultCall.allCases.compactMap { name in byCall[name].map { (name.name, $0) } }
        let head = ["operation"] + Kind.allCases.map(\.rawValue) + ["wrong"]
        let total = ["together"] + Kind.allCases.map { "\(counts[$0] ?? 0)" } + ["\(again.count)"]
        let times = Kind.allCases.compactMap { kind -> String? in
            guard let spent = seconds[kind], let count = counts[kind], count > 0 else { return nil }
            return "\(count) \(kind.rawValue) in \(Int(spent)) s"
        }
        let verdict = FaultFinding.Kind.allCases.map { "\($0.rawValue) \(findings[$0] ?? 0)" }.joined(separator: ", ")
        return [
            Self.table([head] + rows(operations) + [total]), "",
            Self.table([["call"] + head.dropFirst()] + rows(calls)),
            "", (times + ["\(missed) rounds never came to their call"]).joined(separator: ", "),
            "\(acknowledged) acknowledged changes looked for", "found: \(verdict)",
        ].joined(separator: "\n") + (again.isEmpty ? "" : "\n" + again.prefix(40).joined(separator: "\n"))
    }

    private static func table(_ rows: [[String]]) -> String {
        let widths = rows[0].indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
        return rows.map { cells in
            cells.indices.map { column in
                let space = String(repeating: " ", count: widths[column] - cells[column].count)
                return column == 0 ? cells[column] + space : space + cells[column]
            }.joined(separator: "  ")
        }.joined(separator: "\n")
    }
}
