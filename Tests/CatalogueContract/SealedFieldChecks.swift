import LibraryModel
import LibraryStorage
import ServiceMesh

extension CatalogueContract {
    static let sealedFields: [ContractCheck] = [
        ContractCheck("values come back byte for byte, by field, in the place of those before") { run in
            let album = try await run.album(2)
            let (one, other) = (album.photos[0].uuid, album.photos[1].uuid)
            let bytes: [UInt8] = Sample.sealed(1, [0, 255, 39, 0])
            try await run.write { t in
                try t.sealedFields.set([.tags: bytes, .notes: Sample.sealed(2), .childName: Sample.sealed(3)], of: one)
                try t.sealedFields.set([.tags: Sample.sealed(9)], of: other)
                try t.sealedFields.set([.notes: Sample.sealed(4)], of: one)
                try t.sealedFields.set([:], of: one)
            }
            try await run.read { t in
                let rows = try t.sealedFields.values(of: one)
                run.equal(rows.map(\.name.field), ["childName", "notes", "tags"])
                run.equal(rows.map(\.name.uuid), [one, one, one])
                run.equal(rows.map(\.sealed), [Sample.sealed(3), Sample.sealed(4), bytes])
                run.equal(try t.sealedFields.values(of: other).map(\.sealed), [Sample.sealed(9)])
                run.equal(try t.sealedFields.values(of: "none"), [])
                run.equal(
                    try t.sealedFields.values(of: [other, "none", one, one]),
                    [one: rows, other: try t.sealedFields.values(of: other)])
                run.equal(try t.sealedFields.values(of: []), [:])
                run.equal(try t.sealedFields.totals(), SealedTotals(values: 4, photos: 2))
            }
        },
        ContractCheck("values of many photos are entered together") { run in
            let uuids = try await run.album(3).photos.map(\.uuid)
            try await run.write { t in
                try t.sealedFields.set([.tags: Sample.sealed(1), .notes: Sample.sealed(2)], of: uuids[0])
                try t.sealedFields.set([
                    uuids[0]: [.tags: Sample.sealed(3)], uuids[1]: [.notes: Sample.sealed(4), .tags: Sample.sealed(5)],
                    uuids[2]: [:],
                ])
                try t.sealedFields.set([:])
                func sealed(_ number: Int) throws -> [[UInt8]] {
                    try t.sealedFields.values(of: uuids[number]).map(\.sealed)
                }
                run.equal(try sealed(0), [Sample.sealed(2), Sample.sealed(3)])
                run.equal(try sealed(1), [Sample.sealed(4), Sample.sealed(5)])
                run.equal(try sealed(2), [])
            }
        },
        ContractCheck("all values come by uuid and field, page by page") { run in
            let album = try await run.album(4)
            try await run.write { t in
                for photo in album.photos {
                    try t.sealedFields.set([.tags: Sample.sealed(1), .notes: Sample.sealed(2)], of: photo.uuid)
                }
            }
            let wanted = album.photos.map(\.uuid).sorted().flatMap { uuid in ["notes", "tags"].map { uuid + $0 } }
            try await run.read { t in
                for limit in [1, 3, 8, 100] {
                    var names: [SealedRow.Name] = []
                    while true {
                        let page = try t.sealedFields.page(after: names.last, limit: limit)
                        if page.isEmpty || names.count > 100 { break }
                        run.expect(page.count <= limit)
                        names += page.map(\.name)
                    }
                    run.equal(names.map { $0.uuid + $0.field }, wanted)
                }
                run.equal(try t.sealedFields.page(after: nil, limit: 0), [])
            }
        },
        ContractCheck("values are removed by field and by photo, and counted") { run in
            let album = try await run.album(3)
            let uuids = album.photos.map(\.uuid)
            try await run.write { t in
                for uuid in uuids {
                    try t.sealedFields.set([.tags: Sample.sealed(1), .notes: Sample.sealed(2)], of: uuid)
                }
                run.equal(try t.sealedFields.remove([.tags, .milestone], of: uuids[0]), 1)
                run.equal(try t.sealedFields.remove([.tags], of: uuids[0]), 0)
                run.equal(try t.sealedFields.remove([], of: uuids[0]), 0)
                run.equal(try t.sealedFields.totals(), SealedTotals(values: 5, photos: 3))
                run.equal(
                    try t.sealedFields.removeAll(of: [uuids[0], uuids[1], "none"]), SealedTotals(values: 3, photos: 2))
                run.equal(try t.sealedFields.removeAll(of: [uuids[0]]), SealedTotals(values: 0, photos: 0))
                run.equal(try t.sealedFields.removeAll(of: []), SealedTotals(values: 0, photos: 0))
                run.equal(try t.sealedFields.totals(), SealedTotals(values: 2, photos: 1))
                run.equal(try t.sealedFields.values(of: uuids[2]).count, 2)
            }
        },
        ContractCheck("places of photos are told in the order of the uuids") { run in
            let album = try await run.album(3) { number, family, _ in
                Sample.photo(number, in: family, takenAt: number == 0 ? nil : .max, createdAt: 5)
            }
            try await run.write { t in
                _ = try t.trash.add([album.photos[1]], at: Sample.time(1))
                let found = try t.sealedFields.places(of: [2, 1, 0, 9].map(Sample.uuid))
                run.equal(found, [PhotoPlace(album.photos[2]), nil, PhotoPlace(album.photos[0]), nil])
            }
        },
        ContractCheck("values are sealed anew where they are still what was read") { run in
            let album = try await run.album(2)
            let uuid = album.photos[0].uuid
            try await run.write { t in
                try t.sealedFields.set([.tags: Sample.sealed(1), .notes: Sample.sealed(1)], of: uuid)
                try t.sealedFields.set([.tags: Sample.sealed(1)], of: album.photos[1].uuid)
            }
            let rows = try await run.read { try $0.sealedFields.values(of: uuid) }
            try await run.write { t in
                try t.sealedFields.set([.notes: Sample.sealed(5)], of: uuid)
                run.equal(try t.sealedFields.reseal(rows.map { ($0, Sample.sealed(2)) }), 1)
                run.equal(try t.sealedFields.values(of: uuid).map(\.sealed), [Sample.sealed(5), Sample.sealed(2)])
                run.equal(try t.sealedFields.values(of: album.photos[1].uuid).map(\.sealed), [Sample.sealed(1)])
                run.equal(try t.sealedFields.reseal([]), 0)
            }
        },
        ContractCheck("values stay with a photo in the trash and go when it is in neither") { run in
            let album = try await run.album(4)
            let uuids = album.photos.map(\.uuid)
            try await run.write { t in
                for uuid in uuids { try t.sealedFields.set([.notes: Sample.sealed(1)], of: uuid) }
                _ = try t.trash.add([album.photos[0], album.photos[1]], at: Sample.time(1))
            }
            func left() async throws -> [String] {
                try await run.read { try $0.sealedFields.page(after: nil, limit: 100).map(\.name.uuid) }
            }
            run.equal(try await left(), uuids.sorted())
            try await run.write { _ = try $0.trash.purge([album.ids[0]]) }
            run.equal(try await left(), uuids.dropFirst().sorted())
            try await run.write { _ = try $0.trash.restore([album.ids[1]]) }
            run.equal(try await left(), uuids.dropFirst().sorted())
            try await run.write { _ = try $0.photos.forget([album.ids[2]]) }
            run.equal(try await left(), [uuids[1], uuids[3]].sorted())
            try await run.write { try $0.categories.delete(id: album.family) }
            run.equal(try await left(), [])
        },
        ContractCheck("values outlast photos that are entered again, and no others") { run in
            let album = try await run.album(3)
            try await run.write { t in
                for photo in album.photos { try t.sealedFields.set([.notes: Sample.sealed(1)], of: photo.uuid) }
                _ = try t.trash.add([album.photos[2]], at: Sample.time(1))
                let back = try t.sealedFields.keepingValues {
                    try t.photos.removeAll()
                    try t.photos.insert([Sample.photo(0, in: album.family)], keepingIDs: false)
                    return try t.photos.totals().photos
                }
                run.equal(back, 1)
            }
            let left = try await run.read { try $0.sealedFields.page(after: nil, limit: 10).map(\.name.uuid) }
            run.equal(left, [album.photos[0].uuid, album.photos[2].uuid].sorted())
            // From then on they go with their photos again.
            try await run.write { try $0.photos.removeAll() }
            run.equal(try await run.read { try $0.sealedFields.totals() }, SealedTotals(values: 1, photos: 1))
        },
        ContractCheck("an exchange of photos that is broken off leaves all values, and goes with its transaction") {
            run in
            let album = try await run.album(1)
            try await run.write { try $0.sealedFields.set([.notes: Sample.sealed(1)], of: album.photos[0].uuid) }
            try await run.refuses("notInTrash") { t in
                try t.sealedFields.keepingValues {
                    try t.photos.removeAll()
                    _ = try t.trash.purge([.max])
                }
            }
            run.equal(try await run.read { try $0.sealedFields.totals().values }, 1)
            try await run.write { _ = try $0.photos.forget(album.ids) }
            run.equal(try await run.read { try $0.sealedFields.totals().values }, 0)
        },
        ContractCheck("the active key comes first, and there is one") { run in
            @Sendable func key(_ id: UInt8, at time: Int64, isActive: Bool) -> StoredDataKey {
                StoredDataKey(
                    id: Sample.keyID(id), wrapped: [id, 0, 255], keyFile: "file", isActive: isActive,
                    createdAt: Sample.time(time))
            }
            try await run.write { t in
                run.expect(try t.sealedFields.activeKey() == nil)
                try t.sealedFields.store(key(1, at: 10, isActive: true))
                try t.sealedFields.store(key(2, at: 5, isActive: true))
                try t.sealedFields.store(key(3, at: 20, isActive: false))
                run.equal(try t.sealedFields.keys().map(\.id), [2, 3, 1].map { Sample.keyID($0) })
                run.equal(try t.sealedFields.keys().map(\.isActive), [true, false, false])
                run.equal(try t.sealedFields.activeKey(), Sample.keyID(2))
                var changed = key(2, at: 5, isActive: true)
                (changed.wrapped, changed.keyFile, changed.exportedAt) = ([9], "other", Sample.time(.max))
                try t.sealedFields.store(changed)
                run.equal(try t.sealedFields.keys()[0], changed)
                run.equal(try t.sealedFields.keys().count, 3)
            }
        },
        ContractCheck("keys are counted, and those that nothing is sealed with go") { run in
            let album = try await run.album(2)
            try await run.write { t in
                for id: UInt8 in [1, 2, 3, 4, 5, 0xAB] {
                    try t.sealedFields.store(
                        StoredDataKey(
                            id: Sample.keyID(id), wrapped: [id], keyFile: "f", isActive: id == 1,
                            createdAt: Sample.time(1)))
                }
                try t.sealedFields.set(
                    [.notes: Sample.sealed(0xAB), .tags: Sample.sealed(0xAB)], of: album.photos[0].uuid)
                try t.sealedFields.set([.notes: Sample.sealed(2)], of: album.photos[1].uuid)
                try t.groupHubs.put(
                    StoredGroupHub(
                        id: "h", address: "http://h", token: .sealed(Sample.sealed(3)), addedAt: Sample.time(1)))
                try t.reviewMachines.put(
                    StoredReviewPartner(
                        id: "p", address: "http://p", token: .sealed(Sample.sealed(4)), addedAt: Sample.time(1)))
                run.equal(try t.sealedFields.counts(), [Sample.keyID(0xAB): 2, Sample.keyID(2): 1])
                run.equal(try t.sealedFields.removeUnusedKeys(), 1)
                run.equal(Set(try t.sealedFields.keys().map(\.id)), Set([1, 2, 3, 4, 0xAB].map { Sample.keyID($0) }))
                run.equal(try t.sealedFields.removeUnusedKeys(), 0)
            }
        },
    ]
}
