import CatalogueTestSupport
import LibraryModel
@testable import Importing
import ServiceMesh
import Testing

/// Which date of two is better.
@Suite struct DateRevisionTests {
    private static let clock = LocalDateTime("2019-06-12T14:05:33") ?? LocalDateTime(milliseconds: 0)
    private static let now = Timestamp(milliseconds: 1_800_000_000_000)

    private func photo(_ source: DateSource?, _ clock: LocalDateTime? = clock, offset: Int? = nil, name: String = "x")
        -> Photo
    {
        var photo = SampleCatalogue().photo(1, name: name, takenAt: clock?.milliseconds).photo
        (photo.dateSource, photo.takenOffset) = (source, offset)
        return photo
    }

    private func date(_ source: DateSource, _ hours: Double = 0, offset: Int? = nil) -> PhotoDate {
        PhotoDate(
            clock: LocalDateTime(milliseconds: Self.clock.milliseconds + Int64(hours * 3_600_000)), offset: offset,
            source: source)
    }

    private func revision(_ photo: Photo, _ picture: PhotoDate?) -> DateRevision {
        DateRevision(of: photo, found: picture, now: Self.now)
    }

    @Test func whatAPersonSaidStays() {
        for picture in [date(.exif, 1, offset: 60), nil] {
            #expect(revision(photo(.person, name: "IMG_20180102_030405"), picture) == .stays)
        }
    }

    /// Of each two sources; the same one that says another time has been read better.
    @Test func aBetterSourceReplacesAWorseOneAndNotTheOtherWayRound() {
        let pictures: [DateSource] = [.exif, .exifCreated, .xmp, .iptc, .png, .gps, .modified]
        for (place, source) in DateSource.allCases.enumerated() {
            for picture in pictures {
                let rank = DateSource.allCases.firstIndex(of: picture) ?? 0
                let isBetter = rank <= place && source != .person
                let found = date(picture, 5)
                let expected = isBetter ? DateRevision.becomes(found) : .stays
                #expect(revision(photo(source), found) == expected, "\(source), \(picture)")
            }
        }
        // The same said again is no change; read as far as it goes, it is one.
        #expect(revision(photo(.xmp), date(.xmp)) == .stays)
        #expect(revision(photo(.exif, offset: 60), date(.exif, offset: 60)) == .stays)
        let day = PhotoDate(clock: Self.clock, precision: .day, source: .xmp)
        #expect(revision(photo(.xmp), day) == .becomes(day))
    }

    @Test func anOffsetIsFilledInAndNeverTakenAwayOrExchanged() {
        #expect(revision(photo(.exif), date(.exif, offset: 60)) == .becomes(date(.exif, offset: 60)))
        #expect(revision(photo(.exif, offset: 60), date(.exif)) == .stays)
        // A person may have said it: the source is of the clock.
        #expect(revision(photo(.exif, offset: 60), date(.exif, offset: 120)) == .stays)
        #expect(revision(photo(.fileTime, offset: 60), date(.exif, 3)) == .becomes(date(.exif, 3, offset: 60)))
    }

    @Test func aNameIsAskedWhereThePictureSaysNothing() {
        let byName = PhotoDate(clock: LocalDateTime("2018-01-02T03:04:05") ?? Self.clock, source: .fileName)
        let name = "IMG_20180102_030405"
        #expect(revision(photo(nil, nil, name: name), nil) == .becomes(byName))
        #expect(revision(photo(.fileTime, name: name), nil) == .becomes(byName))
        // A guess is not made twice, nor in the place of what was read.
        for source in DateSource.allCases where source != .fileTime {
            #expect(revision(photo(source, name: name), nil) == .stays, "\(source)")
        }
        #expect(revision(photo(nil, name: name), nil) == .stays)
        #expect(revision(photo(nil, nil, name: name), date(.iptc)) == .becomes(date(.iptc)))
        for nothing in ["", "holiday", "IMG_20181302_030405", "2031-01-01"] {
            #expect(revision(photo(nil, nil, name: nothing), nil) == .stays)
        }
    }

    /// Before sources were kept, dates were moments: what a clock elsewhere showed is the same time.
    @Test func aDateOfUnknownSourceIsReplacedByTheSameTimeElsewhereAlone() {
        for hours: Double in [0, -2, 5.75, 14, 26, -26, -0.25] {
            let found = date(.exif, hours, offset: 120)
            #expect(revision(photo(nil), found) == .becomes(found), "\(hours)")
        }
        for hours: Double in [26.25, -26.25, 0.1, 1.0 / 3600, 24.0 * 365] {
            let found = date(.exif, hours)
            #expect(revision(photo(nil), found) == .isDoubtful(found), "\(hours)")
        }
        // Less than a second was not always kept, before 1970 neither.
        for milliseconds: Int64 in [250, -86_400_000 * 400 + 750] {
            let old = LocalDateTime(milliseconds: milliseconds > 0 ? 0 : milliseconds - 750)
            let found = PhotoDate(clock: LocalDateTime(milliseconds: milliseconds), source: .exif)
            #expect(revision(photo(nil, old), found) == .becomes(found))
        }
        // At the ends of time nothing overflows.
        for end in [Int64.min, .max] {
            #expect(revision(photo(nil, LocalDateTime(milliseconds: end)), date(.exif)) == .isDoubtful(date(.exif)))
        }
    }
}
