import LibraryModel
import LibraryStorage
import ServiceMesh
import Synchronization

extension CatalogueContract {
    /// A catalogue has one owner, and knows when it is none any more.
    package static let ownership: [ContractCheck] = [
        ContractCheck("a catalogue that is open is not opened again") { run in
            let album = try await run.album(1)
            for _ in 0..<2 {
                do {
                    let second = try await run.openAgain()
                    await second.close()
                    run.expect(false, "it is opened twice")
                } catch let refused as CatalogueIsOwned {
                    run.equal(refused.meshError.status, .failedPrecondition)
                    run.expect(!refused.meshError.message.isEmpty)
                } catch {
                    run.expect(false, "it is refused with \(error), and not as owned")
                }
            }
            // The owner has noticed nothing of it.
            try await run.write { t in try t.photos.insert([Sample.photo(7, in: album.family)]) }
            run.expect(run.catalogue.ownership.fault == nil)
            try await run.reopen()
            run.equal(try await run.read { try $0.photos.totals().photos }, 2)
        },
        ContractCheck("a closed catalogue may be opened by another owner") { run in
            try await run.write { _ = try $0.categories.insert(Sample.category("First")) }
            try await run.reopen()
            run.expect(run.catalogue.ownership.fault == nil)
            try await run.write { _ = try $0.categories.insert(Sample.category("Second")) }
            run.equal(try await run.read { try $0.categories.all().map(\.displayName) }, ["First", "Second"])
        },
        ContractCheck("an owner whose right has ended changes nothing") { run in
            try await run.write { _ = try $0.categories.insert(Sample.category("Before")) }
            let told = Mutex(0)
            run.catalogue.onCommit { _ in told.withLock { $0 += 1 } }
            try await run.endOwnership()
            let fault = try run.require(run.catalogue.ownership.fault)
            @Sendable func change(_ t: any CatalogueTransaction) throws {
                _ = try t.categories.insert(Sample.category("After"))
            }
            let catalogue = run.catalogue
            await run.isRefused(with: fault) { try await catalogue.write(change) }
            await run.isRefused(with: fault) { try await catalogue.writeAlone(change) }
            await run.isRefused(with: fault) { try await catalogue.writeFreeingSpace(change) }
            await run.isRefused(with: fault) {
                try await catalogue.journal.begin(JobRecord(snapshot: JobSnapshot(id: "late-1", method: "late")))
            }
            run.equal(told.withLock { $0 }, 0)
            run.expect(await catalogue.problems().contains(fault), "its problems do not say so")
            // What a read still finds, where it may, is what was there before.
            if let names = try? await run.read({ try $0.categories.all().map(\.displayName) }) {
                run.equal(names, ["Before"])
            }
        },
        ContractCheck("one observer is told once that the right has ended, and why") { run in
            let told = Mutex<[String]>([])
            let ownership = run.catalogue.ownership
            ownership.observe { fault in told.withLock { $0.append("first: \(fault ?? "it is back")") } }
            ownership.look()
            ownership.observe { fault in told.withLock { $0.append(fault ?? "it is back") } }
            ownership.look()
            run.equal(told.withLock { $0 }, [])
            try await run.endOwnership()
            ownership.look()
            ownership.look()
            run.equal(told.withLock { $0 }, [try run.require(ownership.fault)])
        },
    ]
}

extension ContractRun {
    /// Expects that a change is refused as `failed_precondition` with a sentence.
    func isRefused(
        with sentence: String, file: String = #fileID, line: Int = #line, _ change: () async throws -> Void
    ) async {
        do {
            try await change()
            fail("It is not refused.", file, line)
        } catch {
            let refusal = MeshError(describing: error)
            equal(refusal.status, .failedPrecondition, file: file, line: line)
            expect(refusal.message.contains(sentence), "It says: \(refusal.message)", file: file, line: line)
        }
    }
}
