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

    private func open(_ row: Corpus.Row) throws -> (HostileOutcome, TestFile) {
        let file = try TestFile(reading: Corpus.folder + "/" + row["path", default: ""])
        return (try HostileOutcome(of: file, mostBytes: Self.mostBytes), file)
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
            for (name, path) in try outcome.taken(in: "/library/import") {
                #expect(path.hasPrefix("/library/import/"), "\(row["path", default: ""]) \(name)")
                #expect(!name.contains { $0 == "\\" || $0 == "\0" }, "\(row["path", default: ""])")
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
