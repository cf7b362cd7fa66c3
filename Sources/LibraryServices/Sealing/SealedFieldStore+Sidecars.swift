import LibraryModel
import LibraryStorage
import ServiceMesh
import Sidecars

extension SealedFieldStore {
    /// Without a key where the sealed fields are not asked for.
    func sidecar(_ request: GetPhotoSidecar) async throws -> PhotoSidecar {
        let (photo, category) = try await catalogue.read { transaction in
            var photo = try transaction.photos.require(.id(request.id))
            if request.asShown == true { photo.rotation = nil }
            return (photo, try transaction.categories.require(.id(photo.categoryId)).displayName)
        }
        let detail = request.withDetails == true ? try await detail(of: photo.id) : nil
        let document = XMPDocument(of: photo, in: category, saying: detail)
        return PhotoSidecar(
            photoId: photo.id, text: document.text, saysMore: photo.saysMore(in: category, and: detail),
            unreadable: detail?.unreadable ?? [])
    }
}

extension GetPhotoSidecar: HandledMessage {
    public func perform(on service: SealedFieldStore) async throws -> PhotoSidecar { try await service.sidecar(self) }
}
