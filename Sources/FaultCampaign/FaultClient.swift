import BenchSupport
import Foundation
import LibraryModel
import ServiceMesh

/// A client that writes down everything it asked for and everything it was told.
final class FaultClient {
    /// The daemon is gone, or does not answer any more.
    struct Gone: Error {}

    /// What was said of a backup.
    struct SavedBackup {
        let job: JobID?
        /// Nil for the daemon's own choice.
        let path: String?
        var receipt: BackupReceipt?
        /// When its end was read, as ``FaultStep/answered``.
        var ended = Int.max
    }

    struct SeenJob {
        let id: JobID
        /// As ``FaultStep/answered``.
        let started: Int
        var ended = Int.max
        var state: JobState?
    }

    let connection: AccountedConnection
    private let position: () -> Int
    private(set) var steps: [FaultStep] = []
    /// Jobs that were acknowledged, and how they ended, where that was said.
    private(set) var jobs: [SeenJob] = []
    private(set) var backups: [SavedBackup] = []
    /// Why it gave up where the daemon is not gone.
    private(set) var silence: String?

    /// - Parameter position: how much the recorder has written.
    init(_ connection: AccountedConnection, position: @escaping () -> Int = { 0 }) {
        self.connection = connection
        self.position = position
    }

    // MARK: Changes

    /// Sends a request; ``wait()`` hears its answer.
    /// - Parameters:
    ///   - change: what it does, if it does it.
    ///   - told: the same once the reply has said more.
    func begin<M: Message>(
        _ message: M, _ change: @escaping FaultStep.Change, told: ((M.Reply) -> FaultStep.Change)? = nil
    ) throws {
        let index = steps.count
        steps.append(FaultStep(request: text(of: message), sent: position(), change: change))
        try send(message) { [unowned self] ending in
            steps[index].answered = position()
            switch ending {
            case .done(let data):
                steps[index].outcome = .acknowledged
                if let told, let reply = try? JSONDecoder().decode(M.Reply.self, from: data) {
                    steps[index].change = told(reply)
                }
            case .refused(let fault): steps[index].outcome = .refused(fault.message)
            case .unknown: steps[index].answered = nil
            }
        }
    }

    /// Sends a request and waits for its answer.
    /// - Returns: nil where it was refused.
    @discardableResult
    func change<M: Message>(
        _ message: M, _ change: @escaping FaultStep.Change, told: ((M.Reply) -> FaultStep.Change)? = nil
    ) throws -> M.Reply? {
        var answer: M.Reply?
        try begin(message, change) { (reply: M.Reply) in
            answer = reply
            return told?(reply) ?? change
        }
        try wait()
        return answer
    }

    /// A question that changes nothing.
    func ask<M: Message>(_ message: M) throws -> M.Reply? {
        var answer: M.Reply?
        try send(message) { ending in
            if case .done(let data) = ending { answer = try? JSONDecoder().decode(M.Reply.self, from: data) }
        }
        try wait()
        return answer
    }

    /// Waits for every answer.
    func wait() throws {
        try orGone { try connection.pump(reads: true) { connection.waiting > 0 } }
    }

    private func send<M: Message>(_ message: M, _ take: @escaping (AccountedConnection.Ending) -> Void) throws {
        try orGone { try connection.send(message, take) }
    }

    private func orGone(_ body: () throws -> Void) throws {
        do {
            try body()
        } catch {
            silence = "\(error)"
            connection.close()
            throw Gone()
        }
    }

    private func text<M: Message>(of message: M) -> String {
        let params = (try? JSONEncoder().encode(message)).map { String(decoding: $0, as: UTF8.self) } ?? ""
        return "\(M.method) \(params.prefix(160))"
    }

    // MARK: Jobs

    /// A job on its way.
    struct Running {
        fileprivate let job: JobID?
        fileprivate let steps: [(item: String, index: Int)]
        fileprivate let backup: Int?
    }

    /// Starts a job that does `items` one by one, each with a line in the receipt; one without a name is the whole job.
    func start<M: Message>(
        job message: M, _ items: [(item: String, change: FaultStep.Change)], backup path: String?? = nil
    ) throws -> Running where M.Reply == JobStarted {
        let first = steps.count
        for (item, change) in items {
            steps.append(
                FaultStep(
                    request: text(of: message) + (item.isEmpty ? "" : ": \(item)"), sent: position(), change: change))
        }
        if let path { backups.append(SavedBackup(job: nil, path: path)) }
        let indices = items.enumerated().map { ($1.item, first + $0) }
        var job: JobID?
        var refusal: String?
        try send(message) { ending in
            switch ending {
            case .done(let data): job = (try? JSONDecoder().decode(JobStarted.self, from: data))?.job
            case .refused(let fault): refusal = fault.message
            case .unknown: break
            }
        }
        try wait()
        if let job { jobs.append(SeenJob(id: job, started: position())) }
        if let refusal { for (_, index) in indices { steps[index].outcome = .refused(refusal) } }
        let backup = path == nil ? nil : backups.count - 1
        if let backup, let path { backups[backup] = SavedBackup(job: job, path: path) }
        return Running(job: job, steps: indices, backup: backup)
    }

    /// Waits until the job has ended and takes note of what its receipt says.
    @discardableResult
    func finish(_ running: Running) throws -> JobSnapshot? {
        guard let job = running.job, let ended = try ask(WaitForJob(job: job)), ended.state.hasEnded else { return nil }
        let answered = position()
        if let index = jobs.firstIndex(where: { $0.id == job }) {
            jobs[index].state = ended.state
            jobs[index].ended = answered
        }
        if let backup = running.backup {
            backups[backup].ended = answered
            note(ended, of: backup)
        }
        var done: Set<String> = ended.state == .finished ? [""] : []
        if running.steps.contains(where: { !$0.item.isEmpty }), let page = try ask(GetJobReceipt(job: job)) {
            done.formUnion(page.lines.filter { Self.kept.contains($0.outcome) }.map(\.item))
        }
        for (item, index) in running.steps {
            steps[index].answered = answered
            steps[index].outcome = done.contains(item) ? .acknowledged : .refused(ended.error?.message ?? "not done")
        }
        return ended
    }

    /// Lines of receipts that say that something is there now.
    private static let kept: Set<String> = ["imported", "added", "kept"]

    private func note(_ ended: JobSnapshot, of backup: Int) {
        if ended.state == .finished, let receipt = ended.receipt, let data = try? JSONEncoder().encode(receipt) {
            backups[backup].receipt = try? JSONDecoder().decode(BackupReceipt.self, from: data)
        }
    }
}
