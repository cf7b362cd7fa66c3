import ServiceMesh

/// What the library's files take on the disk, and whether there is room for more.
/// Counts what is in the folders, known to the catalogue or not. Errors: `invalid_argument`.
public struct GetStorageUsage: Message {
    public typealias Reply = StorageUsage
    public static let method = "storage.usage"
    public static let access = Role.parent
    public static let kind = MessageKind.read
    public static let replySize = ReplySize.single
    public static let summary =
        "What photos, thumbnails, previews and originals take on the disk, and whether there is room for more."
    /// Bytes that somebody wants to store; 10 MB unless told.
    public let needed: Int64?
    public init(needed: Int64? = nil) { self.needed = needed }
}

public struct StorageUsage: Codable, Sendable, Equatable {
    public let photoBytes: Int64
    public let photoCount: Int
    public let thumbnailBytes: Int64
    public let thumbnailCount: Int
    public let previewBytes: Int64
    public let previewCount: Int
    /// Of sources that are kept beside the photos made of them, and of sidecars.
    public let originalBytes: Int64
    public let originalCount: Int
    /// Of all of them.
    public let totalBytes: Int64
    /// Free for this user on the library's file system.
    public let freeBytes: Int64
    /// Whether what was asked for fits into that.
    public let hasEnoughSpace: Bool

    public init(
        photoBytes: Int64, photoCount: Int, thumbnailBytes: Int64, thumbnailCount: Int, previewBytes: Int64 = 0,
        previewCount: Int = 0, originalBytes: Int64 = 0, originalCount: Int = 0, freeBytes: Int64, hasEnoughSpace: Bool
    ) {
        self.photoBytes = photoBytes
        self.photoCount = photoCount
        self.thumbnailBytes = thumbnailBytes
        self.thumbnailCount = thumbnailCount
        self.previewBytes = previewBytes
        self.previewCount = previewCount
        self.originalBytes = originalBytes
        self.originalCount = originalCount
        // Sparse files may claim more than a number holds.
        totalBytes = [photoBytes, thumbnailBytes, previewBytes, originalBytes].reduce(0) { sum, bytes in
            let (total, overflow) = sum.addingReportingOverflow(bytes)
            return overflow ? .max : total
        }
        self.freeBytes = freeBytes
        self.hasEnoughSpace = hasEnoughSpace
    }
}

/// The files that the folder of photos has, by name, a page at a time, known to the catalogue or not. For photos:
/// ``SearchPhotos``; for what is wrong with files: ``RescanLibrary``. Errors: `invalid_argument` (limit).
public struct ListStoredFiles: Message {
    public typealias Reply = StoredFilePage
    public static let method = "storage.list"
    public static let access = Role.parent
    public static let kind = MessageKind.read
    public static let summary = "The files in the folder of photos, by name, in pages."
    /// 1…1000; 100 unless told.
    public let limit: Int?
    /// The last path of the page before.
    public let after: String?

    public init(limit: Int? = nil, after: String? = nil) {
        self.limit = limit
        self.after = after
    }
}

public struct StoredFilePage: Codable, Sendable, Equatable {
    /// Relative to the library folder.
    public let paths: [String]
    /// What to pass as `after` for the next page; absent after the last.
    public let next: String?

    public init(paths: [String], next: String?) {
        self.paths = paths
        self.next = next
    }
}

/// Compares catalogue and files as a job, and changes nothing: photos without files or thumbnails, files of another size
/// and, with `digests`, of other bytes, and files that the catalogue does not know. Only what is not as it should be
/// has a line, with one of ``StorageFinding``. Photos in the trash are checked too. Previews that are missing are counted, and no
/// fault: they are made when they are shown.
public struct RescanLibrary: Message {
    public typealias Reply = JobStarted
    public static let method = "library.rescan"
    public static let access = Role.parent
    public static let kind = MessageKind.job
    public static let summary = "Checks every stored file against the catalogue."
    /// Reads every byte.
    public let digests: Bool?
    public init(digests: Bool? = nil) { self.digests = digests }
}

/// What a rescan finds.
public enum StorageFinding: String, Codable, Sendable, CaseIterable {
    /// A photo whose file, original or sidecar is not there.
    case missing
    /// A photo that was taken over without a file and has none.
    case withoutFile = "without_file"
    /// A photo whose file is not the one that was stored.
    case damaged
    /// A photo whose file cannot be read, or a row of the catalogue.
    case unreadable
    /// A photo without its thumbnail.
    case noThumbnail = "no_thumbnail"
    /// A file in the folder of photos, thumbnails, previews or originals that the catalogue does not know.
    case unknown
}

public struct RescanReceipt: JobReceipt {
    /// Photos looked at, those in the trash included.
    public let photos: Int
    /// Bytes read for their digests.
    public let bytes: Int64
    /// How many lines there are of each ``StorageFinding``.
    public let findings: [String: Int]
    /// Photos of the library whose preview is not made yet; nil in receipts from before there were previews.
    public let withoutPreview: Int?
    public let ending: JobEnding

    public init(
        photos: Int, bytes: Int64, findings: [String: Int], withoutPreview: Int? = nil, ending: JobEnding
    ) {
        self.photos = photos
        self.bytes = bytes
        self.findings = findings
        self.withoutPreview = withoutPreview
        self.ending = ending
    }
}

/// Removes thumbnails and previews that belong to no photo, in the library or in the trash, and says which photos the catalogue does not
/// know; those go only where `unknownPhotos` asks for it. They may be left of a purge that a power cut has undone, or
/// pictures that exist once: beside a catalogue that was put back to an earlier day, or left on purpose by
/// ``ForgetPhotos``.
public struct CleanStorage: Message {
    public typealias Reply = StorageCleaning
    public static let method = "storage.clean"
    public static let access = Role.parent
    public static let kind = MessageKind.write
    public static let summary =
        "Removes thumbnails and previews that belong to no photo, and on request photos that nobody knows."
    /// Only says what would go.
    public let dryRun: Bool?
    /// Removes the files in the folders of photos and originals that the catalogue does not know, for good.
    public let unknownPhotos: Bool?
    public init(dryRun: Bool? = nil, unknownPhotos: Bool? = nil) {
        self.dryRun = dryRun
        self.unknownPhotos = unknownPhotos
    }
}

public struct StorageCleaning: Codable, Sendable, Equatable {
    /// Removed, or with `dryRun` to be removed.
    public let thumbnails: Int
    public let previews: Int
    /// Of the thumbnails and previews together.
    public let bytes: Int64
    /// Files in the folders of photos and originals that the catalogue does not know, the first 1000 by name, relative to the library
    /// folder. Removed where that was asked for.
    public let unknownPhotos: [String]
    /// All of them, named or not.
    public let unknownCount: Int
    /// Of all of them together.
    public let unknownBytes: Int64

    /// - Parameter unknownCount: those that are named unless told.
    public init(
        thumbnails: Int, previews: Int = 0, bytes: Int64, unknownPhotos: [String] = [], unknownCount: Int? = nil,
        unknownBytes: Int64 = 0
    ) {
        self.thumbnails = thumbnails
        self.previews = previews
        self.bytes = bytes
        self.unknownPhotos = unknownPhotos
        self.unknownCount = unknownCount ?? unknownPhotos.count
        self.unknownBytes = unknownBytes
    }
}

/// Whether a path is one of the library's stored files, and of which photo. Nothing is opened.
/// Errors: `invalid_argument` (a relative path).
public struct IdentifyPath: Message {
    public typealias Reply = PathIdentity
    public static let method = "storage.identify"
    public static let access = Role.parent
    public static let kind = MessageKind.read
    public static let replySize = ReplySize.single
    public static let summary = "Whether a path is one of the library's stored files, and of which photo."
    public var isForThisMachine: Bool { true }
    /// Absolute. `.` and `..` are resolved by name.
    public let path: String
    public init(path: String) { self.path = path }
}

public struct PathIdentity: Codable, Sendable, Equatable {
    /// Inside the library's folders of photos, thumbnails, previews or originals.
    public let isOurs: Bool
    /// The photo that has this file as its picture, thumbnail, preview, original or sidecar; none where the catalogue does not know it.
    public let photoId: Int64?
    /// Absolute, of that photo.
    public let photoPath: String?
    public let thumbnailPath: String?

    public init(isOurs: Bool, photoId: Int64?, photoPath: String?, thumbnailPath: String?) {
        self.isOurs = isOurs
        self.photoId = photoId
        self.photoPath = photoPath
        self.thumbnailPath = thumbnailPath
    }
}
