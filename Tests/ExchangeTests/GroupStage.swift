import Foundation
import LibraryModel
import LibraryStorage
import LibraryTestSupport
import SampleAlbum
import ServiceMesh
import SmilePile
import TestSupport
import Testing

/// A library with some photos, and clocks that the test sets.
struct GroupStage {
    let folder: TemporaryFolder
    let wall = SetWallClock("2026-11-22T12:00:00Z")
    let boot = SetBootClock()
    var library: PhotoLibrary
    var mesh: Mesh { library.mesh }

    /// - Parameter worker: a program that stands in for the image worker once the photos are imported.
    init(photos: Int = 2, worker: ((TemporaryFolder) throws -> String)? = nil) async throws {
        folder = try TemporaryFolder("groups")
        library = try await Self.open(folder, wall, boot)
        let album = folder.file("album")
        try SampleAlbum(width: 320, height: 240).write(count: photos, to: album)
        let started = try await library.mesh.send(ImportPhotos(paths: [album]))
        _ = try await library.mesh.send(WaitForJob(job: started.job))
        if let worker { try await reopen(worker: worker(folder)) }
    }

    private static func open(
        _ folder: TemporaryFolder, _ wall: SetWallClock, _ boot: SetBootClock, worker: String? = nil
    ) async throws -> PhotoLibrary {
        var options = PhotoLibrary.Options.repeating(imageWorker: worker, workers: 2)
        (options.bootClock, options.wallClock) = (boot.clock, wall.clock)
        options.keyFile = folder.file("config/sealing.key")
        return try await PhotoLibrary.open(at: folder.file("library"), options: options)
    }

    mutating func reopen(worker: String? = nil) async throws {
        await library.close()
        library = try await Self.open(folder, wall, boot, worker: worker)
    }

    /// Both clocks go on.
    func pass(hours: Int64, milliseconds: Int64 = 0) {
        wall.pass(milliseconds: hours * 3_600_000 + milliseconds)
        boot.pass(milliseconds: hours * 3_600_000 + milliseconds)
    }

    func group(_ name: String = "Cousins") async throws -> Group {
        try await mesh.send(CreateGroup(name: name, firstName: "Ada"))
    }

    @discardableResult
    func send(_ id: Int64 = 1, to group: Group, offset: Int = 0) async throws -> GroupPhoto {
        try await mesh.send(SendGroupPhoto(groupId: group.id, id: id, utcOffset: offset))
    }

    func photos(_ group: Group? = nil) async throws -> [GroupPhoto] {
        try await mesh.send(ListGroupPhotos(groupId: group?.id)).photos
    }

    func write(_ body: @escaping @Sendable (any CatalogueTransaction) throws -> Void) async throws {
        try await library.catalogue.write(body)
    }

    func execute(_ sql: String) async throws {
        _ = try await library.catalogue.database.write { try $0.execute(sql) }
    }

    /// Names in `group-photos/`.
    func files() throws -> [String] {
        let path = library.path + "/group-photos"
        guard FileManager.default.fileExists(atPath: path) else { return [] }
        return try FileManager.default.contentsOfDirectory(atPath: path).sorted()
    }
}
