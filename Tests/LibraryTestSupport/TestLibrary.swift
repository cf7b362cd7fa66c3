import CatalogueTestSupport
import Foundation
import LibraryModel
import LibraryServices
import SampleAlbum
import ServiceMesh
import SmilePile
import TestSupport

/// An open library in a folder of its own, and what tests do with one.
package final class TestLibrary: Sendable {
    package let folder: TemporaryFolder
    package let library: PhotoLibrary

    package var mesh: Mesh { library.mesh }
    package var path: String { library.path }
    /// Of its sealed fields; made when something is sealed.
    package var keyFile: String { folder.file("config/sealing.key") }

    /// - Parameters:
    ///   - imageMemory: bytes that image workers share for big photos.
    ///   - sourceClock: by which files are known again; unless told, every file seems to be written to just now.
    package init(
        _ purpose: String = "library", imageMemory: UInt64? = nil, sourceClock: WallClock = TestLibrary.beforeAllFiles
    ) async throws {
        folder = try TemporaryFolder(purpose)
        var options = PhotoLibrary.Options.repeating(workers: 2)
        if let imageMemory { options.imageMemory = imageMemory }
        options.sourceClock = sourceClock
        options.keyFile = folder.file("config/sealing.key")
        library = try await PhotoLibrary.open(at: folder.file("library"), options: options)
    }

    package static let beforeAllFiles = WallClock { Timestamp(milliseconds: 0) }

    /// Opens it again, once it is closed, with the same key file unless told.
    package func reopened(keyFile other: String? = nil) async throws -> PhotoLibrary {
        var options = PhotoLibrary.Options.repeating(workers: 2)
        options.keyFile = other ?? keyFile
        options.sourceClock = Self.beforeAllFiles
        return try await PhotoLibrary.open(at: path, options: options)
    }

    /// Writes sample photos and imports them.
    package func importSamples(_ count: Int, album: SampleAlbum = SampleAlbum(width: 320, height: 240)) async throws
        -> JobSnapshot
    {
        let source = folder.file("album")
        try album.write(count: count, to: source)
        return try await importing(source)
    }

    package func importing(_ path: String, originals: Bool? = nil, dryRun: Bool? = nil) async throws -> JobSnapshot {
        try await run(ImportPhotos(paths: [path], originals: originals, dryRun: dryRun))
    }

    /// Enters rows without files, as a program does that takes over a catalogue.
    @discardableResult
    package func add(_ photos: [SourcedPhoto]) async throws -> PhotosChanged {
        try await mesh.send(AddPhotos(photos: photos), in: .root(mesh: mesh, role: .service))
    }

    /// Sends a message that starts a job and waits for its end.
    package func run<M: HandledJob>(_ message: M) async throws -> JobSnapshot {
        let started = try await mesh.send(message)
        return try await mesh.send(WaitForJob(job: started.job))
    }

    package func lines(_ job: JobID) async throws -> [ReceiptLine] {
        try await mesh.send(GetJobReceipt(job: job)).lines
    }

    package func allPhotos() async throws -> [Photo] {
        var photos: [Photo] = []
        var next: String?
        repeat {
            let page = try await mesh.send(SearchPhotos(limit: 1000, after: next))
            photos += page.photos
            next = page.next
        } while next != nil
        return photos
    }

    /// Names of the files in a folder of the library.
    package func files(_ name: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: path + "/" + name).sorted()
    }

    package func bytes(_ relative: String) throws -> Data {
        try Data(contentsOf: URL(fileURLWithPath: path + "/" + relative))
    }
}

extension PhotoLibrary.Options {
    /// Of a library whose services' transactions run twice each: a test of anything fails where a body cannot be repeated.
    package static func repeating(imageWorker: String? = nil, workers: Int) -> PhotoLibrary.Options {
        var options = PhotoLibrary.Options(imageWorker: imageWorker, workers: workers)
        options.servicesCatalogue = { RepeatingCatalogue($0) }
        return options
    }
}

/// The status of the error that `body` throws, or nil where it throws none.
package func status(_ body: () async throws -> Void) async -> MeshStatus? { await refusal(body)?.status }

/// What a call fails with; nil where it does not.
package func refusal(_ body: () async throws -> Void) async -> MeshError? {
    do {
        try await body()
        return nil
    } catch {
        return MeshError(describing: error)
    }
}
