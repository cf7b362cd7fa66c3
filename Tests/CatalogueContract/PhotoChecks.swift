import LibraryModel
import LibraryStorage
import ServiceMesh

extension CatalogueContract {
    static let photos: [ContractCheck] = readingPhotos + enteringPhotos + changingPhotos

    // MARK: Reading

    private static let readingPhotos: [ContractCheck] = [
        ContractCheck("photos are found in the order of their keys, nil for what is not there") { run in
            let album = try await run.album(3)
            try await run.read { t in
                let found = try t.photos.find([
                    .id(album.ids[2]), .uuid("none"), .uuid(Sample.uuid(10)), .path("photos/IMG_0.jpg"), .id(.max),
                    .id(album.ids[2]), .uuid(Sample.uuid(1).uppercased()), .path("photos/IMG_9.jpg"), .id(.min),
                ])
                run.equal(
                    found.map { $0?.name },
                    [
                        "picture 2", nil, nil, "picture 0", nil, "picture 2", "picture 1", nil, nil,
                    ])
                run.equal(try t.photos.find([]).count, 0)
                run.equal(
                    try t.photos.findReadable([.id(album.ids[1]), .id(.max), .id(album.ids[0])]).map(\.name),
                    ["picture 1", "picture 0"])
            }
            try await run.refuses("noPhoto") { _ = try $0.photos.require([.id(album.ids[0]), .path("none")]) }
        },
        ContractCheck("paths are compared letter by letter") { run in
            try await run.album(2) { number, family, _ in
                var new = Sample.photo(number, in: family)
                new.photo.path = ["photos/a%_'\".jpg", "photos/A%_'\".jpg"][number]
                return new
            }
            try await run.read { t in
                run.equal(try t.photos.find(.path("photos/a%_'\".jpg"))?.name, "picture 0")
                run.equal(try t.photos.find(.path("photos/A%_'\".jpg"))?.name, "picture 1")
                run.expect(try t.photos.find(.path("photos/axx'\".jpg")) == nil)
                run.expect(try t.photos.find(.path("photos/%")) == nil)
            }
        },
        ContractCheck("totals count photos, favourites and bytes through every change") { run in
            let album = try await run.album(4) { number, family, _ in
                Sample.photo(number, in: family, isFavorite: number == 0, size: Int64(10 + number))
            }
            func totals(_ photos: Int, _ favorites: Int, _ bytes: Int64, line: Int = #line) async throws {
                let found = try await run.read { try $0.photos.totals() }
                run.equal([found.photos, found.favorites], [photos, favorites], line: line)
                run.equal(found.bytes, bytes, line: line)
            }
            try await totals(4, 1, 46)
            try await run.write { _ = try $0.photos.setFavorite(true, of: [album.photos[1], album.photos[2]]) }
            try await totals(4, 3, 46)
            try await run.write { _ = try $0.photos.setFavorite(false, of: [album.photos[0]]) }
            try await totals(4, 2, 46)
            try await run.write { _ = try $0.trash.add([album.photos[1]], at: Sample.time(1)) }
            try await totals(3, 1, 35)
            try await run.write { _ = try $0.trash.restore([album.ids[1]]) }
            try await totals(4, 2, 46)
            try await run.write { _ = try $0.photos.forget([album.ids[2]]) }
            try await totals(3, 1, 34)
            try await run.write { try $0.photos.removeAll() }
            try await totals(0, 0, 0)
        },
        ContractCheck("cameras come by how many photos each took") { run in
            try await run.album(7) { number, family, _ in
                Sample.photo(number, in: family, camera: ["B", "A", "B", "Ä 'x'", nil, "B", nil][number])
            }
            let all = ["B": 3, "A": 1, "Ä 'x'": 1]
            try await run.write { t in
                let found = try t.photos.cameras(limit: 1000)
                run.equal(found.cameras.map(\.name), ["B", "A", "Ä 'x'"])
                run.equal(Dictionary(uniqueKeysWithValues: found.cameras.map { ($0.name, $0.photoCount) }), all)
                run.equal([found.count, found.withoutCamera], [3, 2])
                let first = try t.photos.cameras(limit: 1)
                run.equal(first.cameras.map(\.name), ["B"])
                run.equal([first.count, first.withoutCamera], [3, 2])
                let gone = try t.photos.find([.uuid(Sample.uuid(1)), .uuid(Sample.uuid(4))]).compactMap { $0 }
                run.equal(try t.trash.add(gone, at: Sample.time(1)), 2)
                let left = try t.photos.cameras(limit: 1000)
                run.equal(left.cameras.map(\.name), ["B", "Ä 'x'"])
                run.equal([left.count, left.withoutCamera], [2, 1])
            }
        },
        ContractCheck("photos without their original are counted") { run in
            try await run.album(3) { number, family, _ in
                var new = Sample.photo(number, in: family)
                new.photo.originalPath = ["photos/IMG_0.jpg", "originals/IMG_1.heic", nil][number]
                return new
            }
            run.equal(try await run.read { try $0.photos.countWithoutOriginal() }, 1)
        },
        ContractCheck("sources are found by size and by digest") { run in
            try await run.album(3) { number, family, _ in
                SourcedPhoto(
                    photo: Sample.photo(number, in: family).photo, sourceDigest: Sample.digest(2, number),
                    sourceSize: number == 2 ? .max : 5)
            }
            try await run.read { t in
                run.equal(try t.photos.sourceDigests(size: 5).sorted(), [Sample.digest(2, 0), Sample.digest(2, 1)])
                run.equal(try t.photos.sourceDigests(size: .max), [Sample.digest(2, 2)])
                run.equal(try t.photos.sourceDigests(size: 0), [])
                run.equal(try t.photos.find(sourceDigest: Sample.digest(2, 1))?.uuid, Sample.uuid(1))
                run.expect(try t.photos.find(sourceDigest: Sample.digest(2, 9)) == nil)
                // That of its content is another one.
                run.expect(try t.photos.find(sourceDigest: Sample.digest(1, 1)) == nil)
            }
        },
        ContractCheck("a thousand sources of one size are told") { run in
            try await run.album(1001)
            run.equal(try await run.read { try $0.photos.sourceDigests(size: 1000).count }, 1000)
        },
        ContractCheck("two libraries' photos are matched by uuid and content, content, uuid, source") { run in
            try await run.album(5) { number, family, _ in
                var new = Sample.photo(number, in: family)
                if number == 4 { new.photo.contentDigest = Sample.digest(1, 3) }
                return new
            }
            @Sendable func identity(_ uuid: Int, _ content: Int, _ source: Int) -> PhotoIdentity {
                PhotoIdentity(
                    uuid: Sample.uuid(uuid), contentDigest: Sample.digest(1, content),
                    sourceDigest: Sample.digest(2, source))
            }
            try await run.read { t in
                let found = try t.photos.matches(of: [
                    identity(0, 0, 1), identity(4, 3, 0), identity(0, 1, 2), identity(2, 99, 0), identity(99, 99, 1),
                    identity(99, 99, 99),
                ])
                run.equal(
                    found.map { $0?.uuid },
                    [Sample.uuid(0), Sample.uuid(4), Sample.uuid(1), Sample.uuid(2), Sample.uuid(1), nil])
                run.equal(try t.photos.matches(of: []).count, 0)
            }
        },
        ContractCheck("every photo since a moment comes by id") { run in
            let album = try await run.album(4) { number, family, _ in
                Sample.photo(number, in: family, createdAt: [30, .min, 20, .max][number])
            }
            try await run.read { t in
                func since(_ time: Int64?) throws -> [Int64] {
                    var ids: [Int64] = []
                    try t.photos.forEach(since: time.map(Sample.time)) { ids.append($0.photo.id) }
                    return ids
                }
                run.equal(try since(nil), album.ids.sorted())
                run.equal(try since(20), [album.ids[0], album.ids[2], album.ids[3]].sorted())
                run.equal(try since(31), [album.ids[3]])
                run.equal(try since(.max), [album.ids[3]])
                var count = 0
                do {
                    try t.photos.forEach(since: nil) { _ in
                        count += 1
                        throw CatalogueError.notInTrash(7)
                    }
                    run.expect(false, "what a body throws is lost")
                } catch CatalogueError.notInTrash {}
                run.equal(count, 1)
            }
        },
        ContractCheck("sources come with each photo as they were entered") { run in
            let entered = SourcedPhoto(
                photo: Sample.photo(0, in: 1).photo, sourceDigest: Sample.digest(5, 6), sourceSize: .max)
            try await run.album(1) { _, family, _ in
                var new = entered
                new.photo.categoryId = family
                return new
            }
            try await run.read { t in
                try t.photos.forEach(since: nil) {
                    run.equal($0.sourceDigest, entered.sourceDigest)
                    run.equal($0.sourceSize, .max)
                }
            }
        },
        ContractCheck("files are told by id, 256 photos at a time") { run in
            let album = try await run.album(600) { number, family, _ in
                var new = Sample.photo(number, in: family, size: Int64(number))
                if number == 1 { new.photo.originalPath = new.photo.path }
                if number == 2 {
                    new.photo.originalPath = "originals/IMG_2.heic"
                    new.photo.sidecars = [Self.sidecar(2)]
                }
                return new
            }
            try await run.write { t in
                var ids: [Int64] = []
                var entries: [PhotoFileEntry] = []
                repeat {
                    entries = try t.photos.files(.library, after: ids.last ?? .min)
                    run.expect(entries.count <= 256)
                    ids += entries.map(\.id)
                } while !entries.isEmpty
                run.equal(ids, album.ids.sorted())
                let first = try t.photos.files(.library, after: 0)
                run.equal(first[0].photo.path, "photos/IMG_0.jpg")
                run.expect(first[0].original == nil && first[0].sidecars.isEmpty)
                run.equal(first[0].photo.digest, Sample.digest(1, 0))
                run.expect(first[1].original == nil, "the photo is its own original")
                run.equal(first[2].original?.path, "originals/IMG_2.heic")
                run.equal(first[2].original?.digest, Sample.digest(2, 2))
                run.equal(first[2].original?.size, 1000)
                run.equal(first[2].sidecars.map(\.path), ["originals/IMG_2.jpg.1.xmp"])
                run.equal(first[2].photo.size, 2)
                run.equal(try t.photos.files(.trash, after: .min).count, 0)
                _ = try t.trash.add([album.photos[2], album.photos[5]], at: Sample.time(1))
                let trashed = try t.photos.files(.trash, after: .min)
                run.equal(trashed.map(\.id), [album.ids[2], album.ids[5]])
                run.equal(trashed[0].files.map(\.path), first[2].files.map(\.path))
                run.equal(try t.photos.files(.trash, after: album.ids[2]).map(\.id), [album.ids[5]])
            }
        },
        ContractCheck("files in use are those of photos in the library and in the trash") { run in
            let album = try await run.album(3) { number, family, _ in
                var new = Sample.photo(number, in: family)
                if number == 1 {
                    new.photo.originalPath = "originals/IMG_1.heic"
                    new.photo.sidecars = [Self.sidecar(1)]
                }
                return new
            }
            func names(_ paths: [String]) -> [StoredName] { paths.compactMap { StoredName(path: $0) } }
            let used = names([
                "photos/IMG_0.jpg", "thumbnails/thumb_IMG_0.jpg", "photos/IMG_1.jpg", "thumbnails/thumb_IMG_1.jpg",
                "originals/IMG_1.heic", "originals/IMG_1.jpg.1.xmp", "photos/IMG_2.jpg",
            ])
            let others = names([
                "photos/IMG_9.jpg", "thumbnails/thumb_IMG_9.jpg", "originals/IMG_1.png", "originals/IMG_0.heic",
                "originals/IMG_1.jpg.2.xmp", "originals/IMG_9.jpg.1.xmp", "photos/img_0.jpg",
            ])
            run.equal(used.count + others.count, 14)
            func check(_ lost: Set<StoredName> = []) async throws {
                run.equal(
                    try await run.read { try $0.photos.inUse(used + others + used) }, Set(used).subtracting(lost))
            }
            try await check()
            try await run.write { _ = try $0.trash.add([album.photos[1]], at: Sample.time(1)) }
            try await check()
            try await run.write { _ = try $0.photos.forget([album.ids[0]]) }
            try await check(Set(used.prefix(2)))
            run.equal(try await run.read { try $0.photos.inUse([]) }, [])
        },
    ]

    static func sidecar(_ number: Int) -> KeptSidecar {
        KeptSidecar(
            name: "beach 'é'.jpg.xmp", path: "originals/IMG_\(number).jpg.1.xmp", fileSize: 12,
            contentDigest: Sample.digest(3, number))
    }

    // MARK: Entering

    private static let enteringPhotos: [ContractCheck] = [
        ContractCheck("all that is said of a photo comes back as it was") { run in
            let album = try await run.album()
            let plain = Sample.photo(1, in: album.family, takenAt: nil)
            var rich = Sample.photo(2, in: album.family)
            rich.photo.name = "Sömmer 100% _\"'; DROP TABLE photos; -- \u{1F40D}\u{200D}\n\t"
            rich.photo.caption = "\u{65}\u{301} is not always \u{e9}"
            rich.photo.isFromAssets = true
            rich.photo.createdAt = Sample.time(.min)
            rich.photo.fileSize = 1 << 60
            (rich.photo.width, rich.photo.height) = (1 << 30, 1)
            rich.photo.isFavorite = true
            rich.photo.takenAt = LocalDateTime(milliseconds: .max)
            rich.photo.datePrecision = .month
            rich.photo.takenOffset = -720
            rich.photo.dateSource = .sidecar
            rich.photo.camera = "Apple 'iPhone' 12"
            rich.photo.mediaType = "image/heic"
            rich.photo.originalPath = "originals/IMG_2.heic"
            rich.photo.sidecars = [sidecar(2)]
            rich.photo.unseenBy = "1.2.3"
            rich.photo.lastDecision = .keep
            var empty = Sample.photo(3, in: album.cars, takenAt: .min)
            (empty.photo.name, empty.photo.caption) = ("", "")
            for new in [plain, rich, empty] {
                let entered = try await run.write { try $0.photos.insert(new, line: nil, of: nil) }
                var wanted = new.photo
                wanted.id = entered.id
                run.equal(entered, wanted)
                run.equal(try await run.read { try $0.photo(entered.id) }, wanted)
                run.expect(
                    try await run.read {
                        try $0.photo(entered.id).caption?.utf8.elementsEqual((new.photo.caption ?? "").utf8)
                    }
                        != false, "the caption's bytes")
            }
        },
        ContractCheck("new photos get new ids, whatever they say") { run in
            let album = try await run.album(2)
            try await run.write { t in
                var new = Sample.photo(3, in: album.family)
                new.photo.id = album.ids[0]
                let entered = try t.photos.insert(new, line: nil, of: nil)
                run.expect(!album.ids.contains(entered.id))
                new = Sample.photo(4, in: album.family)
                new.photo.id = album.ids[1]
                try t.photos.insert([new])
                let ids = try t.photos.ids(PhotoIDQuery(SelectPhotos())).ids
                run.equal(Set(ids).count, 4)
                run.expect(ids.allSatisfy { $0 > 0 })
                try t.photos.insert([])
                run.equal(try t.photos.totals().photos, 4)
            }
        },
        ContractCheck("the same source is not entered again") { run in
            let album = try await run.album(2)
            let again = SourcedPhoto(
                photo: Sample.photo(7, in: album.family).photo, sourceDigest: Sample.digest(2, 1), sourceSize: 1000)
            try await run.refuses("pictureThere") { _ = try $0.photos.insert(again, line: nil, of: nil) }
            try await run.refuses("pictureThere") {
                try $0.photos.insert([Sample.photo(8, in: album.family), again])
            }
            do {
                try await run.write { _ = try $0.photos.insert(again, line: nil, of: nil) }
            } catch CatalogueError.pictureThere(let there) { run.equal(there.id, album.ids[1]) }
        },
        ContractCheck("two of one picture are refused together with all others") { run in
            let album = try await run.album()
            let twin = Sample.photo(1, in: album.family)
            try await run.refuses("repeatedPhoto") {
                try $0.photos.insert([Sample.photo(2, in: album.family), twin, twin])
            }
            try await run.write { try $0.photos.insert([Sample.photo(5, in: album.family)]) }
            // Of other sources, with what no two have in common.
            var (ofUUID, ofPath) = (Sample.photo(6, in: album.family), Sample.photo(7, in: album.family))
            (ofUUID.photo.uuid, ofPath.photo.path) = (Sample.uuid(5), "photos/IMG_5.jpg")
            for new in [ofUUID, ofPath] {
                try await run.refuses("repeatedPhoto") {
                    try $0.photos.insert([Sample.photo(8, in: album.family), new])
                }
                do {
                    try await run.write { try $0.photos.insert([new]) }
                } catch CatalogueError.repeatedPhoto(let path) { run.equal(path, new.photo.path) }
            }
        },
        ContractCheck("photos go only into categories that there are") { run in
            let album = try await run.album(1)
            let strange = Sample.photo(5, in: .max)
            try await run.refuses("noCategory") { _ = try $0.photos.insert(strange, line: nil, of: nil) }
            try await run.refuses("noCategory") { try $0.photos.insert([Sample.photo(6, in: album.family), strange]) }
            try await run.refuses("noCategory") { _ = try $0.photos.move(album.photos, to: .max) }
            try await run.refuses("noCategory") { _ = try $0.photos.moveAll(from: album.family, to: .max) }
            try await run.refuses("noCategory") { t in
                var photo = album.photos[0]
                photo.categoryId = .max
                try t.photos.update(photo)
            }
        },
        ContractCheck("a photo and its line in a receipt are entered both or neither") { run in
            let album = try await run.album()
            try await run.catalogue.journal.begin(JobRecord(snapshot: JobSnapshot(id: "import-1", method: "m")))
            let line = ReceiptLine(item: "a", outcome: "imported", detail: "'é'")
            try await run.write {
                _ = try $0.photos.insert(Sample.photo(1, in: album.family), line: line, of: "import-1")
            }
            try await run.refuses("notInTrash") { t in
                _ = try t.photos.insert(Sample.photo(2, in: album.family), line: line, of: "import-1")
                _ = try t.trash.restore([.max])
            }
            let lines = try await run.catalogue.journal.lines(of: "import-1", after: 0, limit: 10).lines
            run.equal(lines, [line])
        },
        ContractCheck("photos from elsewhere keep ids that can be kept") { run in
            let album = try await run.album()
            @Sendable func new(_ number: Int, id: Int64) -> SourcedPhoto {
                var new = Sample.photo(number, in: album.family)
                new.photo.id = id
                return new
            }
            try await run.write { t in
                try t.photos.insert(
                    [new(1, id: 77), new(2, id: 12), new(3, id: -5), new(4, id: 0), new(5, id: .max)], keepingIDs: true)
                let ids = try t.photos.find((1...5).map { .uuid(Sample.uuid($0)) }).map { $0?.id ?? 0 }
                run.equal(Array(ids.prefix(2)), [77, 12])
                run.equal(Set(ids).count, 5)
                run.expect(ids.allSatisfy { $0 > 0 })
                try t.photos.insert([new(6, id: 500)], keepingIDs: false)
                run.expect(try t.photos.find(.id(500)) == nil)
                run.equal(try t.photos.find(.uuid(Sample.uuid(6)))?.name, "picture 6")
                // They are found by their texts as all others are.
                run.equal(try t.photos.count(PhotoQuery(PhotoFilter(text: "picture"))), 6)
            }
        },
    ]

    // MARK: Changing

    private static let changingPhotos: [ContractCheck] = [
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
        ContractCheck("forgotten photos leave their files, and not their thumbnails") { run in
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
            run.equal(Set(files.thumbnails), ["thumbnails/thumb_IMG_0.jpg", "thumbnails/thumb_IMG_2.jpg"])
            try await run.read { t in
                run.equal(try t.discardedFiles.all(), files.thumbnails.sorted())
                run.equal(try t.all(limit: 10).map(\.id), [album.ids[1]])
                run.equal(try t.trash.count(), 0)
            }
            try await run.refuses("noPhoto") { _ = try $0.photos.forget([album.ids[1], album.ids[0]]) }
            let none = try await run.write { try $0.photos.forget([]) }
            run.expect(none.left.isEmpty && none.thumbnails.isEmpty)
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
