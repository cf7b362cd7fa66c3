import Imaging
import LibraryModel
import LibraryServices
import LibraryStorage
import ServiceMesh

/// Makes a stored photo, its thumbnail and its preview from a source, and a copy of the source, in the staging folder. For imports and
/// restores only.
/// Errors: `unimplemented` (unsupported media), `data_loss` (damaged), `resource_exhausted` (too large, took too long),
/// `not_found` (unreadable), `unavailable` (it changed meanwhile, or its helper was killed), `cancelled`.
package struct PreparePhoto: Message {
    package typealias Reply = PreparedPhoto
    package static let method = "thumbnail.prepare"
    package static let access = Role.service
    package static let kind = MessageKind.write
    package static let summary = "Makes a photo, its thumbnail and its preview from a source, in the staging folder."
    /// An absolute path; of ``isStaged``, a name in the staging folder.
    package let source: String
    /// Whether it comes from a backup, and is staged already; whoever asks owns it still.
    package let isStaged: Bool
    /// Whether a source that the photo is not byte for byte is copied too.
    package let keepsOriginal: Bool
    /// Whether a film is copied; without it there would be none. Not where nothing is stored.
    package let keepsFilm: Bool
    /// Whether a placeholder is made of a picture that there is not enough memory for: ``PreparedPhoto/isUnseen``.
    package let takesUnseen: Bool
    /// How long a worker may be on a processor for it, where that is less than a photo has otherwise.
    package let processorSeconds: Int?

    package init(
        source: String, isStaged: Bool = false, keepsOriginal: Bool, keepsFilm: Bool = true, takesUnseen: Bool,
        processorSeconds: Int? = nil
    ) {
        self.source = source
        self.isStaged = isStaged
        self.keepsOriginal = keepsOriginal
        self.keepsFilm = keepsFilm
        self.takesUnseen = takesUnseen
        self.processorSeconds = processorSeconds
    }
}

package struct PreparedPhoto: Codable, Sendable {
    /// Names in the staging folder; whoever asked owns the files.
    package let stagedPhoto: String
    package let stagedThumbnail: String
    /// Not durable, unlike the others. Nil where the photo needs none.
    package let stagedPreview: String?
    /// Nil where the photo is its own original, or none was wanted.
    package let stagedOriginal: String?
    package let sourceDigest: String
    /// Bytes.
    package let sourceSize: Int64
    /// Pixels of the source, upright.
    package let sourceWidth: Int
    package let sourceHeight: Int
    package let contentDigest: String
    package let mediaType: String
    /// With the dot: `.jpg`.
    package let fileExtension: String
    package let fileSize: Int64
    package let width: Int
    package let height: Int
    /// What the source says of itself.
    package let facts: PictureFacts
    /// Nil of a picture. Of a film the photo is its poster, and its original is there whether or not sources are kept.
    package let film: FilmFacts?
    /// Of the source, by its content; nil of what was not decoded, and of a film.
    package let sourceMediaType: String?
    /// What is missing of the picture, for the photo's line in a receipt; nil where nothing is.
    package let shortfall: String?
    /// Whether the photo is a placeholder, and the pixels are those of the source.
    package let isUnseen: Bool

    /// What was staged: the photo and the thumbnail, the original where there is one.
    package var staged: [String] { [stagedPhoto, stagedThumbnail] + (stagedOriginal.map { [$0] } ?? []) }

    /// What was staged, and what is called so, with sidecars between what every photo has and its preview: as `PhotoNames.all`.
    /// - Parameter sidecars: names in the staging folder.
    package func files(as names: PhotoNames, sidecars: [String] = []) -> [StagedFile] {
        zip(staged + sidecars + (stagedPreview.map { [$0] } ?? []), names.all).map { StagedFile($0, as: $1) }
    }

    /// Whether the source is a camera's raw file. Of the types that are imported, those alone are not registered with IANA.
    package var isRaw: Bool { sourceMediaType?.hasPrefix("image/x-") ?? false }

    /// How the original's name ends, with the dot; nil where it is no file of its own. A film's name says what it is to whoever opens
    /// it, so that one whose name does not say it gets another; and what is called like a raw file is one.
    /// - Parameter name: of the source.
    package func originalExtension(of name: String) -> String? {
        guard stagedOriginal != nil else { return nil }
        let own = PhotoFileName.fileExtension(of: name)
        if let film { return StoredName.isFilm(ending: own) ? own : StoredName.filmEnding(film.mediaType) }
        guard let sourceMediaType, !isRaw, StoredName.rawExtensions.contains(own.lowercased()) else { return own }
        return StoredName.pictureEnding(sourceMediaType)
    }

    package init(
        stagedPhoto: String, stagedThumbnail: String, stagedPreview: String?, stagedOriginal: String?,
        sourceDigest: String, sourceSize: Int64, sourceWidth: Int, sourceHeight: Int, contentDigest: String,
        mediaType: String,
        fileExtension: String, fileSize: Int64, width: Int, height: Int, facts: PictureFacts, film: FilmFacts? = nil,
        sourceMediaType: String? = nil, shortfall: String? = nil, isUnseen: Bool = false
    ) {
        self.stagedPhoto = stagedPhoto
        self.stagedThumbnail = stagedThumbnail
        self.stagedPreview = stagedPreview
        self.stagedOriginal = stagedOriginal
        self.sourceDigest = sourceDigest
        self.sourceSize = sourceSize
        self.sourceWidth = sourceWidth
        self.sourceHeight = sourceHeight
        self.contentDigest = contentDigest
        self.mediaType = mediaType
        self.fileExtension = fileExtension
        self.fileSize = fileSize
        self.width = width
        self.height = height
        self.facts = facts
        self.film = film
        self.sourceMediaType = sourceMediaType
        self.shortfall = shortfall
        self.isUnseen = isUnseen
    }
}

/// Makes the thumbnail of a staged photo, for restores. Errors as ``PreparePhoto``.
package struct MakeThumbnail: Message {
    package typealias Reply = StagedThumbnail
    package static let method = "thumbnail.make"
    package static let access = Role.service
    package static let kind = MessageKind.write
    package static let summary = "Makes the thumbnail of a staged photo."
    /// A name in the staging folder.
    package let stagedPhoto: String
    /// How far the photo is shown turned.
    package let rotation: Rotation?

    package init(stagedPhoto: String, rotation: Rotation? = nil) {
        self.stagedPhoto = stagedPhoto
        self.rotation = rotation
    }
}

package struct StagedThumbnail: Codable, Sendable {
    /// A name in the staging folder; whoever asked owns the file.
    package let stagedThumbnail: String

    package init(stagedThumbnail: String) { self.stagedThumbnail = stagedThumbnail }
}
