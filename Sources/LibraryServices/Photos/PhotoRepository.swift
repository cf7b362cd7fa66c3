import LibraryModel
import ServiceMesh

/// The photos of a catalogue inside one transaction, and the trash. Which method of the specification's repository is
/// which of these: <doc:Methods>.
///
/// Lists are in one order: newest first by `shownAt`, then by id.
protocol PhotoRepository {
    // MARK: Reading

    func find(_ key: PhotoKey) throws(CatalogueError) -> Photo?
    /// One page of what a query asks for.
    func page(_ query: PhotoQuery) throws(CatalogueError) -> PhotoPage
    /// How many photos meet a query's filters, on all pages.
    func count(_ query: PhotoQuery) throws(CatalogueError) -> Int
    /// Photos that have sealed fields. Opens none.
    func sealed(_ query: SealedPhotoQuery) throws(CatalogueError) -> SealedPhotos
    /// The digests of sources of one size, in bytes; 1,000 at most.
    func sourceDigests(size: Int64) throws(CatalogueError) -> [String]

    // MARK: Changing

    /// Enters a photo under a new id, with its line in a job's receipt where it has one: both or neither.
    /// - Throws: `pictureThere`; `noCategory`.
    func insert(_ new: NewPhoto, line: ReceiptLine?, of job: JobID?) throws(CatalogueError) -> Photo
    /// Enters photos under new ids.
    /// - Throws: `pictureThere`, `repeatedPhoto`, `noCategory`; then none of them is entered.
    func insert(_ photos: [NewPhoto]) throws(CatalogueError)
    /// Writes name, caption, category, mark and date of the photo that has this id, and leaves what describes its file.
    /// - Throws: `noPhoto`; `noCategory`.
    func update(_ photo: Photo) throws(CatalogueError)
    /// - Returns: whether anything changed.
    func setFavorite(_ isFavorite: Bool, id: Int64) throws(CatalogueError) -> Bool
    /// - Returns: whether anything changed.
    /// - Throws: `noCategory`.
    func move(id: Int64, to category: Int64) throws(CatalogueError) -> Bool
    /// - Returns: how many were moved.
    /// - Throws: `noCategory` for the one they go to.
    func moveAll(from category: Int64, to target: Int64) throws(CatalogueError) -> Int
    /// Removes a photo from the library and leaves its file; its thumbnail becomes a discarded file.
    /// - Throws: `noPhoto`.
    func forget(id: Int64) throws(CatalogueError) -> Photo

    // MARK: Trash

    /// - Returns: whether it was in the library.
    func moveToTrash(id: Int64, at time: Timestamp) throws(CatalogueError) -> Bool
    /// - Returns: how many photos the category had.
    func moveToTrash(category: Int64, at time: Timestamp) throws(CatalogueError) -> Int
    func trash(_ request: TrashQuery) throws(CatalogueError) -> TrashPage
    func trashCount() throws(CatalogueError) -> Int
    /// The oldest in the trash, `limit` at most.
    func trashed(before time: Timestamp, limit: Int) throws(CatalogueError) -> [Int64]
    /// Takes a photo out of the trash, into its category, which is made again where it is gone.
    /// - Throws: `notInTrash`; `restoredAlready`.
    func restore(id: Int64) throws(CatalogueError)
    /// Removes a photo from the trash for good; its files become discarded files, and are returned.
    /// - Throws: `notInTrash`.
    func purge(id: Int64) throws(CatalogueError) -> [String]
}

extension PhotoRepository {
    /// - Throws: `noPhoto`.
    func require(_ key: PhotoKey) throws(CatalogueError) -> Photo {
        guard let photo = try find(key) else { throw .noPhoto(key) }
        return photo
    }
}
