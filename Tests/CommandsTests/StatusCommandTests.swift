import LibraryModel
import Testing

@testable import CommandLineInterface

@Suite("What a library's state is")
struct StatusCommandTests {
    private func stage(_ status: LibraryStatus = Sample.status) throws -> Stage {
        let stage = Stage()
        stage.answer("rpc.hello", Sample.hello)
        stage.answer("job.list", #"{"jobs":[]}"#)
        try stage.answer("library.status", status)
        return stage
    }

    @Test("Status, for a person and for a program")
    func status() async throws {
        let human = try stage()
        #expect(await human.run("status") == .done)
        #expect(human.results.contains("Library       /srv/photos\nPhotos        3, 12.3 MB\n"))
        #expect(human.results.contains("Last backup   never"))
        let json = try stage()
        #expect(await json.run("status", "--json") == .done)
        #expect(try json.json()["photos"] == 3)
        #expect(try json.json()["runningJobs"] == 0)
    }

    @Test("Status says what does not keep photo helpers in, and nothing where all of it does")
    func unprotected() async throws {
        func results(missing: [String], lost: Int) async throws -> String {
            let cell = ImageWorkerCell(
                seccomp: missing.isEmpty, landlock: 7, noNewPrivileges: true, ownMemoryBytes: 1, processorSeconds: 1,
                descriptors: 1, fileBytes: 1, processes: 0, missing: missing)
            let stage = try stage(
                Sample.status(
                    ImageWorkerStatus(
                        started: 2, crashed: 0, lost: lost, timedOut: 0, pids: [], peakMemoryBytes: 0, cell: cell)))
            #expect(await stage.run("status") == .done)
            return stage.results
        }
        let whole = try await results(missing: [], lost: 0)
        #expect(!whole.contains("Not protected") && !whole.contains("Image workers"))
        let reduced = try await results(missing: ["seccomp (Invalid argument)"], lost: 3)
        #expect(reduced.contains("Not protected by  seccomp (Invalid argument)\n"))
        #expect(reduced.contains("2 started, 0 crashed, 3 killed from outside, 0 ran out of time"))
    }
}
