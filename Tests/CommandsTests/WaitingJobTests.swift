import Foundation
import LibraryModel
import ServiceMesh
import Testing

@testable import Commands

@Suite("A job that waits")
struct WaitingJobTests {
    private static let obstacle = MeshError(.unavailable, "/media/stick/DCIM is not there.")

    private func waiting() throws -> String {
        try Sample.job("library.import", state: .waiting, obstacle: Self.obstacle, done: 3, total: 9)
    }

    @Test("The list, the job itself and the status tell what it waits for")
    func shown() async throws {
        let stage = Stage()
        stage.answer("rpc.hello", Sample.hello)
        stage.answer("job.list", #"{"jobs":[\#(try waiting())]}"#)
        stage.answer("job.get", try waiting())
        try stage.answer("library.status", Sample.status)
        #expect(await stage.run("jobs") == .done)
        #expect(await stage.run("jobs", "show", "import-3f9a2c") == .done)
        #expect(await stage.run("status") == .done)
        let lines = stage.results.split(separator: "\n").filter { $0.contains("/media/stick/DCIM is not there.") }
        #expect(lines.count == 3, "\(stage.results)")
        #expect(lines[0].contains("import-3f9a2c  waiting") && lines[2].hasPrefix("Waiting"))
        #expect(lines[1].contains("It goes on by itself") && lines[1].contains("smilepile jobs cancel import-3f9a2c"))
    }

    @Test("The status names waiting jobs for programs")
    func status() async throws {
        let stage = Stage()
        stage.answer("rpc.hello", Sample.hello)
        stage.answer("job.list", #"{"jobs":[\#(try waiting())]}"#)
        try stage.answer("library.status", Sample.status)
        #expect(await stage.run("status", "--json") == .done)
        let job = try stage.json()["waitingJobs"]?.arrayValue?.first
        #expect(try stage.json()["runningJobs"] == 0)
        #expect(job?["job"] == "import-3f9a2c" && job?["waitsFor"] == "/media/stick/DCIM is not there.")
    }

    @Test("Whoever follows it, or watches all jobs, is told once")
    func followed() async throws {
        let stage = Stage()
        let running = try Sample.job("library.import", state: .running, done: 4, total: 9)
        stage.updates("job.watch", [try waiting(), running])
        stage.answer("job.watch", try Sample.importJob())
        try stage.answer("library.status", Sample.status)
        try stage.answer("category.list", Sample.categories)
        stage.answer("job.receipt", #"{"lines":[]}"#)
        stage.answer("job.get", try waiting())
        #expect(await stage.run("jobs", "watch", "import-3f9a2c") == .done)
        #expect(stage.messages.hasPrefix("Waiting: /media/stick/DCIM is not there.\n"), "\(stage.messages)")

        var report = JobsReport()
        let lines = try report.lines(for: Data(#"{"jobs":[\#(try waiting())]}"#.utf8))
        #expect(lines == ["+ import-3f9a2c  waiting  /media/stick/DCIM is not there.", "jobs running: 1"])
    }

    @Test("Resuming it says that it waits still")
    func resumed() async throws {
        let stage = Stage()
        stage.answer("job.resume", try waiting())
        stage.answer("job.get", try waiting())
        #expect(await stage.run("jobs", "resume", "import-3f") == .done)
        #expect(stage.params("job.resume") == ["job": "import-3f9a2c"], "the beginning of an id is enough")
        #expect(stage.results.contains("is waiting: /media/stick/DCIM is not there. It goes on by itself"))
    }

    @Test("A job that stands still after stops says why")
    func held() async throws {
        let stage = Stage()
        let why = MeshError(.failedPrecondition, "The daemon was broken off 5 times.")
        stage.answer("job.get", try Sample.job("library.import", state: .paused, obstacle: why))
        #expect(await stage.run("jobs", "show", "import-3f9a2c") == .done)
        #expect(stage.results.contains("The daemon was broken off 5 times. Let it go on with: smilepile jobs resume"))
    }

    @Test("The list, the status and whoever watches tell that it stands still, and why")
    func heldIsShown() async throws {
        let why = MeshError(.failedPrecondition, "The daemon was broken off 5 times.")
        let held = try Sample.job("library.import", state: .paused, obstacle: why)
        let stage = Stage()
        stage.answer("rpc.hello", Sample.hello)
        stage.answer("job.list", #"{"jobs":[\#(held)]}"#)
        try stage.answer("library.status", Sample.status)
        #expect(await stage.run("jobs") == .done)
        #expect(await stage.run("status") == .done)
        let lines = stage.results.split(separator: "\n")
        #expect(lines.contains { $0.hasPrefix("Jobs running") && $0.hasSuffix(" 0") }, "\(stage.results)")
        let told = lines.filter { $0.contains("The daemon was broken off 5 times.") }
        #expect(told.count == 2 && told[0].contains("paused") && told[1].hasPrefix("Stands still"), "\(told)")

        let json = Stage()
        json.answer("rpc.hello", Sample.hello)
        json.answer("job.list", #"{"jobs":[\#(held)]}"#)
        try json.answer("library.status", Sample.status)
        #expect(await json.run("status", "--json") == .done)
        let paused = try json.json()["pausedJobs"]?.arrayValue?.first
        #expect(try json.json()["runningJobs"] == 0)
        #expect(paused?["job"] == "import-3f9a2c" && paused?["because"] == "The daemon was broken off 5 times.")

        var report = JobsReport()
        let seen = try report.lines(for: Data(#"{"jobs":[\#(held)]}"#.utf8))
        #expect(seen.first == "+ import-3f9a2c  paused  The daemon was broken off 5 times.")
    }

    @Test("An import that failed shows what it did until then")
    func failed() async throws {
        let stage = Stage()
        let receipt = ImportReceipt(
            categoryId: 1, files: 3, imported: 3, reduced: 0, completed: 0, duplicates: 0, problems: 0, notDone: 0,
            passedOver: [:], isDryRun: false, ending: .failed)
        stage.answer(
            "job.get",
            try Sample.job(
                "library.import", state: .failed, outcomes: ["imported": 3], receipt: receipt,
                error: MeshError(.notFound, "There is no category with the id 7.")))
        try stage.answer("library.status", Sample.status)
        try stage.answer("category.list", Sample.categories)
        stage.answer("job.receipt", #"{"lines":[]}"#)
        #expect(await stage.run("jobs", "show", "import-3f9a2c") == .failed)
        #expect(stage.results.contains("Failed. Imported 3 of 3 photos into Family"))
        #expect(stage.messages.contains("There is no category with the id 7."))
    }
}
