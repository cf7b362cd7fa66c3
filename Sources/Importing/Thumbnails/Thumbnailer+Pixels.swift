import Foundation
import Imaging
import ImageWorkerProtocol
import LibraryModel
import LibraryServices
import LibraryStorage
import ServiceMesh

extension Thumbnailer {
    // Not isolated: several are decoded at once, and nothing of the actor's changes.
    nonisolated func pixels(_ request: GetPhotoPixels) async throws -> PhotoPixels {
        guard GetPhotoPixels.sides.contains(request.width), GetPhotoPixels.sides.contains(request.height) else {
            throw MeshError(
                .invalidArgument,
                "'width' and 'height' are between \(GetPhotoPixels.sides.lowerBound) and \(GetPhotoPixels.sides.upperBound)."
            )
        }
        let photo = try await photo(id: request.id, uuid: request.uuid)
        let (width, height) = Self.room(request)
        // What a photo's file holds never changes under its name, so these pixels, turned or not, are those of the digest beside them.
        let name = try StoredPicture.name(ofPhoto: photo.path)
        let photoFiles = photoFiles
        let source = try await files.run { try StoredPicture.open(name, in: photoFiles) }
        defer { close(source) }
        do throws(ImagingError) {
            let (picture, bytes) = try await workers.pixels(
                source: source, within: width, height, turned: photo.turned)
            return PhotoPixels(
                width: picture.width, height: picture.height, rgb: Data(bytes).base64EncodedString(),
                contentDigest: photo.contentDigest)
        } catch {
            throw StoredPicture.fault(error)
        }
    }

    /// What is asked for, reduced so that the picture within it has ``GetPhotoPixels/maximumPixels`` at most. By the room and
    /// not by the sides that the catalogue says: a file may have others.
    private static func room(_ request: GetPhotoPixels) -> (width: Int, height: Int) {
        let pixels = request.width * request.height
        guard pixels > GetPhotoPixels.maximumPixels else { return (request.width, request.height) }
        let scale = (Double(GetPhotoPixels.maximumPixels) / Double(pixels)).squareRoot()
        return (max(1, Int(Double(request.width) * scale)), max(1, Int(Double(request.height) * scale)))
    }
}

extension GetPhotoPixels: HandledMessage {
    public func perform(on service: Thumbnailer) async throws -> PhotoPixels { try await service.pixels(self) }
}
