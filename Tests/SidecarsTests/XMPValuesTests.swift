import Foundation
import Testing

@testable import Sidecars

/// Places and ratings, as the programs of this world write them.
struct XMPValuesTests {
    private func facts(_ attributes: String = "", _ elements: String = "") throws -> SidecarFacts {
        try XMPSidecar(Data(xmp(attributes, elements).utf8), now: now).facts
    }

    private static let places: [(latitude: String, reference: String?, found: Double?)] = [
        ("38.0253", nil, 38.0253), ("-38.0253", nil, -38.0253), ("38.0253s", nil, -38.0253), ("38,1.5 n", nil, 38.025),
        ("38.0253", "S", -38.0253), ("38.0253", "s", -38.0253), ("38.0253", " S ", -38.0253),
        ("38.0253", "South", -38.0253), ("38.0253", "south", -38.0253), ("38.0253", "SOUTH", -38.0253),
        ("38.0253", "N", 38.0253), ("38.0253", "North", 38.0253), ("38,1.5", "S", -38.025), ("38,1,30", "S", -38.025),
        // A sign and a hemisphere say the same, and are not multiplied.
        ("-38.0253", "S", -38.0253), ("-38.0253S", nil, -38.0253), ("-38.0253S", "S", -38.0253),
        // The letter goes first.
        ("38.0253S", "N", -38.0253), ("38.0253N", "South", 38.0253), ("38.0253S", "?", -38.0253),
        // Spaces are no reference.
        ("-38.0253", " ", -38.0253), ("38.0253", "", 38.0253),
        // The hemisphere cannot be told.
        ("-38.0253", "N", nil), ("-38.0253N", nil, nil), ("38.0253", "E", nil), ("38.0253", "W", nil),
        ("38.0253", "?", nil), ("38.0253", "Nord-Süd", nil), ("38.0253", "NS", nil), ("38.0253", "-1", nil),
        // No degrees.
        ("S", "S", nil), ("", "S", nil), ("south", "S", nil), ("138.0253", "S", nil),
    ]

    @Test(arguments: places.indices) func hemispheres(number: Int) throws {
        let (latitude, reference, found) = Self.places[number]
        let attributes = reference.map { #"exif:GPSLatitudeRef="\#($0)""# } ?? ""
        let elements = reference.map { "<exif:GPSLatitudeRef>\($0)</exif:GPSLatitudeRef>" } ?? ""
        let others = #"exif:GPSLatitude="\#(latitude)" exif:GPSLongitude="79.077" exif:GPSLongitudeRef="w""#
        for facts in [try facts(attributes + " " + others), try facts(others, elements)] {
            #expect(facts.latitude == found, "\(latitude), \(reference ?? "none")")
            #expect(facts.longitude == found.map { _ in -79.077 })
        }
    }

    @Test func theMiddleOfTheOceanIsNoPlace() throws {
        let references = #"exif:GPSLatitudeRef="S" exif:GPSLongitudeRef="W""#
        #expect(try facts(#"exif:GPSLatitude="0" exif:GPSLongitude="0.0" \#(references)"#) == SidecarFacts())
        let onTheEquator = try facts(#"exif:GPSLatitude="0" exif:GPSLongitude="79" \#(references)"#)
        #expect(onTheEquator.latitude == 0 && onTheEquator.longitude == -79)
        // A reference alone is none either.
        #expect(try facts(references) == SidecarFacts())
    }

    private static let microsoft = #"xmlns:MicrosoftPhoto="http://ns.microsoft.com/photo/1.0/""#

    @Test(
        arguments: [
            ("0", 0), ("1", 1), ("12", 1), ("13", 2), ("25", 2), ("50", 3), ("75", 4), ("87", 4), ("88", 5), ("99", 5),
            (" 99 ", 5), ("100", 5), ("101", nil), ("-1", nil), ("nan", nil), ("many", nil), ("", nil),
        ] as [(String, Int?)]) func percentages(percent: String, rating: Int?) throws
    {
        #expect(try facts(#"\#(Self.microsoft) MicrosoftPhoto:Rating="\#(percent)""#).rating == rating)
        for namespace in ["http://ns.microsoft.com/photo/1.2/", "http://ns.microsoft.com/photo/1.0"] {
            #expect(try facts("", #"<a:Rating xmlns:a="\#(namespace)">\#(percent)</a:Rating>"#).rating == rating)
        }
    }

    @Test(
        arguments: [
            ("4", 4), ("0", 0), ("-1", nil), ("99", 5), ("-2", 5), ("many", 5), ("", 5),
        ] as [(String, Int?)]) func starsGoBeforePercentages(stars: String, rating: Int?) throws
    {
        #expect(
            try facts(#"xmp:Rating="\#(stars)" \#(Self.microsoft) MicrosoftPhoto:Rating="99""#).rating == rating)
    }

    @Test(
        arguments: [
            ("PNG", "PNG"), (".png", "png"), (" png ", "png"), (".", nil), (" . ", nil), ("", nil), ("a b", "a b"),
        ] as [(String, String?)]) func extensions(text: String, found: String?) throws
    {
        #expect(try facts(#"photoshop:SidecarForExtension="\#(text)""#).fileExtension == found)
        let element = "<photoshop:SidecarForExtension>\(text)</photoshop:SidecarForExtension>"
        #expect(try facts("", element).fileExtension == found)
    }
}
