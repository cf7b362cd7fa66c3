import Files
import Foundation
import ImageWorkerProtocol
import LibraryModel
import LibraryServices
import LibraryStorage
import ServiceMesh

extension Thumbnailer {
    // Not isolated: many are opened at once, and nothing of the actor's changes but where a thumbnail has to be made.
    nonisolated func open(_ request: OpenPhoto) async throws -> OpenedPhoto {
        let photo = try await photo(id: request.id, uuid: request.uuid)
        // A film is what is shown, and has no other form; what it was made of besides is not asked for by that.
        if request.file == .original { try access.viewer.requireOriginals() }
        if request.file == .preview { return try await openPreview(of: photo, isMade: true) }
        let name = try Self.name(of: request.file, of: photo)
        let (photoFiles, files) = (photoFiles, files)
        var opened = try await files.run { try Self.openIfThere(name, in: photoFiles) }
        if opened == nil, request.file == .thumbnail {
            _ = try await thumbnail(GetThumbnail(id: photo.id))
            opened = try await files.run { try Self.openIfThere(name, in: photoFiles) }
        }
        return try Self.reply(photo, name, opened, request.file)
    }

    nonisolated func open(_ request: OpenTrashedPhoto) async throws -> OpenedPhoto {
        guard let photo = try await catalogue.read({ try $0.trash.find(request.uuid.lowercased()) })?.photo else {
            throw MeshError(.notFound, "There is no such photo in the trash. List what is: trash.list.")
        }
        if request.file == .preview { return try await openPreview(of: photo, isMade: false) }
        let name = try Self.name(of: request.file, of: photo)
        let photoFiles = photoFiles
        return try Self.reply(
            photo, name, try await files.run { try Self.openIfThere(name, in: photoFiles) }, request.file)
    }

    /// The photo itself shows the same, so it stands in for a preview that cannot be made: on a full disk, in a library that is only
    /// read, of a picture that is damaged.
    /// - Parameter isMade: whether a missing one is made.
    private nonisolated func openPreview(of photo: Photo, isMade: Bool) async throws -> OpenedPhoto {
        let name = try StoredPicture.name(ofPhoto: photo.path)
        let (photoFiles, files) = (photoFiles, files)
        if StoredPicture.hasPreview(width: photo.width, height: photo.height, isUnseen: photo.unseenBy != nil) {
            if let opened = try? await files.run({ try Self.openIfWhole(name.preview, in: photoFiles) }) {
                return try Self.reply(photo, name.preview, opened)
            }
            if isMade {
                let isThere = try? await makeToShow(name.preview)
                try Task.checkCancellation()
                if isThere == true,
                    let opened = try? await files.run({ try Self.openIfWhole(name.preview, in: photoFiles) })
                {
                    return try Self.reply(photo, name.preview, opened)
                }
            }
        }
        return try Self.reply(photo, name, try await files.run { try Self.openIfThere(name, in: photoFiles) })
    }

    /// Nil where there is no such preview, or a part of one. Blocks.
    private static func openIfWhole(
        _ name: StoredName, in photoFiles: any PhotoFiles
    ) throws -> (content: OwnedFile, size: Int64)? {
        guard let opened = try openIfThere(name, in: photoFiles) else { return nil }
        var tail = [UInt8](repeating: 0, count: PreviewMaker.tailBytes)
        let start = max(0, opened.size - Int64(tail.count))
        let count = opened.content.withDescriptor { pread($0, &tail, tail.count, off_t(start)) }
        return count == tail.count && PreviewMaker.version(ofPreview: tail) != nil ? opened : nil
    }

    private static func reply(
        _ photo: Photo, _ name: StoredName, _ opened: (content: OwnedFile, size: Int64)?,
        _ kind: PhotoFileKind = .preview
    ) throws -> OpenedPhoto {
        guard let (content, size) = opened else {
            throw MeshError(
                .notFound, "The file \(name.path) is not there. Restore it from a backup.",
                details: ["imaging": "unreadable"])
        }
        if kind == .film, let offset = photo.filmOffset, let length = photo.filmLength {
            guard offset <= size, length <= size - offset else {
                throw MeshError(.dataLoss, "The film is not in \(name.path) any more. Restore it from a backup.")
            }
            return OpenedPhoto(
                id: photo.id, uuid: photo.uuid, mediaType: "video/mp4", size: length, offset: offset,
                contentDigest: photo.contentDigest, content: content)
        }
        return OpenedPhoto(
            id: photo.id, uuid: photo.uuid, mediaType: name.mediaType, size: size, contentDigest: photo.contentDigest,
            content: content)
    }

    private static func name(of kind: PhotoFileKind, of photo: Photo) throws -> StoredName {
        switch kind {
        case .photo: return try StoredPicture.name(ofPhoto: photo.path)
        case .thumbnail: return try StoredPicture.name(ofPhoto: photo.path).thumbnail
        case .preview: return try StoredPicture.name(ofPhoto: photo.path).preview
        case .film:
            let isInOriginal = photo.kind == .film || photo.filmOffset != nil
            guard let path = photo.companionFilm?.path ?? (isInOriginal ? photo.originalPath : nil) else {
                throw MeshError(.notFound, "Photo \(photo.id) is no film, and does not move. Ask for its photo.")
            }
            return try StoredName(catalogued: path)
        case .original:
            guard let path = photo.originalPath else {
                throw MeshError(
                    .notFound,
                    "The library does not have the original of photo \(photo.id). Import its file again to keep it.")
            }
            return try StoredName(catalogued: path)
        }
    }

    /// Nil where there is no such file, or an empty one. Blocks.
    private static func openIfThere(
        _ name: StoredName, in photoFiles: any PhotoFiles
    ) throws -> (content: OwnedFile, size: Int64)? {
        let content: OwnedFile
        do {
            content = OwnedFile(owning: try photoFiles.open(name))
        } catch {
            let error = MeshError(describing: error)
            guard error.status == .notFound else { throw error }
            return nil
        }
        var status = stat()
        guard content.withDescriptor({ fstat($0, &status) }) == 0 else {
            throw FileSystem.Failure(action: "look at", path: name.path, code: errno)
        }
        return status.st_size > 0 ? (content, Int64(status.st_size)) : nil
    }
}

extension StoredName {
    /// By its ending, which an import gave it by its content.
    var mediaType: String {
        let ending = fileName.split(separator: ".", omittingEmptySubsequences: false).last.map { $0.lowercased() } ?? ""
        return Self.mediaTypes[ending] ?? "application/octet-stream"
    }

    /// - Parameter ending: with the dot.
    static func isFilm(ending: String) -> Bool {
        mediaTypes[String(ending.dropFirst())]?.hasPrefix("video/") ?? false
    }

    /// How a film's name ends, with the dot.
    static func filmEnding(_ mediaType: String) -> String {
        let endings = [
            "video/quicktime": "mov", "video/3gpp": "3gp", "video/x-matroska": "mkv", "video/webm": "webm",
            "video/x-msvideo": "avi", "video/mp2t": "mts", "video/mpeg": "mpg", "video/x-ms-asf": "wmv",
        ]
        return "." + (endings[mediaType] ?? "mp4")
    }

    private static let mediaTypes = [
        "jpg": "image/jpeg", "jpeg": "image/jpeg", "png": "image/png", "webp": "image/webp", "gif": "image/gif",
        "bmp": "image/bmp", "tif": "image/tiff", "tiff": "image/tiff", "heic": "image/heic", "heif": "image/heic",
        "avif": "image/avif", "jxl": "image/jxl", "jp2": "image/jp2", "j2k": "image/jp2", "j2c": "image/jp2",
        "jpc": "image/jp2", "jpf": "image/jp2", "jpx": "image/jp2",
        "dng": "image/x-adobe-dng", "cr2": "image/x-canon-cr2", "cr3": "image/x-canon-cr3", "crw": "image/x-dcraw",
        "nef": "image/x-nikon-nef", "nrw": "image/x-nikon-nef", "arw": "image/x-sony-arw", "sr2": "image/x-sony-arw",
        "raf": "image/x-fuji-raf", "orf": "image/x-olympus-orf", "rw2": "image/x-panasonic-rw2",
        "pef": "image/x-pentax-pef", "srw": "image/x-samsung-srw", "mrw": "image/x-dcraw", "3fr": "image/x-dcraw",
        "erf": "image/x-dcraw", "mef": "image/x-dcraw", "mos": "image/x-dcraw", "kdc": "image/x-dcraw",
        "mp4": "video/mp4", "m4v": "video/mp4",
        "mov": "video/quicktime", "qt": "video/quicktime",
        "3gp": "video/3gpp", "3g2": "video/3gpp", "mkv": "video/x-matroska", "webm": "video/webm",
        "avi": "video/x-msvideo", "mts": "video/mp2t", "m2ts": "video/mp2t", "ts": "video/mp2t", "mpg": "video/mpeg",
        "mpeg": "video/mpeg", "vob": "video/mpeg", "wmv": "video/x-ms-asf", "asf": "video/x-ms-asf",
    ]
}

extension OpenTrashedPhoto: HandledMessage {
    public func perform(on service: Thumbnailer) async throws -> OpenedPhoto { try await service.open(self) }
}

extension OpenPhoto: HandledMessage {
    public func perform(on service: Thumbnailer) async throws -> OpenedPhoto { try await service.open(self) }
}
