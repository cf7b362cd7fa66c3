import LibraryModel
import ServiceMesh

/// What one client may rely on: the writes that were acknowledged to it and that nobody else changes.
///
/// A category belongs to the client that added it, and a photo to the one that its uuid says. A value that was written
/// while the reply is unknown may be either, so each is a set of what it may be; it has one member again after the next
/// acknowledged write. Of one thing a client never has two writes on the way: their order would be the daemon's.
struct ClientBeliefs: Sendable {
    struct OwnCategory: Sendable {
        var names: Set<String>
        var colors: Set<String>
        var mayBeGone = false
        var isBusy = false
    }

    struct OwnPhoto: Sendable {
        var photo: Photo
        var captions: Set<String?>
        var favorites: Set<Bool>
        /// Sealed. Photos of an import have none.
        var notes: Set<String?> = [nil]
        /// In the trash, as far as is known.
        var isTrashed = false
        /// Not where its last write left it: it was deleted, and a backup may have brought it back with older values.
        var hasForeignValues = false
        /// A swipe may have marked it.
        var hasForeignFavorite = false
        var mayBeGone = false
        var isBusy = false
    }

    struct OwnSession: Sendable {
        /// Acknowledged decisions and their photos, by their ids.
        var decided: [Int64: String] = [:]
        var undone: Set<Int64> = []
        /// Photos of decisions whose replies are unknown.
        var mayBeDecided: Set<String> = []
        /// Decisions that an unknown undo may have taken back.
        var mayBeUndone = 0
        var isFinished = false

        /// How many photos it may have.
        var photos: ClosedRange<Int> {
            let certain = Set(decided.filter { !undone.contains($0.key) }.values)
            return max(0, certain.count - mayBeUndone)...certain.union(mayBeDecided).count
        }
    }

    let client: Int
    let clients: Int
    var categories: [Int64: OwnCategory] = [:]
    var photos: [String: OwnPhoto] = [:]
    var sessions: [String: OwnSession] = [:]
    /// Files of photos that were to be forgotten: they may stay without a row.
    var forgotten: Set<String> = []

    init(client: Int, of clients: Int) {
        self.client = client
        self.clients = clients
    }

    func owns(_ photo: Photo) -> Bool {
        let digits = photo.uuid.prefix(8)
        return (Int(digits, radix: 16) ?? 0) % clients == client
    }

    /// Takes note of photos that a search has shown.
    mutating func saw(_ found: [Photo]) {
        for photo in found where owns(photo) {
            if photos[photo.uuid] == nil {
                photos[photo.uuid] = OwnPhoto(
                    photo: photo, captions: [photo.caption], favorites: [photo.isFavorite])
            } else if photos[photo.uuid]?.isBusy == false {
                photos[photo.uuid]?.photo = photo
                photos[photo.uuid]?.isTrashed = false
            }
        }
    }

    /// Ids in order, so that the same rolls choose the same things.
    func idleCategories() -> [Int64] {
        categories.filter { !$0.value.isBusy && !$0.value.mayBeGone }.keys.sorted()
    }

    func idlePhotos(trashed: Bool) -> [String] {
        photos.filter { !$0.value.isBusy && !$0.value.mayBeGone && $0.value.isTrashed == trashed }.keys.sorted()
    }
}
