import LibraryModel
import Scratch

/// Photos of the library that stay when a backup is restored, by the uuids that they have in the backup.
struct KeptPhotos: Sendable {
    /// One of many.
    struct Kept: Codable, Sendable {
        /// In the backup.
        let uuid: String
        let photo: Photo
    }

    private var single: [String: Photo] = [:]
    private var many: SpooledIndex<Kept>?
    private var removed: Set<String> = []

    /// Those that were found one by one.
    init() {}

    /// - Parameter photos: each with a uuid of its own.
    init(_ photos: SpooledList<Kept>) throws { many = try SpooledIndex(photos, by: \.uuid) }

    var count: Int { single.count + (many?.list.count ?? 0) - removed.count }

    subscript(uuid: String) -> Photo? {
        get throws {
            if let photo = single[uuid] { return photo }
            return removed.contains(uuid) ? nil : try many?[uuid]?.photo
        }
    }

    mutating func put(_ photo: Photo, _ uuid: String) { single[uuid] = photo }

    mutating func remove(_ uuid: String) throws {
        guard single.removeValue(forKey: uuid) == nil, try many?.place(of: uuid) != nil else { return }
        removed.insert(uuid)
    }

    /// Whether there is one of whose uuid that is so.
    func contains(_ isMeant: (String) throws -> Bool) throws -> Bool {
        if try single.keys.contains(where: isMeant) { return true }
        return try many?.list.contains { try !removed.contains($0.uuid) && isMeant($0.uuid) } ?? false
    }
}
