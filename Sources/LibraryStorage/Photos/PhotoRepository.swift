import LibraryModel
import ServiceMesh

/// The photos of a catalogue inside one transaction. Which method of the specification's repository is which of these:
/// <doc:Methods>.
///
/// Ids are numbers that the catalogue gives (``Catalogue``). Lists are in one order: newest first by `shownAt`, of one moment the greater
/// id first. Methods take many where a loop would ask one by one: on another database each statement is a round trip that all writers
/// wait for.
package protocol PhotoRepository {
    // MARK: Reading

    /// In the order of the keys, one that is named twice twice; nil for what is not there.
    /// - Throws: the catalogue's own error for one that is there and cannot be read.
    func find(_ keys: [PhotoKey]) throws -> [Photo?]
    /// In the order of the keys, without those that are not there or cannot be read.
    func findReadable(_ keys: [PhotoKey]) throws -> [Photo]
    /// One page of what a query asks for.
    func page(_ query: PhotoQuery) throws -> PhotoPage
    /// One page of the ids of photos, ascending.
    func ids(_ query: PhotoIDQuery) throws -> SelectedPhotos
    /// How many photos meet a query's filters, on all pages.
    func count(_ query: PhotoQuery) throws -> Int
    /// How many meet them, on all pages, in each month of the camera's clock that has any, newest first; `most` months at most.
    func months(_ query: PhotoQuery, most: Int) throws -> [PhotoSpan]
    /// The same for the days of a month, with a place within them after each `anchorDistance` photos that others of the day follow.
    func days(_ query: PhotoQuery, of month: CalendarSpan, anchorDistance: Int) throws -> [PhotoSpan]
    /// Of all photos together.
    func totals() throws -> PhotoTotals
    /// The cameras of all photos with how many each took, the one of most first, of as many by name; `limit` of them
    /// at most.
    /// - Parameter scope: the categories whose photos count; nil for all.
    func cameras(limit: Int, in scope: CategoryScope?) throws -> CameraList
    /// How many photos there are of which the library does not have the original.
    func countWithoutOriginal() throws -> Int
    /// Photos that have sealed fields. Opens none.
    func sealed(_ query: SealedPhotoQuery) throws -> SealedPhotos
    /// The digests of sources of one size, in bytes, the films and raw files among them that are kept beside pictures; 1,000 of each at most.
    func sourceDigests(size: Int64) throws -> [String]
    /// The photo beside whose picture a film or a raw file of this digest is kept; nil where there is none.
    func find(companionDigest: String) throws -> Photo?
    /// What may be the other half of a photo that is two files: films, or what does not move, pictures and raw files.
    func pairCandidates(_ query: PairQuery) throws -> [Photo]
    /// The photo that was made from each of these sources (SHA-256, lower-case hex), in their order; nil where there is none.
    func find(sourceDigests: [String]) throws -> [Photo?]
    /// The photo of the library that each of these is, by uuid and content, by content, by uuid, by source, in that order;
    /// nil for what the library does not have.
    func matches(of others: [PhotoIdentity]) throws -> [Photo?]
    /// Every photo that was entered at `time` or later, by id. What `body` throws ends it.
    func forEach(since time: Timestamp?, _ body: (SourcedPhoto) throws -> Void) throws
    /// What the catalogue says of photos' files, by id, from the one behind `id` on; 256 at a time.
    func files(_ place: PhotoFileEntry.Place, after id: Int64) throws -> [PhotoFileEntry]
    /// Those of `names` that are a photo's file, thumbnail, original or sidecar, in the library or in the trash.
    func inUse(_ names: [StoredName]) throws -> Set<StoredName>

    // MARK: Changing

    /// Enters a photo under a new id, with its line in a job's receipt where it has one: both or neither.
    /// - Throws: `pictureThere`, also where its source is the film of another photo; `noCategory`.
    func insert(_ new: SourcedPhoto, line: ReceiptLine?, of job: JobID?) throws -> Photo
    /// Writes what describes the files of the photo that has this id, with its line in a job's receipt where it has one.
    /// Files that were its and are no more become discarded files.
    /// - Returns: those.
    /// - Throws: `noPhoto`.
    func setFiles(of photo: Photo, line: ReceiptLine?, of job: JobID?) throws -> [StoredName]
    /// The same for photos that are in no receipt.
    func setFiles(of photos: [Photo]) throws -> [StoredName]
    /// Enters photos under new ids.
    /// - Throws: `pictureThere`, `repeatedPhoto`, `noCategory`; then none of them is entered.
    func insert(_ photos: [SourcedPhoto]) throws
    /// Enters photos from elsewhere, which nothing here clashes with, under their own ids or, where these are not to be
    /// kept or cannot be (less than 1, or greater than the catalogue can hold), under new ones.
    func insert(_ photos: [SourcedPhoto], keepingIDs: Bool) throws
    /// Writes name, caption, category, mark and date of the photos that have these ids, in their order, and leaves what describes
    /// their files.
    /// - Throws: `noPhoto`; `noCategory`.
    func update(_ photos: [Photo]) throws
    /// Writes when a photo was taken, and with which camera, each where it is not nil; only where the photo has still the date
    /// and the camera that `photo` says. With its line in a job's receipt.
    /// - Returns: whether it had.
    func setDate(_ date: PhotoDate?, camera: String?, of photo: Photo, line: ReceiptLine, of job: JobID) throws -> Bool
    /// Forgets what the files were called that photos came from, where `isToGo` says so of that name. At most `limit` are looked at,
    /// in the order of ids, those greater than `id`.
    /// - Returns: how many were forgotten, and the id to go on after; nil where all have been looked at.
    func forgetSourceNames(
        in place: PhotoFileEntry.Place, after id: Int64, limit: Int, where isToGo: (String) -> Bool
    ) throws -> (forgotten: Int, next: Int64?)
    /// Sets the mark of photos; those that the library does not have are passed over.
    /// - Returns: how many changed.
    func setFavorite(_ isFavorite: Bool, of photos: [Photo]) throws -> Int
    /// Puts photos into a category; those that the library does not have are passed over.
    /// - Returns: how many changed.
    /// - Throws: `noCategory`.
    func move(_ photos: [Photo], to category: Int64) throws -> Int
    /// - Returns: how many were moved.
    /// - Throws: `noCategory` for the one they go to.
    func moveAll(from category: Int64, to target: Int64) throws -> Int
    /// Removes photos from the library and leaves their files; their thumbnails become discarded files. Also those that cannot be
    /// read, in the trash too.
    /// - Throws: `noPhoto`.
    func forget(_ ids: [Int64]) throws -> ForgottenFiles
    /// Takes every photo out, and says nothing of their files.
    func removeAll() throws
}

extension PhotoRepository {
    package func cameras(limit: Int) throws -> CameraList { try cameras(limit: limit, in: nil) }

    package func find(_ key: PhotoKey) throws -> Photo? { try find([key])[0] }

    package func find(sourceDigest: String) throws -> Photo? { try find(sourceDigests: [sourceDigest])[0] }

    /// - Throws: as for many.
    package func update(_ photo: Photo) throws { try update([photo]) }

    /// - Throws: `noPhoto`.
    package func require(_ key: PhotoKey) throws -> Photo { try require([key])[0] }

    /// In the order of the keys.
    /// - Throws: `noPhoto` of the first that is not there.
    package func require(_ keys: [PhotoKey]) throws -> [Photo] {
        try zip(keys, find(keys)).map { key, photo in
            guard let photo else { throw CatalogueError.noPhoto(key) }
            return photo
        }
    }
}

/// What tells that two photos are one, in two libraries.
package struct PhotoIdentity: Sendable {
    package let uuid: String
    package let contentDigest: String
    package let sourceDigest: String

    package init(uuid: String, contentDigest: String, sourceDigest: String) {
        self.uuid = uuid
        self.contentDigest = contentDigest
        self.sourceDigest = sourceDigest
    }
}

/// By what the other half of a photo that is two files can be found: by what the camera wrote into both, and where none has that, by
/// name and time.
package struct PairQuery: Sendable {
    /// Whether films are asked for, else pictures.
    package let areFilms: Bool
    package let identifier: String?
    /// What stands before the ending of the file that it came from; ASCII's letters in either case.
    package let stem: String?
    /// Milliseconds of the camera's clock.
    package let clocks: ClosedRange<Int64>?
    /// More than these are asked for by nobody: of two already it has to be told which is meant.
    package static let maximumCount = 16
    /// Photos of those seconds whose names are looked at: no camera takes more, and of a million with one date all would be looked at
    /// for each that comes.
    package static let maximumLooks = 256

    package init(areFilms: Bool, identifier: String?, stem: String?, clocks: ClosedRange<Int64>?) {
        self.areFilms = areFilms
        self.identifier = identifier
        self.stem = stem
        self.clocks = clocks
    }
}

/// By their paths.
package struct ForgottenFiles: Sendable {
    /// Where they are.
    package var left: [String] = []
    /// Thumbnails and previews, which go.
    package var made: [String] = []

    package init() {}
}

/// What the catalogue says of a photo's files.
package struct PhotoFileEntry: Sendable {
    package enum Place: Sendable, CaseIterable {
        case library, trash
    }

    package let place: Place
    package let id: Int64
    package let photo: File
    /// Where it is another file.
    package let original: File?
    package let sidecars: [File]
    /// As ``LibraryModel/Photo/width``, as `height`.
    package let width: Int
    package let height: Int
    /// As ``LibraryModel/Photo/unseenBy`` tells.
    package let isUnseen: Bool
    package let rotation: Rotation?

    package init(
        place: Place, id: Int64, photo: File, original: File?, sidecars: [File], width: Int, height: Int,
        isUnseen: Bool, rotation: Rotation? = nil
    ) {
        self.place = place
        self.id = id
        self.photo = photo
        self.original = original
        self.sidecars = sidecars
        self.width = width
        self.height = height
        self.isUnseen = isUnseen
        self.rotation = rotation
    }

    /// All that have a size and a digest; a thumbnail and a preview have none.
    package var files: [File] { [photo] + (original.map { [$0] } ?? []) + sidecars }

    package struct File: Sendable {
        /// As the catalogue has it, which may be no name of a stored file.
        package let path: String
        /// Bytes.
        package let size: Int64
        /// SHA-256, lower-case hex.
        package let digest: String

        package init(path: String, size: Int64, digest: String) {
            self.path = path
            self.size = size
            self.digest = digest
        }
    }
}

/// Of all photos of the library together.
package struct PhotoTotals: Sendable {
    package let photos: Int
    package let favorites: Int
    /// Of their files.
    package let bytes: Int64

    package init(photos: Int, favorites: Int, bytes: Int64) {
        self.photos = photos
        self.favorites = favorites
        self.bytes = bytes
    }
}
