import LibraryModel
import LibraryStorage
import ServiceMesh

extension CatalogueContract {
    static let enteringPhotos: [ContractCheck] = [
        ContractCheck("all that is said of a photo comes back as it was") { run in
            let album = try await run.album()
            let plain = Sample.photo(1, in: album.family, takenAt: nil)
            var rich = Sample.photo(2, in: album.family)
            rich.photo.name = "Sömmer 100% _\"'; DROP TABLE photos; -- \u{1F40D}\u{200D}\n\t"
            rich.photo.caption = "\u{65}\u{301} is not always \u{e9}"
            rich.photo.sourceName = "IMG '\u{e9}' %.HEIC"
            rich.photo.isFromAssets = true
            rich.photo.createdAt = Sample.time(.min)
            rich.photo.fileSize = 1 << 60
            (rich.photo.width, rich.photo.height, rich.photo.rotation) = (1 << 30, 1, .threeQuarters)
            rich.photo.isFavorite = true
            rich.photo.takenAt = LocalDateTime(milliseconds: .max)
            rich.photo.datePrecision = .month
            rich.photo.takenOffset = -720
            rich.photo.dateSource = .sidecar
            rich.photo.camera = "Apple 'iPhone' 12"
            (rich.photo.kind, rich.photo.duration, rich.photo.codecs) = (.film, 1 << 40, "h264 aac")
            (rich.photo.filmOffset, rich.photo.filmLength) = (1 << 41, 1 << 42)
            rich.photo.contentIdentifier = "A1B2-'%"
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
}
