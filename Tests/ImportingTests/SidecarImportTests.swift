import Foundation
import Imaging
@testable import Importing
import LibraryModel
import LibraryTestSupport
import SampleAlbum
import ServiceMesh
import Testing

/// Where an import looks for a photo's date, caption and mark: the picture, the files beside it, its name, its time.
@Suite struct SidecarImportTests {
    /// 2019-06-12 14:05:33 UTC.
    private static let moment = Timestamp(milliseconds: 1_560_348_333_000)

    /// A folder to import, in which each picture is another one.
    struct Album {
        let test: TestLibrary
        var folder: String { test.folder.file("album") }

        init() async throws {
            test = try await TestLibrary()
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        }

        func write(_ name: String, _ data: Data, modified: Timestamp = moment) throws {
            try data.write(to: URL(fileURLWithPath: folder + "/" + name))
            let date = Date(timeIntervalSince1970: Double(modified.milliseconds) / 1000)
            try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: folder + "/" + name)
        }

        func write(_ name: String, _ text: String) throws { try write(name, Data(text.utf8)) }

        /// - Parameter isDated: with EXIF's date, 2024-06-01 12:00:00.250 +02:00.
        func picture(_ name: String, isDated: Bool = false, modified: Timestamp = moment) throws {
            let album = SampleAlbum(width: 32, height: 24, seed: UInt64(name.utf8.reduce(7) { $0 &* 31 &+ UInt64($1) }))
            try write(name, album.photo(isDated ? 0 : 9), modified: modified)
        }

        /// Imports the folder: the photos and the lines in the receipt, by the names of the files.
        func imported() async throws -> (photos: [String: Photo], lines: [String: ReceiptLine], job: JobSnapshot) {
            let job = try await test.importing(folder)
            var lines: [String: ReceiptLine] = [:]
            for line in try await test.lines(job.id) {
                lines[line.item.split(separator: "/").last.map(String.init) ?? ""] = line
            }
            let all = try await test.allPhotos()
            let photos = lines.compactMapValues { line in all.first { line.detail?.hasPrefix($0.path) == true } }
            await test.library.close()
            return (photos, lines, job)
        }
    }

    private static func takeout(_ title: String, time: Timestamp = moment) -> String {
        """
        {"title": "\(title)", "description": "Am Meer ", "favorited": true,
         "photoTakenTime": {"timestamp": "\(time.milliseconds / 1000)", "formatted": "whatever"}}
        """
    }

    private static func xmp(_ properties: String) -> String {
        """
        <x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
        <rdf:Description xmlns:exif="http://ns.adobe.com/exif/1.0/" xmlns:xmp="http://ns.adobe.com/xap/1.0/"
         xmlns:dc="http://purl.org/dc/elements/1.1/" \(properties)/></rdf:RDF></x:xmpmeta>
        """
    }

    @Test(arguments: ["x.jpg.json", "x.jpg.supplemental-metadata.json", "x.jpg.suppl.json"])
    func takeoutSaysWhenWhatAndWhetherItWasLoved(_ name: String) async throws {
        let album = try await Album()
        try album.picture("x.jpg")
        try album.write(name, Self.takeout("x.jpg"))
        let (photos, lines, job) = try await album.imported()
        let photo = try #require(photos["x.jpg"])
        // It knows the moment and no clock: what a clock here showed.
        #expect(photo.takenAt == LocalDateTime(here: Self.moment) && photo.takenOffset == nil)
        #expect(photo.dateSource == .sidecar && photo.caption == "Am Meer" && photo.isFavorite)
        #expect(job.outcomes == ["imported": 1] && lines["x.jpg"]?.detail == photo.path)
    }

    @Test(arguments: ["x.jpg.xmp", "x.xmp"])
    func xmpSaysTheCamerasClock(_ name: String) async throws {
        let album = try await Album()
        try album.picture("x.jpg")
        try album.write(
            name,
            Self.xmp("exif:DateTimeOriginal=\"1987-08-01T23:30:00.5+02:00\" dc:description=\"Oma\" xmp:Rating=\"5\""))
        let photo = try #require(try await album.imported().photos["x.jpg"])
        #expect(photo.takenAt == LocalDateTime("1987-08-01T23:30:00.5") && photo.takenOffset == 120)
        #expect(photo.dateSource == .sidecar && photo.caption == "Oma" && photo.isFavorite)
    }

    @Test func fourStarsAreNoFavourite() async throws {
        let album = try await Album()
        try album.picture("x.jpg")
        try album.write("x.jpg.xmp", Self.xmp("xmp:Rating=\"4\""))
        let photo = try #require(try await album.imported().photos["x.jpg"])
        #expect(!photo.isFavorite && photo.caption == nil && photo.dateSource == .fileTime)
    }

    /// Each has everything but what comes before.
    @Test func thePictureWinsOverTheSidecarOverTheNameOverTheFilesTime() async throws {
        let album = try await Album()
        let taken = Timestamp(milliseconds: 1_420_070_400_000)
        for name in ["IMG_20180102_030405", "IMG_20180102_030406", "IMG_20180102_030407", "holiday"] {
            try album.picture(name + ".jpg", isDated: name.hasSuffix("5"))
        }
        for name in ["IMG_20180102_030405.jpg", "IMG_20180102_030406.jpg"] {
            try album.write(name + ".json", Self.takeout(name, time: taken))
        }
        let photos = try await album.imported().photos
        let exif = try #require(photos["IMG_20180102_030405.jpg"])
        #expect(exif.dateSource == .exif && exif.takenAt == LocalDateTime("2024-06-01T12:00:00.250"))
        #expect(exif.takenOffset == 120 && exif.caption == "Am Meer")
        let sidecar = try #require(photos["IMG_20180102_030406.jpg"])
        #expect(sidecar.dateSource == .sidecar && sidecar.takenAt == LocalDateTime(here: taken))
        let name = try #require(photos["IMG_20180102_030407.jpg"])
        #expect(name.dateSource == .fileName && name.takenAt == LocalDateTime("2018-01-02T03:04:07"))
        #expect(name.takenOffset == nil && name.caption == nil && !name.isFavorite)
        let time = try #require(photos["holiday.jpg"])
        #expect(time.dateSource == .fileTime && time.takenAt == LocalDateTime(here: Self.moment))
    }

    /// What the worker finds in a picture keeps its name on the way.
    @Test func theSourcesWithinAPictureAreToldApart() {
        let clocks = CameraDate.Source.allCases.filter { $0 != .filmMoment }
        let sources = clocks.map { source in PhotoDate(CameraDate(clock: 5, offset: -60, source: source)) }
        #expect(sources.map(\.source) == [.exif, .exifCreated, .xmp, .iptc, .png, .gps, .film, .modified])
        #expect(sources.allSatisfy { $0.clock.milliseconds == 5 && $0.offset == -60 && !$0.source.isGuess })
        // A moment is what a clock here showed then.
        let moment = PhotoDate(CameraDate(clock: 5, offset: 0, source: .filmMoment))
        #expect(moment.clock == LocalDateTime(here: Timestamp(milliseconds: 5)) && moment.source == .film)
    }

    @Test func ofSidecarsThatNobodyCanTellApartNoneIsUsedAndTheLineSaysSo() async throws {
        let album = try await Album()
        // One that may be either picture's, and two of which either may be one picture's.
        for name in ["x.jpg", "x.png", "y.jpg"] { try album.picture(name) }
        try album.write("x.xmp", Self.xmp("exif:DateTimeOriginal=\"1987-08-01T23:30:00\""))
        for name in ["y.jpg.supp.json", "y.jpg.suppleme.json"] { try album.write(name, Self.takeout("y.jpg")) }
        let (photos, lines, job) = try await album.imported()
        #expect(job.outcomes == ["imported": 3] && job.needsAttention == false)
        for (name, sidecars) in [
            ("x.jpg", "x.xmp"), ("x.png", "x.xmp"), ("y.jpg", "y.jpg.suppleme.json, y.jpg.supp.json"),
        ] {
            let detail = try #require(lines[name]?.detail)
            let why = "; which sidecar is its own cannot be told, so none of these was used: \(sidecars)"
            #expect(detail.hasSuffix(why), "\(detail)")
        }
        for name in ["x.jpg", "x.png", "y.jpg"] {
            let photo = try #require(photos[name])
            #expect(photo.dateSource == .fileTime && photo.caption == nil && !photo.isFavorite)
        }
    }

    /// It costs the picture nothing but what it would have told.
    @Test(arguments: [
        ("{\"title\": \"x.jpg\", \"photoTakenTime\": {\"timestamp\"", "It is damaged"),
        ("{\"title\": \"x.jpg\", \"title\": \"y.jpg\"}", "It says \"title\" twice."),
        ("{\"name\": \"my settings\"}", "It is not about a picture of Google Photos."),
        ("", "It is empty."),
        (String(repeating: " ", count: 1 << 20) + "{}", "it has 1048578 bytes, and 1048576 at most are read"),
        (String(repeating: "[", count: 100_000), "It is nested more than 64 levels deep."),
    ])
    func aSidecarThatCannotBeReadIsNamedAndNotUsed(_ text: String, _ reason: String) async throws {
        let album = try await Album()
        try album.picture("x.jpg")
        try album.write("x.jpg.json", text)
        let (photos, lines, job) = try await album.imported()
        #expect(job.outcomes == ["imported": 1])
        let detail = try #require(lines["x.jpg"]?.detail)
        #expect(detail.contains("; its sidecar x.jpg.json was not used: \(reason)"), "\(detail)")
        #expect(photos["x.jpg"]?.dateSource == .fileTime)
    }

    @Test func sidecarsOfPicturesAreNoFilesOfTheirOwnAndOthersAreCounted() async throws {
        let album = try await Album()
        try album.picture("x.jpg")
        for name in ["x.jpg.json", "gone.jpg.json"] { try album.write(name, Self.takeout("x.jpg")) }
        for name in ["x.jpg.xmp", "gone.xmp"] { try album.write(name, Self.xmp("")) }
        let (_, lines, job) = try await album.imported()
        #expect(lines["x.jpg"]?.outcome == "imported" && lines.count == 1)
        #expect(job.receipt?["passedOver"] == ["sidecar": 2])
    }

    /// A link to somewhere else, or what would never end, is no sidecar.
    @Test func whatIsNoFileIsNoSidecar() async throws {
        let album = try await Album()
        try album.picture("x.jpg")
        try album.picture("y.jpg")
        try album.write("elsewhere", Self.takeout("x.jpg"))
        symlink(album.folder + "/elsewhere", album.folder + "/x.jpg.json")
        mkfifo(album.folder + "/y.jpg.json", 0o600)
        let (photos, lines, _) = try await album.imported()
        for name in ["x", "y"] {
            #expect(photos[name + ".jpg"]?.dateSource == .fileTime)
            let detail = try #require(lines[name + ".jpg"]?.detail)
            #expect(detail.contains("its sidecar \(name).jpg.json was not used"), "\(detail)")
        }
    }

    /// Sticks and cameras without a clock write the first day of 1980, and clocks that were never set anything.
    @Test func timesThatNoFileCanHaveAreNoDates() async throws {
        let album = try await Album()
        let now = Timestamp.now().milliseconds
        let times: [(String, Int64, Bool)] = [
            ("a", -86_400_000, false), ("b", 0, false), ("c", 315_532_800_000, false), ("d", 315_619_199_000, false),
            ("e", 315_619_200_000, true), ("f", now + 80_000_000, true), ("g", now + 100_000_000, false),
            ("h", 4_102_444_800_000, false),
        ]
        for (name, time, _) in times { try album.picture(name + ".jpg", modified: Timestamp(milliseconds: time)) }
        let photos = try await album.imported().photos
        for (name, time, isDate) in times {
            let photo = try #require(photos[name + ".jpg"])
            #expect(photo.dateSource == (isDate ? .fileTime : nil), "\(name)")
            let taken = photo.takenAt.map { $0.milliseconds / 1000 }
            let expected = LocalDateTime(here: Timestamp(milliseconds: time)).milliseconds / 1000
            #expect(taken == (isDate ? expected : nil), "\(name)")
        }
    }

    // MARK: A second copy

    /// Imports the folder and says what became of it, without ending the library.
    private func again(_ album: Album, originals: Bool? = nil, dryRun: Bool = false) async throws -> [String] {
        let job = try await album.test.importing(album.folder, originals: originals, dryRun: dryRun)
        return try await album.test.lines(job.id).map { "\($0.outcome): \($0.detail ?? "")" }.sorted()
    }

    @Test func aDuplicateTeachesWhatThePhotoLacks() async throws {
        let album = try await Album()
        try album.picture("x.jpg")
        #expect(try await again(album).count == 1)
        let first = try #require(try await album.test.allPhotos().first)
        #expect(first.dateSource == .fileTime && first.caption == nil && !first.isFavorite)
        // Copied under another name the picture is the same.
        try FileManager.default.copyItem(
            atPath: album.folder + "/x.jpg", toPath: album.folder + "/2018-01-02 beach.jpg")
        let preview = try await again(album, dryRun: true)
        #expect(preview.contains("completed: photo 1 would get its date, 2018-01-02, from its name"), "\(preview)")
        #expect(try await album.test.allPhotos() == [first])
        let named = try await again(album)
        #expect(named.contains("completed: photo 1 has got its date, 2018-01-02, from its name"), "\(named)")
        let byName = try #require(try await album.test.allPhotos().first)
        #expect(byName.dateSource == .fileName && byName.datePrecision == .day)

        try album.write("x.jpg.json", Self.takeout("x.jpg"))
        let line = try #require(try await again(album).first { $0.hasPrefix("completed") })
        #expect(line.contains("from x.jpg.json; its caption; its mark as a favourite"), "\(line)")
        let taught = try #require(try await album.test.allPhotos().first)
        #expect(taught.dateSource == .sidecar && taught.takenAt == LocalDateTime(here: Self.moment))
        #expect(taught.caption == "Am Meer" && taught.isFavorite && taught.sidecars.count == 1)
        // Nothing is learnt twice.
        #expect(try await again(album).allSatisfy { $0.hasPrefix("known") || $0.hasPrefix("duplicate") })
        await album.test.library.close()
    }

    @Test func whatAPersonSaidStaysWhateverIsLearnt() async throws {
        let album = try await Album()
        try album.picture("x.jpg")
        _ = try await again(album)
        let said = try await album.test.mesh.send(
            EditPhoto(id: 1, caption: "Oma", takenAt: LocalDateTime("1978-08-01"), datePrecision: .month))
        try album.write("x.jpg.json", Self.takeout("x.jpg"))
        _ = try await again(album)
        let after = try #require(try await album.test.allPhotos().first)
        #expect(after.caption == "Oma" && after.takenAt == said.takenAt && after.dateSource == .person)
        // A mark that somebody took away is not set again by the same sidecar.
        #expect(after.isFavorite && after.sidecars.count == 1)
        _ = try await album.test.mesh.send(SetFavorite(ids: [1], isFavorite: false))
        _ = try await album.test.mesh.send(SetCaption(id: 1, caption: nil))
        _ = try await again(album, originals: true)
        let untaught = try #require(try await album.test.allPhotos().first)
        #expect(!untaught.isFavorite && untaught.caption == nil)
        await album.test.library.close()
    }

    @Test func aCorrectedSidecarComesInThePlaceOfTheOlderOne() async throws {
        let album = try await Album()
        try album.picture("x.jpg")
        try album.write("x.jpg.xmp", Self.xmp("exif:DateTimeOriginal='2014-06-04T12:00:00' dc:description='Boat'"))
        _ = try await again(album)
        // Of the same length, and with the same time.
        try album.write("x.jpg.xmp", Self.xmp("exif:DateTimeOriginal='2015-06-04T12:00:00' dc:description='Bird'"))
        let line = try #require(try await again(album).first)
        #expect(line.contains("its date, 2015-06-04 12:00:00, from x.jpg.xmp; its caption"), "\(line)")
        let photo = try #require(try await album.test.allPhotos().first)
        #expect(photo.caption == "Bird" && photo.sidecars.count == 1)
        #expect(try String(decoding: album.test.bytes(photo.sidecars[0].path), as: UTF8.self).contains("2015"))
        #expect(try album.test.files("originals").count == 1)
        // What is no sidecar any more takes nothing's place.
        try album.write("x.jpg.xmp", "gone")
        #expect(try await again(album).allSatisfy { $0.hasPrefix("duplicate") })
        #expect(try await album.test.allPhotos() == [photo])
        await album.test.library.close()
    }

    @Test func ofTwoTimesOfFilesTheEarlierCounts() async throws {
        let album = try await Album()
        try album.picture("x.jpg")
        _ = try await again(album)
        for (year, isEarlier) in [(Int64(2), false), (-2, true)] {
            let before = try #require(try await album.test.allPhotos().first)
            try album.picture(
                "x.jpg", modified: Timestamp(milliseconds: Self.moment.milliseconds + year * 31_536_000_000))
            let lines = try await again(album)
            #expect(lines.allSatisfy { $0.hasPrefix(isEarlier ? "completed" : "duplicate") }, "\(lines)")
            #expect(try await album.test.allPhotos().first == before || isEarlier)
        }
        let photo = try #require(try await album.test.allPhotos().first)
        #expect(
            photo.takenAt == LocalDateTime(here: Timestamp(milliseconds: Self.moment.milliseconds - 63_072_000_000)))
        await album.test.library.close()
    }

    /// The album's copy comes first, and has nothing beside it.
    @Test(arguments: [true, false]) func copiesOfOneImportTeachEachOther(_ keepsOriginals: Bool) async throws {
        let album = try await Album()
        for folder in ["Boats", "Photos from 2015"] {
            try FileManager.default.createDirectory(
                atPath: album.folder + "/" + folder, withIntermediateDirectories: true)
        }
        try album.picture("one.jpg")
        for folder in ["Boats", "Photos from 2015"] {
            try FileManager.default.copyItem(
                atPath: album.folder + "/one.jpg", toPath: album.folder + "/\(folder)/one.jpg")
        }
        try FileManager.default.removeItem(atPath: album.folder + "/one.jpg")
        try album.write("Photos from 2015/one.jpg.json", Self.takeout("one.jpg"))
        #expect(try await again(album, originals: keepsOriginals).count == 2)
        let photo = try #require(try await album.test.allPhotos().first)
        #expect(photo.dateSource == .sidecar && photo.takenAt == LocalDateTime(here: Self.moment))
        await album.test.library.close()
    }
}
