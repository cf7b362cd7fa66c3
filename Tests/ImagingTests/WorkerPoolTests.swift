import Foundation
import Glibc
import ImageWorkerProtocol
import TestSupport
import Testing

@testable import Imaging
@testable import PhotoConversion

/// The daemon's side: workers that crash, hang, are cancelled or killed, and none that learns more than it should.
@Suite struct WorkerPoolTests {
    private let folder: TemporaryFolder
    private let photo: String

    init() throws {
        folder = try TemporaryFolder("pool")
        photo = try folder.write(Pictures.file(.jpeg, PixelSize(width: 2600, height: 1300)), "photo.jpg")
    }

    @Test func convertsEachPhotoInAWorkerOfItsOwn() async throws {
        let pool = ImageWorkerPool(executable: try workerExecutable(), workers: 1)
        for _ in 0..<3 {
            let converted = try await convert(pool, photo, folder)
            #expect(converted.width == 2048 && converted.height == 1024)
            #expect(converted.thumbnailWidth == 300 && converted.thumbnailHeight == 150)
            #expect(try converted.fileSize == Int64(folder.bytes("photo").count))
        }
        #expect(pool.statistics.started == 3)
        let pid = try #require(pool.statistics.livePIDs.first, "what they were copies of")
        #expect(pool.statistics.livePIDs.count == 1 && pool.statistics.peakMemory > 1 << 20)
        await pool.shutDown()
        #expect(pool.statistics.livePIDs.isEmpty)
        #expect(kill(pid, 0) != 0 && errno == ESRCH, "the worker is gone and reaped")
    }

    @Test func makesAThumbnailOfAStoredPhoto() async throws {
        let pool = ImageWorkerPool(executable: try workerExecutable(), workers: 1)
        let files = try Files(photo, folder)
        let thumbnail = try await pool.makeThumbnail(source: files.source, thumbnail: files.thumbnail)
        #expect(thumbnail.width == 300 && thumbnail.height == 150)
        let seen = try Pictures.look(atJPEG: folder.file("thumbnail"))
        #expect(Pictures.difference(seen.quadrants, Pictures.quadrants) <= 8)
        #expect(try thumbnail.fileSize == Int64(folder.bytes("thumbnail").count))
        await pool.shutDown()
    }

    @Test func whatTheWorkerRefusesArrivesTyped() async throws {
        let pool = ImageWorkerPool(executable: try workerExecutable(), workers: 1)
        let text = try folder.write(Array("not a picture".utf8), "note.jpg")
        await #expect(throws: ImagingError.unsupported("its content is no picture type that is known")) {
            try await convert(pool, text, folder)
        }
        #expect(pool.statistics.started == 1 && pool.statistics.crashed == 0, "a refusal is no crash")
        _ = try await convert(pool, photo, folder)
        await pool.shutDown()
    }

    @Test(arguments: ["SEGV", "KILL", "TERM"])
    func aPhotoThatLostItsWorkerIsTriedOnceMoreOnAFreshOne(_ signal: String) async throws {
        let worker = try StandInWorker(folder, firstTime: StandInWorker.takeRequest + "kill -\(signal) $$")
        let pool = ImageWorkerPool(executable: worker.path, workers: 1)
        let converted = try await convert(pool, photo, folder)
        #expect(converted.width == 2048)
        let (crashed, lost) = signal == "SEGV" ? (1, 0) : (0, 1)
        #expect(pool.statistics.crashed == crashed && pool.statistics.lost == lost)
        #expect(pool.statistics.retried == 1 && pool.statistics.started == 2)
        #expect(try Pictures.look(atJPEG: folder.file("photo")).size == PixelSize(width: 2048, height: 1024))
        await pool.shutDown()
    }

    @Test func anAnswerThatIsNoneCostsAWorkerAndNoPhoto() async throws {
        let worker = try StandInWorker(
            folder, firstTime: StandInWorker.takeRequest + "echo nonsense >&0; exec sleep 1000")
        let pool = ImageWorkerPool(executable: worker.path, workers: 1)
        _ = try await convert(pool, photo, folder)
        #expect(pool.statistics.crashed == 1 && pool.statistics.retried == 1)
        await pool.shutDown()
    }

    @Test func aPhotoThatCrashesEveryWorkerCostsTwo() async throws {
        let worker = try StandInWorker(folder, afterReady: StandInWorker.takeRequest + "kill -SEGV $$")
        let pool = ImageWorkerPool(executable: worker.path, workers: 1)
        await #expect(throws: ImagingError.workerCrashed("signal 11")) { try await convert(pool, photo, folder) }
        #expect(pool.statistics.started == 2 && pool.statistics.crashed == 2 && pool.statistics.livePIDs.isEmpty)
        await pool.shutDown()
    }

    /// What a process gets by what it does itself, by its limits and by its filter.
    @Test(arguments: ["ILL", "TRAP", "ABRT", "BUS", "FPE", "SYS", "XCPU", "XFSZ"])
    func aCrashIsNoKill(_ signal: String) async throws {
        let worker = try StandInWorker(folder, afterReady: StandInWorker.takeRequest + "kill -\(signal) $$")
        let pool = ImageWorkerPool(executable: worker.path, workers: 1)
        do {
            _ = try await convert(pool, photo, folder)
            Issue.record("a worker that crashed converted a photo")
        } catch {
            guard case .workerCrashed = error else {
                Issue.record("reported as \(error)")
                return
            }
        }
        #expect(pool.statistics.crashed == 2 && pool.statistics.lost == 0)
        await pool.shutDown()
    }

    @Test func aPhotoWhoseWorkersAreKilledTwiceHasLostThem() async throws {
        let worker = try StandInWorker(folder, afterReady: StandInWorker.takeRequest + "kill -KILL $$")
        let pool = ImageWorkerPool(executable: worker.path, workers: 1)
        await #expect(throws: ImagingError.workerLost("signal 9")) { try await convert(pool, photo, folder) }
        #expect(pool.statistics.started == 2 && pool.statistics.lost == 2 && pool.statistics.crashed == 0)
        await pool.shutDown()
    }

    @Test func aWorkerThatClosesItsSocketAndGoesOnWasKilledByNobody() async throws {
        let worker = try StandInWorker(
            folder, afterReady: StandInWorker.takeRequest + "exec sleep 1000 <&-")
        let pool = ImageWorkerPool(executable: worker.path, workers: 1)
        await #expect(throws: ImagingError.workerCrashed("signal 9")) { try await convert(pool, photo, folder) }
        #expect(pool.statistics.crashed == 2 && pool.statistics.lost == 0)
        await pool.shutDown()
    }

    /// However many there are: a budget would make the last ones pay for the first.
    @Test func everyPhotoWhoseWorkerIsKilledHasASecondOne() async throws {
        let mark = folder.file("killed")
        // Every other process is killed over its photo.
        let worker = try StandInWorker(
            folder, each: "if [ -e '\(mark)' ]; then rm '\(mark)'; exec '\(try workerExecutable())'; fi; : > '\(mark)'",
            afterReady: StandInWorker.takeRequest + "kill -KILL $$")
        let pool = ImageWorkerPool(executable: worker.path, workers: 1)
        let photos = 15
        for _ in 0..<photos {
            #expect(try await convert(pool, photo, folder).width == 2048)
            // Workers would be made of it for the next photo too.
            let pid = try #require(pool.statistics.livePIDs.first)
            #expect(kill(pid, SIGKILL) == 0)
            await waitForEnd(of: pid)
        }
        #expect(pool.statistics.lost == photos && pool.statistics.retried == photos)
        await pool.shutDown()
    }

    @Test func whoAsksForTheCellGetsAnAnswerWhereNoWorkerStarts() async throws {
        let pool = ImageWorkerPool(executable: "/bin/false", workers: 1)
        #expect(await pool.cell() == nil)
        #expect(await pool.cell() == nil)
        await pool.shutDown()
        #expect(await pool.cell() == nil)
    }

    @Test func manyHostilePhotosLetTheGoodOneThrough() async throws {
        let hostile = 60
        // Whatever these photos do, in the order in which they come, and then the real worker.
        let list = folder.file("crashes")
        let worker = try StandInWorker(
            folder,
            each: """
                if [ "$(wc -c < '\(list)' 2>/dev/null || echo 0)" -ge \(hostile * 2) ]; then exec '\(try workerExecutable())'; fi
                """,
            afterReady: StandInWorker.takeRequest + "kill -SEGV $$")
        let pool = ImageWorkerPool(executable: worker.path, workers: 1)
        for index in 0..<hostile {
            await #expect(throws: ImagingError.workerCrashed("signal 11")) { try await convert(pool, photo, folder) }
            #expect(pool.statistics.started <= 2 * (index + 1))
        }
        try Data(repeating: 0x2E, count: hostile * 2).write(to: URL(fileURLWithPath: list))
        #expect(try await convert(pool, photo, folder).width == 2048)
        #expect(pool.statistics.refused == 0, "hostile photos shut nobody out")
        // The budget, 10 at once and one a second, did not let each of them have a second worker at this pace.
        #expect(pool.statistics.retried >= 10)
        await pool.shutDown()
    }

    @Test func workersThatCannotStartAreNotStartedWithoutEnd() async throws {
        let pool = ImageWorkerPool(executable: "/bin/false", workers: 1)
        var refused = 0
        for _ in 0..<100 {
            do {
                _ = try await convert(pool, photo, folder)
                Issue.record("a program that is no worker converted a photo")
            } catch {
                if case .noWorkers(let seconds) = error {
                    #expect((1...61).contains(seconds))
                    refused += 1
                }
            }
        }
        // Six before it opens, and one for each pause that has passed meanwhile.
        #expect(refused >= 80 && pool.statistics.refused == refused)
        await pool.shutDown()
    }

    @Test func aHangCostsOnePhotoAndNoMoreThanTheTimeout() async throws {
        let worker = try StandInWorker(folder, afterReady: "exec sleep 1000")
        let pool = ImageWorkerPool(executable: worker.path, workers: 1, clockTime: .milliseconds(20))
        await #expect(throws: ImagingError.timedOut) { try await convert(pool, photo, folder) }
        #expect(pool.statistics.timedOut == 1 && pool.statistics.livePIDs.isEmpty)
        await pool.shutDown()
    }

    /// With the clock's limit far away.
    @Test func aWorkerThatUsesUpItsProcessorTimeIsEnded() async throws {
        let worker = try StandInWorker(folder, afterReady: "while :; do :; done")
        let pool = ImageWorkerPool(executable: worker.path, workers: 1, processorTime: .milliseconds(50))
        await #expect(throws: ImagingError.timedOut) { try await convert(pool, photo, folder) }
        #expect(pool.statistics.timedOut == 1 && pool.statistics.livePIDs.isEmpty)
        await pool.shutDown()
    }

    @Test func aBusyMachineTakesNothingOfAPhotosTime() {
        let time = WorkerTime()
        #expect(time.rest(used: .seconds(110), passed: .seconds(300)) == .seconds(10))
        #expect(time.rest(used: .seconds(119), passed: .seconds(899)) == .seconds(1))
        #expect(time.rest(used: .nanoseconds(119_999_999_999), passed: .zero) == .milliseconds(10))
        #expect(time.rest(used: .seconds(120), passed: .seconds(121)) == nil)
        #expect(time.rest(used: .zero, passed: .seconds(900)) == nil)
    }

    @Test func aWorkerThatDoesNothingIsGivenUpSoon() {
        let time = WorkerTime()
        #expect(time.rest(used: .zero, passed: .zero) == .seconds(20))
        #expect(time.rest(used: .seconds(1), passed: .seconds(80), idled: .seconds(12)) == .seconds(8))
        #expect(time.rest(used: .seconds(1), passed: .seconds(80), idled: .seconds(20)) == nil)
    }

    /// With all other limits far away.
    @Test func aWorkerThatUsesNoProcessorIsEnded() async throws {
        let worker = try StandInWorker(folder, afterReady: StandInWorker.takeRequest + "exec sleep 1000")
        let pool = ImageWorkerPool(executable: worker.path, workers: 1, idleTime: .milliseconds(50))
        await #expect(throws: ImagingError.timedOut) { try await convert(pool, photo, folder) }
        #expect(pool.statistics.timedOut == 1 && pool.statistics.livePIDs.isEmpty)
        await pool.shutDown()
    }

    /// Somebody looks at a picture while photos that hang have every worker that jobs have.
    @Test func whatIsLookedAtDoesNotWaitForJobs() async throws {
        let signal = try Signal(folder)
        let worker = try StandInWorker(
            folder, firstTime: StandInWorker.takeRequest + "echo > '\(signal.path)'; exec sleep 1000")
        let pool = ImageWorkerPool(executable: worker.path, workers: 1)
        let hanging = Task { try await convert(pool, photo, folder) }
        await signal.wait()
        let files = try Files(photo, folder)
        let thumbnail = try await pool.makeThumbnail(
            source: files.source, thumbnail: files.thumbnail, by: .looking)
        #expect(thumbnail.width == 300)
        #expect(pool.statistics.timedOut == 0, "the other one has not ended")
        hanging.cancel()
        await #expect(throws: ImagingError.cancelled) { try await hanging.value }
        await pool.shutDown()
    }

    @Test func cancellingEndsTheWorkerOfThatCall() async throws {
        let signal = try Signal(folder)
        let worker = try StandInWorker(
            folder, firstTime: StandInWorker.takeRequest + "echo > '\(signal.path)'; exec sleep 1000")
        let pool = ImageWorkerPool(executable: worker.path, workers: 1)
        let call = Task { try await convert(pool, photo, folder) }
        await signal.wait()
        let pid = try #require(pool.statistics.livePIDs.first)
        call.cancel()
        await #expect(throws: ImagingError.cancelled) { try await call.value }
        #expect(kill(pid, 0) != 0 && errno == ESRCH)
        #expect(pool.statistics.cancelled == 1 && pool.statistics.crashed == 0)
        _ = try await convert(pool, photo, folder)
        await pool.shutDown()
    }

    @Test func aCallThatWaitsIsCancelledAtOnce() async throws {
        let signal = try Signal(folder)
        let worker = try StandInWorker(
            folder, afterReady: StandInWorker.takeRequest + "echo > '\(signal.path)'; exec sleep 1000")
        let pool = ImageWorkerPool(executable: worker.path, workers: 1)
        let running = Task { try await convert(pool, photo, folder) }
        await signal.wait()
        // The only worker is busy for good, so this call can end by being cancelled alone.
        let waiting = Task { try await convert(pool, photo, folder) }
        waiting.cancel()
        await #expect(throws: ImagingError.cancelled) { try await waiting.value }
        #expect(pool.statistics.livePIDs.count == 1, "the running call keeps its worker")
        running.cancel()
        await #expect(throws: ImagingError.cancelled) { try await running.value }
        await pool.shutDown()
    }

    @Test func shuttingDownCancelsWhatRunsAndWaits() async throws {
        let signal = try Signal(folder)
        let worker = try StandInWorker(
            folder, afterReady: StandInWorker.takeRequest + "echo > '\(signal.path)'; exec sleep 1000")
        let pool = ImageWorkerPool(executable: worker.path, workers: 1)
        let calls = (0..<3).map { _ in Task { try await convert(pool, photo, folder) } }
        await signal.wait()
        await pool.shutDown()
        for call in calls { await #expect(throws: ImagingError.cancelled) { try await call.value } }
        #expect(pool.statistics.livePIDs.isEmpty)
        await #expect(throws: ImagingError.cancelled) { try await convert(pool, photo, folder) }
    }

    @Test func aNurseryThatIsKilledCostsNothing() async throws {
        let pool = ImageWorkerPool(executable: try workerExecutable(), workers: 1)
        _ = try await convert(pool, photo, folder)
        let pid = try #require(pool.statistics.livePIDs.first)
        #expect(kill(pid, SIGKILL) == 0)
        await waitForEnd(of: pid)
        _ = try await convert(pool, photo, folder)
        #expect(pool.statistics.started == 2 && pool.statistics.crashed == 0)
        await pool.shutDown()
    }

    @Test(arguments: ["/bin/false", "/nowhere/at/all"])
    func aWorkerThatCannotStartIsNoFaultOfThePhoto(_ executable: String) async throws {
        let pool = ImageWorkerPool(executable: executable, workers: 1)
        do {
            _ = try await convert(pool, photo, folder)
            Issue.record("a program that is no worker converted a photo")
        } catch {
            guard case .io(let reason) = error else {
                Issue.record("reported as \(error)")
                return
            }
            #expect(reason.contains("image worker"))
        }
        #expect(pool.statistics.livePIDs.isEmpty)
        await pool.shutDown()
    }

    @Test func aClosedDescriptorIsNoFaultOfTheWorker() async throws {
        let pool = ImageWorkerPool(executable: try workerExecutable(), workers: 1)
        let files = try Files(photo, folder)
        await #expect(throws: ImagingError.io("a descriptor that is not open")) {
            try await pool.convert(
                source: files.source, photo: 1 << 20, thumbnail: files.thumbnail, preview: files.preview)
        }
        await pool.shutDown()
    }

    @Test(arguments: [2600, 260]) func aFullDiskIsNoFaultOfThePhoto(width: Int) async throws {
        let pool = ImageWorkerPool(executable: try workerExecutable(), workers: 1)
        // One is reduced, and one stored as it is.
        let source = try folder.write(Pictures.file(.jpeg, PixelSize(width: width, height: 130)), "narrow.jpg")
        let files = try Files(source, folder)
        let full = open("/dev/full", O_RDWR | O_CLOEXEC)
        defer { close(full) }
        await #expect(throws: ImagingError.diskFull) {
            try await pool.convert(source: files.source, photo: full, thumbnail: full, preview: full)
        }
        await pool.shutDown()
    }

    @Test func noOtherDescriptorReachesAWorker() async throws {
        let list = folder.file("descriptors")
        let signal = try Signal(folder)
        let worker = try StandInWorker(
            folder, afterReady: "ls -1 /proc/$$/fd > '\(list)'; echo > '\(signal.path)'; exec sleep 1000")
        // Open, and not close-on-exec: what a library in the daemon might leave behind.
        let stray = fcntl(0, F_DUPFD, 900)
        #expect(stray >= 900)
        defer { close(stray) }
        let pool = ImageWorkerPool(executable: worker.path, workers: 1)
        let call = Task { try await convert(pool, photo, folder) }
        await signal.wait()
        let open = try String(contentsOfFile: list, encoding: .utf8).split(separator: "\n").compactMap { Int($0) }
        // At 10 and 11 the shell itself keeps its script and what it redirected.
        #expect(Set(open).subtracting([10, 11]) == [0, 1, 2])
        call.cancel()
        await #expect(throws: ImagingError.cancelled) { try await call.value }
        await pool.shutDown()
    }

    @Test func aFewWorkersServeManyCalls() async throws {
        let pool = ImageWorkerPool(executable: try workerExecutable(), workers: 2)
        try await withThrowingTaskGroup { group in
            for index in 0..<12 {
                group.addTask { [photo] in
                    let own = try TemporaryFolder("call-\(index)")
                    #expect(try await convert(pool, photo, own).width == 2048)
                    #expect(try Pictures.look(atJPEG: own.file("thumbnail")).size == PixelSize(width: 300, height: 150))
                }
            }
            try await group.waitForAll()
        }
        #expect(pool.statistics.started == 12 && pool.statistics.livePIDs.count == 1)
        await pool.shutDown()
    }
}
