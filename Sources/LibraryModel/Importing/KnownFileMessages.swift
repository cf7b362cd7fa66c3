import ServiceMesh

/// The photos that files became which have not been written to since, for PhotoImporter: these need not be opened.
/// Errors: `invalid_argument` for more than ``maximumCount``.
public struct FindKnownFiles: Message {
    public typealias Reply = KnownFiles
    public static let method = "photo.findKnownFiles"
    public static let access = Role.service
    public static let kind = MessageKind.read
    public static let summary = "The photos that unchanged files became."
    /// Files in one request, of this and of ``KeepKnownFiles``.
    public static let maximumCount = 1000
    public let files: [FileStamp]
    public init(files: [FileStamp]) { self.files = files }
}

public struct KnownFiles: Codable, Sendable {
    /// Of those files that are known and whose photos are in the library still, in no order.
    public let photos: [KnownPhoto]
    public init(photos: [KnownPhoto]) { self.photos = photos }
}

/// The photo that a file became, and what tells whether it has everything that the file could give it.
public struct KnownPhoto: Codable, Sendable, Equatable {
    public let file: FileStamp
    public let id: Int64
    /// Relative to the library folder; nil where the source was not kept.
    public let originalPath: String?
    public let sidecars: [KeptSidecar]
    /// See ``Photo/unseenBy``.
    public let unseenBy: String?

    public init(file: FileStamp, id: Int64, originalPath: String?, sidecars: [KeptSidecar], unseenBy: String?) {
        self.file = file
        self.id = id
        self.originalPath = originalPath
        self.sidecars = sidecars
        self.unseenBy = unseenBy
    }
}

/// Keeps which photos files became, for PhotoImporter; ``AddPhoto`` does so itself. Photos that are gone are passed over.
/// Errors: `invalid_argument` for more than ``FindKnownFiles/maximumCount``.
public struct KeepKnownFiles: Message {
    public typealias Reply = Done
    public static let method = "photo.keepKnownFiles"
    public static let access = Role.service
    public static let kind = MessageKind.write
    public static let summary = "Keeps which photos files became."
    public let files: [KnownFile]
    public init(files: [KnownFile]) { self.files = files }
}

/// A file whose bytes were compared with the source of a photo, and were the same.
public struct KnownFile: Codable, Sendable, Equatable {
    public let file: FileStamp
    public let photo: Int64

    public init(file: FileStamp, photo: Int64) {
        self.file = file
        self.photo = photo
    }
}
