import CatalogueContract
import Foundation
import LibraryStorage
import SQLiteCatalogue
import Testing

/// SQLite's catalogue keeps what the border promises: see `CatalogueContract`.
@Suite struct ContractTests {
    private func expectKept(_ check: ContractCheck) async throws {
        for failure in await check.failures(at: try MemoryPlace()) { Issue.record("\(failure)") }
    }

    @Test(arguments: CatalogueContract.transactions) func transactions(_ check: ContractCheck) async throws {
        try await expectKept(check)
    }
    @Test(arguments: CatalogueContract.observation) func observation(_ check: ContractCheck) async throws {
        try await expectKept(check)
    }
    @Test(arguments: CatalogueContract.photos) func photos(_ check: ContractCheck) async throws {
        try await expectKept(check)
    }
    @Test(arguments: CatalogueContract.searches) func searches(_ check: ContractCheck) async throws {
        try await expectKept(check)
    }
    @Test(arguments: CatalogueContract.sealedFields) func sealedFields(_ check: ContractCheck) async throws {
        try await expectKept(check)
    }
    @Test(arguments: CatalogueContract.trash) func trash(_ check: ContractCheck) async throws {
        try await expectKept(check)
    }
    @Test(arguments: CatalogueContract.categories) func categories(_ check: ContractCheck) async throws {
        try await expectKept(check)
    }
    @Test(arguments: CatalogueContract.swipes) func swipes(_ check: ContractCheck) async throws {
        try await expectKept(check)
    }
    @Test(arguments: CatalogueContract.reviews) func reviews(_ check: ContractCheck) async throws {
        try await expectKept(check)
    }
    @Test(arguments: CatalogueContract.reviewMachines) func reviewMachines(_ check: ContractCheck) async throws {
        try await expectKept(check)
    }
    @Test(arguments: CatalogueContract.groups) func groups(_ check: ContractCheck) async throws {
        try await expectKept(check)
    }
    @Test(arguments: CatalogueContract.groupHubs) func groupHubs(_ check: ContractCheck) async throws {
        try await expectKept(check)
    }
    @Test(arguments: CatalogueContract.access) func access(_ check: ContractCheck) async throws {
        try await expectKept(check)
    }
    @Test(arguments: CatalogueContract.jobs) func jobs(_ check: ContractCheck) async throws {
        try await expectKept(check)
    }
    @Test(arguments: CatalogueContract.journal) func journal(_ check: ContractCheck) async throws {
        try await expectKept(check)
    }
    @Test(arguments: CatalogueContract.discardedFiles) func discardedFiles(_ check: ContractCheck) async throws {
        try await expectKept(check)
    }
    @Test(arguments: CatalogueContract.devices) func devices(_ check: ContractCheck) async throws {
        try await expectKept(check)
    }
    @Test(arguments: CatalogueContract.settings) func settings(_ check: ContractCheck) async throws {
        try await expectKept(check)
    }
    @Test(arguments: CatalogueContract.overwritten) func overwritten(_ check: ContractCheck) async throws {
        try await expectKept(check)
    }
    @Test(arguments: CatalogueContract.unfinishedBackups) func unfinishedBackups(_ check: ContractCheck) async throws {
        try await expectKept(check)
    }
    @Test(arguments: CatalogueContract.madeBackups) func madeBackups(_ check: ContractCheck) async throws {
        try await expectKept(check)
    }
    @Test(arguments: CatalogueContract.knownFiles) func knownFiles(_ check: ContractCheck) async throws {
        try await expectKept(check)
    }
    @Test(arguments: CatalogueContract.failedSources) func failedSources(_ check: ContractCheck) async throws {
        try await expectKept(check)
    }
}

/// A folder in memory where the system has one, so that no check waits for a disk.
private struct MemoryPlace: CataloguePlace {
    private let folder: String

    init() throws {
        let memory = "/dev/shm"
        let isThere = FileManager.default.isWritableFile(atPath: memory)
        folder = (isThere ? memory : NSTemporaryDirectory()) + "/smilepile-contract-\(UUID().uuidString)"
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    }

    func open() async throws -> any Catalogue { try await SQLiteCatalogue(at: folder + "/catalogue.sqlite") }

    func remove() async throws { try FileManager.default.removeItem(atPath: folder) }
}
