import Foundation
import ServiceMesh

/// Puts a photo into the catalogue whose files are in place. For PhotoImporter only: everything else about the
/// file must have been done, and be durable, before. Errors: `already_exists` where the same source is there
/// (`id`), `not_found` for the category; ``PhotoPairing/reason`` where the other half of a photo that moves is there and the
/// request does not say what becomes of it.
public struct AddPhoto: Message {
    public typealias Reply = Photo
    public static let method = "photo.add"
    public static let access = Role.service
    public static let kind = MessageKind.write
    public static let summary = "Enters a stored photo into the catalogue."
    public let sourced: SourcedPhoto
    /// The job whose receipt gets a line for it, in the same transaction: after a kill there are both or neither.
    public let job: JobID?
    /// That line.
    public let line: ReceiptLine?
    /// Where it was taken, sealed for the photo's uuid by ``SealLocation``; written in the same transaction. Where the key has
    /// changed since, the request fails with `unavailable` and nothing is entered: seal it again.
    public let sealedLocation: Data?
    /// The file that it was made from, to be known again as ``KeepKnownFiles`` keeps it.
    public let file: FileStamp?
    /// Nil where it stands alone, unless its other half is there.
    public let pairing: PhotoPairing?

    public init(
        _ sourced: SourcedPhoto, job: JobID? = nil, line: ReceiptLine? = nil, sealedLocation: Data? = nil,
        file: FileStamp? = nil, pairing: PhotoPairing? = nil
    ) {
        self.sourced = sourced
        self.job = job
        self.line = line
        self.sealedLocation = sealedLocation
        self.file = file
        self.pairing = pairing
    }
}

/// Puts many photos into the catalogue, in one transaction: all or none. For programs that take over a catalogue; what
/// holds for ``AddPhoto`` holds for each. Other writes wait meanwhile: some 0.15 ms for each
/// photo while the library is small, twice that at a million.
/// Errors: `already_exists` where the same source or path is there, or twice among these; `not_found` for a
/// category; `invalid_argument` for none or more than ``maximumCount``.
public struct AddPhotos: Message {
    public typealias Reply = PhotosChanged
    public static let method = "photo.addAll"
    public static let access = Role.service
    public static let kind = MessageKind.write
    public static let summary = "Enters many stored photos into the catalogue, all or none."
    /// Photos in one request.
    public static let maximumCount = 100_000
    public let photos: [SourcedPhoto]
    public init(photos: [SourcedPhoto]) { self.photos = photos }
}

/// A photo that is to be entered; see ``AddPhoto``.
public struct SourcedPhoto: Codable, Sendable {
    /// Its id is ignored where the catalogue gives one.
    public var photo: Photo
    /// SHA-256 of the file it was made from, lower-case hex.
    public let sourceDigest: String
    /// Bytes of that file.
    public let sourceSize: Int64

    public init(photo: Photo, sourceDigest: String, sourceSize: Int64) {
        self.photo = photo
        self.sourceDigest = sourceDigest
        self.sourceSize = sourceSize
    }
}

/// Puts a photo that can be seen in the place of the placeholder for its source, for PhotoImporter: its files are at their
/// places already. The row stays the same, and so does what a person said of it; a date or a caption comes only where none
/// is better. With its line in a job's receipt: both or neither.
/// Errors: `not_found`; `already_exists` where what is there is no placeholder, or has other files by now.
public struct ReplacePlaceholder: Message {
    public typealias Reply = Photo
    public static let method = "photo.replacePlaceholder"
    public static let access = Role.service
    public static let kind = MessageKind.write
    public static let summary = "Puts a photo that can be seen in the place of a placeholder."
    /// Its id and category are ignored.
    public let photo: Photo
    /// As it was when it was found: what it has got since would be lost.
    public let placeholder: Photo
    /// SHA-256 of the source, lower-case hex.
    public let sourceDigest: String
    public let job: JobID?
    public let line: ReceiptLine?

    public init(photo: Photo, placeholder: Photo, sourceDigest: String, job: JobID?, line: ReceiptLine?) {
        self.photo = photo
        self.placeholder = placeholder
        self.sourceDigest = sourceDigest
        self.job = job
        self.line = line
    }
}

/// The digests of sources of one size, for PhotoImporter: a file whose size no source had cannot be a duplicate, so
/// most files need not be read twice. With those of which this version of the program could make no photo.
public struct FindSourceDigests: Message {
    public typealias Reply = SourceDigests
    public static let method = "photo.sourceDigests"
    public static let access = Role.service
    public static let kind = MessageKind.read
    public static let summary = "The digests of imported sources of one size, and of those that failed."
    /// Bytes.
    public let sourceSize: Int64
    public init(sourceSize: Int64) { self.sourceSize = sourceSize }
}

public struct SourceDigests: Codable, Sendable {
    /// SHA-256, lower-case hex.
    public let digests: [String]
    /// By digest.
    public let failures: [String: SourceFailure]

    public init(digests: [String], failures: [String: SourceFailure]) {
        self.digests = digests
        self.failures = failures
    }
}

/// Why no photo could be made of a source.
public struct SourceFailure: Codable, Sendable, Equatable {
    public let outcome: ImportOutcome
    public let detail: String?

    public init(outcome: ImportOutcome, detail: String?) {
        self.outcome = outcome
        self.detail = detail
    }
}

/// Keeps that this version of the program can make no photo of a source, for PhotoImporter: it is not tried again before
/// the next version. Errors: `invalid_argument` for an outcome that another try may change.
public struct AddSourceFailure: Message {
    public typealias Reply = Done
    public static let method = "photo.addSourceFailure"
    public static let access = Role.service
    public static let kind = MessageKind.write
    public static let summary = "Keeps that no photo can be made of a source."
    /// SHA-256, lower-case hex.
    public let digest: String
    /// Bytes.
    public let size: Int64
    public let failure: SourceFailure

    public init(digest: String, size: Int64, failure: SourceFailure) {
        self.digest = digest
        self.size = size
        self.failure = failure
    }
}

/// The photo that was made from a source, or has it as its film, for PhotoImporter: of a duplicate it says what the library has.
public struct FindPhotoOfSource: Message {
    public typealias Reply = FoundPhoto
    public static let method = "photo.findSource"
    public static let access = Role.service
    public static let kind = MessageKind.read
    public static let replySize = ReplySize.single
    public static let summary = "The photo that was made from a source."
    /// SHA-256, lower-case hex.
    public let digest: String
    public init(digest: String) { self.digest = digest }
}

public struct FoundPhoto: Codable, Sendable {
    /// Nil where there is none.
    public let photo: Photo?
    public init(photo: Photo?) { self.photo = photo }
}

/// Says which stored files have been put beside a photo that lacked them, for PhotoImporter: they are at their places
/// already. With its line in a job's receipt: both or neither. Errors: `not_found`; `failed_precondition` where the photo
/// has other files by now, so that these are not called after it; `resource_exhausted` where it would have more than
/// ``KeptSidecar/maximumCount`` sidecars.
public struct CompletePhoto: Message {
    public typealias Reply = Photo
    public static let method = "photo.complete"
    public static let access = Role.service
    public static let kind = MessageKind.write
    public static let summary = "Says which stored files are the original and the sidecars of a photo that lacked them."
    /// SHA-256 of the source, lower-case hex.
    public let sourceDigest: String
    /// The photo's, as it was when it was found.
    public let path: String
    /// Relative to the library folder; nil where it stays as it is.
    public let originalPath: String?
    /// Beside those that it has, and instead of those of the same names.
    public let sidecars: [KeptSidecar]
    /// What the photo learns with them.
    public let learnt: LearntFacts?
    public let job: JobID?
    public let line: ReceiptLine?

    public init(
        sourceDigest: String, path: String, originalPath: String?, sidecars: [KeptSidecar],
        learnt: LearntFacts? = nil, job: JobID?, line: ReceiptLine?
    ) {
        self.sourceDigest = sourceDigest
        self.path = path
        self.originalPath = originalPath
        self.sidecars = sidecars
        self.learnt = learnt
        self.job = job
        self.line = line
    }
}
