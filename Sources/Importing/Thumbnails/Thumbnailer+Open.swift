import CLinux
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
        if request.file == .original || request.file == .raw { try access.viewer.requireOriginals() }
        switch request.file {
        case .thumbnail: return try await openThumbnail(of: photo)
        case .preview: return try await openPreview(of: photo, isMade: true)
        case .photo, .original, .film, .raw: return try await openStored(request.file, of: photo)
        }
    }

    /// The same file through a descriptor that cannot write, for whoever it is handed to.
    private static func readOnly(_ file: OwnedFile) throws -> OwnedFile {
        let other = file.withDescriptor { clinux_open("/proc/self/fd/\($0)", O_RDONLY, 0) }
        guard other >= 0 else {
            throw MeshError(.resourceExhausted, "Too many files are open. Close some, or try again later.")
        }
        return OwnedFile(owning: other)
    }

    /// One that is missing, or shows the photo as it was before it was turned, is made first.
    private nonisolated func openThumbnail(of photo: Photo) async throws -> OpenedPhoto {
        var photo = photo
        let name = try StoredPicture.name(ofPhoto: photo.path).thumbnail
        let (photoFiles, files) = (photoFiles, files)
        // Once more for each turn that comes in between.
        for _ in 0..<Self.mostTries {
            let turned = photo.turned
            if let opened = try await files.run({ try Self.openIfTurned(name, by: turned, in: photoFiles) }) {
                return try Self.reply(photo, name, opened, .thumbnail)
            }
            _ = try await makeToShow(name, turned: turned)
            photo = try await self.photo(id: photo.id, uuid: nil)
        }
        throw MeshError(.unavailable, "The photo \(photo.id) is being turned, or removed. Try again.")
    }

    private static let mostTries = 4

    /// The photo as it is shown, its original or its film.
    private nonisolated func openStored(_ kind: PhotoFileKind, of photo: Photo) async throws -> OpenedPhoto {
        let name = try Self.name(of: kind, of: photo)
        let photoFiles = photoFiles
        let opened = try await files.run { try Self.openIfThere(name, in: photoFiles) }
        guard kind == .photo, photo.turned != 0, let opened else { return try Self.reply(photo, name, opened, kind) }
        return try await turned(photo, opened.content)
    }

    /// The photo turned, made from its file, which has its pixels as the camera held them. In memory: what is looked at writes nothing,
    /// also on a full disk.
    ///
    /// Rejected: a JPEG's own orientation in the bytes that are handed over. Nothing would be decoded, but photos that are no JPEG have
    /// none, and not every program that saves the picture looks at it. A file of its own for each photo that is turned, which is one
    /// more kind to keep, check and clean for what takes 50 ms, and few are turned.
    private nonisolated func turned(_ photo: Photo, _ source: OwnedFile) async throws -> OpenedPhoto {
        let content = OwnedFile(owning: clinux_memory_file("smilepile-turned-photo"))
        defer { withExtendedLifetime((source, content)) {} }
        let (from, to) = (source.withDescriptor { $0 }, content.withDescriptor { $0 })
        guard to >= 0 else {
            throw MeshError(.resourceExhausted, "There is no memory for the photo \(photo.id). Try again later.")
        }
        do {
            let made = try await workers.makeWhole(source: from, picture: to, turned: photo.turned)
            return OpenedPhoto(
                id: photo.id, uuid: photo.uuid, mediaType: "image/jpeg", size: made.fileSize,
                contentDigest: photo.contentDigest, rotation: photo.rotation, content: try Self.readOnly(content))
        } catch let error as ImagingError {
            throw StoredPicture.fault(error)
        }
    }

    nonisolated func open(_ request: OpenTrashedPhoto) async throws -> OpenedPhoto {
        guard let photo = try await catalogue.read({ try $0.trash.find(request.uuid.lowercased()) })?.photo else {
            throw MeshError(.notFound, "There is no such photo in the trash. List what is: trash.list.")
        }
        switch request.file {
        case .preview: return try await openPreview(of: photo, isMade: false)
        case .photo, .original, .film, .raw: return try await openStored(request.file, of: photo)
        case .thumbnail:
            let name = try Self.name(of: request.file, of: photo)
            let (photoFiles, turned) = (photoFiles, photo.turned)
            if let opened = try await files.run({ try Self.openIfTurned(name, by: turned, in: photoFiles) }) {
                return try Self.reply(photo, name, opened, request.file)
            }
            // Caches keep what comes for as long as the photo is turned so.
            return try await openStored(.photo, of: photo)
        }
    }

    /// The photo itself shows the same, so it stands in for a preview that cannot be made: on a full disk, in a library that is only
    /// read, of a picture that is damaged.
    /// - Parameter isMade: whether a missing one is made.
    private nonisolated func openPreview(of photo: Photo, isMade: Bool) async throws -> OpenedPhoto {
        let name = try StoredPicture.name(ofPhoto: photo.path)
        let (photoFiles, files, turned) = (photoFiles, files, photo.turned)
        if StoredPicture.hasPreview(width: photo.width, height: photo.height, isUnseen: photo.unseenBy != nil) {
            if let opened = try? await files.run({ try Self.openIfWhole(name.preview, turned, in: photoFiles) }) {
                return try Self.reply(photo, name.preview, opened)
            }
            if isMade {
                let isThere = try? await makeToShow(name.preview, turned: turned)
                try Task.checkCancellation()
                if isThere == true,
                    let opened = try? await files.run({ try Self.openIfWhole(name.preview, turned, in: photoFiles) })
                {
                    return try Self.reply(photo, name.preview, opened)
                }
            }
        }
        return try await openStored(.photo, of: photo)
    }

    /// Nil where there is no such thumbnail, or none that shows the photo turned so. Blocks.
    private static func openIfTurned(
        _ name: StoredName, by turned: Int, in photoFiles: any PhotoFiles
    ) throws -> (content: OwnedFile, size: Int64)? {
        guard let opened = try openIfThere(name, in: photoFiles) else { return nil }
        var head = [UInt8](repeating: 0, count: ThumbnailMaker.headBytes)
        let count = opened.content.withDescriptor { pread($0, &head, head.count, 0) }
        let made = ThumbnailMaker.made(ofThumbnail: Array(head.prefix(max(0, count))))
        // What does not say it is from before photos were turned.
        return (made?.turned ?? 0) == turned ? opened : nil
    }

    /// Nil where there is no such preview, or a part of one, or one that shows the photo turned otherwise. Blocks.
    private static func openIfWhole(
        _ name: StoredName, _ turned: Int, in photoFiles: any PhotoFiles
    ) throws -> (content: OwnedFile, size: Int64)? {
        guard let opened = try openIfThere(name, in: photoFiles) else { return nil }
        var tail = [UInt8](repeating: 0, count: PreviewMaker.tailBytes)
        let start = max(0, opened.size - Int64(tail.count))
        let count = opened.content.withDescriptor { pread($0, &tail, tail.count, off_t(start)) }
        return count == tail.count && PreviewMaker.made(ofPreview: tail)?.turned == turned ? opened : nil
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
                contentDigest: photo.contentDigest, rotation: photo.rotation, content: content)
        }
        return OpenedPhoto(
            id: photo.id, uuid: photo.uuid, mediaType: name.mediaType, size: size, contentDigest: photo.contentDigest,
            rotation: photo.rotation, content: content)
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
        case .raw:
            guard let path = photo.companionRaw?.path ?? (photo.isRaw ? photo.originalPath : nil) else {
                throw MeshError(.notFound, "Photo \(photo.id) has no raw file. Ask for its original.")
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

    /// How the name of a picture that is no raw file ends, with the dot.
    static func pictureEnding(_ mediaType: String) -> String {
        switch mediaType {
        case "image/jpeg": ".jpg"
        case "image/tiff": ".tif"
        default: "." + (mediaType.split(separator: "/").last ?? "bin")
        }
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
        "fff": "image/x-dcraw", "iiq": "image/x-dcraw", "dcr": "image/x-dcraw", "raw": "image/x-dcraw",
        "x3f": "image/x-dcraw", "srf": "image/x-sony-arw", "rwl": "image/x-panasonic-rw2",
        "gpr": "image/x-adobe-dng",
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
