import Database
import Foundation
import LibraryModel
import ServiceMesh
import ServiceMeshTesting
import Synchronization
import TestSupport
import Testing

@testable import SQLiteCatalogue

/// What journals keep of jobs that have ended: the catalogue's, and the one in memory.
@Suite struct KeptReceiptTests {
    enum Kind: CaseIterable, Sendable { case catalogue, memory }

    private static let hour: Int64 = 3_600_000
    private static let day: Int64 = 24 * hour
    private static let start = Timestamp(rfc3339: "2026-03-01T12:00:00Z")?.milliseconds ?? 0

    /// What is kept, so many milliseconds after everything began.
    private func retention(after milliseconds: Int64) -> JobRetention {
        JobRetention(at: Timestamp(milliseconds: Self.start + milliseconds))
    }

    @Test(arguments: Kind.allCases) func whileTheClockIsDoubtedNoReceiptGoesOrIsCutDown(_ kind: Kind) async throws {
        try await withJournal(kind) { journal in
            try await add("old", imported(0..<30), ended: 0, to: journal)
            var doubted = JobRetention(
                at: Timestamp(milliseconds: Self.start + 5000 * Self.day),
                reckoned: ReckonedTime(
                    due: Timestamp(milliseconds: Self.start + 60_000),
                    latest: Timestamp(milliseconds: Self.start + 5000 * Self.day)))
            doubted.lines = 10
            try await journal.tidy(doubted) { _, _ in false }
            #expect(try await allLines("old", in: journal).count == 30)
            #expect(try await journal.page(after: nil, limit: 10, doubted).jobs.map(\.id) == ["old"])
            // A clock that is behind, and is not believed yet, changes no end.
            let behind = JobRetention(
                at: Timestamp(milliseconds: Self.start - 5000 * Self.day),
                reckoned: ReckonedTime(
                    due: Timestamp(milliseconds: Self.start - 5000 * Self.day),
                    latest: Timestamp(milliseconds: Self.start + 60_000)))
            _ = try await journal.records(behind)
            #expect(
                try await journal.jobs(beginningWith: "old", limit: 1).first?.endedAt?.milliseconds == Self.start)
            try await journal.tidy(retention(after: 5000 * Self.day)) { _, _ in false }
            #expect(try await journal.jobs(beginningWith: "old", limit: 1).isEmpty)
        }
    }

    private func withJournal(_ kind: Kind, _ body: (any JobJournal) async throws -> Void) async throws {
        switch kind {
        case .memory: try await body(MemoryJobJournal())
        case .catalogue: try await withCatalogue { journal, _ in try await body(journal) }
        }
    }

    private func withCatalogue(_ body: (CatalogueJobJournal, DatabasePool) async throws -> Void) async throws {
        let folder = try TemporaryFolder("receipts")
        let database = try await DatabasePool.open(at: folder.file("c.sqlite"), schema: CatalogueSchema.schema)
        try await body(CatalogueJobJournal(database: database, reserve: nil), database)
        await database.close()
    }

    private func imported(_ range: Range<Int>, damagedEvery step: Int = .max) -> [ReceiptLine] {
        range.map { number in
            (number + 1).isMultiple(of: step)
                ? ReceiptLine(item: "/a/\(number).jpg", outcome: "damaged", detail: "It ends too early.")
                : ReceiptLine(item: "/a/\(number).jpg", outcome: "imported")
        }
    }

    /// A job that began and ended at these times.
    @discardableResult
    private func add(
        _ id: JobID, _ lines: [ReceiptLine] = [], began: Int64 = 0, ended: Int64, as state: JobState = .finished,
        to journal: any JobJournal
    ) async throws -> JobSnapshot {
        var snapshot = JobSnapshot(
            id: id, method: "library.import", startedAt: Timestamp(milliseconds: Self.start + began))
        try await journal.begin(JobRecord(snapshot: snapshot, params: Data("{}".utf8)))
        for first in stride(from: 0, to: lines.count, by: 1_000) {
            try await journal.append(JobLines(Array(lines[first..<min(first + 1_000, lines.count)])), to: id)
        }
        snapshot.outcomes = lines.reduce(into: [:]) { $0[$1.outcome, default: 0] += 1 }
        snapshot.state = state
        snapshot.endedAt = Timestamp(milliseconds: Self.start + ended)
        snapshot.receipt = ["files": .integer(Int64(lines.count))]
        snapshot.error = state == .failed ? MeshError(.dataLoss, "It broke.") : nil
        try await journal.end(snapshot)
        return snapshot
    }

    private func allLines(_ job: JobID, in journal: any JobJournal, from: Int = 0) async throws -> [ReceiptLine] {
        var lines: [ReceiptLine] = []
        var after: Int? = from
        while let from = after {
            let page = try await journal.lines(of: job, after: from, limit: 1_000)
            lines += page.lines
            #expect(page.next.map { $0 > from } ?? true)
            after = page.next
        }
        return lines
    }

    private func ids(_ journal: any JobJournal, _ retention: JobRetention) async throws -> [JobID] {
        try await journal.page(after: nil, limit: 1_000, retention).jobs.map(\.id)
    }

    private static let isDamage: @Sendable (String, String) -> Bool = { outcome, _ in outcome == "damaged" }

    // MARK: Lines

    @Test(arguments: Kind.allCases) func ofALargeReceiptTheLinesThatNeedAttentionStayFirst(_ kind: Kind) async throws {
        try await withJournal(kind) { journal in
            let lines = imported(0..<25_000, damagedEvery: 5)
            let ended = try await add("import-1", lines, ended: 0, to: journal)
            try await journal.tidy(retention(after: Self.hour), needsAttention: Self.isDamage)
            #expect(try await allLines("import-1", in: journal) == lines, "for an hour it is whole")
            #expect(try await journal.jobs(beginningWith: "import-1", limit: 1) == [ended])

            // Whoever is reading while it is cut gets every line that stays, and none twice.
            let first = try await journal.lines(of: "import-1", after: 0, limit: 1_000)
            try await journal.tidy(retention(after: Self.hour + 1), needsAttention: Self.isDamage)
            let rest = try await allLines("import-1", in: journal, from: try #require(first.next))
            let kept =
                lines.filter { $0.outcome == "damaged" } + lines.filter { $0.outcome == "imported" }.prefix(5_000)
            let order = Dictionary(uniqueKeysWithValues: lines.enumerated().map { ($1.item, $0) })
            let expected = kept.sorted { (order[$0.item] ?? 0) < (order[$1.item] ?? 0) }
            #expect(expected.count == JobLimits.keptLines)
            #expect(try await allLines("import-1", in: journal) == expected)
            #expect(first.lines + rest == expected, "the first thousand stay all")

            var told = ended
            told.unlistedLines = 15_000
            #expect(try await journal.jobs(beginningWith: "import-1", limit: 1) == [told], "all else is as it was")
            try await journal.tidy(retention(after: 80 * Self.day), needsAttention: Self.isDamage)
            #expect(try await allLines("import-1", in: journal) == expected, "once is enough")
        }
    }

    @Test(arguments: Kind.allCases) func whereMoreNeedAttentionThanStayTheFirstOfThemDo(_ kind: Kind) async throws {
        try await withJournal(kind) { journal in
            var retention = retention(after: 2 * Self.hour)
            retention.lines = 3
            try await add("import-1", imported(0..<20, damagedEvery: 4), ended: 0, to: journal)
            try await add("import-2", imported(0..<3), ended: 0, to: journal)
            try await journal.tidy(retention, needsAttention: Self.isDamage)
            #expect(try await allLines("import-1", in: journal).map(\.item) == ["/a/3.jpg", "/a/7.jpg", "/a/11.jpg"])
            let jobs = try await journal.jobs(beginningWith: "import-", limit: 9)
            #expect(jobs.map(\.unlistedLines) == [17, nil])
            #expect(jobs.map(\.outcomes) == [["imported": 15, "damaged": 5], ["imported": 3]])
        }
    }

    /// As a kill in the middle leaves it: nothing is lost but what is to go, and it is said already.
    @Test func cuttingThatIsBrokenOffGoesOnAndEndsAlike() async throws {
        try await withCatalogue { journal, _ in
            let lines = imported(0..<25_000, damagedEvery: 5)
            try await add("import-1", lines, ended: 0, to: journal)
            let gate = Gate()
            let cutting = Mutex<Task<Void, any Error>?>(nil)
            let asked = Mutex(0)
            let retention = retention(after: 2 * Self.hour)
            let task = Task {
                await gate.pass()
                try await journal.tidy(retention) { outcome, _ in
                    let count = asked.withLock { count in
                        count += 1
                        return count
                    }
                    if count == 12_000 { cutting.withLock { $0?.cancel() } }
                    return outcome == "damaged"
                }
            }
            cutting.withLock { $0 = task }
            gate.open()
            await #expect(throws: (any Error).self) { try await task.value }
            let left = try await allLines("import-1", in: journal)
            #expect(left.count < lines.count && left.count > JobLimits.keptLines, "\(left.count)")
            #expect(try await journal.jobs(beginningWith: "import-1", limit: 1).first?.unlistedLines == 15_000)

            try await journal.tidy(retention, needsAttention: Self.isDamage)
            let broken = try await allLines("import-1", in: journal)
            try await add("import-2", lines, ended: 0, to: journal)
            try await journal.tidy(retention, needsAttention: Self.isDamage)
            #expect(broken.count == JobLimits.keptLines)
            #expect(try await allLines("import-2", in: journal) == broken, "as one that was not broken off")
            #expect(try await journal.jobs(beginningWith: "import-1", limit: 1).first?.unlistedLines == 15_000)
        }
    }

    // MARK: Time and room

    @Test(arguments: Kind.allCases) func aReceiptIsThereForNinetyDays(_ kind: Kind) async throws {
        try await withJournal(kind) { journal in
            try await add("import-1", imported(0..<3), ended: 0, to: journal)
            try await add("verify-2", ended: 60_000, as: .cancelled, to: journal)
            try await add("create-3", ended: 120_000, as: .failed, to: journal)
            try await journal.begin(JobRecord(snapshot: JobSnapshot(id: "import-4", method: "library.import")))
            let last = retention(after: 90 * Self.day)
            try await journal.tidy(last, needsAttention: Self.isDamage)
            #expect(try await ids(journal, last) == ["import-4", "create-3", "verify-2", "import-1"])
            #expect(try await allLines("import-1", in: journal).count == 3)
            #expect(try await journal.records(last).map(\.snapshot.id) == ["import-4"])

            let past = retention(after: 90 * Self.day + 1)
            #expect(try await ids(journal, past) == ["import-4", "create-3", "verify-2"], "also before it is removed")
            try await journal.tidy(past, needsAttention: Self.isDamage)
            #expect(try await journal.jobs(beginningWith: "import-1", limit: 1).isEmpty)
            #expect(try await journal.lines(of: "import-1", after: 0, limit: 9).lines.isEmpty)
            try await journal.tidy(retention(after: 91 * Self.day), needsAttention: Self.isDamage)
            #expect(try await journal.jobs(beginningWith: "", limit: 9).map(\.id) == ["import-4"], "it has not ended")
        }
    }

    @Test(arguments: Kind.allCases) func thereAreNoMoreThanTheBoundsAllow(_ kind: Kind) async throws {
        try await withJournal(kind) { journal in
            for number in 0..<6 { try await add("import-\(number)", imported(0..<10), ended: 0, to: journal) }
            var few = retention(after: 2 * Self.hour)
            few.jobs = 4
            try await journal.tidy(few, needsAttention: Self.isDamage)
            #expect(try await ids(journal, few) == ["import-5", "import-4", "import-3", "import-2"])
            // One that ended lately counts for neither bound.
            try await add("import-6", imported(0..<10), ended: Self.hour, to: journal)
            var little = retention(after: 2 * Self.hour)
            little.bytes = 2_000
            try await journal.tidy(little, needsAttention: Self.isDamage)
            #expect(try await ids(journal, little) == ["import-6", "import-5", "import-4"])
        }
    }

    @Test(arguments: Kind.allCases) func aClockThatWasWrongKeepsNothingForEver(_ kind: Kind) async throws {
        try await withJournal(kind) { journal in
            try await add("import-1", ended: 1_000 * Self.day, to: journal)
            let now = retention(after: 0)
            #expect(try await journal.records(now).map(\.snapshot.endedAt) == [now.now])
            try await journal.tidy(retention(after: 91 * Self.day), needsAttention: Self.isDamage)
            #expect(try await journal.jobs(beginningWith: "", limit: 9).isEmpty)
        }
    }

    // MARK: Finding

    @Test(arguments: Kind.allCases) func jobsAreFoundByTheBeginningOfTheirIDs(_ kind: Kind) async throws {
        try await withJournal(kind) { journal in
            for id in ["import-ab", "import-a", "verify-a", "import_a", "import-%"] {
                try await add(id, ended: 0, to: journal)
            }
            func found(_ beginning: String, _ limit: Int = 9) async throws -> [JobID] {
                try await journal.jobs(beginningWith: beginning, limit: limit).map(\.id)
            }
            #expect(try await found("import-a") == ["import-a", "import-ab"], "the one that is called so comes first")
            #expect(try await found("import-a", 1) == ["import-a"])
            #expect(try await found("import-%") == ["import-%"])
            #expect(try await found("v") == ["verify-a"])
            for none in ["%", "import?", "import-abc"] { #expect(try await found(none).isEmpty) }
        }
    }

    @Test(arguments: Kind.allCases) func allJobsComeInPagesTheNewestFirst(_ kind: Kind) async throws {
        try await withJournal(kind) { journal in
            for number in 1...5 { try await add("import-\(number)", imported(0..<number), ended: 0, to: journal) }
            let retention = retention(after: Self.day)
            let first = try await journal.page(after: nil, limit: 2, retention)
            #expect(first.jobs.map(\.id) == ["import-5", "import-4"])
            #expect(first.jobs.map(\.outcomes) == [["imported": 5], ["imported": 4]])
            // What goes meanwhile moves no page.
            try await journal.forget(["import-4", "import-5"])
            let second = try await journal.page(after: first.next, limit: 2, retention)
            #expect(second.jobs.map(\.id) == ["import-3", "import-2"])
            let third = try await journal.page(after: second.next, limit: 2, retention)
            #expect(third.jobs.map(\.id) == ["import-1"] && third.next == nil)
            #expect(try await journal.page(after: 0, limit: 2, retention).jobs.isEmpty)
        }
    }

    /// What is in a catalogue may be anybody's: a page stays within what a reply may be.
    @Test func largeReceiptsMakeShortPagesAndOddRowsCostThemselvesOnly() async throws {
        try await withCatalogue { journal, database in
            for number in 1...6 { try await add("import-\(number)", ended: 0, to: journal) }
            try await database.write { connection in
                try connection.execute(
                    "UPDATE jobs SET receipt = ? WHERE id <> 'import-1'",
                    "\"" + String(repeating: "x", count: 400_000) + "\"")
                try connection.execute("UPDATE jobs SET state = 'melted', receipt = '{' WHERE id = 'import-2'")
                try connection.execute("UPDATE jobs SET kept_bytes = 9223372036854775807 WHERE id = 'import-3'")
                try connection.execute(
                    "INSERT INTO job_outcomes VALUES (2, 'odd', -9223372036854775808), (2, 'more', 9223372036854775807)"
                )
                try connection.execute(
                    "INSERT INTO job_lines (job, number, item, outcome) VALUES (2, 9223372036854775807, 'x', 'odd')")
            }
            var pages: [[JobID]] = []
            var after: Int64?
            repeat {
                let page = try await journal.page(after: after, limit: 100, retention(after: Self.day))
                pages.append(page.jobs.map(\.id))
                after = page.next
            } while after != nil
            #expect(pages == [["import-6", "import-5"], ["import-4", "import-3", "import-2", "import-1"]])
            let odd = try await journal.jobs(beginningWith: "import-2", limit: 1).first
            #expect(odd?.state == .failed && odd?.receipt == nil)
            #expect(try await journal.lines(of: "import-2", after: .max, limit: 1).lines.map(\.item) == ["x"])

            var retention = retention(after: Self.day)
            retention.lines = 0
            try await journal.tidy(retention, needsAttention: Self.isDamage)
            let left = try await journal.jobs(beginningWith: "import-", limit: 9).map(\.id)
            #expect(left == ["import-4", "import-5", "import-6"], "one says that it is huge")
        }
    }
}
