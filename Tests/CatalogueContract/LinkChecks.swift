import LibraryModel
import LibraryStorage
import ServiceMesh

extension CatalogueContract {
    static let links: [ContractCheck] = [
        ContractCheck("links are told as they were made, and found by their id and their token") { run in
            let album = try await run.album(1)
            try await run.write { t in
                run.equal(try t.links.all(), [])
                var full = link("a", at: 5, categories: [album.family])
                (full.revokedAt, full.openings, full.lastOpenedAt) = (Sample.time(.max), 7, Sample.time(.min))
                (full.failures, full.lastFailure) = (3, BootTime(boot: "b", milliseconds: .max))
                let wanted = [link("b", at: .min), full, link("c", at: 5)]
                for link in wanted.reversed() { try t.links.insert(link, photos: []) }
                run.equal(try t.links.all(), wanted)
                run.equal(try t.links.find(id: "a"), full)
                run.equal(try t.links.find(tokenDigest: "digest c"), wanted[2])
                run.expect(try t.links.find(id: "digest c") == nil)
                run.expect(try t.links.find(tokenDigest: "c") == nil)
            }
            await run.fails("A second link with the same id") {
                try await run.write { try $0.links.insert(link("a", at: 9), photos: []) }
            }
            await run.fails("A second link with the same token") {
                try await run.write { t in
                    let twin = StoredLink(
                        id: "d", tokenDigest: "digest a", title: nil, createdAt: Sample.time(1),
                        expiresAt: Sample.time(2), categories: [], givesOriginals: false, givesDetails: false,
                        passwordHash: nil)
                    try t.links.insert(twin, photos: [])
                }
            }
            await run.fails("A link to a category that is not there") {
                try await run.write { try $0.links.insert(link("e", at: 9, categories: [.max]), photos: []) }
            }
            run.equal(try await run.read { try $0.links.all().count }, 3)
        },
        ContractCheck("what happens to a link is noted, and the rest of it stays") { run in
            try await run.write { t in
                for id in ["a", "b"] { try t.links.insert(link(id, at: 5), photos: []) }
                var changed = link("a", at: 99)
                (changed.revokedAt, changed.openings, changed.lastOpenedAt) = (Sample.time(8), 2, Sample.time(7))
                (changed.failures, changed.lastFailure) = (1, BootTime(boot: "b", milliseconds: 6))
                try t.links.update(changed)
                try t.links.update(link("none", at: 1))
                let found = try run.require(try t.links.find(id: "a"))
                run.equal(found.createdAt, Sample.time(5))
                run.equal([found.openings, found.failures], [2, 1])
                run.equal([found.revokedAt, found.lastOpenedAt], [Sample.time(8), Sample.time(7)])
                run.equal(found.lastFailure, changed.lastFailure)
                (changed.failures, changed.lastFailure) = (0, nil)
                try t.links.update(changed)
                run.expect(try t.links.find(id: "a")?.lastFailure == nil)
                run.equal(try t.links.find(id: "b"), link("b", at: 5))
                try t.links.remove(["a", "none"])
                run.equal(try t.links.all().map(\.id), ["b"])
            }
        },
        ContractCheck("a link shows its photos in its order, and none that are in the trash") { run in
            let album = try await run.album(4)
            let uuids = album.photos.map(\.uuid)
            try await run.write { t in
                try t.links.insert(link("a", at: 5), photos: [uuids[2], uuids[0], Sample.uuid(999), uuids[3]])
                try t.links.insert(link("b", at: 6), photos: [uuids[1]])
                func shown(after place: Int, _ limit: Int) throws -> [String] {
                    try t.links.photos(of: "a", after: place, limit: limit).map(\.uuid)
                }
                run.equal(try shown(after: -1, 10), [uuids[2], uuids[0], uuids[3]])
                let first = try t.links.photos(of: "a", after: -1, limit: 2)
                run.equal(first.map(\.uuid), [uuids[2], uuids[0]])
                run.equal(try shown(after: first[1].place, 10), [uuids[3]])
                run.equal(try t.links.photoCounts(of: nil), ["a": 3, "b": 1])
                _ = try t.trash.add([album.photos[0]], at: Sample.time(7))
                run.equal(try shown(after: -1, 10), [uuids[2], uuids[3]])
                run.equal(try t.links.photoCounts(of: "a"), ["a": 2])
                run.equal(try t.links.photoCount(of: "none"), 0)
                // It is in the link all the same, and comes back with the photo.
                run.equal(try t.links.contains(uuids[0], in: "a"), true)
                run.equal(try t.links.contains(uuids[1], in: "a"), false)
                run.equal(try t.links.contains(uuids[0], in: "none"), false)
                run.equal(try uuids.map { try t.links.contains($0) }, [true, true, true, true])
                try t.links.remove(["b"])
                run.equal(try uuids.map { try t.links.contains($0) }, [true, false, true, true])
            }
            await run.fails("A photo twice in one link") {
                try await run.write { try $0.links.insert(link("c", at: 5), photos: [uuids[0], uuids[0]]) }
            }
        },
        ContractCheck("a category that is deleted is in no link any more") { run in
            let album = try await run.album(3) { number, family, cars in
                Sample.photo(number, in: number == 2 ? cars : family)
            }
            let cars = album.photos[2].categoryId
            try await run.write { t in
                try t.links.insert(link("a", at: 5, categories: [cars, album.family]), photos: [])
                run.equal(try t.links.find(id: "a")?.categories, [cars, album.family])
                run.equal(try t.links.photoCounts(of: nil), ["a": 3])
                _ = try t.trash.add(category: cars, at: Sample.time(1))
                try t.categories.delete(id: cars)
                run.equal(try t.links.find(id: "a")?.categories, [album.family])
                run.equal(try t.links.photoCounts(of: nil), ["a": 2])
            }
            run.equal(try await run.read { try $0.isConsistent() }, true)
        },
    ]

    private static func link(_ id: String, at time: Int64, categories: [Int64] = []) -> StoredLink {
        StoredLink(
            id: id, tokenDigest: "digest \(id)", title: id == "b" ? nil : "Link '\(id)' é",
            createdAt: Sample.time(time),
            expiresAt: Sample.time(.max), categories: categories, givesOriginals: id == "a", givesDetails: id != "a",
            passwordHash: id == "c" ? "$argon2id$'é'" : nil)
    }
}
