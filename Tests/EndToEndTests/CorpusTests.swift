import ControlSocket
import EndToEndSupport
import Foundation
import LibraryModel
import ServiceMesh
import TestSupport
import Testing

/// The corpus through the real daemon: every file accounted for, hostile ones contained.
@Suite(.serialized, .enabled(if: Corpus.isPresent, "the corpus is not here; set SMILEPILE_CORPUS"))
struct CorpusTests {
    private func importing(
        _ folder: String, into place: Installation
    ) async throws -> (outcomes: [String: String], passedOver: Int) {
        let client = try place.client()
        let started = try await client.call(ImportPhotos(paths: [Corpus.folder + "/" + folder]))
        let job = try await client.call(WaitForJob(job: started.job))
        #expect(job.state == .finished)
        let lines = try await client.call(GetJobReceipt(job: started.job)).lines
        let receipt = try JSONDecoder().decode(ImportReceipt.self, from: JSONEncoder().encode(#require(job.receipt)))
        return (
            Dictionary(
                lines.map { (String($0.item.dropFirst(Corpus.folder.count + 1)), $0.outcome) },
                uniquingKeysWith: { first, _ in first }), receipt.passedOver.values.reduce(0, +)
        )
    }

    @Test func everyHostilePictureEndsAsItMust() async throws {
        let place = try Installation("hostile")
        try await place.up()
        let expected = try Corpus.table("hostile/expect.tsv").filter { $0["kind"] == "image" }
        #expect(expected.count > 80)
        let outcomes = try await importing("hostile", into: place).outcomes
        for row in expected {
            guard let path = row["path"], let must = row["must"] else { continue }
            // What is no picture and not called like one is counted and has no line.
            guard let outcome = outcomes[path] else {
                #expect(must == "REJECT" && path.hasSuffix(".fuzzed"), "\(path) has no line")
                continue
            }
            let isTaken = ["imported", "duplicate", "kept_unseen"].contains(outcome)
            switch must {
            case "ACCEPT": #expect(isTaken, "\(path): \(outcome)")
            case "REJECT": #expect(!isTaken, "\(path): \(outcome)")
            default: break
            }
        }
        let client = try place.client()
        #expect(try await place.isConsistent(client))
        #expect(try await client.call(CheckMeshHealth()).isHealthy)
    }

    @Test func theReceiptAccountsForEveryRealFile() async throws {
        let place = try Installation("real")
        try await place.up()
        let (outcomes, passedOver) = try await importing("real", into: place)
        let files = try FileManager.default.subpathsOfDirectory(atPath: Corpus.folder + "/real").filter {
            var isFolder: ObjCBool = false
            return FileManager.default.fileExists(
                atPath: Corpus.folder + "/real/" + $0, isDirectory: &isFolder) && !isFolder.boolValue
        }
        // Sidecars of pictures that are there are read with them.
        let sidecars = files.filter { file in
            file.hasSuffix(".xmp") && files.contains { $0 != file && $0.hasPrefix(file.dropLast(4)) }
        }
        #expect(outcomes.count + passedOver + sidecars.count == files.count)
        #expect(try await place.isConsistent(place.client()))
    }

    @Test func hostileArchivesAreRefusedBeforeAnythingIsWritten() async throws {
        let place = try Installation("hostile-zip")
        try await place.up()
        let client = try place.client()
        let archives = try Corpus.table("hostile/expect.tsv").filter { $0["kind"] == "zip" }.compactMap { $0["path"] }
        #expect(archives.count > 60)
        for path in archives {
            let started = try await client.call(RestoreBackup(path: Corpus.folder + "/" + path))
            let job = try await client.call(WaitForJob(job: started.job))
            #expect(job.state == .failed, "\(path)")
            #expect(
                [.dataLoss, .invalidArgument].contains(job.error?.status), "\(path): \(String(describing: job.error))")
            // Results are kept for an hour; asking for one frees nothing, but the daemon must not mind many.
            #expect(try place.files("staging").isEmpty && place.files("photos").isEmpty)
        }
    }
}
