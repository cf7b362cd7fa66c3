import Foundation
import TestSupport
import Testing

@testable import ZipArchive

/// Every archive of the hostile corpus gets the answer that its row asks for.
@Suite(.enabled(if: Corpus.isPresent, "the corpus is not here"))
struct HostileCorpusTests {
    /// More than any honest archive of the corpus inflates to, less than any bomb.
    private static let mostBytes: Int64 = 64 << 20

    private static func rows(_ must: String...) throws -> [Corpus.Row] {
        let rows = try Corpus.table("hostile/expect.tsv").filter { row in
            let folder = row["path", default: ""].split(separator: "/").dropFirst().first ?? ""
            let isArchive =
                folder.hasPrefix("zip-") || folder.hasPrefix("made-zip-")
                || row["path"] == "hostile/made-polyglot/jpeg-then-zip.zip"
            return isArchive && must.contains(row["must", default: ""])
        }
        try #require(!rows.isEmpty)
        return rows
    }

    private struct Outcome {
        var refused: ArchiveProblem?
        var reader: ZipReader?
        var failures: [ZipRefusal] = []
        var bytesRead: Int64 = 0

        /// Entries of which the bytes could not be had.
        var lost: Set<Int> {
            let obstacles = reader.map { reader in reader.entries.indices.filter { reader.obstacle(to: $0) != nil } }
            return Set((obstacles ?? []) + failures.map(\.entry))
        }
    }

    private func open(_ row: Corpus.Row) throws -> (Outcome, TestFile) {
        let file = try TestFile(reading: Corpus.folder + "/" + row["path", default: ""])
        var outcome = Outcome()
        do throws(ZipError) {
            let reader = try ZipReader(
                descriptor: file.descriptor, limits: ZipLimits(maximumTotalBytes: Self.mostBytes))
            let verification = ZipVerification(reader)
            var bytesRead: Int64 = 0
            try verification.work(progress: { bytesRead += Int64($0) })
            outcome.reader = reader
            outcome.failures = verification.failures
            outcome.bytesRead = bytesRead
        } catch {
            guard let problem = error.archiveProblem else { throw error }
            outcome.refused = problem
        }
        return (outcome, file)
    }

    @Test func acceptedArchivesReadToTheEnd() throws {
        for row in try Self.rows("ACCEPT") {
            let (outcome, _) = try open(row)
            #expect(outcome.refused == nil, "\(row["path", default: ""])")
            #expect(outcome.reader?.entries.count == Int(row["entries", default: ""]), "\(row["path", default: ""])")
            #expect(
                outcome.lost.isEmpty,
                "\(row["path", default: ""]) \(outcome.failures) \(outcome.reader?.refusals ?? [])")
        }
    }

    @Test func rejectedArchivesAreRefusedWhole() throws {
        for row in try Self.rows("REJECT") {
            let (outcome, _) = try open(row)
            #expect(outcome.refused != nil, "\(row["path", default: ""])")
        }
    }

    @Test func damagedEntriesAreNamedAndTheOthersTaken() throws {
        for row in try Self.rows("REJECT-ENTRY") {
            let (outcome, _) = try open(row)
            #expect(outcome.refused == nil, "\(row["path", default: ""])")
            #expect(!outcome.lost.isEmpty, "\(row["path", default: ""])")
        }
    }

    @Test func entriesThatEscapeAreNeverTaken() throws {
        for row in try Self.rows("CONTAIN") {
            let (outcome, _) = try open(row)
            guard let reader = outcome.reader else { continue }
            for entry in reader.entries where reader.problems(of: entry.index).isEmpty {
                let path = URL(fileURLWithPath: "/library/import").appendingPathComponent(entry.name).standardized.path
                #expect(path.hasPrefix("/library/import/"), "\(row["path", default: ""]) \(entry.name)")
                #expect(!entry.name.contains { $0 == "\\" || $0 == "\0" }, "\(row["path", default: ""])")
            }
            #expect(!reader.refusals.isEmpty || !outcome.lost.isEmpty, "\(row["path", default: ""])")
        }
    }

    @Test func bombsStayWithinTheLimit() throws {
        for row in try Self.rows("BOMB", "EITHER") {
            let (outcome, _) = try open(row)
            #expect(outcome.bytesRead <= Self.mostBytes, "\(row["path", default: ""])")
            if row["must"] == "BOMB" {
                #expect(outcome.refused != nil || !outcome.lost.isEmpty, "\(row["path", default: ""])")
            }
        }
    }
}
