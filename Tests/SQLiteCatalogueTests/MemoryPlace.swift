import CatalogueContract
import Foundation
import LibraryStorage
import SQLiteCatalogue
import Testing

/// SQLite's catalogue keeps what the border promises.
func expectKept(_ check: ContractCheck) async throws {
    for failure in await check.failures(at: try MemoryPlace()) { Issue.record("\(failure)") }
}

/// A folder in memory where the system has one, so that no check waits for a disk.
struct MemoryPlace: CataloguePlace {
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
