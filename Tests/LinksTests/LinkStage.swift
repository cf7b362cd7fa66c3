import Foundation
import LibraryModel
import LibraryTestSupport
import SampleAlbum
import ServiceMesh
import SmilePile
import TestSupport

/// A library with photos, clocks in the test's hands, and what parents and visitors ask of links.
struct LinkStage {
    let folder: TemporaryFolder
    let wall = SetWallClock("2026-11-30T12:00:00Z")
    let boot = SetBootClock()
    var library: PhotoLibrary
    var mesh: Mesh { library.mesh }
    /// The web program, which asks for visitors.
    var nobody: CallContext { .root(mesh: mesh, role: .nobody) }

    init(photos: Int = 3, width: Int = 320) async throws {
        folder = try TemporaryFolder("links")
        library = try await Self.open(folder, wall, boot)
        guard photos > 0 else { return }
        let album = folder.file("album")
        try SampleAlbum(width: width, height: width * 3 / 4, model: "Cam 7").write(count: photos, to: album)
        try await importing(album)
    }

    func importing(_ path: String) async throws {
        let started = try await mesh.send(ImportPhotos(paths: [path]))
        _ = try await mesh.send(WaitForJob(job: started.job))
    }

    private static func open(_ folder: TemporaryFolder, _ wall: SetWallClock, _ boot: SetBootClock) async throws
        -> PhotoLibrary
    {
        var options = PhotoLibrary.Options.repeating(workers: 2)
        (options.wallClock, options.bootClock) = (wall.clock, boot.clock)
        options.keyFile = folder.file("config/sealing.key")
        return try await PhotoLibrary.open(at: folder.file("library"), options: options)
    }

    mutating func reopen() async throws {
        await library.close()
        library = try await Self.open(folder, wall, boot)
    }

    /// Time passes for everybody.
    func pass(days: Int64 = 0, seconds: Int64 = 0) {
        let milliseconds = (days * 86_400 + seconds) * 1_000
        wall.pass(milliseconds: milliseconds)
        boot.pass(milliseconds: milliseconds)
    }

    func allPhotos() async throws -> [Photo] { try await mesh.send(SearchPhotos(limit: 1_000)).photos }

    func ids(_ numbers: Int...) async throws -> [Int64] {
        let photos = try await allPhotos().sorted { $0.id < $1.id }
        return numbers.map { photos[$0].id }
    }

    // MARK: A visitor

    func open(_ token: String, password: String? = nil, visit: String? = nil) async throws -> OpenedLink {
        try await mesh.send(
            OpenLink(token: token, password: password.map { LinkPassword($0) }, visit: visit), in: nobody)
    }

    func photos(_ token: String, visit: String? = nil) async throws -> [LinkPhoto] {
        var photos: [LinkPhoto] = []
        var after: String?
        repeat {
            let page = try await mesh.send(ListLinkPhotos(token: token, visit: visit, after: after), in: nobody)
            photos += page.photos
            after = page.next
        } while after != nil
        return photos
    }

    func picture(_ token: String, _ uuid: String, _ file: PhotoFileKind, visit: String? = nil) async throws -> Data {
        let opened = try await mesh.send(OpenLinkPhoto(token: token, visit: visit, uuid: uuid, file), in: nobody)
        guard let content = opened.content else { return Data() }
        var bytes = Data(count: Int(opened.size))
        let count = bytes.withUnsafeMutableBytes { room in
            content.withDescriptor { pread($0, room.baseAddress, room.count, off_t(opened.offset ?? 0)) }
        }
        return bytes.prefix(max(0, count))
    }

    /// What the refusal of `body` says of the link, or its status.
    func reason(_ body: () async throws -> Void) async -> String? {
        guard let error = await refusal(body) else { return nil }
        return error.details["link"]?.stringValue ?? error.status.rawValue
    }
}
