import CSQLite
@testable import Database
import Executors
import TestSupport
import Testing

/// The queue and the log's policy alone, without a file.
@Suite struct QueueTests {
    private func item(_ id: UInt64, kind: WorkItem.Kind = .shared) -> WorkItem {
        WorkItem(id: id, kind: kind, interruption: nil, run: { _ in {} }, fail: { _ in })
    }

    @Test func jobsComeOutInOrderAndAWithdrawnOneNotAtAll() throws {
        let queue = WorkQueue(capacity: 3)
        for id in 1...3 { #expect(try queue.submit(item(UInt64(id))) == false) }
        #expect(throws: DatabaseError.busy) { _ = try queue.submit(item(4)) }
        #expect(queue.withdraw(2)?.id == 2)
        #expect(queue.withdraw(2) == nil)
        #expect(try queue.submit(item(5)) == false)
        #expect([queue.take()?.id, queue.take()?.id, queue.take()?.id, queue.take()?.id] == [1, 3, 5, nil])
        queue.stopAdmission()
        #expect(throws: DatabaseError.closed) { _ = try queue.submit(item(6)) }
    }

    @Test func aGroupStopsBeforeWorkThatNeedsNoTransaction() throws {
        let queue = WorkQueue(capacity: 3)
        _ = try queue.submit(item(1))
        _ = try queue.submit(item(2, kind: .bare))
        #expect(queue.take(onlyShared: true)?.id == 1)
        #expect(queue.take(onlyShared: true) == nil)
        #expect(queue.take()?.id == 2)
    }

    @Test func aThreadSleepsUntilThereIsWorkOrTimeHasPassedOrTheEnd() async throws {
        let queue = WorkQueue(capacity: 3)
        let pool = BlockingPool(name: "test", threads: 1)
        #expect(try await pool.run { queue.wait(idleAfter: .zero) } == .idle)
        _ = try queue.submit(item(1))
        #expect(try await pool.run { queue.wait(idleAfter: .zero) } == .items)
        #expect(queue.take()?.id == 1)
        async let waited = pool.run { queue.wait() }
        _ = try queue.submit(item(2))
        #expect(try await waited == .items)
        // What is queued is done before the end is told.
        queue.finish()
        #expect(try await pool.run { queue.wait() } == .items)
        #expect(queue.take()?.id == 2)
        #expect(try await pool.run { queue.wait() } == .finished)
        await pool.shutDown()
    }

    @Test func theLogIsWrittenBackAfterGrowingAndNotAtEveryCommit() {
        var policy = LogPolicy(limit: 100)
        #expect(!policy.isWrittenBack, "an earlier run may have left something")
        policy.isWrittenBack = true
        #expect(policy.checkpointDue(pages: 50) == nil)
        #expect(!policy.isWrittenBack)
        #expect(policy.checkpointDue(pages: 100) == SQLITE_CHECKPOINT_PASSIVE)
        #expect(policy.isWrittenBack)
        // A reader holds it: again only after as much growth.
        #expect(policy.checkpointDue(pages: 150) == nil)
        #expect(!policy.isWrittenBack)
        #expect(policy.checkpointDue(pages: 200) == SQLITE_CHECKPOINT_PASSIVE)
        // It started over.
        #expect(policy.checkpointDue(pages: 3) == nil)
        #expect(policy.checkpointDue(pages: 100) == SQLITE_CHECKPOINT_PASSIVE)
        // Far too long: wait for readers.
        #expect(policy.checkpointDue(pages: 900) == SQLITE_CHECKPOINT_RESTART)
    }

    /// What the threads hold goes when they end; nobody closed the database.
    @Test func aForgottenDatabaseEndsItsThreads() async throws {
        final class Witness: Sendable {
            let isGone: Event
            init(_ isGone: Event) { self.isGone = isGone }
            deinit { isGone.happen() }
        }
        let folder = try TemporaryFolder()
        let isGone = Event()
        do {
            let witness = Witness(isGone)
            let database = try await DatabasePool.open(at: folder.file("library.db"), schema: Album.schema)
            database.onCommit { _ in withExtendedLifetime(witness) {} }
            try await database.write { try Album.add("kept", to: $0) }
        }
        await isGone.wait()
        let again = try await DatabasePool.open(at: folder.file("library.db"), schema: Album.schema)
        #expect(try await again.read { try Album.names($0) } == ["kept"])
        await again.close()
    }
}
