import Foundation
import ImageWorkerProtocol
import LibraryModel
import LibraryStorage
import ServiceMesh

extension StoredLink {
    func opened(photoCount: Int, visit: String) -> OpenedLink {
        OpenedLink(
            id: id, title: title, expiresAt: expiresAt, photoCount: photoCount, givesOriginals: givesOriginals,
            givesDetails: givesDetails, visit: visit)
    }
}

extension LinkPhoto {
    /// What a link tells of a photo. Captions are free text, in which names stand.
    init(_ photo: Photo, of link: StoredLink) {
        let isGiven = link.givesDetails || link.givesOriginals
        let plays = isGiven && photo.originalPath != nil && (photo.kind == .film || photo.kind == .moving)
        self.init(
            uuid: photo.uuid, width: photo.width, height: photo.height,
            date: photo.takenAt.map { $0.text(to: min(photo.datePrecision ?? .day, .day)) },
            plays: plays, isFilm: photo.isFilm, rotation: plays ? photo.rotation : nil,
            duration: photo.isFilm ? photo.duration : nil,
            caption: link.givesDetails ? photo.caption : nil,
            hasOriginal: link.givesOriginals && photo.originalPath != nil)
    }
}

extension OpenedLinkPhoto {
    init(_ opened: OpenedPhoto, of link: StoredLink, name: String?) {
        self.init(
            id: link.id, mediaType: opened.mediaType, size: opened.size, offset: opened.offset,
            version: Self.version(of: opened.contentDigest, opened.rotation), name: name, content: opened.content)
    }

    /// A part of the digest: all of it would tell who has the same file.
    static func version(of digest: String, _ rotation: Rotation?) -> String {
        digest.prefix(16) + (rotation.map { "r\($0.rawValue)" } ?? "")
    }
}

/// Thumbnails and previews, as far as their files say who made them.
enum SmallPicture {
    /// Whether a worker of this program made it. Blocks.
    static func isOurs(_ opened: OpenedPhoto, _ kind: PhotoFileKind) throws -> Bool {
        guard let content = opened.content, opened.offset == nil else { return false }
        let isPreview = kind == .preview
        let room = isPreview ? PreviewMaker.tailBytes : ThumbnailMaker.headBytes
        var part = [UInt8](repeating: 0, count: room)
        let start = isPreview ? max(0, opened.size - Int64(room)) : 0
        let count = content.withDescriptor { pread($0, &part, part.count, off_t(start)) }
        guard count > 0 else { return false }
        let read = Array(part[..<count])
        return isPreview
            ? PreviewMaker.version(ofPreview: read) != nil : (ThumbnailMaker.version(ofThumbnail: read) ?? 0) > 0
    }
}
