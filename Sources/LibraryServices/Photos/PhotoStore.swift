import LibraryModel
import LibraryStorage
import Sealing
import ServiceMesh

/// The photos of the catalogue: finding them, and everything a person does to one. It calls no other service.
///
/// Requests over several ids are one transaction: all are done or none. Nothing here touches a photo's file,
/// except to remove files that a committed transaction has discarded.
public actor PhotoStore: MeshService {
    public static let serviceName = "PhotoStore"
    public static var messages: MessageList<PhotoStore> {
        SearchPhotos.self
        CountPhotos.self
        SelectPhotos.self
        ListSealedPhotos.self
        ListCameras.self
        GetPhoto.self
        AddPhoto.self
        AddPhotos.self
        FindSourceDigests.self
        FindPhotoOfSource.self
        FindKnownFiles.self
        KeepKnownFiles.self
        AddSourceFailure.self
        CompletePhoto.self
        FindOtherHalf.self
        JoinFilm.self
        ReplacePlaceholder.self
        SetFavorite.self
        MovePhotos.self
        EditPhoto.self
        EditPhotos.self
        SetCaption.self
        DeletePhotos.self
        ForgetPhotos.self
        ListTrash.self
        RestorePhotos.self
        PurgeTrash.self
    }

    /// Ids in one request.
    private static let maximumIDs = 10_000

    let catalogue: any Catalogue
    let discards: DiscardedFiles
    let due: DueTime
    private let access: LibraryAccess
    private var cleanup: Task<Void, Never>?

    /// - Parameters:
    ///   - access: which knows who asks: a child's device sees the photos of chosen categories alone.
    ///   - due: the time by which the trash is emptied.
    package init(
        catalogue: any Catalogue, discards: DiscardedFiles, access: LibraryAccess = LibraryAccess(),
        due: DueTime = .following()
    ) {
        self.catalogue = catalogue
        self.access = access
        self.due = due
        self.discards = discards
    }

    public func start(on mesh: Mesh) async throws {
        cleanup = Task(executorPreference: MeshClock.executor) { [weak self, clock = mesh.clock] in
            while !Task.isCancelled {
                await self?.purgeExpired()
                // A timer by nature: photos leave the trash because time has passed, not because of an event.
                // It notes the time too, which has to be done each hour.
                try? await clock.sleep(for: .seconds(3600))
            }
        }
    }

    public func stop() async {
        cleanup?.cancel()
        await cleanup?.value
        await due.note()
    }

    public func checkHealth() async throws {
        _ = try await search(SearchPhotos(limit: 1))
    }

    // MARK: Reading

    func search(_ request: SearchPhotos) async throws -> PhotoPage {
        let (query, viewer) = (try PhotoQuery(request), access.viewer)
        return try await catalogue.read { try $0.photos.page(query.within(viewer.scope(in: $0))) }
    }

    func count(_ request: CountPhotos) async throws -> PhotoCount {
        let (query, viewer) = (try PhotoQuery(request.filter), access.viewer)
        return PhotoCount(
            count: try await catalogue.read { try $0.photos.count(query.within(viewer.scope(in: $0))) })
    }

    func select(_ request: SelectPhotos) async throws -> SelectedPhotos {
        let (query, viewer) = (try PhotoIDQuery(request), access.viewer)
        return try await catalogue.read { try $0.photos.ids(query.within(viewer.scope(in: $0))) }
    }

    func sealed(_ request: ListSealedPhotos) async throws -> SealedPhotos {
        let query = try SealedPhotoQuery(request)
        return try await catalogue.read { try $0.photos.sealed(query) }
    }

    func cameras(_ request: ListCameras) async throws -> CameraList {
        let limit = try PageLimit.validated(request.limit)
        let viewer = access.viewer
        return try await catalogue.read { try $0.photos.cameras(limit: limit, in: viewer.scope(in: $0)) }
    }

    func get(_ request: GetPhoto) async throws -> Photo {
        let key = try PhotoKey(id: request.id, uuid: request.uuid, path: request.path)
        let viewer = access.viewer
        return try await catalogue.read { try $0.photos.require(key, in: viewer.scope(in: $0)) }
    }

    func sourceDigests(size: Int64) async throws -> SourceDigests {
        try await catalogue.read {
            SourceDigests(
                digests: try $0.photos.sourceDigests(size: size),
                failures: try $0.failedSources.all(size: size, version: Release.version))
        }
    }

    // MARK: Changing

    func add(_ request: AddPhoto) async throws -> Photo {
        let location = try request.sealedLocation.map { try SealedValue(Array($0)) }
        let (photo, discarded) = try await catalogue.write { transaction in
            let companion = try Self.companion(takenInBy: request, in: transaction)
            let discarded = try companion.map { try Self.remove($0, in: transaction) } ?? []
            let photo = try transaction.photos.insert(request.sourced, line: request.line, of: request.job)
            if let location { try Self.keep(location, of: photo, in: transaction) }
            if let file = request.file {
                try transaction.knownFiles.keep([KnownFile(file: file, photo: photo.id)])
            }
            return (photo, discarded)
        }
        await discards.remove(discarded)
        return photo
    }

    func knownFiles(_ files: [FileStamp]) async throws -> KnownFiles {
        try Self.checkCount(ofKnownFiles: files.count)
        return KnownFiles(photos: try await catalogue.read { try $0.knownFiles.find(files) })
    }

    func keepKnownFiles(_ files: [KnownFile]) async throws {
        try Self.checkCount(ofKnownFiles: files.count)
        try await catalogue.write { try $0.knownFiles.keep(files) }
    }

    private static func checkCount(ofKnownFiles count: Int) throws {
        guard count <= FindKnownFiles.maximumCount else {
            throw MeshError(.invalidArgument, "Name at most \(FindKnownFiles.maximumCount) files.")
        }
    }

    /// What a person wrote there stays: a photo that comes back has its fields still.
    static func keep(
        _ location: SealedValue, of photo: Photo, in transaction: any CatalogueTransaction
    ) throws {
        let sealedFields = transaction.sealedFields
        // A key that is not the active one any more may be gone before anybody opens this.
        guard try sealedFields.activeKey() == location.keyID.description else {
            throw MeshError(
                .unavailable, "The key of the sealed fields has changed. Try again.",
                details: ["reason": "key_changed"])
        }
        let there = try sealedFields.values(of: photo.uuid).map(\.name.field)
        guard !there.contains(SealedField.location.rawValue) else { return }
        try sealedFields.set([.location: location.bytes], of: photo.uuid)
    }

    func addSourceFailure(_ request: AddSourceFailure) async throws {
        guard request.failure.outcome.isLasting else {
            throw MeshError(.invalidArgument, "'\(request.failure.outcome.rawValue)' may end otherwise next time.")
        }
        try await catalogue.write {
            try $0.failedSources.add(
                request.failure, digest: request.digest, size: request.size, version: Release.version)
        }
    }

    func addAll(_ photos: [SourcedPhoto]) async throws -> PhotosChanged {
        guard !photos.isEmpty, photos.count <= AddPhotos.maximumCount else {
            throw MeshError(.invalidArgument, "Give between 1 and \(AddPhotos.maximumCount) photos.")
        }
        try await catalogue.write { try $0.photos.insert(photos) }
        return PhotosChanged(count: photos.count)
    }

    func edit(_ request: EditPhoto) async throws -> Photo {
        let edit = try PhotoEdit(request)
        return try await catalogue.write { try Self.apply(edit, id: request.id, in: $0) }
    }

    func editAll(_ request: EditPhotos) async throws -> EditedPhotos {
        let edit = try PhotoEdit(request)
        guard request.ids.count <= EditPhotos.maximumCount else {
            throw MeshError(.invalidArgument, "Name at most \(EditPhotos.maximumCount) photos.")
        }
        let ids = try Self.validated(request.ids).map(PhotoKey.id)
        return try await catalogue.write { transaction in
            let photos =
                request.ignoreMissing == true
                ? try transaction.photos.findReadable(ids) : try transaction.photos.require(ids)
            let edited = try photos.map { try edit.applied(to: $0) }
            try transaction.photos.update(edited)
            return EditedPhotos(photos: edited)
        }
    }

    func setCaption(_ request: SetCaption) async throws -> Photo {
        let edit = try PhotoEdit(EditPhoto(id: request.id, caption: request.caption ?? ""))
        return try await catalogue.write { try Self.apply(edit, id: request.id, in: $0) }
    }

    private static func apply(_ edit: PhotoEdit, id: Int64, in transaction: any CatalogueTransaction) throws -> Photo {
        let edited = try edit.applied(to: try transaction.photos.require(.id(id)))
        try transaction.photos.update(edited)
        return edited
    }

    func setFavorite(_ request: SetFavorite) async throws -> PhotosChanged {
        try await change(request.ids.map(PhotoKey.id), request.ignoreMissing) { photos, transaction in
            try transaction.photos.setFavorite(request.isFavorite, of: photos)
        }
    }

    func move(_ request: MovePhotos) async throws -> PhotosChanged {
        try await change(request.ids.map(PhotoKey.id), request.ignoreMissing) { photos, transaction in
            try transaction.photos.move(photos, to: request.categoryId)
        }
    }

    func delete(_ request: DeletePhotos) async throws -> PhotosChanged {
        let now = due.wall.now()
        let keys: [PhotoKey]
        switch (request.ids, request.uuids, request.paths, request.categoryId) {
        case (let ids?, nil, nil, nil): keys = ids.map(PhotoKey.id)
        case (nil, let uuids?, nil, nil): keys = uuids.map(PhotoKey.uuid)
        case (nil, nil, let paths?, nil): keys = paths.map(PhotoKey.path)
        case (nil, nil, nil, let category?):
            return try await catalogue.writeFreeingSpace { transaction in
                _ = try transaction.categories.require(.id(category))
                return PhotosChanged(count: try transaction.trash.add(category: category, at: now))
            }
        default:
            throw MeshError(.invalidArgument, "Name the photos by one of 'ids', 'uuids', 'paths' and 'categoryId'.")
        }
        return try await change(keys, request.ignoreMissing, freeingSpace: true) { photos, transaction in
            try transaction.trash.add(photos, at: now)
        }
    }

    func forget(_ ids: [Int64]) async throws -> ForgottenPhotos {
        let ids = try Self.validated(ids)
        let files = try await catalogue.writeFreeingSpace { try $0.photos.forget(ids) }
        await discards.remove(files.made.compactMap { StoredName(path: $0) })
        return ForgottenPhotos(paths: files.left)
    }

    /// One transaction over photos that must all exist, unless those that do not are to be passed over; counts those that
    /// `change` says it changed. A photo that is named twice is changed once.
    private func change(
        _ keys: [PhotoKey], _ ignoreMissing: Bool?, freeingSpace: Bool = false,
        _ change: @escaping @Sendable ([Photo], any CatalogueTransaction) throws -> Int
    ) async throws -> PhotosChanged {
        let keys = try Self.validated(keys)
        let body = { @Sendable (transaction: any CatalogueTransaction) in
            var seen: Set<Int64> = []
            let named =
                ignoreMissing == true
                ? try transaction.photos.findReadable(keys) : try transaction.photos.require(keys)
            let photos = named.filter { seen.insert($0.id).inserted }
            return PhotosChanged(count: try change(photos, transaction))
        }
        return try await freeingSpace ? catalogue.writeFreeingSpace(body) : catalogue.write(body)
    }

    /// The ids, or whatever names photos, without repetition.
    static func validated<ID: Hashable>(_ ids: [ID]) throws -> [ID] {
        guard !ids.isEmpty, ids.count <= maximumIDs else {
            throw MeshError(.invalidArgument, "Name between 1 and \(maximumIDs) photos.")
        }
        var seen: Set<ID> = []
        return ids.filter { seen.insert($0).inserted }
    }
}

extension SearchPhotos: HandledMessage {
    public func perform(on service: PhotoStore) async throws -> PhotoPage { try await service.search(self) }
}

extension CountPhotos: HandledMessage {
    public func perform(on service: PhotoStore) async throws -> PhotoCount { try await service.count(self) }
}

extension SelectPhotos: HandledMessage {
    public func perform(on service: PhotoStore) async throws -> SelectedPhotos { try await service.select(self) }
}

extension ListSealedPhotos: HandledMessage {
    public func perform(on service: PhotoStore) async throws -> SealedPhotos { try await service.sealed(self) }
}

extension ListCameras: HandledMessage {
    public func perform(on service: PhotoStore) async throws -> CameraList { try await service.cameras(self) }
}

extension GetPhoto: HandledMessage {
    public func perform(on service: PhotoStore) async throws -> Photo { try await service.get(self) }
}

extension AddPhoto: HandledMessage {
    public func perform(on service: PhotoStore) async throws -> Photo { try await service.add(self) }
}

extension AddPhotos: HandledMessage {
    public func perform(on service: PhotoStore) async throws -> PhotosChanged { try await service.addAll(photos) }
}

extension FindPhotoOfSource: HandledMessage {
    public func perform(on service: PhotoStore) async throws -> FoundPhoto {
        let digest = digest
        return FoundPhoto(
            photo: try await service.catalogue.read {
                try $0.photos.find(sourceDigest: digest) ?? $0.photos.find(companionDigest: digest)
            })
    }
}

extension FindKnownFiles: HandledMessage {
    public func perform(on service: PhotoStore) async throws -> KnownFiles { try await service.knownFiles(files) }
}

extension KeepKnownFiles: HandledMessage {
    public func perform(on service: PhotoStore) async throws -> Done {
        try await service.keepKnownFiles(files)
        return Done()
    }
}

extension AddSourceFailure: HandledMessage {
    public func perform(on service: PhotoStore) async throws -> Done {
        try await service.addSourceFailure(self)
        return Done()
    }
}

extension CompletePhoto: HandledMessage {
    public func perform(on service: PhotoStore) async throws -> Photo { try await service.complete(self) }
}

extension ReplacePlaceholder: HandledMessage {
    public func perform(on service: PhotoStore) async throws -> Photo { try await service.replacePlaceholder(self) }
}

extension FindSourceDigests: HandledMessage {
    public func perform(on service: PhotoStore) async throws -> SourceDigests {
        try await service.sourceDigests(size: sourceSize)
    }
}

extension SetFavorite: HandledMessage {
    public func perform(on service: PhotoStore) async throws -> PhotosChanged { try await service.setFavorite(self) }
}

extension MovePhotos: HandledMessage {
    public func perform(on service: PhotoStore) async throws -> PhotosChanged { try await service.move(self) }
}

extension EditPhoto: HandledMessage {
    public func perform(on service: PhotoStore) async throws -> Photo { try await service.edit(self) }
}

extension EditPhotos: HandledMessage {
    public func perform(on service: PhotoStore) async throws -> EditedPhotos { try await service.editAll(self) }
}

extension SetCaption: HandledMessage {
    public func perform(on service: PhotoStore) async throws -> Photo { try await service.setCaption(self) }
}

extension DeletePhotos: HandledMessage {
    public func perform(on service: PhotoStore) async throws -> PhotosChanged { try await service.delete(self) }
}

extension ForgetPhotos: HandledMessage {
    public func perform(on service: PhotoStore) async throws -> ForgottenPhotos { try await service.forget(ids) }
}
