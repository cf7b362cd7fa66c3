import Imaging
import LibraryModel
import LibraryStorage
import ServiceMesh

/// Files of photos that the library has, as their pictures are opened, and what is said when they cannot be.
package enum StoredPicture {
    /// - Throws: `data_loss` for a path that no photo of a library has, wherever a catalogue has it from.
    package static func name(ofPhoto path: String) throws -> StoredName {
        let name = try StoredName(catalogued: path)
        guard name.kind == .photos else {
            throw MeshError(.dataLoss, "The catalogue says that a photo's file is '\(name.path)'. It is left alone.")
        }
        return name
    }

    /// Whether a photo has a preview, by its size as the catalogue has it. A placeholder is smaller than that says.
    package static func hasPreview(width: Int, height: Int, isUnseen: Bool) -> Bool {
        !isUnseen && ImageLimits.previewSize(ofPhoto: width, height) != nil
    }

    package static func hasPreview(_ entry: PhotoFileEntry) -> Bool {
        hasPreview(width: entry.width, height: entry.height, isUnseen: entry.isUnseen)
    }

    /// What is said of a source does not help with a photo that the library has: to copy it again, or to convert it.
    package static func fault(_ error: ImagingError) -> MeshError {
        switch error {
        case .unsupported(let found), .damaged(let found), .workerCrashed(let found):
            MeshError(
                .dataLoss, "The photo's file cannot be opened (\(found)). Restore it from a backup.",
                details: error.meshError.details)
        default: error.meshError
        }
    }

    package static func open(_ name: StoredName, in photoFiles: any PhotoFiles) throws -> Int32 {
        do {
            return try photoFiles.open(name)
        } catch {
            let error = MeshError(describing: error)
            let remedy = error.status == .notFound ? " Restore it from a backup." : ""
            throw MeshError(error.status, error.message + remedy, details: ["imaging": "unreadable"])
        }
    }
}
