import LibraryModel
import LibraryStorage
import ServiceMesh

/// The trash: what is in it, and the two ways out.
extension PhotoStore {
    func trash(_ request: ListTrash) async throws -> TrashPage {
        let query = try TrashQuery(request, now: due.wall.now(), notBefore: due.jump()?.endsAt)
        return try await catalogue.read { try $0.trash.page(query) }
    }

    func restore(_ ids: [Int64]) async throws -> RestoredPhotos {
        let ids = try Self.validated(ids)
        return try await catalogue.write { transaction in
            let staying = try transaction.trash.restore(ids)
            return RestoredPhotos(count: ids.count - staying.count, staying: staying.isEmpty ? nil : staying)
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
        // Who asks for it by hand says that it is time.
        return try await purge(
            deletedBefore: request.all == true
                ? .max : due.wall.now().milliseconds &- TrashTerm.milliseconds)
    }

    private func purge(deletedBefore end: Int64) async throws -> PhotosChanged {
        var count = 0
        while true {
            try Task.checkCancellation()
            let purged = try await purge {
                try $0.trash.deleted(before: Timestamp(milliseconds: end), limit: 500)
            }
            guard purged > 0 else { return PhotosChanged(count: count) }
            count += purged
        }
    }

    /// Rows first, then the files: what a kill leaves between is in the list of discarded files, and so is what an
    /// unfinished backup needs.
    /// - Parameter choose: which, in the transaction that takes them out, so that purges that meet do not clash.
    private func purge(_ choose: @escaping @Sendable (any CatalogueTransaction) throws -> [Int64]) async throws -> Int {
        let (count, files) = try await catalogue.writeFreeingSpace { transaction in
            let ids = try choose(transaction)
            return (ids.count, try transaction.trash.purge(ids))
        }
        await discards.remove(files)
        return count
    }

    func purgeExpired() async {
        await due.note()
        let time = due.now()
        await beginTerms(until: time.latest)
        guard let settings = try? await catalogue.read({ try $0.settings.settings() }),
            settings.storageCleanupEnabled
        else { return }
        // What fails now is tried again at the next turn; a person who purges by hand sees the error.
        _ = try? await purge(deletedBefore: time.due.milliseconds &- TrashTerm.milliseconds)
    }

    /// What a clock has put there that was ahead would stay for years: its term begins now.
    private func beginTerms(until latest: Timestamp) async {
        guard (try? await catalogue.read { try $0.trash.isAnyDeleted(after: latest) }) == true else { return }
        try? await catalogue.write { try $0.trash.beginTerm(ofThoseAfter: latest) }
    }
}

extension ListTrash: HandledMessage {
    public func perform(on service: PhotoStore) async throws -> TrashPage { try await service.trash(self) }
}

extension RestorePhotos: HandledMessage {
    public func perform(on service: PhotoStore) async throws -> RestoredPhotos { try await service.restore(ids) }
}

extension PurgeTrash: HandledMessage {
    public func perform(on service: PhotoStore) async throws -> PhotosChanged { try await service.purge(self) }
}
