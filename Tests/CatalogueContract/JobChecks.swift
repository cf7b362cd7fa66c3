import Foundation
import LibraryModel
import LibraryStorage
import ServiceMesh

extension CatalogueContract {
    /// Jobs as other changes of a transaction see them.
    static let jobs: [ContractCheck] = [
        ContractCheck("a checkpoint is kept with what its transaction did, both or neither") { run in
            try await run.album()
            try await begin(run, "j")
            try await run.write { t in
                try t.jobs.setCheckpoint(Data([1, 0, 255]), of: "j")
                try t.settings.setLastSyncDate(Sample.time(1))
                try t.jobs.setCheckpoint(Data(), of: "none")
            }
            try await run.refuses("notInTrash") { t in
                try t.jobs.setCheckpoint(Data([2]), of: "j")
                _ = try t.trash.purge([.max])
            }
            let record = try await run.catalogue.journal.records(JobRetention(at: .now())).first
            run.equal(record?.checkpoint, Data([1, 0, 255]))
            run.equal(record?.mark, 1)
        },
        ContractCheck("jobs that have not ended are told from others") { run in
            try await begin(run, "a", "b", "c")
            try await end(run, "b")
            try await run.read { t in
                run.equal(try t.jobs.unfinished(["a", "b", "none", "a"]), ["a"])
                run.equal(try t.jobs.unfinished([]), [])
            }
        },
        ContractCheck("checkpoints of one kind of jobs are told while these have not ended") { run in
            try await begin(run, "a", "b", "c")
            try await run.catalogue.journal.begin(JobRecord(snapshot: JobSnapshot(id: "d", method: "other")))
            for id in ["a", "c", "d"] { try await run.write { try $0.jobs.setCheckpoint(Data(id.utf8), of: id) } }
            try await end(run, "c")
            let open = try await run.read { t in
                try t.jobs.openCheckpoints(of: "m").map { [$0.job, String(decoding: $0.checkpoint, as: UTF8.self)] }
            }
            run.equal(open, [["a", "a"]])
            run.equal(try await run.read { try $0.jobs.openCheckpoints(of: "none").count }, 0)
        },
        ContractCheck("texts of jobs that have ended are replaced, part by part") { run in
            try await begin(run, "a", "b", "open")
            for id in ["a", "b", "open"] {
                try await run.catalogue.journal.append(
                    JobLines([
                        ReceiptLine(item: "secret", outcome: "secret", detail: nil),
                        ReceiptLine(item: "x", outcome: "o", detail: "secret"), ReceiptLine(item: "x", outcome: "o"),
                    ]), to: id)
            }
            try await end(run, "a", receipt: ["secret": ["secret", 7, "other"]])
            try await end(run, "b", error: MeshError(.dataLoss, "secret"))
            let (replaced, parts) = try await run.write { t in
                var (replaced, parts, place) = (0, 0, JobTextPlace() as JobTextPlace?)
                while let from = place, parts < 100 {
                    let part = try t.jobs.replaceTexts(from: from, limit: 1) { $0 == "secret" ? "erased" : nil }
                    (replaced, parts, place) = (replaced + part.replaced, parts + 1, part.next)
                }
                return (replaced, parts)
            }
            run.equal(replaced, 6)
            run.expect(parts < 100, "it never ends")
            let journal = run.catalogue.journal
            for id in ["a", "b"] {
                let lines = try await journal.lines(of: id, after: 0, limit: 9).lines
                run.equal(
                    lines,
                    [
                        ReceiptLine(item: "erased", outcome: "secret"),
                        ReceiptLine(item: "x", outcome: "o", detail: "erased"),
                        ReceiptLine(item: "x", outcome: "o"),
                    ])
            }
            run.equal(
                try await journal.jobs(beginningWith: "a", limit: 1).first?.receipt, ["secret": ["erased", 7, "other"]])
            run.equal(try await journal.jobs(beginningWith: "b", limit: 1).first?.error?.message, "erased")
            run.equal(try await journal.lines(of: "open", after: 0, limit: 1).lines.map(\.item), ["secret"])
            let again = try await run.write { t in
                try t.jobs.replaceTexts(from: JobTextPlace(), limit: 1000) { $0 == "secret" ? "erased" : nil }.replaced
            }
            run.equal(again, 0)
        },
    ]

    /// As `ServiceMesh` uses it.
    static let journal: [ContractCheck] = [
        ContractCheck("a job comes back as it was left") { run in
            let journal = run.catalogue.journal
            let started = Sample.time(Sample.noon)
            try await journal.begin(
                JobRecord(
                    snapshot: JobSnapshot(id: "a-1", method: "m.é", startedAt: started),
                    params: Data(#"{"paths":["/é'"]}"#.utf8), role: .kid, request: .run))
            try await journal.append(
                JobLines([ReceiptLine(item: "x'\n", outcome: "imported", detail: "é")], counted: ["duplicate": 2]),
                to: "a-1")
            try await journal.keep(
                checkpoint: Data([1, 2, 0]), JobLines([ReceiptLine(item: "y", outcome: "imported")]), of: "a-1")
            try await run.reopen()
            let found = try await run.catalogue.journal.records(JobRetention(at: .now()))
            run.equal(found.map(\.snapshot.id), ["a-1"])
            let record = found[0]
            run.equal(record.snapshot.method, "m.é")
            run.equal(record.snapshot.startedAt, started)
            run.equal(record.snapshot.state, .running)
            run.equal(record.snapshot.outcomes, ["imported": 2, "duplicate": 2])
            run.equal(record.params, Data(#"{"paths":["/é'"]}"#.utf8))
            run.equal(record.role, .kid)
            run.equal(record.checkpoint, Data([1, 2, 0]))
            run.equal(record.mark, 5)
            run.equal(
                try await run.catalogue.journal.lines(of: "a-1", after: 0, limit: 9).lines,
                [
                    ReceiptLine(item: "x'\n", outcome: "imported", detail: "é"),
                    ReceiptLine(item: "y", outcome: "imported"),
                ])
        },
        ContractCheck("lines are told page by page") { run in
            try await begin(run, "j", "other")
            let journal = run.catalogue.journal
            try await journal.append(JobLines((0..<7).map { ReceiptLine(item: "\($0)", outcome: "o") }), to: "j")
            try await journal.append(JobLines([ReceiptLine(item: "none", outcome: "o")]), to: "none")
            for limit in [1, 3, 7, 100] {
                var (items, next) = ([String](), 0 as Int?)
                while let after = next, items.count < 100 {
                    let page = try await journal.lines(of: "j", after: after, limit: limit)
                    run.expect(page.lines.count <= limit)
                    items += page.lines.map(\.item)
                    next = page.next
                }
                run.equal(items, (0..<7).map(String.init))
            }
            run.equal(try await journal.lines(of: "other", after: 0, limit: 9).lines, [])
            run.equal(try await journal.lines(of: "none", after: 0, limit: 9).lines, [])
            run.equal(try await journal.items(of: "j").count, 7)
            run.expect(try await journal.items(of: "none").isEmpty)
        },
        ContractCheck("items are told apart by their bytes") { run in
            try await begin(run, "j")
            try await run.catalogue.journal.append(
                JobLines([ReceiptLine(item: "\u{e9}", outcome: "o"), ReceiptLine(item: "x", outcome: "o")]), to: "j")
            let items = try await run.catalogue.journal.items(of: "j")
            run.expect(items.contains("\u{e9}") && !items.contains("e\u{301}") && !items.contains("X"))
        },
        ContractCheck("jobs are found by the beginning of their ids") { run in
            try await begin(run, "a%-1", "aa-1", "a_-1", "b-1", "aa")
            let journal = run.catalogue.journal
            func found(_ beginning: String, _ limit: Int = 9) async throws -> [String] {
                try await journal.jobs(beginningWith: beginning, limit: limit).map(\.id)
            }
            run.equal(try await found("aa"), ["aa", "aa-1"])
            run.equal(try await found("a"), ["a%-1", "a_-1", "aa", "aa-1"])
            run.equal(try await found("a%"), ["a%-1"])
            run.equal(try await found("a_"), ["a_-1"])
            run.equal(try await found("a", 1), ["a%-1"])
            run.equal(try await found("x"), [])
        },
        ContractCheck("jobs are told newest first, page by page, without those whose time is over") { run in
            let ids = (0..<6).map { "j-\($0)" }
            for id in ids { try await begin(run, id) }
            let now = Timestamp.now()
            try await end(run, "j-1", at: now)
            try await end(run, "j-2", at: Sample.time(now.milliseconds - 1000 * Sample.day))
            let wanted = ids.reversed().filter { $0 != "j-2" }
            for limit in [1, 2, 5, 100] {
                var (found, next, isFirst) = ([String](), nil as Int64?, true)
                while isFirst || next != nil, found.count < 100 {
                    let page = try await run.catalogue.journal.page(after: next, limit: limit, JobRetention(at: now))
                    run.expect(page.jobs.count <= limit)
                    found += page.jobs.map(\.id)
                    (next, isFirst) = (page.next, false)
                }
                run.equal(found, wanted)
            }
        },
        ContractCheck("an end keeps the result and what only going on needs goes") { run in
            try await begin(run, "j")
            let journal = run.catalogue.journal
            try await journal.keep(checkpoint: Data([1]), JobLines([ReceiptLine(item: "i", outcome: "o")]), of: "j")
            var ended = JobSnapshot(id: "j", method: "m", state: .failed)
            ended.endedAt = .now()
            ended.needsAttention = true
            ended.error = MeshError(.dataLoss, "It's broken.")
            ended.receipt = ["files": 3]
            ended.unlistedLines = 4
            ended.progress.phase = "é"
            try await journal.end(ended)
            // What comes too late changes nothing.
            try await journal.note(.pause, of: "j")
            let found = try await journal.records(JobRetention(at: .now()))
            run.equal(found.count, 1)
            let snapshot = found[0].snapshot
            run.equal(snapshot.state, .failed)
            run.equal(snapshot.endedAt, ended.endedAt)
            run.equal(snapshot.error, ended.error)
            run.equal(snapshot.receipt, ended.receipt)
            run.equal(snapshot.unlistedLines, 4)
            run.equal(snapshot.needsAttention, true)
            run.equal(snapshot.progress.phase, "é")
            run.equal(snapshot.outcomes, ["o": 1])
            run.expect(found[0].checkpoint == nil && found[0].params == nil)
        },
        ContractCheck("what is asked of a job is kept, and why it stands still until it goes on") { run in
            try await begin(run, "j")
            let journal = run.catalogue.journal
            try await journal.note(.pause, of: "j")
            var held = JobSnapshot(id: "j", method: "m", state: .paused)
            held.obstacle = MeshError(.failedPrecondition, "It was broken off.")
            try await journal.suspend(held)
            var found = try await journal.records(JobRetention(at: .now()))[0]
            run.equal(found.request, .pause)
            run.equal(found.snapshot.state, .paused)
            run.equal(found.snapshot.obstacle, held.obstacle)
            run.expect(found.snapshot.error == nil)
            try await journal.append(JobLines([ReceiptLine(item: "i", outcome: "o")]), to: "j")
            try await journal.resume("j", attempts: JobAttempts(count: 2, mark: .max), droppingLines: false)
            found = try await journal.records(JobRetention(at: .now()))[0]
            run.equal(found.snapshot.state, .running)
            run.equal(found.attempts, JobAttempts(count: 2, mark: .max))
            run.expect(found.snapshot.obstacle == nil)
            run.equal(found.snapshot.outcomes, ["o": 1])
            try await journal.resume("j", attempts: JobAttempts(), droppingLines: true)
            found = try await journal.records(JobRetention(at: .now()))[0]
            run.equal(found.snapshot.outcomes, [:])
            run.equal(try await journal.lines(of: "j", after: 0, limit: 9).lines, [])
        },
        ContractCheck("a start has the jobs that have not ended and those that ended lately, oldest first") { run in
            try await begin(run, "c", "b", "a", "future")
            let now = Timestamp.now()
            try await end(run, "b", at: now)
            try await end(run, "c", at: Sample.time(now.milliseconds - 2 * 3_600_000))
            try await end(run, "future", at: Sample.time(now.milliseconds + 1000 * Sample.day))
            let found = try await run.catalogue.journal.records(JobRetention(at: now))
            run.equal(found.map(\.snapshot.id), ["b", "a", "future"])
            run.equal(found.map(\.snapshot.endedAt), [now, nil, now])
        },
        ContractCheck("forgotten jobs go with their lines") { run in
            try await begin(run, "a", "b")
            let journal = run.catalogue.journal
            for id in ["a", "b"] { try await journal.append(JobLines([ReceiptLine(item: id, outcome: "o")]), to: id) }
            try await journal.forget(["a", "none"])
            try await journal.forget([])
            run.equal(try await journal.records(JobRetention(at: .now())).map(\.snapshot.id), ["b"])
            run.equal(try await journal.lines(of: "a", after: 0, limit: 9).lines, [])
            run.equal(try await journal.lines(of: "b", after: 0, limit: 9).lines.map(\.item), ["b"])
        },
        ContractCheck("receipts are cut down, what needs attention is kept first, and old jobs go") { run in
            try await begin(run, "new", "old", "gone", "open")
            let journal = run.catalogue.journal
            let now = Timestamp.now()
            for id in ["new", "old", "gone", "open"] {
                try await journal.append(
                    JobLines(
                        (0..<10).map { ReceiptLine(item: "\($0)", outcome: $0 % 5 == 4 ? "damaged" : "imported") }),
                    to: id)
            }
            try await end(run, "new", at: now)
            try await end(run, "old", at: Sample.time(now.milliseconds - 2 * 3_600_000))
            try await end(run, "gone", at: Sample.time(now.milliseconds - 91 * Sample.day))
            var retention = JobRetention(at: now)
            retention.lines = 4
            for _ in 0..<2 { try await journal.tidy(retention) { outcome, _ in outcome == "damaged" } }
            func items(_ id: String) async throws -> [String] {
                try await journal.lines(of: id, after: 0, limit: 99).lines.map(\.item)
            }
            run.equal(try await items("new").count, 10)
            run.equal(try await items("open").count, 10)
            run.equal(try await items("old"), ["0", "1", "4", "9"])
            run.equal(try await items("gone"), [])
            let left = try await journal.page(after: nil, limit: 9, JobRetention(at: now)).jobs
            run.equal(left.map(\.id), ["open", "old", "new"])
            run.equal(left[1].unlistedLines, 6)
            run.equal(left[1].outcomes, ["imported": 8, "damaged": 2])
            retention.jobs = 0
            try await journal.tidy(retention) { _, _ in false }
            run.equal(
                try await journal.page(after: nil, limit: 9, JobRetention(at: now)).jobs.map(\.id), ["open", "new"])
        },
        ContractCheck("a cancelled task still writes what a job did") { run in
            try await begin(run, "j")
            let journal = run.catalogue.journal
            await Task {
                withUnsafeCurrentTask { $0?.cancel() }
                try? await journal.append(JobLines([ReceiptLine(item: "i", outcome: "o")]), to: "j")
            }.value
            run.expect(try await journal.items(of: "j").contains("i"))
        },
    ]

    // MARK: Values

    private static func begin(_ run: ContractRun, _ ids: String...) async throws {
        for id in ids {
            try await run.catalogue.journal.begin(
                JobRecord(snapshot: JobSnapshot(id: id, method: "m"), params: Data("{}".utf8)))
        }
    }

    private static func end(
        _ run: ContractRun, _ id: String, at time: Timestamp = .now(), receipt: JSONValue? = nil,
        error: MeshError? = nil
    ) async throws {
        var ended = JobSnapshot(id: id, method: "m", state: error == nil ? .finished : .failed)
        (ended.endedAt, ended.receipt, ended.error) = (time, receipt, error)
        try await run.catalogue.journal.end(ended)
    }
}
