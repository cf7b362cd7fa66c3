import LibraryModel
import LibraryStorage
import ServiceMesh

extension CatalogueContract {
    static let trash: [ContractCheck] = [
        ContractCheck("photos move into the trash once, whole, with their category's name") { run in
            let album = try await run.album(3) { number, family, cars in
                var new = Sample.photo(number, in: number == 2 ? cars : family, caption: "'\u{e9}'", isFavorite: true)
                new.photo.originalPath = "originals/IMG_\(number).heic"
                new.photo.sidecars = [sidecar(number)]
                new.photo.lastDecision = .trash
                return new
            }
            let photos = album.photos
            run.equal(try await run.write { try $0.trash.add([photos[0], photos[2]], at: Sample.time(7)) }, 2)
            run.equal(try await run.write { try $0.trash.add([photos[0], photos[1]], at: Sample.time(8)) }, 1)
            run.equal(try await run.write { try $0.trash.add([], at: Sample.time(9)) }, 0)
            try await run.read { t in
                run.equal(try t.photos.totals().photos, 0)
                let found = try t.trash.find(photos[2].uuid)
                run.equal(found?.photo, photos[2])
                run.equal(found?.categoryName, "Cars")
                run.equal(found?.deletedAt, Sample.time(7))
                run.equal(found?.purgeAfter, Sample.time(7 + TrashTerm.milliseconds))
                run.expect(try t.trash.find("none") == nil)
                run.equal(try t.trash.find(photos[1].uuid)?.deletedAt, Sample.time(8))
            }
        },
        ContractCheck("a category's photos move into the trash") { run in
            let album = try await run.album(3) { number, family, cars in
                Sample.photo(number, in: number == 2 ? cars : family)
            }
            run.equal(try await run.write { try $0.trash.add(category: album.family, at: Sample.time(1)) }, 2)
            run.equal(try await run.write { try $0.trash.add(category: album.family, at: Sample.time(1)) }, 0)
            run.equal(try await run.write { try $0.trash.add(category: .max, at: Sample.time(1)) }, 0)
            run.equal(try await run.read { try $0.all(limit: 10).map(\.id) }, [album.ids[2]])
            run.equal(try await run.read { try $0.categories.count() }, 2)
        },
        ContractCheck("the trash is told latest first, page by page") { run in
            let times: [Int64] = [5, 9, 5, .max, .min, 5, 0]
            let album = try await run.album(times.count)
            try await run.write { t in
                for (photo, time) in zip(album.photos, times) { _ = try t.trash.add([photo], at: Sample.time(time)) }
            }
            let wanted = zip(times, album.ids).sorted { $0 > $1 }.map(\.1)
            try await run.read { t in
                for limit in [1, 2, 3, times.count, 1000] {
                    var found: [Int64] = []
                    var next: String?
                    repeat {
                        let page = try t.trash.page(TrashQuery(ListTrash(limit: limit, after: next)))
                        run.expect(page.photos.count <= limit)
                        found += page.photos.map(\.photo.id)
                        next = page.next
                    } while next != nil && found.count < 100
                    run.equal(found, wanted)
                }
                run.expect(try t.trash.page(TrashQuery(ListTrash(limit: times.count))).next == nil)
            }
        },
        ContractCheck("a page says when each photo goes, by a clock that is right now") { run in
            let album = try await run.album(2)
            try await run.write { t in
                _ = try t.trash.add([album.photos[0]], at: Sample.time(1000))
                _ = try t.trash.add([album.photos[1]], at: Sample.time(5000))
            }
            let term = TrashTerm.milliseconds
            try await run.read { t in
                func ends(now: Int64, notBefore: Int64?) throws -> [Int64] {
                    try t.trash.page(
                        TrashQuery(ListTrash(), now: Sample.time(now), notBefore: notBefore.map(Sample.time))
                    ).photos.map(\.purgeAfter.milliseconds)
                }
                run.equal(try ends(now: 9000, notBefore: nil), [5000 + term, 1000 + term])
                run.equal(try ends(now: 3000, notBefore: nil), [3000 + term, 1000 + term])
                run.equal(try ends(now: 9000, notBefore: 2000 + term), [5000 + term, 2000 + term])
            }
        },
        ContractCheck("the trash is counted") { run in
            let album = try await run.album(3) { number, family, _ in
                Sample.photo(number, in: family, isFavorite: number == 1, size: Int64(10 + number))
            }
            try await run.write { _ = try $0.trash.add([album.photos[0], album.photos[1]], at: Sample.time(1)) }
            try await run.read { t in
                run.equal(try t.trash.count(), 2)
                let totals = try t.trash.totals()
                run.equal([totals.photos, totals.favorites], [2, 1])
                run.equal(totals.bytes, 21)
                run.equal(
                    try t.trash.uuids(among: (0...9).map(Sample.uuid) + [Sample.uuid(0)]),
                    [Sample.uuid(0), Sample.uuid(1)])
                run.equal(try t.trash.uuids(among: []), [])
            }
        },
        ContractCheck("those whose time is over are the oldest first, the moment itself included") { run in
            let times: [Int64] = [30, 10, 20, .max, .min]
            let album = try await run.album(times.count)
            try await run.write { t in
                for (photo, time) in zip(album.photos, times) { _ = try t.trash.add([photo], at: Sample.time(time)) }
            }
            try await run.read { t in
                func deleted(_ time: Int64, _ limit: Int = 100) throws -> [Int] {
                    try t.trash.deleted(before: Sample.time(time), limit: limit).map {
                        album.ids.firstIndex(of: $0) ?? -1
                    }
                }
                run.equal(try deleted(20), [4, 1, 2])
                run.equal(try deleted(19), [4, 1])
                run.equal(try deleted(.max), [4, 1, 2, 0, 3])
                run.equal(try deleted(.min), [4])
                run.equal(try deleted(.max, 2), [4, 1])
                run.equal(try deleted(.max, 0), [])
                run.equal(
                    try [Int64.min, 9, 10, 30, .max].map { try t.trash.countDeleted(before: Sample.time($0)) },
                    [1, 1, 2, 4, 5])
                run.equal(
                    try [Int64.min, 30, .max].map { try t.trash.isAnyDeleted(after: Sample.time($0)) },
                    [true, true, false])
            }
            try await run.write { try $0.trash.beginTerm(ofThoseAfter: Sample.time(20)) }
            try await run.read { t in
                run.equal(try t.trash.countDeleted(before: Sample.time(20)), 5)
                run.equal(try t.trash.countDeleted(before: Sample.time(19)), 2)
                run.equal(try t.trash.isAnyDeleted(after: Sample.time(20)), false)
            }
        },
        ContractCheck("restored photos are what and where they were") { run in
            let album = try await run.album(3) { number, family, cars in
                var new = Sample.photo(number, in: number == 1 ? cars : family, isFavorite: true, camera: "C")
                new.photo.sidecars = [sidecar(number)]
                new.photo.lastDecision = .trash
                return new
            }
            try await run.write { _ = try $0.trash.add(album.photos, at: Sample.time(1)) }
            run.equal(try await run.write { try $0.trash.restore([album.ids[2], album.ids[1]]) }, [])
            run.equal(try await run.write { try $0.trash.restore([]) }, [])
            try await run.read { t in
                run.equal(try t.photos.find(album.ids.map { .id($0) }), [nil, album.photos[1], album.photos[2]])
                run.equal(try t.trash.count(), 1)
                run.equal(try t.categories.all().map(\.photoCount), [1, 1])
                run.equal(try t.photos.find(sourceDigest: Sample.digest(2, 1))?.id, album.ids[1])
            }
            try await run.refuses("notInTrash") { _ = try $0.trash.restore([album.ids[0], album.ids[1]]) }
        },
        ContractCheck("many photos are restored as few are") { run in
            let album = try await run.album(300)
            run.equal(try await run.write { try $0.trash.add(album.photos, at: Sample.time(1)) }, 300)
            run.equal(try await run.write { try $0.trash.restore(album.ids) }, [])
            let found = try await run.read { try $0.photos.require(album.ids.map { .id($0) }) }
            run.expect(found == album.photos, "they are not what they were")
            run.equal(try await run.read { try $0.photos.count(PhotoQuery(PhotoFilter(text: "picture 299"))) }, 1)
            run.equal(try await run.read { try $0.trash.count() }, 0)
        },
        ContractCheck("of many that are restored too, those that the library has again stay in the trash") { run in
            let album = try await run.album(200)
            let (source, uuid, twice) = try await run.write { t in
                _ = try t.trash.add(album.photos, at: Sample.time(1))
                /// A photo that has another's source, or its uuid.
                func entered(_ number: Int, source: Int? = nil, uuid: Int? = nil) throws -> Int64 {
                    let new = Sample.photo(number, in: album.family)
                    var photo = new.photo
                    photo.uuid = Sample.uuid(uuid ?? number)
                    let sourced = SourcedPhoto(
                        photo: photo, sourceDigest: Sample.digest(2, source ?? number), sourceSize: new.sourceSize)
                    return try t.photos.insert(sourced, line: nil, of: nil).id
                }
                let twice = try entered(501, source: 3)
                _ = try t.trash.add([t.photo(twice)], at: Sample.time(2))
                let source = try entered(502, source: 7)
                let uuid = try entered(503, uuid: 9)
                return (source, uuid, twice)
            }
            let staying = try await run.write { try $0.trash.restore(album.ids + [twice]) }
            // Of the two that are one picture, either.
            run.equal(
                Set(staying.map(\.id)).subtracting([album.ids[3], twice]), [album.ids[7], album.ids[9]])
            run.equal(staying.first { $0.id == album.ids[7] }?.sameAs, source)
            run.equal(staying.first { $0.id == album.ids[9] }?.sameAs, uuid)
            run.equal(try await run.read { try $0.trash.count() }, 3)
            run.equal(try await run.read { try $0.photos.totals().photos }, 200)
        },
        ContractCheck("a category that is gone is made again at its place") { run in
            let album = try await run.album(2)
            let third = try await run.write { try $0.categories.insert(Sample.category("Third")).id }
            try await run.write { t in
                _ = try t.categories.update(
                    id: album.family, to: Sample.details("Fam\u{ed}lia", color: "#AABBCC", icon: "home"))
                _ = try t.trash.add(category: album.family, at: Sample.time(1))
                try t.categories.delete(id: album.family)
                try t.categories.reorder([album.cars, third])
            }
            run.equal(try await run.write { try $0.trash.restore(album.ids) }, [])
            try await run.read { t in
                let categories = try t.categories.all()
                run.equal(categories.map(\.displayName), ["Fam\u{ed}lia", "Cars", "Third"])
                run.equal(categories[0].colorHex, "#AABBCC")
                run.equal(categories[0].iconResource, "home")
                run.equal(categories.map(\.photoCount), [2, 0, 0])
                run.equal(
                    try t.photos.require(album.ids.map { .id($0) }).map(\.categoryId),
                    [categories[0].id, categories[0].id])
            }
        },
        ContractCheck("a category that was renamed since is still the photo's, and one of the first four stays one") {
            run in
            let (first, other) = try await run.write { t in
                let first = CategoryEntry(Sample.details("Family"), isDefault: true, createdAt: Sample.time(1))
                return (try t.categories.insert(first).id, try t.categories.insert(Sample.category("Cars")).id)
            }
            try await run.write { t in
                try t.photos.insert([Sample.photo(0, in: first), Sample.photo(1, in: other)])
                let photos = try t.photos.require([.uuid(Sample.uuid(0)), .uuid(Sample.uuid(1))])
                _ = try t.trash.add(photos, at: Sample.time(1))
                _ = try t.categories.update(id: other, to: Sample.details("Renamed"))
                try t.categories.delete(id: first)
                run.equal(try t.trash.restore(photos.map(\.id)), [])
                let categories = try t.photos.require(photos.map { .id($0.id) }).map(\.categoryId)
                run.equal(categories[1], other)
                run.equal(try t.categories.all().map(\.displayName), ["Family", "Renamed"])
                run.equal(try t.categories.all().map(\.isDefault), [true, false])
            }
        },
        ContractCheck("a category of the same name made since is the one that is meant") { run in
            let album = try await run.album(1)
            let new = try await run.write { t in
                _ = try t.trash.add(album.photos, at: Sample.time(1))
                try t.categories.delete(id: album.family)
                return try t.categories.insert(Sample.category("FAMILY")).id
            }
            try await run.write { _ = try $0.trash.restore(album.ids) }
            run.equal(try await run.read { try $0.photo(album.ids[0]).categoryId }, new)
        },
        ContractCheck("a picture that the library has again stays in the trash") { run in
            let album = try await run.album(1)
            let back = try await run.write { t in
                _ = try t.trash.add(album.photos, at: Sample.time(1))
                var again = Sample.photo(0, in: album.family)
                again.photo.uuid = Sample.uuid(500)
                return try t.photos.insert(again, line: nil, of: nil)
            }
            let staying = try await run.write { try $0.trash.restore(album.ids) }
            run.equal(staying, [StayingPhoto(id: album.ids[0], sameAs: back.id)])
            run.equal(try await run.read { try $0.trash.count() }, 1)
            run.equal(try await run.read { try $0.photos.totals().photos }, 1)
        },
        ContractCheck("purged photos are gone, and their files discarded") { run in
            let album = try await run.album(3) { number, family, _ in
                var new = Sample.photo(number, in: family)
                if number == 0 {
                    new.photo.originalPath = "originals/IMG_0.heic"
                    new.photo.sidecars = [sidecar(0)]
                }
                return new
            }
            try await run.write { _ = try $0.trash.add([album.photos[0], album.photos[1]], at: Sample.time(1)) }
            let files = try await run.write { try $0.trash.purge([album.ids[0]]) }
            let wanted = [
                "originals/IMG_0.heic", "originals/IMG_0.jpg.1.xmp", "photos/IMG_0.jpg",
                "previews/preview_IMG_0.jpg.webp", "thumbnails/thumb_IMG_0.jpg",
            ]
            run.equal(files.map(\.path).sorted(), wanted)
            try await run.read { t in
                run.equal(try t.discardedFiles.all(), wanted)
                run.equal(try t.trash.count(), 1)
                run.expect(try t.trash.find(album.photos[1].uuid) != nil)
                run.equal(try t.photos.totals().photos, 1)
            }
            try await run.refuses("notInTrash") { _ = try $0.trash.purge([album.ids[1], album.ids[0]]) }
            try await run.refuses("notInTrash") { _ = try $0.trash.purge([album.ids[2]]) }
            run.equal(try await run.write { try $0.trash.purge([]) }, [])
        },
        ContractCheck("photos are purged together, each with its files") { run in
            let album = try await run.album(150)
            try await run.write { _ = try $0.trash.add(album.photos, at: Sample.time(1)) }
            let going = Array(album.photos.dropLast(2))
            let files = try await run.write { try $0.trash.purge(going.map(\.id)) }
            let wanted = going.flatMap(\.filePaths).sorted()
            run.equal(files.map(\.path).sorted(), wanted)
            try await run.read { t in
                run.equal(try t.discardedFiles.all(), wanted)
                run.equal(
                    try t.trash.page(TrashQuery(ListTrash())).photos.map(\.photo.id), album.ids.suffix(2).reversed())
            }
        },
        ContractCheck("photos follow the name of their category after an exchange") { run in
            let album = try await run.album(2) { number, family, cars in
                Sample.photo(number, in: number == 0 ? family : cars)
            }
            try await run.write { t in
                _ = try t.trash.add(album.photos, at: Sample.time(1))
                try t.categories.removeAll()
                // The number of one is that of another by now.
                _ = try t.categories.insert(
                    CategoryEntry(Sample.details("Other"), createdAt: Sample.time(1), id: album.family))
                _ = try t.categories.insert(CategoryEntry(Sample.details("Family"), createdAt: Sample.time(1), id: 900))
                try t.trash.followCategories()
                _ = try t.trash.restore(album.ids)
            }
            try await run.read { t in
                let photos = try t.photos.require(album.ids.map { .id($0) })
                run.equal(photos[0].categoryId, 900)
                run.equal(try t.categories.require(.displayName("Cars")).id, photos[1].categoryId)
                run.equal(Set(try t.categories.all().map(\.displayName)), ["Other", "Family", "Cars"])
            }
        },
        ContractCheck("an id that the trash has is given again without harm") { run in
            let album = try await run.album(2)
            try await run.write { t in
                _ = try t.trash.add(album.photos, at: Sample.time(1))
                var new = Sample.photo(7, in: album.family)
                new.photo.id = album.ids[0]
                try t.photos.insert([new], keepingIDs: true)
                run.equal(try t.trash.add(t.photos.require([.uuid(Sample.uuid(7))]), at: Sample.time(2)), 1)
                run.equal(try t.trash.count(), 3)
                run.equal(try t.trash.find(Sample.uuid(0))?.photo.id, album.ids[0])
                let moved = try t.trash.find(Sample.uuid(7))?.photo.id ?? 0
                run.expect(!album.ids.contains(moved))
                run.equal(try t.trash.restore([album.ids[0], moved]), [])
                run.equal(try t.photos.totals().photos, 2)
            }
        },
    ]
}
