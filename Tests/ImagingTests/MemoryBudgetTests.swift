import Foundation
import Glibc
import TestSupport
import Testing

@testable import Imaging
@testable import PhotoConversion

/// The memory that all workers share: in order, never more than there is, and given back whatever happens.
@Suite struct MemoryBudgetTests {
    /// A socket whose other end stays open: a worker that lives and is silent.
    private final class Peer {
        let own: Int32
        private var other: Int32

        init() throws {
            var ends: [Int32] = [-1, -1]
            try #require(socketpair(AF_UNIX, Int32(SOCK_SEQPACKET.rawValue), 0, &ends) == 0)
            (own, other) = (ends[0], ends[1])
        }

        deinit {
            end()
            close(own)
        }

        func end() {
            if other >= 0 { close(other) }
            other = -1
        }
    }

    @Test func turnsAreInTheOrderOfAsking() throws {
        let budget = MemoryBudget(total: 100)
        let first = try #require(budget.ask(for: 60))
        let second = try #require(budget.ask(for: 50))
        let third = try #require(budget.ask(for: 10))
        #expect(first.isGranted && !second.isGranted)
        #expect(!third.isGranted, "it would fit, and the one before it would wait for ever behind such")
        budget.leave(first)
        #expect(second.isGranted && third.isGranted)
        let fourth = try #require(budget.ask(for: 100))
        budget.leave(second)
        #expect(!fourth.isGranted)
        budget.leave(third)
        #expect(fourth.isGranted)
        #expect(budget.mostTaken == 100)
    }

    @Test func whoLeavesTheQueueLetsTheNextOneThrough() throws {
        let budget = MemoryBudget(total: 100)
        let first = try #require(budget.ask(for: 60))
        let second = try #require(budget.ask(for: 50))
        let third = try #require(budget.ask(for: 40))
        budget.leave(second)
        #expect(third.isGranted)
        budget.leave(first)
        budget.leave(third)
        #expect(try #require(budget.ask(for: 100)).isGranted, "all of it is back")
    }

    @Test func aWorkerThatEndsWhileItWaitsLeavesNothingTaken() throws {
        let budget = MemoryBudget(total: 100)
        let holder = try #require(budget.ask(for: 100))
        let peer = try Peer()
        let share = MemoryShare(of: budget)
        peer.end()
        #expect(!share.settle(on: 50, unlessReadable: peer.own))
        share.giveBack()
        budget.leave(holder)
        #expect(try #require(budget.ask(for: 100)).isGranted)
    }

    @Test func aShareShrinksAndNeverGrows() throws {
        let budget = MemoryBudget(total: 100)
        let peer = try Peer()
        let share = MemoryShare(of: budget)
        // All there is, where a worker asks for more than that.
        #expect(share.settle(on: 1000, unlessReadable: peer.own) && share.held == 100)
        #expect(share.settle(on: 30, unlessReadable: peer.own) && share.held == 30)
        let other = try #require(budget.ask(for: 70))
        #expect(other.isGranted)
        #expect(!share.settle(on: 31, unlessReadable: peer.own), "two who hold some would wait for each other")
        share.giveBack()
        budget.leave(other)
        #expect(try #require(budget.ask(for: 100)).isGranted)
    }

    /// 14 megapixels of GIF take 68 MB by their header.
    private func bigPhoto(_ folder: TemporaryFolder) throws -> String {
        try folder.write(Pictures.file(.gif, PixelSize(width: 4000, height: 3400)), "big.gif")
    }

    @Test func bigPhotosTakeTurns() async throws {
        let folder = try TemporaryFolder("budget")
        let photo = try bigPhoto(folder)
        let pool = ImageWorkerPool(executable: try workerExecutable(), workers: 3, sharedMemory: 100 << 20)
        try await withThrowingTaskGroup { group in
            for index in 0..<3 {
                group.addTask {
                    let own = try TemporaryFolder("turn-\(index)")
                    #expect(try await convert(pool, photo, own).width == 2048)
                }
            }
            try await group.waitForAll()
        }
        // Two of them are 136 MB.
        #expect(pool.memory.mostTaken > 64 << 20 && pool.memory.mostTaken <= 100 << 20)
        #expect(pool.statistics.retried == 0)
        await pool.shutDown()
    }

    @Test func aPhotoThatWaitsForMemoryCanBeCancelled() async throws {
        let folder = try TemporaryFolder("budget")
        let photo = try bigPhoto(folder)
        let pool = ImageWorkerPool(executable: try workerExecutable(), workers: 1, sharedMemory: 150 << 20)
        let holder = try #require(pool.memory.ask(for: 150 << 20))
        let call = Task { try await convert(pool, photo, folder) }
        call.cancel()
        await #expect(throws: ImagingError.cancelled) { try await call.value }
        pool.memory.leave(holder)
        #expect(try await convert(pool, photo, folder).width == 2048)
        await pool.shutDown()
    }

    @Test func aPhotoThatNeedsMoreThanThereIsIsRefused() async throws {
        let folder = try TemporaryFolder("budget")
        let photo = try bigPhoto(folder)
        let pool = ImageWorkerPool(executable: try workerExecutable(), workers: 1, sharedMemory: 1 << 20)
        do {
            _ = try await convert(pool, photo, folder)
            Issue.record("taken")
        } catch {
            guard case .needsMemory(let found, let picture?) = error else {
                Issue.record("\(error)")
                return
            }
            #expect(found.contains("4000 x 3400"))
            #expect(picture == UnseenPicture(mediaType: picture.mediaType, width: 4000, height: 3400))
            #expect(picture.isPlausible(bytes: 13_600) && !picture.isPlausible(bytes: 13_599))
        }
        #expect(pool.statistics.retried == 0 && pool.statistics.crashed == 0, "it had all there was")
        let small = try folder.write(Pictures.file(.jpeg, PixelSize(width: 64, height: 48)), "small.jpg")
        #expect(try await convert(pool, small, folder).width == 64)
        await pool.shutDown()
    }

    /// What a worker takes that takes all it can get, in MiB.
    private func greed(_ pool: ImageWorkerPool, asking: Int) async throws -> (granted: Int, taken: Int) {
        let folder = try TemporaryFolder("greed")
        let source = try folder.write(Array("take memory\n\(asking)".utf8))
        do {
            _ = try await convert(pool, source, folder)
        } catch {
            guard case .damaged(let words) = error else { throw error }
            let numbers = words.split { !$0.isNumber }.compactMap { Int($0) }
            try #require(numbers.count == 2, "\(words)")
            return (numbers[0], numbers[1])
        }
        throw ImagingError.io("a photo was made of an attempt")
    }

    /// The limit is the kernel's, not the worker's word: it is reached, and not passed, by all workers together.
    @Test func workersHaveTheirOwnAndWhatTheyAreLentAndNoMore() async throws {
        let probe = URL(fileURLWithPath: try workerExecutable()).deletingLastPathComponent()
            .appendingPathComponent("cell-probe").path
        let own = Int(ImageLimits.workerMemory >> 20)
        let pool = ImageWorkerPool(executable: probe, workers: 3, sharedMemory: 90 << 20)
        // Some of its own is in use before it begins.
        func isAll(_ found: (granted: Int, taken: Int), of granted: Int) -> Bool {
            found.granted == granted && found.taken <= own + granted && found.taken > own + granted - 16
        }
        #expect(isAll(try await greed(pool, asking: 0), of: 0))
        #expect(isAll(try await greed(pool, asking: 40), of: 40))
        #expect(isAll(try await greed(pool, asking: 0), of: 0), "what was lent is not kept")
        #expect(isAll(try await greed(pool, asking: 4000), of: 90), "there is no more than all of it")
        try await withThrowingTaskGroup { group in
            for _ in 0..<6 {
                group.addTask {
                    let found = try await greed(pool, asking: 60)
                    #expect(isAll(found, of: 60))
                }
            }
            try await group.waitForAll()
        }
        #expect(pool.memory.mostTaken == 90 << 20, "never more than is shared, however many ask")
        await pool.shutDown()
    }

    @Test func aPhotoThatLackedMemoryIsTriedAgainWithAllOfIt() async throws {
        let folder = try TemporaryFolder("budget")
        let worker = try StandInWorker(
            folder,
            firstTime: StandInWorker.takeRequest
                + #"echo '{"outcome":{"failed":{"_0":{"damaged":{"_0":"x"}}}},"lackedMemory":true}' >&0; exec sleep 1000"#
        )
        let pool = ImageWorkerPool(executable: worker.path, workers: 1)
        #expect(try await convert(pool, bigPhoto(folder), folder).width == 2048)
        #expect(pool.statistics.retried == 1 && pool.statistics.started == 2 && pool.statistics.crashed == 0)
        #expect(pool.memory.mostTaken == pool.memory.total)
        await pool.shutDown()
    }

    @Test func aWorkerThatAsksWithoutEndIsEnded() async throws {
        let folder = try TemporaryFolder("budget")
        let ask =
            #"echo '{"outcome":{"needs":{"bytes":1000}}}' >&0"# + "\n" + StandInWorker.takeRequest
        let worker = try StandInWorker(
            folder, afterReady: StandInWorker.takeRequest + "while true; do \(ask) done")
        let pool = ImageWorkerPool(executable: worker.path, workers: 1)
        let photo = try folder.write(Pictures.file(.jpeg, PixelSize(width: 64, height: 48)), "photo.jpg")
        await #expect(throws: ImagingError.workerCrashed("signal 9")) { try await convert(pool, photo, folder) }
        #expect(pool.statistics.livePIDs.isEmpty)
        await pool.shutDown()
    }

    @Test func aSmallMachineSharesLess() {
        #expect(ImageLimits.sharedMemory(ofMachine: 1 << 30) == 512 << 20)
        #expect(ImageLimits.sharedMemory(ofMachine: 64 << 30) == ImageLimits.sharedMemory)
    }
}
