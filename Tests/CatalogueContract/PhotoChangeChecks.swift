import LibraryModel
import LibraryStorage
import ServiceMesh

extension CatalogueContract {
    static let changingPhotos: [ContractCheck] = [
        ContractCheck("an update writes what a person says and leaves the files") { run in
            let album = try await run.album(2)
            var new = album.photos[0]
            new.name = "new %"
            new.caption = "told"
            new.categoryId = album.cars
            new.isFavorite = true
            new.take(PhotoDate(clock: LocalDateTime(milliseconds: -1), precision: .year, offset: 30, source: .person))
            var sent = new
            (sent.fileSize, sent.width, sent.height) = (9999, 77, 78)
            (sent.contentDigest, sent.mediaType, sent.originalPath) = (
                Sample.digest(9, 9), "image/png", "originals/x.png"
            )
            sent.createdAt = Sample.time(1)
            let (update, wanted) = (sent, new)
            try await run.write { try $0.photos.update(update) }
            try await run.read { t in
                run.equal(try t.photo(wanted.id), wanted)
                run.equal(try t.photo(album.ids[1]), album.photos[1])
                run.equal(try t.categories.all().map(\.photoCount), [1, 1])
                run.equal(try t.photos.count(PhotoQuery(PhotoFilter(text: "NEW %"))), 1)
                run.equal(try t.photos.count(PhotoQuery(PhotoFilter(text: "picture 0"))), 0)
            }
            let gone = Sample.photo(9, in: album.family).photo
            try await run.refuses("noPhoto") { try $0.photos.update(gone) }
        },
        ContractCheck("a turn exchanges a photo's sides, and only where it lies on its side") { run in
            let album = try await run.album(2)
            var photo = album.photos[0]
            for rotation in [Rotation.quarter, .threeQuarters, .half, nil, .threeQuarters, .quarter, nil] {
                photo.turn(to: rotation)
                let turned = photo
                try await run.write { try $0.photos.update(turned) }
                run.equal(try await run.read { try $0.photo(turned.id) }, turned)
            }
            run.equal(photo, album.photos[0])
            run.equal(try await run.read { try $0.photo(album.ids[1]) }, album.photos[1])
        },
        ContractCheck("many photos are described together, or none of them") { run in
            let album = try await run.album(3)
            let named = album.photos.prefix(2).map { photo in
                var photo = photo
                (photo.name, photo.categoryId) = ("together \(photo.id)", album.cars)
                return photo
            }
            try await run.write { t in
                try t.photos.update([])
                try t.photos.update(named)
            }
            try await run.read { t in
                run.equal(try t.photos.find(album.ids.map { .id($0) }), named + [album.photos[2]])
                run.equal(try t.categories.all().map(\.photoCount), [1, 2])
                run.equal(try t.photos.count(PhotoQuery(PhotoFilter(text: "together"))), 2)
            }
            let gone = Sample.photo(9, in: album.family).photo
            var nowhere = album.photos[0]
            nowhere.categoryId = 99
            let lost = nowhere
            try await run.refuses("noPhoto") { try $0.photos.update([album.photos[0], gone]) }
            try await run.refuses("noCategory") { try $0.photos.update([album.photos[1], lost]) }
        },
        ContractCheck("files of many photos are exchanged together") { run in
            let album = try await run.album(3)
            try await run.write { t in
                run.equal(try t.photos.setFiles(of: []), [])
                let with = album.photos.prefix(2).enumerated().map { number, photo in
                    var photo = photo
                    (photo.originalPath, photo.sidecars) = ("originals/IMG_\(number).heic", [sidecar(number)])
                    return photo
                }
                run.equal(try t.photos.setFiles(of: with), [])
                run.equal(try t.photos.find(album.ids.map { .id($0) }), with + [album.photos[2]])
                let without = album.photos.prefix(2).map { photo in
                    var photo = photo
                    photo.sidecars = []
                    return photo
                }
                let wanted = Set(
                    (with[0].filePaths + with[1].filePaths).filter { path in
                        !without.contains { $0.filePaths.contains(path) }
                    })
                run.expect(wanted.count > 1)
                run.equal(Set(try t.photos.setFiles(of: without).map(\.path)), wanted)
                run.equal(try t.discardedFiles.all(), wanted.sorted())
            }
            let gone = Sample.photo(9, in: album.family).photo
            try await run.refuses("noPhoto") { _ = try $0.photos.setFiles(of: [album.photos[0], gone]) }
        },
        ContractCheck("other files take the place of a photo's") { run in
            let album = try await run.album(2)
            try await run.catalogue.journal.begin(JobRecord(snapshot: JobSnapshot(id: "j", method: "m")))
            let old = album.photos[0]
            var new = old
            new.originalPath = "originals/IMG_0.heic"
            new.sidecars = [sidecar(0)]
            (new.fileSize, new.width, new.height) = (5, 6, 7)
            new.contentDigest = Sample.digest(8, 8)
            var sent = new
            sent.name = "not written"
            sent.isFavorite = true
            let (first, line) = (sent, ReceiptLine(item: "i", outcome: "completed"))
            run.equal(try await run.write { try $0.photos.setFiles(of: first, line: line, of: "j") }, [])
            let wanted = new
            run.equal(try await run.read { try $0.photo(old.id) }, wanted)
            new.sidecars = []
            let second = new
            let discarded = try await run.write { try $0.photos.setFiles(of: second, line: nil, of: nil) }
            run.equal(discarded.map(\.path), ["originals/IMG_0.jpg.1.xmp"])
            try await run.read { t in
                run.equal(try t.discardedFiles.all(), ["originals/IMG_0.jpg.1.xmp"])
                run.equal(try t.photo(old.id).sidecars, [])
                run.equal(try t.photo(album.ids[1]), album.photos[1])
            }
            run.equal(try await run.catalogue.journal.items(of: "j"), ["i"])
            let gone = Sample.photo(9, in: album.family).photo
            try await run.refuses("noPhoto") { _ = try $0.photos.setFiles(of: gone, line: nil, of: nil) }
        },
        ContractCheck("another picture was not reviewed") { run in
            let album = try await run.album(1) { number, family, _ in
                var new = Sample.photo(number, in: family)
                new.photo.lastDecision = .favorite
                return new
            }
            var photo = album.photos[0]
            photo.width = 99
            let sameContent = photo
            try await run.write { _ = try $0.photos.setFiles(of: sameContent, line: nil, of: nil) }
            run.equal(try await run.read { try $0.photo(sameContent.id).lastDecision }, .favorite)
            photo.contentDigest = Sample.digest(7, 7)
            let otherContent = photo
            try await run.write { _ = try $0.photos.setFiles(of: otherContent, line: nil, of: nil) }
            let found = try await run.read { try $0.photo(otherContent.id) }
            run.expect(found.lastDecision == nil)
        },
        ContractCheck("a date is written where the photo still says what was looked at") { run in
            let album = try await run.album(2)
            try await run.catalogue.journal.begin(JobRecord(snapshot: JobSnapshot(id: "redate-1", method: "m")))
            let date = PhotoDate(clock: LocalDateTime(milliseconds: 5), precision: .day, offset: 60, source: .exif)
            let line = ReceiptLine(item: "1", outcome: "redated")
            func set(_ date: PhotoDate?, _ camera: String?, of photo: Photo) async throws -> Bool {
                try await run.write {
                    try $0.photos.setDate(date, camera: camera, of: photo, line: line, of: "redate-1")
                }
            }
            let seen = album.photos[0]
            let changes: [(inout Photo) -> Void] = [
                { $0.takenAt = nil }, { $0.datePrecision = .month }, { $0.takenOffset = 120 },
                { $0.dateSource = .person }, { $0.camera = "Canon" }, { $0.id = .max },
            ]
            for change in changes {
                var other = seen
                change(&other)
                run.equal(try await set(date, "Apple", of: other), false)
            }
            run.equal(try await run.read { try $0.photo(seen.id) }, seen)
            run.expect(try await run.catalogue.journal.items(of: "redate-1").isEmpty)
            run.equal(try await set(date, nil, of: seen), true)
            var wanted = seen
            wanted.take(date)
            run.equal(try await run.read { try $0.photo(seen.id) }, wanted)
            run.equal(try await set(nil, "Apple", of: wanted), true)
            wanted.camera = "Apple"
            run.equal(try await run.read { try $0.photo(seen.id) }, wanted)
            run.equal(try await run.read { try $0.photo(album.ids[1]) }, album.photos[1])
            run.equal(try await run.catalogue.journal.lines(of: "redate-1", after: 0, limit: 9).lines, [line, line])
        },
        ContractCheck("names of sources are forgotten where they are to go, part by part") { run in
            let album = try await run.album(6) { number, family, _ in
                var new = Sample.photo(number, in: family)
                new.photo.sourceName = ["Ada 1.jpg", "b.jpg", nil, "Ada 2.jpg", "Ada 3.jpg", "c.jpg"][number]
                return new
            }
            let forgotten = try await run.write { t in
                _ = try t.trash.add([album.photos[4]], at: Sample.time(1))
                return try PhotoFileEntry.Place.allCases.map { place in
                    var (count, parts, next) = (0, 0, Int64.min as Int64?)
                    while let after = next, parts < 100 {
                        let part = try t.photos.forgetSourceNames(in: place, after: after, limit: 1) {
                            $0.hasPrefix("Ada")
                        }
                        (count, parts, next) = (count + part.forgotten, parts + 1, part.next)
                    }
                    return count
                }
            }
            run.equal(forgotten.sorted(), [1, 2])
            try await run.read { t in
                let left = try t.photos.find(album.ids.map { .id($0) })
                run.equal(left.map { $0?.sourceName }, [nil, "b.jpg", nil, nil, nil, "c.jpg"])
                run.expect(try t.trash.find(album.photos[4].uuid).map { $0.photo.sourceName == nil } == true)
                run.equal(try t.photos.count(PhotoQuery(PhotoFilter(text: "ada"))), 0)
                run.equal(try t.photos.count(PhotoQuery(PhotoFilter(text: "b.jpg"))), 1)
                run.equal(left[1], album.photos[1])
            }
        },
        ContractCheck("the mark is set on those that are named and counted where it changed") { run in
            let album = try await run.album(5)
            let photos = album.photos
            func favorites() async throws -> [Int64] {
                try await run.read {
                    try $0.photos.ids(PhotoIDQuery(SelectPhotos(PhotoFilter(favoritesOnly: true)))).ids
                }
            }
            run.equal(try await run.write { try $0.photos.setFavorite(true, of: []) }, 0)
            run.equal(try await run.write { try $0.photos.setFavorite(true, of: [photos[0]]) }, 1)
            run.equal(try await run.write { try $0.photos.setFavorite(true, of: [photos[0]]) }, 0)
            run.equal(try await favorites(), [photos[0].id])
            let strange = Sample.photo(9, in: album.family).photo
            run.equal(
                try await run.write {
                    try $0.photos.setFavorite(true, of: [photos[0], photos[1], photos[2], photos[1], strange])
                },
                2)
            run.equal(try await favorites(), [photos[0].id, photos[1].id, photos[2].id].sorted())
            run.equal(try await run.write { try $0.photos.setFavorite(false, of: photos) }, 3)
            run.equal(try await favorites(), [])
            var others = try await run.read { try $0.photos.require(album.ids.map { .id($0) }) }
            run.equal(others, photos)
            others = []
        },
        ContractCheck("photos move to a category, counted where they were in another") { run in
            let album = try await run.album(4) { number, family, cars in
                Sample.photo(number, in: number == 3 ? cars : family)
            }
            let photos = album.photos
            run.equal(try await run.write { try $0.photos.move([], to: album.cars) }, 0)
            run.equal(try await run.write { try $0.photos.move([photos[0], photos[3]], to: album.cars) }, 1)
            run.equal(try await run.read { try $0.categories.all().map(\.photoCount) }, [2, 2])
            run.equal(try await run.write { try $0.photos.moveAll(from: album.cars, to: album.family) }, 2)
            run.equal(try await run.read { try $0.categories.all().map(\.photoCount) }, [4, 0])
            run.equal(try await run.write { try $0.photos.moveAll(from: album.cars, to: album.family) }, 0)
            run.equal(try await run.write { try $0.photos.moveAll(from: .max, to: album.family) }, 0)
            run.equal(
                try await run.read {
                    try $0.photos.count(PhotoQuery(PhotoFilter(text: "picture", categoryId: album.family)))
                }, 4)
        },
        ContractCheck("forgotten photos leave their files, and not their thumbnails and previews") { run in
            let album = try await run.album(3) { number, family, _ in
                var new = Sample.photo(number, in: family)
                new.photo.originalPath = "originals/IMG_\(number).heic"
                new.photo.sidecars = [sidecar(number)]
                return new
            }
            let files = try await run.write { try $0.photos.forget([album.ids[0], album.ids[2]]) }
            run.equal(
                Set(files.left),
                Set(
                    [0, 2].flatMap {
                        ["photos/IMG_\($0).jpg", "originals/IMG_\($0).heic", "originals/IMG_\($0).jpg.1.xmp"]
                    }))
            run.equal(
                Set(files.made),
                Set([0, 2].flatMap { ["thumbnails/thumb_IMG_\($0).jpg", "previews/preview_IMG_\($0).jpg.webp"] }))
            try await run.read { t in
                run.equal(try t.discardedFiles.all(), files.made.sorted())
                run.equal(try t.all(limit: 10).map(\.id), [album.ids[1]])
                run.equal(try t.trash.count(), 0)
            }
            try await run.refuses("noPhoto") { _ = try $0.photos.forget([album.ids[1], album.ids[0]]) }
            let none = try await run.write { try $0.photos.forget([]) }
            run.expect(none.left.isEmpty && none.made.isEmpty)
        },
        ContractCheck("every photo is taken out, the trash stays") { run in
            let album = try await run.album(3)
            try await run.write { t in
                _ = try t.trash.add([album.photos[0]], at: Sample.time(1))
                try t.photos.removeAll()
            }
            try await run.read { t in
                run.equal(try t.photos.totals().photos, 0)
                run.equal(try t.trash.count(), 1)
                run.equal(try t.categories.all().map(\.photoCount), [0, 0])
                run.equal(try t.discardedFiles.all(), [])
                run.equal(try t.photos.count(PhotoQuery(PhotoFilter(text: "picture"))), 0)
            }
        },
    ]
}
