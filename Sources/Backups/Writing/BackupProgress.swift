import CLinux
import Executors
import Files
import Foundation
import LibraryModel
import ServiceMesh
import Synchronization

/// Keeps for the job's journal how far a backup has come. What a checkpoint names is on the disk before it.
final class BackupProgress: Sendable {
    private struct State {
        var checkpoint: BackupCheckpoint
        var finished: [Int: UInt32]
        var lastKept: UInt64
    }

    /// Between two checkpoints, in nanoseconds: what a kill costs at the most. Each waits for the disk to have all
    /// that was copied, which the disk has been told to write already.
    private static let interval: UInt64 = 2_000_000_000

    private let descriptor: Int32
    private let pool: BlockingPool
    private let job: Job
    private let state: Mutex<State>

    init(_ checkpoint: BackupCheckpoint, descriptor: Int32, pool: BlockingPool, job: Job) {
        self.descriptor = descriptor
        self.pool = pool
        self.job = job
        state = Mutex(
            State(checkpoint: checkpoint, finished: checkpoint.finishedEntries, lastKept: MonotonicClock.now()))
    }

    var checkpoint: BackupCheckpoint { state.withLock { $0.checkpoint } }

    /// A round of writing begins: the entries that are there already, which are none where things are elsewhere now.
    func begin(
        _ arrangement: BackupCheckpoint.Arrangement, deviations: [String: BackupCheckpoint.Deviation],
        unreadable: [String: String]
    ) -> [Int: UInt32] {
        state.withLock { state in
            if state.checkpoint.arrangement != arrangement { state.finished = [:] }
            state.checkpoint.arrangement = arrangement
            state.checkpoint.deviations = deviations
            state.checkpoint.unreadable = unreadable
            return state.finished
        }
    }

    /// A photo's bytes have been given to the file.
    func finish(_ number: Int, crc32: UInt32) { state.withLock { $0.finished[number] = crc32 } }

    func keepIfDue() async throws {
        let isDue = state.withLock { state in
            let now = MonotonicClock.now()
            guard now &- state.lastKept >= Self.interval else { return false }
            // At once, so that the other threads go on copying.
            state.lastKept = now
            return true
        }
        if isDue { try await keep() }
    }

    func keep() async throws {
        let (descriptor, partial) = (descriptor, checkpoint.partial)
        let encoded = try await pool.run {
            // Taken before the disk is waited for: what comes during that is the next one's.
            var (checkpoint, finished) = self.state.withLock { ($0.checkpoint, $0.finished) }
            checkpoint.finished = BackupCheckpoint.pack(finished)
            try FileSystem.check(fdatasync(descriptor), "sync", partial)
            return try checkpoint.encoded()
        }
        try await job.keep(checkpoint: encoded)
        state.withLock { $0.lastKept = MonotonicClock.now() }
    }

    /// The file is whole and durable.
    func keep(proven: BackupCheckpoint.Proven) async throws {
        let last = state.withLock { state in
            state.checkpoint.proven = proven
            state.checkpoint.finished = Data()
            return state.checkpoint
        }
        try await job.keep(checkpoint: try last.encoded())
    }
}
