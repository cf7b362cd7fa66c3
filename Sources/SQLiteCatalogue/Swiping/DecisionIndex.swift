import Database
import Synchronization

/// When decisions are indexed: at once where one comes alone, and together where they come many at a time.
///
/// A decision is a row at the end of a table. That its photo says it, and that it is found by the photo, are pages all over
/// a big catalogue: with a million photos some four of them for each decision, which made many callers a third as fast as
/// their fsyncs allow. So while others write too, only the row is written, and the next transaction that looks at photos, to read or to
/// change them, indexes all of it first: nobody sees a difference. The lists that somebody observes ask again after each
/// commit, so decisions wait only where nobody looks.
///
/// Rejected: to look into both places with each query, which would make each of them slower, always. And that the last of
/// the writers indexes what they left: its caller waits for work that may never be needed, and the next callers wait with it,
/// since they find the writer busy.
final class DecisionIndex: Sendable {
    /// Decisions that may wait to be indexed; with more, each transaction that has one indexes a batch. A third of a
    /// second's work for the one who reads next.
    static let limit = 10_000
    /// Decisions that one transaction indexes, so that other writes are not held up.
    static let batch = 500

    /// Writes under way.
    private let writes = Atomic(0)
    /// Decisions that were not indexed at once; changed by the commit thread. A transaction that is undone leaves it too
    /// great, and then there is nothing to do. A file from before may have some, so there is one to begin with.
    private let postponed = Atomic(1)
    /// What ``postponed`` was when the last transaction that left none was durable.
    private let indexed = Atomic(0)

    var isComplete: Bool { postponed.load(ordering: .acquiring) == indexed.load(ordering: .acquiring) }

    /// Whether the next decision is indexed at once: none waits, and nobody else writes. In their order they have to be
    /// indexed, as of those about one photo the latest counts.
    var takesNext: Bool { isComplete && writes.load(ordering: .acquiring) <= 1 }

    /// Notes that a decision was entered and not indexed.
    /// - Returns: how many wait, at most.
    func postpone() -> Int {
        postponed.add(1, ordering: .acquiringAndReleasing).newValue - indexed.load(ordering: .acquiring)
    }

    /// Runs a write, and counts it among the writes under way.
    func whileWriting<Value: Sendable>(_ write: () async throws -> Value) async throws -> Value {
        writes.add(1, ordering: .acquiringAndReleasing)
        defer { writes.subtract(1, ordering: .acquiringAndReleasing) }
        return try await write()
    }

    /// Indexes what there is, a batch at a time. A read that comes meanwhile does the same, and finds nothing left. What
    /// fails here has lost nothing: a photo says its decision later, and the next one who comes by tries again.
    func completeBeforeReading(in database: DatabasePool) async {
        // What is entered from now on is no matter of this read.
        let due = postponed.load(ordering: .acquiring)
        while indexed.load(ordering: .acquiring) < due {
            do {
                let done = try await database.write { connection -> Int? in
                    let isDone = try SwipeTable(connection: connection).indexDecisions(limit: Self.batch)
                    return isDone ? self.postponed.load(ordering: .acquiring) : nil
                }
                if let done { note(done) }
            } catch {
                return
            }
        }
    }

    /// Indexes what there is as part of a transaction that looks at photos. It is known to be done when that is durable,
    /// which is left to the next one who reads. What fails here fails the transaction too.
    func complete(in connection: Connection) {
        if !isComplete { _ = try? SwipeTable(connection: connection).indexDecisions(limit: .max) }
    }

    private func note(_ done: Int) {
        var known = indexed.load(ordering: .acquiring)
        while known < done {
            let (isExchanged, original) = indexed.compareExchange(
                expected: known, desired: done, ordering: .acquiringAndReleasing)
            if isExchanged { return }
            known = original
        }
    }
}
