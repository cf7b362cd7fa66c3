import LibraryModel
import LibraryStorage
import ServiceMesh
import Synchronization

extension CatalogueContract {
    package static let observation: [ContractCheck] = [
        ContractCheck("each change tells its parts") { run in
            let album = try await run.album(3)
            let seen = CommittedParts()
            run.catalogue.onCommit { seen.add($0) }
            let session = Sample.uuid(1)
            let changes: [(Set<CataloguePart>, @Sendable (any CatalogueTransaction) throws -> Void)] = [
                ([.photos], { _ = try $0.photos.setFavorite(true, of: [album.photos[0]]) }),
                ([.sealedFields], { try $0.sealedFields.set([.notes: Sample.sealed(1)], of: album.photos[0].uuid) }),
                ([.photos, .trash], { _ = try $0.trash.add([album.photos[1]], at: Sample.time(1)) }),
                ([.trash], { _ = try $0.trash.purge([album.photos[1].id]) }),
                ([.categories], { _ = try $0.categories.update(id: album.cars, to: Sample.details("Other")) }),
                ([.swipeSessions], { _ = try $0.swipes.start(session, at: Sample.time(1)) }),
                (
                    [.swipeActions, .photos],
                    { t in
                        let photo = album.photos[0]
                        _ = try t.swipes.record(
                            SwipeDecision(
                                session: session, photo: photo.uuid, contentDigest: photo.contentDigest, action: .keep),
                            at: Sample.time(2))
                    }
                ),
                (
                    [.reviewMachines],
                    { t in
                        try t.reviewMachines.put(
                            StoredReviewPartner(
                                id: "p", address: "http://p", token: .plain("t"), addedAt: Sample.time(1)))
                    }
                ),
                ([.settings], { try $0.settings.setLastBackupDate(Sample.time(1)) }),
                (
                    [.groups],
                    { t in
                        try t.groups.insert(
                            StoredGroup(id: "g", name: "Group", createdAt: Sample.time(1), members: []))
                    }
                ),
                ([.groups], { try $0.groups.rename("g", to: "Family") }),
                ([.groups], { try $0.groups.insert(photo("1", "g")) }),
                ([.groups], { try $0.groupHubs.put(hub("h")) }),
                ([.groups], { try $0.groupHubs.addDeparture("left", from: "h") }),
                (
                    [.groups],
                    { t in
                        try t.groupHubs.add([
                            UndeliveredGroupPhoto(
                                id: "1", groupId: "g", groupName: "Group", hub: "http://h", sentAt: Sample.time(1),
                                noticedAt: Sample.time(2), reason: .expired, detail: nil)
                        ])
                    }
                ),
                (
                    [.reviewMachines],
                    { t in
                        try t.reviewMachines.add(
                            ReviewMachine(id: "m", name: "M", isJoined: false, addedAt: Sample.time(1), seenAt: nil),
                            key: "m", token: Sample.digest(1, 1))
                    }
                ),
                ([.backups], { try $0.madeBackups.put(BackupSample.made("/b/1.zip")) }),
                (
                    [.backups],
                    { t in
                        try t.madeBackups.setSchedule(
                            StoredBackupSchedule(
                                folder: "/c", mount: "/", everyHours: 1, keep: 1, isZip: false, key: nil,
                                scheduledAt: Sample.time(1)))
                    }
                ),
            ]
            for (parts, change) in changes {
                try await run.write(change)
                let found = seen.take()
                run.expect(found.isSuperset(of: parts), "\(found) lacks some of \(parts)")
            }
            run.equal(changes.reduce(into: Set()) { $0.formUnion($1.0) }, Set(CataloguePart.allCases))
        },
        ContractCheck("all who listen are told before the writer is") { run in
            try await run.album()
            let (first, second) = (CommittedParts(), CommittedParts())
            run.catalogue.onCommit { first.add($0) }
            run.catalogue.onCommit { second.add($0) }
            for number in 0..<20 {
                try await run.write { try $0.settings.setLastSyncDate(Sample.time(Int64(number))) }
                run.equal(first.take(), [.settings])
                run.equal(second.take(), [.settings])
            }
        },
        ContractCheck("what is undone and what is only read is told to nobody") { run in
            let album = try await run.album(1)
            let seen = CommittedParts()
            run.catalogue.onCommit { seen.add($0) }
            await run.fails("A body that throws") {
                try await run.write { t in
                    _ = try t.photos.setFavorite(true, of: album.photos)
                    throw Stop(number: 1)
                }
            }
            try await run.read { _ = try $0.photos.totals() }
            run.equal(seen.take(), [])
        },
        ContractCheck("a listener can read what it was told of") { run in
            try await run.album()
            let (told, tell) = AsyncStream.makeStream(of: Set<CataloguePart>.self)
            run.catalogue.onCommit { tell.yield($0) }
            try await run.write { try $0.settings.setLastSyncDate(Sample.time(77)) }
            var parts = told.makeAsyncIterator()
            run.equal(await parts.next(), [.settings])
            run.equal(try await run.read { try $0.settings.settings().lastSyncDate } as Timestamp?, Sample.time(77))
        },
    ]
}

/// The parts that a catalogue has told of since they were taken last.
private final class CommittedParts: Sendable {
    private let parts = Mutex<Set<CataloguePart>>([])

    func add(_ more: Set<CataloguePart>) { parts.withLock { $0.formUnion(more) } }

    func take() -> Set<CataloguePart> {
        parts.withLock { parts in
            defer { parts = [] }
            return parts
        }
    }
}
