import Dispatch

/// Runs one lane of the campaign on a thread of its own: it waits for a daemon most of the time, which would hold up
/// everybody else on the pool that is shared.
final class LaneExecutor: TaskExecutor {
    private let queue: DispatchQueue

    init(_ number: Int) { queue = DispatchQueue(label: "lane \(number)") }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}

/// Several lanes at once.
enum Lanes {
    static func run(_ count: Int, _ body: @escaping @Sendable (Int) async throws -> Void) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<count {
                group.addTask(executorPreference: LaneExecutor(number)) { try await body(number) }
            }
            try await group.waitForAll()
        }
    }
}
