import CommandLineInterface
import Foundation
import ServiceMesh

/// Jobs that begin, move on and end.
struct JobsReport: ChangeReport {
    private var last: [JobID: JobSnapshot]?

    mutating func lines(for json: Data) throws -> [String] {
        let jobs = try Reply.decode(JobList.self, from: json, of: "job.observe").jobs
        let before = last
        last = Dictionary(jobs.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
        let running = jobs.count { !$0.state.hasEnded }
        let changed = jobs.filter { before == nil ? !$0.state.hasEnded : before?[$0.id] != $0 }
        return ChangeLines.cut(changed.map { Self.line($0, isNew: before?[$0.id] == nil) })
            + ["jobs running: \(running)"]
    }

    private static func line(_ job: JobSnapshot, isNew: Bool) -> String {
        let stands = job.state == .waiting || job.state == .paused
        let state = job.state.hasEnded || stands ? job.state.rawValue : job.progress.phase
        let counts: String
        if let reason = job.error ?? (stands ? job.obstacle : nil) {
            counts = reason.message
        } else if job.state.hasEnded {
            counts = job.outcomes.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }.joined(separator: ", ")
        } else {
            counts = ProgressLine.counts(job.progress) ?? ""
        }
        let text = [job.id, state, counts].filter { !$0.isEmpty }.joined(separator: "  ")
        return (isNew ? "+ " : "~ ") + PlainText.neutralized(text)
    }
}
