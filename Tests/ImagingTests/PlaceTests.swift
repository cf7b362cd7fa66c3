import Foundation
import ImageWorkerProtocol
import Testing

@testable import PhotoConversion

/// Where a picture was taken: a wrong hemisphere is worse than none.
@Suite struct PlaceTests {
    private static func place(_ entries: [ExifMaker.Entry], xmp: String = "") -> PicturePlace? {
        PictureFacts(
            EmbeddedMetadata(
                exif: ExifMaker.block(main: [.short(0x0112, 1)], place: entries), xmp: MetadataMaker.packet(xmp))
        ).location
    }

    private static let (north, east) = (ExifMaker.Entry.angle(2, 48, 30, 0), ExifMaker.Entry.angle(4, 11, 15, 0))

    @Test(
        arguments: [
            ("N", "E", 48.5, 11.25), ("s", "w", -48.5, -11.25), ("South", "West", -48.5, -11.25),
            (nil, nil, 48.5, 11.25), (" n", "e ", 48.5, 11.25), ("X", "E", nil, nil), ("N", "", nil, nil),
            ("E", "N", nil, nil), ("N", "Ost", nil, nil),
        ] as [(String?, String?, Double?, Double?)])
    func lettersTellTheHemisphere(_ first: String?, _ second: String?, _ latitude: Double?, _ longitude: Double?) {
        let letters = [first.map { ExifMaker.Entry.text(1, $0) }, second.map { ExifMaker.Entry.text(3, $0) }]
        #expect(
            Self.place(letters.compactMap { $0 } + [Self.north, Self.east])
                == PicturePlace(latitude: latitude, longitude: longitude))
    }

    @Test func withoutALetterTheSignTells() {
        func signed(_ tag: UInt16, _ degrees: Int) -> ExifMaker.Entry {
            let entry = ExifMaker.Entry.fractions(tag, [(degrees, 1), (30, 1), (0, 1)])
            return .init(tag: tag, type: 10, count: 3, data: entry.data)
        }
        #expect(Self.place([signed(2, -48), signed(4, 11)]) == PicturePlace(latitude: -48.5, longitude: 11.5))
        #expect(
            Self.place([.text(1, "S"), signed(2, -48), .text(3, "E"), signed(4, 11)])
                == PicturePlace(latitude: -48.5, longitude: 11.5))
        #expect(Self.place([.text(1, "N"), signed(2, -48), signed(4, 11)]) == nil, "a letter and a sign that disagree")
    }

    @Test func partsMayBeMissing() {
        let whole = [ExifMaker.Entry.fractions(2, [(485, 10)]), .fractions(4, [(11, 1), (15, 1), (0, 0)])]
        #expect(Self.place(whole) == PicturePlace(latitude: 48.5, longitude: 11.25))
        #expect(Self.place([.fractions(2, [(48, 0), (30, 1), (0, 1)]), Self.east]) == nil)
        #expect(Self.place([.fractions(2, [(91, 1)]), Self.east]) == nil)
        #expect(Self.place([.text(2, "48.5"), Self.east]) == nil)
    }

    @Test(
        arguments: [
            ("48,30N", "11,15E", "", 48.5, 11.25), ("48,30,0S", "11,15,0w", "", -48.5, -11.25),
            ("48.5", "-11.25", "", 48.5, -11.25),
            ("48,30", "11,15", "exif:GPSLatitudeRef='South' exif:GPSLongitudeRef='W'", -48.5, -11.25),
            ("48,30X", "11,15E", "", nil, nil), ("48,61N", "11,15E", "", nil, nil), ("91N", "11E", "", nil, nil),
            ("0,0N", "0,0E", "", nil, nil), ("N", "E", "", nil, nil), ("48,,30N", "11E", "", nil, nil),
            ("nan", "inf", "", nil, nil), ("48,30N", "", "", nil, nil),
        ] as [(String, String, String, Double?, Double?)])
    func xmpHasPlacesToo(
        _ latitude: String, _ longitude: String, _ more: String, _ north: Double?, _ east: Double?
    ) {
        let attributes = "exif:GPSLatitude='\(latitude)' exif:GPSLongitude='\(longitude)' " + more
        #expect(Self.place([], xmp: attributes) == PicturePlace(latitude: north, longitude: east))
    }

    @Test func exifComesBeforeXMP() {
        let xmp = "exif:GPSLatitude='1N' exif:GPSLongitude='2E'"
        #expect(Self.place([Self.north, Self.east], xmp: xmp) == PicturePlace(latitude: 48.5, longitude: 11.25))
        #expect(Self.place([Self.north], xmp: xmp) == PicturePlace(latitude: 1, longitude: 2))
    }
}
