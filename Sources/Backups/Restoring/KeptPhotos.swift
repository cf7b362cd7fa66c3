import LibraryModel
import Scratch

/// Photos of the library that stay when a backup is restored, by the uuids that they have in the backup.
struct KeptPhotos: Sendable {
    struct Kept: Codable, Sendable {
        /// In the backup.
        let uuid: String
        let photo: Photo
        /// Whether it was made from the same source as the backup's (replace): what it has of that source stays.
        var isOfSameSource = false
        /// Whether its picture is the library's own, because that of the backup was damaged when it was saved (replace).
        var isInsteadOfDamaged = false
    }

    private var photos: SpooledIndex<Kept>?
    private var removed = PlaceSet()

    init() {}

    /// - Parameter photos: each with a uuid of its own.
    init(_ photos: SpooledList<Kept>) throws { self.photos = try SpooledIndex(photos, by: \.uuid) }

    var count: Int { (photos?.list.count ?? 0) - removed.count }
    var isEmpty: Bool { count == 0 }

    subscript(uuid: String) -> Photo? { get throws { try find(uuid)?.photo } }

    func find(_ uuid: String) throws -> Kept? {
        guard let found = try photos?.find(uuid), !removed.contains(found.place) else { return nil }
        return found.element
    }

    mutating func remove(_ uuid: String) throws {
        if let place = try photos?.place(of: uuid) { removed.insert(place) }
    }
}
