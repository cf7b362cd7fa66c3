import Database
import Executors
import Foundation
import LibraryModel
import ServiceMesh

/// The photos of the catalogue: finding them, and everything a person does to one. It calls no other service.
///
/// Requests over several ids are one transaction: all are done or none. Nothing here touches a photo's file,
/// except to remove files that a committed transaction has discarded.
public actor PhotoStore: MeshService {
    public static let serviceName = "PhotoStore"
    public static var messages: MessageList<PhotoStore> {
        SearchPhotos.self
        GetPhoto.self
        AddPhoto.self
        AddPhotos.self
        FindSourceDigests.self
        SetFavorite.self
        MovePhotos.self
        SetCaption.self
        DeletePhotos.self
        ForgetPhotos.self
        ListTrash.self
        RestorePhotos.self
        PurgeTrash.self
    }

    /// Ids in one request.
    private static let maximumIDs = 10_000

    private let database: Database
    private let discards: DiscardedFiles
    private var cleanup: Task<Void, Never>?

    init(database: Database, discards: DiscardedFiles) {
        self.database = database
        self.discards = discards
    }

    public func start(on mesh: Mesh) async throws {
        cleanup = Task(executorPreference: MeshClock.executor) { [weak self, clock = mesh.clock] in
            while !Task.isCancelled {
                await self?.purgeExpired()
                // A timer by nature: photos leave the trash because time has passed, not because of an event.
                try? await clock.sleep(for: .seconds(6 * 3600))
            }
        }
    }

    public func stop() async {
        cleanup?.cancel()
        await cleanup?.value
    }

    public func checkHealth() async throws {
        _ = try await database.read { try PhotoQuery(SearchPhotos(limit: 1)).page(in: $0) }
    }

    // MARK: Reading

    func search(_ request: SearchPhotos) async throws -> PhotoPage {
        let query = try PhotoQuery(request)
        return try await database.read { try query.page(in: $0) }
    }

    func get(_ request: GetPhoto) async throws -> Photo {
        try await database.read { connection in
            if let id = request.id { return try PhotoTable.require(id: id, in: connection) }
            guard let uuid = request.uuid else {
                throw MeshError(.invalidArgument, "Name the photo by 'id' or by 'uuid'.")
            }
            guard let photo = try PhotoTable.find(uuid: uuid.lowercased(), in: connection) else {
                throw MeshError(.notFound, "There is no photo with the uuid \(uuid.prefix(80)).")
            }
            return photo
        }
    }

    func sourceDigests(size: Int64) async throws -> SourceDigests {
        SourceDigests(digests: try await database.read { try PhotoTable.sourceDigests(size: size, in: $0) })
    }

    // MARK: Changing

    func add(_ request: AddPhoto) async throws -> Photo {
        try await database.write { connection in
            if let there = try PhotoTable.find(sourceDigest: request.sourceDigest, in: connection) {
                throw MeshError(
                    .alreadyExists, "The library has this picture already, as photo \(there.id).",
                    details: ["photoId": .integer(there.id), "path": .string(there.path)])
            }
            try CategoryTable.requireExists(id: request.photo.categoryId, in: connection)
            let id = try PhotoTable.insert(
                request.photo, sourceDigest: request.sourceDigest, sourceSize: request.sourceSize, in: connection)
            if let job = request.job, let line = request.line {
                try JobLineTable.append(line, to: job, in: connection)
            }
            return try PhotoTable.require(id: id, in: connection)
        }
    }

    func addAll(_ photos: [NewPhoto]) async throws -> PhotosChanged {
        guard !photos.isEmpty, photos.count <= AddPhotos.maximumCount else {
            throw MeshError(.invalidArgument, "Give between 1 and \(AddPhotos.maximumCount) photos.")
        }
        return try await database.write { connection in
            for category in Set(photos.map(\.photo.categoryId)) {
                try CategoryTable.requireExists(id: category, in: connection)
            }
            do {
                try PhotoTable.insert(photos, in: connection)
            } catch DatabaseError.constraint(.unique, let detail) {
                // Looked for only now: a million questions whose answer is no would cost as much as the rows.
                for new in photos {
                    guard let there = try PhotoTable.find(sourceDigest: new.sourceDigest, in: connection) else {
                        continue
                    }
                    throw MeshError(
                        .alreadyExists,
                        "The library has one of these pictures already, as photo \(there.id). Nothing was added.",
                        details: ["photoId": .integer(there.id), "path": .string(there.path)])
                }
                throw MeshError(
                    .alreadyExists, "Two of these photos are the same (\(detail)). Nothing was added; leave one out.")
            }
            return PhotosChanged(count: photos.count)
        }
    }

    func setFavorite(_ request: SetFavorite) async throws -> PhotosChanged {
        try await changeEach(request.ids) { id, connection in
            try PhotoTable.setFavorite(request.isFavorite, id: id, in: connection)
        }
    }

    func move(_ request: MovePhotos) async throws -> PhotosChanged {
        try await changeEach(request.ids) { id, connection in
            try CategoryTable.requireExists(id: request.categoryId, in: connection)
            return try PhotoTable.move(id: id, to: request.categoryId, in: connection)
        }
    }

    func setCaption(_ request: SetCaption) async throws -> Photo {
        let caption = request.caption.map(\.trimmingWhitespace).flatMap { $0.isEmpty ? nil : $0 }
        guard (caption?.count ?? 0) <= SetCaption.maximumLength,
            (caption?.utf8.count ?? 0) <= SetCaption.maximumLength * 16
        else {
            throw MeshError(
                .invalidArgument, "A caption has \(SetCaption.maximumLength) characters at most. Shorten it.")
        }
        return try await database.write { connection in
            let photo = try PhotoTable.require(id: request.id, in: connection)
            try PhotoTable.setCaption(caption, of: photo, in: connection)
            return try PhotoTable.require(id: request.id, in: connection)
        }
    }

    func delete(_ ids: [Int64]) async throws -> PhotosChanged {
        let now = Timestamp.now()
        return try await changeEach(ids) { id, connection in
            try TrashTable.moveIn(where: "p.id = ?", id, at: now, in: connection) > 0
        }
    }

    func forget(_ ids: [Int64]) async throws -> ForgottenPhotos {
        let ids = try Self.validated(ids)
        let (paths, thumbnails) = try await database.write { connection in
            let photos = try ids.map { try PhotoTable.require(id: $0, in: connection) }
            for photo in photos {
                try PhotoTable.delete(id: photo.id, in: connection)
                try DiscardedFileTable.add([photo.thumbnailPath], in: connection)
            }
            return (photos.map(\.path), photos.map(\.thumbnailPath))
        }
        await discards.remove(thumbnails)
        return ForgottenPhotos(paths: paths)
    }

    /// One transaction over photos that must all exist; counts those that `change` says it changed.
    private func changeEach(
        _ ids: [Int64], _ change: @escaping @Sendable (Int64, Connection) throws -> Bool
    ) async throws -> PhotosChanged {
        let ids = try Self.validated(ids)
        return try await database.write { connection in
            var count = 0
            for id in ids {
                _ = try PhotoTable.require(id: id, in: connection)
                if try change(id, connection) { count += 1 }
            }
            return PhotosChanged(count: count)
        }
    }

    /// The ids without repetition.
    private static func validated(_ ids: [Int64]) throws -> [Int64] {
        guard !ids.isEmpty, ids.count <= maximumIDs else {
            throw MeshError(.invalidArgument, "Name between 1 and \(maximumIDs) photos.")
        }
        var seen: Set<Int64> = []
        return ids.filter { seen.insert($0).inserted }
    }

    // MARK: Trash

    func trash(_ request: ListTrash) async throws -> TrashPage {
        try await database.read { try TrashTable.page(request, in: $0) }
    }

    func restore(_ ids: [Int64]) async throws -> PhotosChanged {
        let ids = try Self.validated(ids)
        return try await database.write { connection in
            for id in ids { try TrashTable.moveOut(id: id, in: connection) }
            return PhotosChanged(count: ids.count)
        }
    }

    func purge(_ request: PurgeTrash) async throws -> PhotosChanged {
        guard request.ids == nil || request.all != true else {
            throw MeshError(.invalidArgument, "Say either which photos, or 'all'.")
        }
        if let ids = request.ids {
            let ids = try Self.validated(ids)
            return PhotosChanged(count: try await purge { _ in ids })
        }
        let before = request.all == true ? Int64.max : Timestamp.now().milliseconds - TrashTerm.milliseconds
        var count = 0
        while true {
            try Task.checkCancellation()
            let purged = try await purge {
                try TrashTable.ids(deletedBefore: Timestamp(milliseconds: before), limit: 500, in: $0)
            }
            guard purged > 0 else { return PhotosChanged(count: count) }
            count += purged
        }
    }

    /// Rows first, then the files: what a kill leaves between is in the list of discarded files.
    /// - Parameter choose: which, in the transaction that takes them out, so that purges that meet do not clash.
    private func purge(_ choose: @escaping @Sendable (Connection) throws -> [Int64]) async throws -> Int {
        let (count, paths) = try await database.write { connection in
            let ids = try choose(connection)
            return (ids.count, try ids.flatMap { try TrashTable.purge(id: $0, in: connection) })
        }
        await discards.remove(paths)
        return count
    }

    private func purgeExpired() async {
        guard let settings = try? await database.read({ try SettingTable.settings(in: $0) }),
            settings.storageCleanupEnabled
        else { return }
        // What fails now is tried again at the next turn; a person who purges by hand sees the error.
        _ = try? await purge(PurgeTrash())
    }
}

extension SearchPhotos: HandledMessage {
    public func perform(on service: PhotoStore) async throws -> PhotoPage { try await service.search(self) }
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

extension SetCaption: HandledMessage {
    public func perform(on service: PhotoStore) async throws -> Photo { try await service.setCaption(self) }
}

extension DeletePhotos: HandledMessage {
    public func perform(on service: PhotoStore) async throws -> PhotosChanged { try await service.delete(ids) }
}

extension ForgetPhotos: HandledMessage {
    public func perform(on service: PhotoStore) async throws -> ForgottenPhotos { try await service.forget(ids) }
}

extension ListTrash: HandledMessage {
    public func perform(on service: PhotoStore) async throws -> TrashPage { try await service.trash(self) }
}

extension RestorePhotos: HandledMessage {
    public func perform(on service: PhotoStore) async throws -> PhotosChanged { try await service.restore(ids) }
}

extension PurgeTrash: HandledMessage {
    public func perform(on service: PhotoStore) async throws -> PhotosChanged { try await service.purge(self) }
}
