import BackupFormats
import LibraryModel
import LibraryStorage
import Scratch
import ServiceMesh

/// A library that becomes its backup keeps the files of those photos that the backup has too.
extension RestorePlan {
    mutating func replace(_ contents: BackupContents, in transaction: any CatalogueTransaction) throws {
        newCategories = named(contents.categories) { _ in false }
        newSessions = contents.swipeSessions
        var own = try OwnPhotos(contents, in: transaction)
        // Those of the same uuid first: two photos may share their content, and each is to keep its own file.
        let others = try own.takeNamesakes(contents.photos)
        let lacking = try own.takeOthers(others, in: transaction)
        newPhotos = try own.takeInsteadOfDamaged(lacking, damaged)
        (kept, removed) = try own.finish()
    }

    /// The plan with kept files that are not trusted taken from the backup instead; the library's own copies of
    /// them go to the trash. Blocks.
    /// - Parameter unsound: the places that they have in the backup.
    func distrusting(_ contents: BackupContents, _ unsound: PlaceSet) throws -> RestorePlan {
        guard !unsound.isEmpty else { return self }
        var plan = self
        var (photos, removed) = (
            SpooledList<Photo>.Spooler(in: contents.scratch), SpooledList<Photo>.Spooler(in: contents.scratch)
        )
        try newPhotos.forEach { try photos.append($0) }
        try self.removed.forEach { try removed.append($0) }
        try contents.photos.forEach { place, sourced in
            guard unsound.contains(place), let there = try kept[sourced.photo.uuid] else { return }
            // With all that it has of its source.
            try plan.kept.remove(sourced.photo.uuid)
            try photos.append(sourced.photo)
            try removed.append(there)
        }
        (plan.newPhotos, plan.removed) = (try photos.finish(), try removed.finish())
        return plan
    }

    /// The plan without the kept photos of which another one, made before files were read, does not say that they stay.
    func distrusting(_ contents: BackupContents, unlessKeptBy other: RestorePlan) throws -> RestorePlan {
        var unsound = PlaceSet()
        guard !kept.isEmpty else { return self }
        try contents.photos.forEach { place, sourced in
            let uuid = sourced.photo.uuid
            if try other.kept[uuid] == nil, try kept[uuid] != nil { unsound.insert(place) }
        }
        return try distrusting(contents, unsound)
    }

    /// Photos that would stay, without an original or a sidecar that the backup has whole, by their places in it.
    func lackingFiles(_ contents: BackupContents, _ digests: Digests) throws -> PlaceSet {
        var lacking = PlaceSet()
        guard !kept.isEmpty else { return lacking }
        try contents.photos.forEach { place, sourced in
            guard let there = try kept.find(sourced.photo.uuid), there.isOfSameSource else { return }
            let isLacking = try sourced.filesBeside.contains { path, digest in
                try there.photo.fileBeside(of: digest, sourced) == nil && digests(path) == digest
            }
            if isLacking { lacking.insert(place) }
        }
        return lacking
    }
}

/// The photos of a library that becomes a backup, each of which stands for one photo of the backup at most.
private struct OwnPhotos {
    private let photos: SpooledList<SourcedPhoto>
    private let contents: BackupContents
    /// What tells that two photos are the same picture. What another program saved is the source of a photo, and not its content.
    private let key: @Sendable (SourcedPhoto) -> String
    private var taken = PlaceSet()
    /// Sealed fields are sealed for a uuid: a photo of another one that has any goes to the trash with them.
    private var bound = PlaceSet()
    private var kept: SpooledList<KeptPhotos.Kept>.Spooler

    init(_ contents: BackupContents, in transaction: any CatalogueTransaction) throws {
        var photos = SpooledList<SourcedPhoto>.Spooler(in: contents.scratch)
        try transaction.photos.forEach(since: nil) { try photos.append($0) }
        self.photos = try photos.finish()
        self.contents = contents
        let isForeign = contents.isForeign
        key = { isForeign ? $0.sourceDigest : $0.photo.contentDigest }
        kept = .init(in: contents.scratch)
    }

    private mutating func take(_ place: Int, _ there: SourcedPhoto, for wanted: SourcedPhoto) throws {
        taken.insert(place)
        try kept.append(
            .init(
                uuid: wanted.photo.uuid, photo: there.photo, isOfSameSource: there.sourceDigest == wanted.sourceDigest,
                isInsteadOfDamaged: key(there) != key(wanted)))
    }

    /// - Returns: those that have no namesake here with the same picture.
    mutating func takeNamesakes(_ wanted: SpooledList<SourcedPhoto>) throws -> SpooledList<SourcedPhoto> {
        guard !photos.isEmpty else { return wanted }
        let byUUID = try SpooledIndex(photos, by: \.photo.uuid)
        return try wanted.spooled(in: contents.scratch) { (wanted: SourcedPhoto) -> SourcedPhoto? in
            guard let (place, there) = try byUUID.find(wanted.photo.uuid), key(there) == key(wanted),
                !taken.contains(place)
            else { return wanted }
            try take(place, there, for: wanted)
            return nil
        }
    }

    /// - Returns: those whose picture is not here, or only under another uuid that it is bound to.
    mutating func takeOthers(
        _ wanted: SpooledList<SourcedPhoto>, in transaction: any CatalogueTransaction
    ) throws -> SpooledList<SourcedPhoto> {
        guard taken.count < photos.count, !wanted.isEmpty else { return wanted }
        // Another program's photo takes the uuid that is here.
        if !contents.isForeign { try findBound(in: transaction) }
        var byKey = try SpooledGroups(photos, by: key)
        return try wanted.spooled(in: contents.scratch) { (wanted: SourcedPhoto) -> SourcedPhoto? in
            let found = try byKey.takeFirst(of: key(wanted)) { !taken.contains($0) && !bound.contains($0) }
            guard let found else { return wanted }
            try take(found, photos.element(at: found), for: wanted)
            return nil
        }
    }

    private mutating func findBound(in transaction: any CatalogueTransaction) throws {
        for portion in photos.portions(of: 512) {
            let left = zip(portion, try photos.elements(portion)).filter { !taken.contains($0.0) }
            guard !left.isEmpty else { continue }
            let sealed = try transaction.sealedFields.values(of: left.map(\.1.photo.uuid))
            for (place, there) in left where sealed[there.photo.uuid] != nil { bound.insert(place) }
        }
    }

    /// What was damaged when it was saved is another picture by its bytes. One of the same source is better, if it is whole.
    /// - Returns: those that are left.
    mutating func takeInsteadOfDamaged(
        _ wanted: SpooledList<SourcedPhoto>, _ damaged: Set<String>
    ) throws -> SpooledList<Photo> {
        let isAnyLeft = taken.count < photos.count && !damaged.isEmpty
        let bySource = isAnyLeft ? try SpooledIndex(photos, by: \.sourceDigest) : nil
        return try wanted.spooled(in: contents.scratch) { (wanted: SourcedPhoto) -> Photo? in
            guard damaged.contains(wanted.photo.path),
                let (place, there) = try bySource?.find(wanted.sourceDigest), !taken.contains(place),
                !bound.contains(place) || there.photo.uuid == wanted.photo.uuid
            else { return wanted.photo }
            try take(place, there, for: wanted)
            return nil
        }
    }

    /// - Returns: photos that stay, and those that the backup does not have.
    mutating func finish() throws -> (kept: KeptPhotos, removed: SpooledList<Photo>) {
        var removed = SpooledList<Photo>.Spooler(in: contents.scratch)
        try photos.forEach { place, there in
            if !taken.contains(place) { try removed.append(there.photo) }
        }
        return (try KeptPhotos(kept.finish()), try removed.finish())
    }
}
