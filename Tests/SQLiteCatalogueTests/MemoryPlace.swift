import CatalogueContract
import Foundation
import LibraryStorage
import PhotoFolder
import SQLiteCatalogue
import Synchronization
import Testing

/// SQLite's catalogue keeps what the border promises.
func expectKept(_ check: ContractCheck) async throws {
    for failure in await check.failures(at: try MemoryPlace()) { Issue.record("\(failure)") }
}

/// A folder in memory where the system has one, so that no check waits for a disk. It is held as a library's folder is.
final class MemoryPlace: CataloguePlace {
    private let folder: String
    private let opened = Mutex<(catalogue: SQLiteCatalogue, hold: LibraryHold)?>(nil)

    init() throws {
        let memory = "/dev/shm"
        let isThere = FileManager.default.isWritableFile(atPath: memory)
        folder = (isThere ? memory : NSTemporaryDirectory()) + "/smilepile-contract-\(UUID().uuidString)"
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    }

    func open() async throws -> any Catalogue {
        // As a library does that is closed: its catalogue first, then the hold. A closed catalogue takes no read.
        if let before = opened.withLock({ $0 }), (try? await before.catalogue.read { _ in true }) == nil {
            before.hold.release()
        }
        let hold = try LibraryHold(path: folder)
        let catalogue = try await SQLiteCatalogue(at: folder + "/catalogue.sqlite", ownership: hold.makeOwnership())
        try hold.holdCatalogue(SQLiteCatalogue.lastingFiles(at: "catalogue.sqlite"))
        opened.withLock { $0 = (catalogue, hold) }
        return catalogue
    }

    /// As somebody does who puts another folder in the place of the library's.
    func endOwnership() async throws {
        try FileManager.default.moveItem(atPath: folder, toPath: folder + ".moved")
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
    }

    func remove() async throws {
        try FileManager.default.removeItem(atPath: folder)
        let moved = folder + ".moved"
        if FileManager.default.fileExists(atPath: moved) { try FileManager.default.removeItem(atPath: moved) }
    }
}
