import ServiceMesh

/// What becomes of the other half of a photo that is two files, when one of them is entered.
public enum PhotoPairing: Codable, Sendable, Equatable {
    /// The film, or the photo of a raw file, with this uuid goes: its file is among the sidecars of the picture that is entered.
    case takingIn(film: String)
    /// Both stay what they are.
    case apart

    /// In the details of a `failed_precondition`: what is there is not what the request was made for. Look again.
    public static let reason = "pair"
}

/// The other half of a photo that moves, where its camera (Apple's) has written a picture and a film, or of a shot of which there is a
/// raw file and a picture: of a film or a raw file the picture beside which it belongs, of a picture the film or raw file that came before
/// it and is nothing by itself. For PhotoImporter. What is found may have
/// changed when it is used, so ``AddPhoto`` and ``JoinFilm`` look again.
public struct FindOtherHalf: Message {
    public typealias Reply = FoundPhoto
    public static let method = "photo.findOtherHalf"
    public static let access = Role.service
    public static let kind = MessageKind.read
    public static let replySize = ReplySize.single
    public static let summary =
        "The picture of a film or raw file, or the film or raw file of a picture, that are one photo."
    /// As it would be entered by itself.
    public let photo: Photo
    public init(photo: Photo) { self.photo = photo }
}

/// Puts a film or a raw file beside the picture that it belongs to, for PhotoImporter: its file is at its place already. With its line in a job's
/// receipt: both or neither. Errors: `already_exists` where the library has that file; ``PhotoPairing/reason`` where that picture is
/// not its own any more; `resource_exhausted` where the photo would have more than ``KeptSidecar/maximumCount`` files beside it.
public struct JoinFilm: Message {
    public typealias Reply = Photo
    public static let method = "photo.joinFilm"
    public static let access = Role.service
    public static let kind = MessageKind.write
    public static let summary = "Puts a film or a raw file beside the picture that it belongs to: one photo."
    /// As it would be entered by itself.
    public let film: Photo
    /// The photo that gets it, as it was when it was found.
    public let photo: Photo
    /// The film or raw file, and what stood beside it. Called after the photo.
    public let sidecars: [KeptSidecar]
    public let job: JobID?
    public let line: ReceiptLine?
    /// The file that it was imported from, to be known again.
    public let file: FileStamp?

    public init(
        film: Photo, photo: Photo, sidecars: [KeptSidecar], job: JobID?, line: ReceiptLine?, file: FileStamp?
    ) {
        self.film = film
        self.photo = photo
        self.sidecars = sidecars
        self.job = job
        self.line = line
        self.file = file
    }
}
