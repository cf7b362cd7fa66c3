import LibraryModel
import LibraryStorage
import ServiceMesh

extension CatalogueContract {
    /// Photos that move and are two files.
    static let pairs: [ContractCheck] = [
        ContractCheck("a film that is kept beside a picture is found as sources are") { run in
            let album = try await run.album(3) { number, family, _ in
                var new = Sample.photo(number, in: family)
                if number == 1 { new.photo.sidecars = [film(1)] }
                return new
            }
            try await run.write { t in
                run.equal(try t.photos.find(companionDigest: Sample.digest(4, 1))?.uuid, Sample.uuid(1))
                run.expect(try t.photos.find(companionDigest: Sample.digest(2, 1)) == nil)
                run.equal(try t.photos.find(.id(album.ids[1]))?.kind, .moving)
                run.equal(try t.photos.sourceDigests(size: 77), [Sample.digest(4, 1)])
                // No film is entered that a picture has.
                var other = Sample.photo(9, in: album.family)
                other = SourcedPhoto(photo: other.photo, sourceDigest: Sample.digest(4, 1), sourceSize: 77)
                do {
                    _ = try t.photos.insert(other, line: nil, of: nil)
                    run.expect(false, "it was entered")
                } catch CatalogueError.pictureThere(let there) {
                    run.equal(there.uuid, Sample.uuid(1))
                }
            }
            try await run.write { t in
                var photo = try t.photos.require(.uuid(Sample.uuid(1)))
                photo.sidecars = []
                run.equal(try t.photos.setFiles(of: [photo]).map(\.path), [film(1).path])
                run.expect(try t.photos.find(companionDigest: Sample.digest(4, 1)) == nil)
                run.equal(try t.photos.sourceDigests(size: 77), [])
                run.expect(try t.photos.require(.id(photo.id)).kind == nil)
            }
        },
        ContractCheck("the other half of a photo is looked for by what the camera wrote, else by name and time") {
            run in
            try await run.album(40) { number, family, _ in
                var new = Sample.photo(number, in: family, takenAt: Sample.noon + Int64(number / 10) * 1000)
                new.photo.sourceName = "img_\(number % 10).JPG"
                if number % 2 == 1 { new.photo.kind = .film }
                if number < 4 { new.photo.contentIdentifier = "A'%" }
                if number == 5 { new.photo.sidecars = [film(5)] }
                return new
            }
            try await run.read { t in
                func found(_ areFilms: Bool, _ identifier: String?, _ stem: String?, _ seconds: ClosedRange<Int64>?)
                    throws -> [String]
                {
                    let clocks = seconds.map { Sample.noon + $0.lowerBound * 1000...Sample.noon + $0.upperBound * 1000 }
                    return try t.photos.pairCandidates(
                        PairQuery(areFilms: areFilms, identifier: identifier, stem: stem, clocks: clocks)
                    ).map(\.uuid).sorted()
                }
                run.equal(try found(false, "A'%", nil, nil), [Sample.uuid(0), Sample.uuid(2)])
                run.equal(try found(true, "A'%", "IMG_5", 0...9), [Sample.uuid(1), Sample.uuid(3)])
                run.equal(try found(true, "a'%", nil, nil), [])
                run.equal(try found(false, "other", "IMG_4", 0...2), [4, 14, 24].map(Sample.uuid).sorted())
                run.equal(try found(true, nil, "IMG_5", 1...1), [Sample.uuid(15)])
                run.equal(try found(true, nil, "IMG_", 0...9), [])
                run.equal(try found(true, nil, "IMG%5", 0...9), [])
                run.equal(try found(true, nil, "IMG_5", nil), [])
                run.equal(try found(true, nil, nil, 0...9), [])
            }
        },
        ContractCheck("of very many that may be the other half some are told") { run in
            try await run.album(PairQuery.maximumCount + 4) { number, family, _ in
                var new = Sample.photo(number, in: family)
                new.photo.contentIdentifier = "same"
                return new
            }
            try await run.read { t in
                let query = PairQuery(areFilms: false, identifier: "same", stem: nil, clocks: nil)
                run.equal(try t.photos.pairCandidates(query).count, PairQuery.maximumCount)
            }
        },
    ]

    private static func film(_ number: Int) -> KeptSidecar {
        KeptSidecar(
            name: "IMG_\(number).MOV", path: "originals/IMG_\(number).jpg.1.mov", fileSize: 77,
            contentDigest: Sample.digest(4, number))
    }
}
