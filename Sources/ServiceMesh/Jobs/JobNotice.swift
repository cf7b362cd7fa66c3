/// The beginning or the end of a job, for a log. Its description is one line, in which nothing stands that a client has
/// written: neither what the message says nor the sentence of an error, which may name files.
public struct JobNotice: Sendable, CustomStringConvertible {
    public enum Moment: Sendable, Equatable {
        /// Asked for by somebody of this role.
        case started(by: Role)
        /// For the first time since the library was opened, having been broken off before.
        case goesOn
        case ended
    }

    /// Kinds of lines that are named.
    private static let outcomes = 20

    public let moment: Moment
    public let job: JobSnapshot

    public var description: String {
        let name = "job \(job.id): \(job.method)"
        switch moment {
        case .started(let role): return "\(name) started, asked for by the \(role) role"
        case .goesOn: return "\(name) goes on"
        case .ended: return "\(name) \(ending)\(sums)"
        }
    }

    private var ending: String {
        let problems = job.needsAttention ? ", with problems," : ""
        let why = job.error.map { " (\($0.status.rawValue))" } ?? ""
        return "\(job.state.rawValue)\(why)\(problems) after \(seconds) s"
    }

    /// The time in which it was broken off included.
    private var seconds: String {
        let end = job.endedAt ?? job.startedAt
        let (span, overflow) = end.milliseconds.subtractingReportingOverflow(job.startedAt.milliseconds)
        let tenths = overflow ? 0 : max(0, span) / 100
        return "\(tenths / 10).\(tenths % 10)"
    }

    private var sums: String {
        let counts = job.outcomes.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.prefix(Self.outcomes)
        return counts.isEmpty ? "" : ": " + counts.map { "\($0.value) \($0.key)" }.joined(separator: ", ")
    }
}
