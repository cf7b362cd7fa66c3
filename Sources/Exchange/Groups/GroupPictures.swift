import Executors
import Files
import Imaging
import LibraryModel
import LibraryServices
import ServiceMesh

/// Makes a picture of which nothing is left but its pixels. An image worker does, which nothing gets out of, whatever the file is
/// that it is given; a simulation, which has no processes, brings its own.
package protocol BarePictureMaker: Sendable {
    /// - Parameter turned: degrees by which the picture is shown turned, clockwise.
    func makeBare(source: Int32, picture: Int32, turned: Int) async throws(ImagingError) -> BarePicture
}

extension ImageWorkerPool: BarePictureMaker {}

/// Makes the pictures that groups have.
struct GroupPictures: Sendable {
    /// Bytes that stay free on the disk.
    private static let reservedBytes: Int64 = 64 << 20

    let folder: GroupPhotoFolder
    let maker: any BarePictureMaker
    let files: BlockingPool

    /// Why there is no picture: a worker says so, or a file cannot be written.
    enum Failure: Error {
        case imaging(ImagingError)
        case other(any Error)

        /// Of a photo of the library.
        var ofStoredPhoto: any Error {
            switch self {
            case .imaging(let error): StoredPicture.fault(error)
            case .other(let error): error
            }
        }

        /// Of a file that another machine has sent.
        var ofReceivedFile: any Error {
            switch self {
            case .imaging(.unsupported(let found)), .imaging(.damaged(let found)), .imaging(.workerCrashed(let found)):
                MeshError(
                    .invalidArgument, "What was sent is no picture that can be shown (\(found)). Send another one.")
            case .imaging(let error): error.meshError
            case .other(let error): error
            }
        }
    }

    /// Makes the picture of a photo of a group, of any file that has one, and puts it in its place.
    /// - Parameter turned: degrees by which the picture is shown turned, clockwise.
    func make(of source: OwnedFile, turned: Int = 0, for id: String) async throws(Failure) -> BarePicture {
        let folder = folder
        do {
            let content = try await files.run {
                try Self.requireRoom(folder)
                return try folder.begin(id)
            }
            // Both are open until the worker has answered.
            defer { withExtendedLifetime((source, content)) {} }
            let (from, to) = (source.withDescriptor { $0 }, content.withDescriptor { $0 })
            let made = try await maker.makeBare(source: from, picture: to, turned: turned)
            try await files.run { try folder.publish(id, content) }
            return made
        } catch let error as ImagingError {
            throw .imaging(error)
        } catch {
            throw .other(error)
        }
    }

    /// Blocks.
    static func requireRoom(_ folder: GroupPhotoFolder) throws {
        guard try folder.room() >= reservedBytes else {
            throw MeshError(
                short: .space, "There is not enough room on the library's disk. Free some space, then send it again.")
        }
    }
}
