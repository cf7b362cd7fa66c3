import LibraryModel
import LibraryStorage
import ServiceMesh

/// The files of groups' photos: what goes, and when.
extension GroupStore {
    /// Removes what has expired, and files that nobody names; notes whose file is gone. One at a time.
    func sweep() async {
        if let sweeping { return await sweeping.value }
        let task = Task(executorPreference: MeshClock.executor) { await self.sweepAlone() }
        sweeping = task
        await task.value
        sweeping = nil
        await show()
    }

    private func sweepAlone() async {
        // What fails now is met again.
        await giveUpOldUploads()
        try? await removeExpired()
        try? await correctDays()
        try? await matchFiles()
        await evict()
    }

    /// Where there are no groups it writes nothing.
    private func removeExpired() async throws {
        let (catalogue, clocks) = (catalogue, clocks)
        let hasWork = try await catalogue.read { transaction in
            try transaction.groups.time() != nil || !transaction.groups.photos(of: nil).isEmpty
                || !transaction.groupHubs.undelivered().isEmpty
        }
        guard hasWork else { return }
        try await catalogue.write { transaction in
            let time = try clocks.time(in: transaction)
            let kept = Int64(UndeliveredGroupPhoto.keptDays) * 86_400_000
            try transaction.groupHubs.removeUndelivered(
                until: Timestamp(milliseconds: time.wall.milliseconds - kept))
            try Self.noteWaiting(at: time, in: transaction)
            _ = try transaction.groups.removeExpired(at: time.now)
            let isFree = try transaction.groups.photos(of: nil).isEmpty
            try transaction.groups.setTime(isFree ? nil : time.reading)
        }
    }

    /// What waits for another machine and expires here has come to nobody.
    private static func noteWaiting(at time: GroupTime, in transaction: any CatalogueTransaction) throws {
        let expired = try transaction.groups.photos(of: nil).filter {
            $0.transfer == .outgoing && $0.expiresAt <= time.now
        }
        guard !expired.isEmpty else { return }
        try transaction.groupHubs.noteUndelivered(
            expired, of: transaction.groups.groups(nil), at: time.wall, .expired)
    }

    private func matchFiles() async throws {
        let (catalogue, files, folder) = (catalogue, files, folder)
        let there = try await files.run { try folder.all() }
        // After the files and before the rows: a photo whose file was seen is among these, or has its row by now.
        let unsettled = unsettled
        let (named, rows) = try await catalogue.read { (try $0.groups.photoIDs(), try $0.groups.photos(of: nil)) }
        let unnamed = there.subtracting(named).subtracting(unsettled)
        let missing = rows.filter { $0.hasFile && !there.contains($0.id) }.map(\.id)
        guard !unnamed.isEmpty || !missing.isEmpty else { return }
        let gone = try await files.run {
            folder.remove(Array(unnamed))
            // One that was sent since the files were listed has one.
            return missing.filter { (try? folder.isThere($0)) == false }
        }
        if !gone.isEmpty { try await catalogue.write { try $0.groups.setMissing(gone) } }
    }

    /// Removes files until the rest is within what the settings say, those that nobody has looked at for longest first. Their rows stay: who
    /// has sent today has. What waits to go out is nowhere else, and stays; of groups that are kept here members' machines fetch
    /// for as long as it is there, so their files go last.
    func evict() async {
        let (catalogue, files, folder) = (catalogue, files, folder)
        let isOver = try? await catalogue.read { try !Self.tooMany($0).isEmpty }
        guard isOver == true else { return }
        let removed = try? await catalogue.write { transaction in
            let ids = try Self.tooMany(transaction)
            try transaction.groups.setMissing(ids)
            return ids
        }
        try? await files.run { folder.remove(removed ?? []) }
    }

    /// Whose files have to go, so that the others are within the limit.
    private static func tooMany(_ transaction: any CatalogueTransaction) throws -> [String] {
        let megabytes = try transaction.settings.settings().groupPhotoMegabytes
        let limit = Int64(exactly: (megabytes * 1_000_000).rounded()) ?? .max
        // What a catalogue from elsewhere says of sizes must not end the arithmetic.
        func bytes(_ photo: StoredGroupPhoto) -> Int64 { min(max(0, photo.fileSize), 1 << 40) }
        let rows = try transaction.groups.photos(of: nil).filter(\.hasFile)
        var sum = rows.reduce(0) { $0 + bytes($1) }
        var ids: [String] = []
        let kept = Set(try transaction.groups.groups(nil).filter { $0.hub == nil }.map(\.id))
        func order(_ photo: StoredGroupPhoto) -> (Int, Timestamp, String) {
            (kept.contains(photo.groupId) ? 1 : 0, photo.lastUsedAt, photo.id)
        }
        let removable = rows.filter { $0.transfer != .outgoing }
        for row in removable.sorted(by: { order($0) < order($1) }) where sum > limit {
            ids.append(row.id)
            sum -= bytes(row)
        }
        return ids
    }
}
