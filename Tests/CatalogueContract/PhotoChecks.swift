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
            var (larger, moved) = (album.photos[0], album.photos[3])
            larger.fileSize = 1 << 40
            moved.categoryId = album.cars
            let (files, edited) = (larger, moved)
            try await run.write { t in
                _ = try t.photos.setFiles(of: files, line: nil, of: nil)
                try t.photos.update(edited)
            }
            try await totals(3, 1, 24 + 1 << 40)
            _ = try await run.write { try $0.trash.add(category: album.family, at: Sample.time(1)) }
            try await totals(1, 0, 13)
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
                // Other files may say another, or none.
                var (other, none) = (
                    try t.photos.require(.uuid(Sample.uuid(3))), try t.photos.require(.uuid(Sample.uuid(0)))
                )
                (other.camera, none.camera) = ("C", nil)
                _ = try t.photos.setFiles(of: [other, none])
                let changed = try t.photos.cameras(limit: 1000)
                run.equal(changed.cameras.map(\.name), ["B", "C"])
                run.equal(changed.cameras.map(\.photoCount), [2, 1])
                run.equal([changed.count, changed.withoutCamera], [2, 2])
            }
        },
        ContractCheck("cameras are also told of some categories alone") { run in
            let album = try await run.album(6) { number, family, cars in
                Sample.photo(number, in: number < 2 ? family : cars, camera: ["A", "B", "B", "C", nil, "B"][number])
            }
            try await run.read { t in
                let none = CameraList(cameras: [], count: 0, withoutCamera: 0)
                for scope in [CategoryScope([]), CategoryScope([.max])] {
                    run.equal(try t.photos.cameras(limit: 9, in: scope), none)
                }
                let cars = try t.photos.cameras(limit: 9, in: CategoryScope([album.cars]))
                run.equal(cars.cameras.map(\.name), ["B", "C"])
                run.equal(cars.cameras.map(\.photoCount), [2, 1])
                run.equal([cars.count, cars.withoutCamera], [2, 1])
                let first = try t.photos.cameras(limit: 1, in: CategoryScope([album.cars]))
                run.equal(first.cameras.map(\.name), ["B"])
                run.equal([first.count, first.withoutCamera], [2, 1])
                let both = CategoryScope([album.family, album.cars, .max])
                run.equal(try t.photos.cameras(limit: 9, in: both), try t.photos.cameras(limit: 9, in: nil))
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
                let digests = [2, 9, 0, 2].map { Sample.digest(2, $0) }
                run.equal(
                    try t.photos.find(sourceDigests: digests).map { $0?.uuid },
                    [Sample.uuid(2), nil, Sample.uuid(0), Sample.uuid(2)])
                run.equal(try t.photos.find(sourceDigests: []), [])
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
                "photos/IMG_0.jpg", "thumbnails/thumb_IMG_0.jpg", "previews/preview_IMG_0.jpg.webp", "photos/IMG_1.jpg",
                "thumbnails/thumb_IMG_1.jpg", "originals/IMG_1.heic", "originals/IMG_1.jpg.1.xmp", "photos/IMG_2.jpg",
            ])
            let others = names([
                "photos/IMG_9.jpg", "thumbnails/thumb_IMG_9.jpg", "originals/IMG_1.png", "originals/IMG_0.heic",
                "originals/IMG_1.jpg.2.xmp", "originals/IMG_9.jpg.1.xmp", "photos/img_0.jpg",
                "previews/preview_IMG_9.jpg.webp", "previews/preview_IMG_0.jpg", "previews/IMG_0.jpg.webp",
            ])
            run.equal(used.count + others.count, 18)
            func check(_ lost: Set<StoredName> = []) async throws {
                run.equal(
                    try await run.read { try $0.photos.inUse(used + others + used) }, Set(used).subtracting(lost))
            }
            try await check()
            try await run.write { _ = try $0.trash.add([album.photos[1]], at: Sample.time(1)) }
            try await check()
            try await run.write { _ = try $0.photos.forget([album.ids[0]]) }
            try await check(Set(used.prefix(3)))
            run.equal(try await run.read { try $0.photos.inUse([]) }, [])
        },
    ]

    static func sidecar(_ number: Int) -> KeptSidecar {
        KeptSidecar(
            name: "beach 'é'.jpg.xmp", path: "originals/IMG_\(number).jpg.1.xmp", fileSize: 12,
            contentDigest: Sample.digest(3, number))
    }
}
