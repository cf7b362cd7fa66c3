import Foundation
import ImageWorkerProtocol
import LibraryModel
import LibraryServices
import LibraryStorage
import Scratch
import ServiceMesh
import ZipArchive

/// What a backup holds, in no format's terms: between the catalogue and the documents of a backup, in either direction.
///
/// Taken from a catalogue, it is that of one moment. Read from documents, it has been checked: what the catalogue itself
/// would refuse, or could not find again, is refused where nothing is written yet.
package struct BackupContents: Sendable {
    /// By position.
    package private(set) var categories: [Category]
    /// Their paths are names of entries: `photos/…`.
    package var photos: SpooledList<SourcedPhoto>
    /// Where lists lie that are made of its own.
    package let scratch: Scratch
    package let swipeSessions: [SwipeRecord]
    /// Nil where the backup has none.
    package private(set) var preferences: Settings?
    /// Those that the library keeps itself.
    package var groups: [StoredGroup] = []
    /// Nil where none of the photos has any.
    package var sealed: SealedDocument?
    /// The library's, where it has one, for a backup under a passphrase; none of a backup that was read.
    package var lock: LibraryLock?
    /// Whether the library had a PIN, or was in kids mode, as its documents say.
    package var saysLocked: Bool { preferences.map { $0.parentalLockEnabled || $0.currentAppMode == .kids } ?? false }
    /// Whether photos have sidecars; of what a catalogue did not just give, nobody knows.
    package private(set) var mayHaveSidecars = true
    /// Sidecars that name a place, of which the documents say nothing that is not sealed; none of a backup that was read, until
    /// it is opened.
    package var sealedSidecars: [SealedSidecar] = []
    /// Those that are there, in the order of the photos; filled in where a backup is written.
    package var thumbnails: SpooledList<SizedFile>?
    /// Thumbnails among ``thumbnails`` that could not be read.
    var goneThumbnails: Set<String> = []
    /// Whether originals and sidecars are to be left out.
    package var leavesOriginals = false
    /// Whether it is to be written for the phone apps: ``keepWhatPhonesRead()``.
    package var isForPhone = false
    /// Whether it is a part of a library only.
    package let isPartial: Bool
    /// Whether another program kept the photos: then they are pictures of any size and kind, of which the documents say neither
    /// digest nor size, and they become photos of a library as if they were imported. Until the archive has been read, what
    /// stands for their digests is made up.
    package let isForeign: Bool
    /// What reading has replaced by a default.
    package private(set) var defaulted: [ReceiptLine] = []

    package init(
        categories: [Category] = [], photos: SpooledList<SourcedPhoto>, swipeSessions: [SwipeRecord] = [],
        preferences: Settings? = nil, sealed: SealedDocument? = nil, isPartial: Bool, scratch: Scratch = .memory
    ) {
        self.categories = categories
        self.photos = photos
        self.scratch = scratch
        self.swipeSessions = swipeSessions
        self.preferences = preferences
        self.sealed = sealed
        self.isPartial = isPartial
        isForeign = false
    }

    /// What another program saved.
    package init(foreignCategories categories: [Category], photos: [SourcedPhoto], lines: [ReceiptLine]) {
        (self.categories, self.photos, defaulted) = (categories, SpooledList(photos), lines)
        scratch = .memory
        (swipeSessions, preferences, sealed, isPartial, isForeign) = ([], nil, nil, false, true)
    }

    /// The same once the archive has been read: pictures of another program have their digests, and uuids that follow from
    /// them, so that a second restore finds those of the first.
    /// - Parameter digest: of an entry, by its name.
    func resolved(_ digest: (String) throws -> ContentDigest?) throws -> BackupContents {
        guard isForeign else { return self }
        var contents = self
        var first: [String: String] = [:]
        contents.photos = try photos.spooled(in: scratch) { sourced in
            guard let digest = try digest(sourced.photo.path) else {
                throw MeshError(refusingBackup: "a picture was not read.", entry: sourced.photo.path)
            }
            let hex = digest.sha256.hex
            if let other = first[hex] {
                contents.defaulted.append(
                    ReceiptLine(
                        item: sourced.photo.path, outcome: "duplicate", detail: "it is the same picture as '\(other)'"))
                return nil
            }
            first[hex] = sourced.photo.path
            var photo = sourced.photo
            (photo.contentDigest, photo.fileSize) = (hex, digest.size)
            photo.uuid = DerivedUUID.of(["picture", hex])
            return SourcedPhoto(photo: photo, sourceDigest: hex, sourceSize: digest.size)
        }
        return contents
    }

    /// What a request wants saved, taken in one read transaction, so that it agrees with itself while the library goes on.
    /// - Parameter scratch: for the list of photos.
    package init(
        of request: CreateBackup, from transaction: any CatalogueTransaction, scratch: Scratch
    ) throws {
        let chosen = try request.categoryIds.map { ids in
            Set(try ids.map { try transaction.categories.require(.id($0)).id })
        }
        let isPartial = chosen != nil || request.since != nil
        var spooler = SpooledList<SourcedPhoto>.Spooler(in: scratch)
        var hasSidecars = false
        try transaction.photos.forEach(since: request.since) { photo in
            guard chosen?.contains(photo.photo.categoryId) ?? true else { return }
            if !photo.photo.sidecars.isEmpty { hasSidecars = true }
            try spooler.append(photo)
        }
        let photos = try spooler.finish()
        self.init(
            categories: try transaction.categories.all().filter { chosen?.contains($0.id) ?? true }, photos: photos,
            swipeSessions: isPartial ? [] : try transaction.swipes.history(),
            preferences: try transaction.settings.settings(),
            sealed: try .of(photos, in: transaction, scratch: scratch),
            isPartial: isPartial, scratch: scratch)
        mayHaveSidecars = hasSidecars
        guard !isPartial else { return }
        groups = try transaction.groups.groups(nil).filter { $0.hub == nil }
        lock = try LibraryLock(of: transaction)
    }

    /// A category as documents have it; where its colour is none, it gets the usual one, and a line.
    /// - Parameters:
    ///   - position: categories are entered in any order.
    ///   - createdAt: nil where it is not known.
    /// - Throws: `data_loss` for a name that no category can have.
    mutating func enterCategory(
        id: Int64, displayName: String, position: Int, colorHex: String?, iconResource: String?, isDefault: Bool,
        createdAt: Timestamp?
    ) throws {
        guard let name = try? CategoryName.validated(displayName, mayBeOld: true) else {
            throw MeshError(refusingBackup: "it has a category without a usable name.")
        }
        let color = colorHex.flatMap(CategoryColor.normalized)
        if color == nil {
            defaulted.append(
                ReceiptLine(
                    item: name, outcome: "defaulted",
                    detail: "its colour is not valid and becomes \(CategoryColor.fallback)"))
        }
        categories.append(
            Category(
                id: id, displayName: name, position: position, iconResource: iconResource,
                colorHex: color ?? CategoryColor.fallback, isDefault: isDefault, createdAt: createdAt ?? .now(),
                photoCount: 0))
    }

    /// Refuses what no library holds, and puts the categories in order.
    /// - Throws: `data_loss`.
    mutating func validate() throws {
        guard photos.count <= BackupFormat.maximumPhotos else {
            throw MeshError(
                refusingBackup:
                    "it has more than \(BackupFormat.maximumPhotos) photos, which is what this machine has memory for. Restore it on one that has more."
            )
        }
        categories.sort { $0.position < $1.position }
        try checkCategories()
        try checkSessions()
        try checkGroups()
        if let preferences {
            guard (0...1).contains(preferences.swipeThreshold) else {
                throw MeshError(refusingBackup: "its swipe threshold is not between 0 and 1.")
            }
            // Older versions had 0 and more.
            self.preferences?.swipeThreshold = max(Settings.leastSwipeThreshold, preferences.swipeThreshold)
        }
        do {
            try preferences.map { try SettingKey.groupPhotoMegabytes.validate($0.groupPhotoMegabytes) }
        } catch {
            throw MeshError(refusingBackup: "its limit for groups' photos is none that can be set.")
        }
        try checkPhotos()
    }

    private func checkPhotos() throws {
        let categories = Set(categories.map(\.id))
        var hashes = SpooledList<PhotoHashes>.Spooler(in: scratch)
        try concurrently(photos) { sourced in
            try Self.check(sourced, categories)
            return PhotoHashes(sourced)
        } take: {
            try hashes.append($0)
        }
        if let second = try firstRepeated(hashes.finish()) {
            throw Self.used(try photos.element(at: second).photo)
        }
    }

    private static func used(_ photo: Photo) -> MeshError {
        MeshError(
            refusingBackup: "the photo '\(photo.path.prefix(200))' has an id that is not valid or used twice.",
            entry: photo.path)
    }

    /// - Parameter categories: ids of those that the backup has.
    private static func check(_ sourced: SourcedPhoto, _ categories: Set<Int64>) throws {
        let photo = sourced.photo
        func refused(_ what: String) -> MeshError {
            MeshError(refusingBackup: what, entry: photo.path)
        }
        let name = photo.path.prefix(200)
        guard BackupFormat.ids.contains(photo.id), isUUID(photo.uuid) else { throw used(photo) }
        guard categories.contains(photo.categoryId) else {
            throw refused("the photo '\(name)' is in a category that the backup does not have.")
        }
        guard (-960...960).contains(photo.takenOffset ?? 0), photo.width >= 0, photo.height >= 0,
            photo.name.utf8.count <= 4096, (photo.sourceName?.utf8.count ?? 0) <= 4096,
            isDigest(photo.contentDigest), isDigest(sourced.sourceDigest), sourced.sourceSize >= 0,
            photo.originalPath.map({ $0 == photo.path || isOfOriginals($0) }) ?? true,
            photo.sidecars.count <= KeptSidecar.maximumCount, photo.sidecars.allSatisfy(isPossible),
            (photo.caption?.utf8.count ?? 0) <= SetCaption.maximumLength * 16, photo.mediaType.utf8.count <= 100,
            (photo.unseenBy?.utf8.count ?? 0) <= 100,
            photo.camera.map({ PictureFacts.isLine($0, upTo: ImageLimits.cameraLength) }) ?? true,
            (photo.duration ?? 0) >= 0, (photo.filmOffset ?? 0) >= 0, (photo.filmLength ?? 0) >= 0,
            photo.codecs.map(isCodecs) ?? true,
            photo.contentIdentifier.map(PictureFacts.isContentIdentifier) ?? true
        else {
            throw refused("a value of the photo '\(name)' is out of range.")
        }
    }

    private static func isCodecs(_ text: String) -> Bool {
        let names = text.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
        return names.count <= 2 && names.allSatisfy(FilmFacts.isCodec)
    }

    /// The place of the first photo that has something in common with an earlier one that no two photos of a library have.
    private func firstRepeated(_ hashes: SpooledList<PhotoHashes>) throws -> Int? {
        let keys: [(hash: @Sendable (PhotoHashes) -> Int, text: @Sendable (SourcedPhoto) -> String)] = [
            (\.id, { String($0.photo.id) }), (\.uuid, \.photo.uuid), (\.path, \.photo.path),
            (\.sourceDigest, \.sourceDigest),
        ]
        for key in keys {
            // One after the other: each takes as much memory as all else that is held of them.
            var all: [Int] = []
            all.reserveCapacity(hashes.count)
            try hashes.forEach { all.append(key.hash($0)) }
            guard all.hasRepeated, let second = try SpooledIndex(photos, by: key.text).firstRepeated else { continue }
            return second
        }
        return nil
    }

    /// By which it is known of what no two photos of a library have in common that each has its own. Of any two hashes that are
    /// equal the texts are compared.
    private struct PhotoHashes: Codable, Sendable {
        let id: Int
        let uuid: Int
        let path: Int
        let sourceDigest: Int

        init(_ sourced: SourcedPhoto) {
            id = Int(sourced.photo.id)
            uuid = sourced.photo.uuid.hashValue
            path = sourced.photo.path.hashValue
            sourceDigest = sourced.sourceDigest.hashValue
        }
    }

    private func checkCategories() throws {
        guard !categories.isEmpty else { throw MeshError(refusingBackup: "it has no category.") }
        guard categories.count <= CategoryLimits.count else {
            throw MeshError(refusingBackup: "it has more than \(CategoryLimits.count) categories.")
        }
        var ids: Set<Int64> = []
        // Names that are alike are told apart later: an older version may have had both.
        var names: Set<[UInt8]> = []
        for category in categories {
            let name = category.displayName.prefix(80)
            guard BackupFormat.ids.contains(category.id), ids.insert(category.id).inserted,
                names.insert(Array(category.displayName.utf8)).inserted
            else {
                throw MeshError(refusingBackup: "its category '\(name)' is there twice, or has no valid id.")
            }
            guard (category.iconResource?.utf8.count ?? 0) <= CategoryLimits.iconBytes else {
                throw MeshError(refusingBackup: "the icon of its category '\(name)' is too long.")
            }
        }
    }

    private func checkSessions() throws {
        var ids: Set<String> = []
        for session in swipeSessions {
            guard Self.isUUID(session.sessionID), ids.insert(session.sessionID).inserted else {
                throw MeshError(
                    refusingBackup:
                        "the swipe session '\(session.sessionID.prefix(80))' is there twice, or has no valid id.")
            }
            guard (0...BackupFormat.maximumPhotos).contains(session.forgottenPhotos) else {
                throw MeshError(
                    refusingBackup: "the swipe session '\(session.sessionID)' counts a number of photos that cannot be."
                )
            }
            let decisions = session.actions.lazy.map(\.decision)
            guard decisions.allSatisfy({ Self.isUUID($0.photo) && Self.isDigest($0.contentDigest) }) else {
                throw MeshError(
                    refusingBackup: "a decision of the swipe session '\(session.sessionID)' names no photo.")
            }
        }
    }

    /// In the form in which the catalogue keeps and looks for them: lower case.
    static func isUUID(_ text: String) -> Bool {
        // 8-4-4-4-12 digits. Foundation makes a UUID of it first, in ten times as long.
        var place = 0
        for byte in text.utf8 {
            let isHyphen = place == 8 || place == 13 || place == 18 || place == 23
            switch byte {
            case UInt8(ascii: "-"): guard isHyphen else { return false }
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"):
                guard !isHyphen else { return false }
            default: return false
            }
            place += 1
        }
        return place == 36
    }

    private static func isOfOriginals(_ path: String) -> Bool {
        path.hasPrefix(BackupFormat.originalPrefix) && path.utf8.count <= 300
    }

    static func isPossible(_ sidecar: KeptSidecar) -> Bool {
        isOfOriginals(sidecar.path) && (1...255).contains(sidecar.name.utf8.count) && sidecar.fileSize >= 0
            && StoredName(.originals, sidecar.name) != nil && isDigest(sidecar.contentDigest)
    }

    private static func isDigest(_ text: String) -> Bool {
        SHA256Digest(hex: text) != nil && !text.utf8.contains { (UInt8(ascii: "A")...UInt8(ascii: "F")).contains($0) }
    }
}
