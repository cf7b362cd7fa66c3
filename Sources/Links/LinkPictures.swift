import Executors
import Foundation
import ImageWorkerProtocol
import Imaging
import Importing
import LibraryModel
import LibraryServices
import LibraryStorage
import ServiceMesh

/// The pictures that visitors get. They are a service of their own, which takes few requests at once: however many visitors come, the family's
/// own pictures have workers, and a link is revoked at once.
public actor LinkPictures: MeshService {
    public static let serviceName = "LinkPictures"
    public static let admission = AdmissionLimit(concurrent: 16, queued: 1_024)
    public static var messages: MessageList<LinkPictures> {
        OpenLinkPhoto.self
    }

    private let door: LinkDoor
    private let photoFiles: any PhotoFiles
    private let workers: ImageWorkerPool
    private let files: BlockingPool
    private unowned var mesh: Mesh?

    init(door: LinkDoor, photoFiles: any PhotoFiles, workers: ImageWorkerPool, files: BlockingPool) {
        self.door = door
        self.photoFiles = photoFiles
        self.workers = workers
        self.files = files
    }

    public func start(on mesh: Mesh) async throws { self.mesh = mesh }

    func open(_ request: OpenLinkPhoto) async throws -> OpenedLinkPhoto {
        let link = try await door.visited(request.token, request.visit)
        let uuid = request.uuid.lowercased()
        let photo = try await door.catalogue.read { transaction in
            guard let photo = try transaction.photos.find(.uuid(uuid)),
                try link.categories.contains(photo.categoryId) || transaction.links.contains(uuid, in: link.id)
            else { throw Self.notShown }
            return photo
        }
        let shown = LinkPhoto(photo, of: link)
        switch request.file {
        case .thumbnail, .preview: return try await small(request.file, of: photo, link)
        case .photo where link.givesDetails: return try await stored(.photo, of: photo, link)
        case .photo: return try await bare(photo, link)
        case .film:
            guard shown.plays else { throw Self.notGiven }
            return try await stored(.film, of: photo, link)
        // A link gives the original that the photo is shown by, and none other.
        case .raw: throw Self.notGiven
        case .original:
            guard shown.hasOriginal else { throw Self.notGiven }
            return try await stored(.original, of: photo, link, named: photo.sourceName)
        }
    }

    private func opened(_ kind: PhotoFileKind, of photo: Photo) async throws -> OpenedPhoto {
        guard let mesh else { throw MeshError(.unavailable, "The library is closing. Try again later.") }
        return try await mesh.send(OpenPhoto(uuid: photo.uuid, kind))
    }

    private func stored(
        _ kind: PhotoFileKind, of photo: Photo, _ link: StoredLink, named name: String? = nil
    ) async throws -> OpenedLinkPhoto {
        OpenedLinkPhoto(try await opened(kind, of: photo), of: link, name: name)
    }

    /// A thumbnail or preview that an image worker of ours has made is pixels and nothing else, and its file says who made it. Whatever
    /// else is in its place, the photo itself or a file that came with a library from elsewhere, is made anew.
    private func small(_ kind: PhotoFileKind, of photo: Photo, _ link: StoredLink) async throws -> OpenedLinkPhoto {
        let opened = try await opened(kind, of: photo)
        let isOurs = try await files.run { try SmallPicture.isOurs(opened, kind) }
        return isOurs ? OpenedLinkPhoto(opened, of: link, name: nil) : try await bare(photo, link)
    }

    /// The picture made anew from its pixels: no place, no camera, no names, whatever its file holds, and wherever in it.
    ///
    /// Rejected: to take what is known out of the file. Makers' notes, thumbnails in thumbnails and what stands behind the picture's
    /// end are known to nobody in full.
    private func bare(_ photo: Photo, _ link: StoredLink) async throws -> OpenedLinkPhoto {
        let name = try StoredPicture.name(ofPhoto: photo.path)
        let (photoFiles, files) = (photoFiles, files)
        let (source, content) = try await files.run {
            let source = OwnedFile(owning: try StoredPicture.open(name, in: photoFiles))
            let staged = try photoFiles.stage()
            // Without a name it goes with the last who has it open.
            photoFiles.unstage([staged.name])
            return (source, OwnedFile(owning: staged.descriptor))
        }
        defer { withExtendedLifetime((source, content)) {} }
        let (from, to) = (source.withDescriptor { $0 }, content.withDescriptor { $0 })
        do throws(ImagingError) {
            let made = try await workers.makeBare(source: from, picture: to, turned: photo.turned)
            return OpenedLinkPhoto(
                id: link.id, mediaType: "image/jpeg", size: made.fileSize, offset: nil,
                version: OpenedLinkPhoto.version(of: photo.contentDigest, photo.rotation) + "b", name: nil,
                content: content)
        } catch {
            throw StoredPicture.fault(error)
        }
    }

    private static let notShown = MeshError(.notFound, "This link does not show that photo, or not any more.")
    private static let notGiven = MeshError(.permissionDenied, "This link does not give that file.")
}

extension OpenLinkPhoto: HandledMessage {
    public func perform(on service: LinkPictures) async throws -> OpenedLinkPhoto { try await service.open(self) }
}
