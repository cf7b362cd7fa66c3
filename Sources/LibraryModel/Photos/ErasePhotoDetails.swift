import ServiceMesh

/// Erases what the library knows about a child, as a job: all sealed fields of the photos that are named, or of all photos
/// whose `childName` is this one, those in the trash included. What an import noted of files that are called after the
/// child is blanked in the receipts of jobs that have ended, what the files were called goes from photos whose source said the
/// name, and the catalogue's log is written back, so that nothing of it is left in a file of the library. The pictures stay, and so
/// do names and captions, which are no sealed fields, and names of categories: the receipt says how many photos are found by the
/// child's name.
///
/// With `files`, what was kept beside those photos goes too: originals (whose EXIF may say where it was) and sidecars. The
/// photos as they are shown stay, with their own EXIF, and so do films, with what their headers say. Photos that have been deleted keep their files until they are purged.
///
/// There is no way back. Backups, exports and copies of the library elsewhere are not reached. It may be repeated, and has to
/// be where it was broken off: it is not written down, since it says the name. Errors at once: `invalid_argument` unless either
/// photos or a child are named; `not_found`; for a child `failed_precondition` where the key is missing.
public struct ErasePhotoDetails: Message {
    public typealias Reply = JobStarted
    public static let method = "photo.eraseDetails"
    public static let access = Role.parent
    public static let kind = MessageKind.job
    public static let summary = "Erases what the library knows about a child."
    /// Photos in one request.
    public static let maximumCount = 10_000
    public let ids: [Int64]?
    /// As it stands in the photos; case and diacritics ignored.
    public let childName: String?
    /// Whether originals and sidecars go too.
    public let files: Bool?

    public init(ids: [Int64], files: Bool? = nil) {
        self.ids = ids
        childName = nil
        self.files = files
    }

    public init(childName: String, files: Bool? = nil) {
        ids = nil
        self.childName = childName
        self.files = files
    }
}

public struct ErasureReceipt: JobReceipt {
    /// Photos that had sealed fields, those in the trash included.
    public let photos: Int
    /// Sealed values that are gone.
    public let values: Int
    /// Photos whose original or sidecars are gone.
    public let photosWithFiles: Int
    /// Lines and receipts of jobs in which the name was blanked, and photos whose ``Photo/sourceName`` went because it said it.
    public let blanked: Int
    /// Photos that have the child's name in their own name, caption or category still: `smilepile photos search NAME`.
    public let mentions: Int
    /// Values that did not open, so that nobody knows whether they are about the child.
    public let unreadable: Int
    /// Whether the catalogue's log could be emptied; else something reads in it, and it is emptied later.
    public let isLogEmpty: Bool
    public let ending: JobEnding

    public init(
        photos: Int, values: Int, photosWithFiles: Int, blanked: Int, mentions: Int, unreadable: Int, isLogEmpty: Bool,
        ending: JobEnding
    ) {
        self.photos = photos
        self.values = values
        self.photosWithFiles = photosWithFiles
        self.blanked = blanked
        self.mentions = mentions
        self.unreadable = unreadable
        self.isLogEmpty = isLogEmpty
        self.ending = ending
    }
}
