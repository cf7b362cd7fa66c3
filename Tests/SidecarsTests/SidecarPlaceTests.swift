import Foundation
import Sidecars
import Testing

/// Whether a sidecar may say where something is.
@Suite struct SidecarPlaceTests {
    private static func takeout(_ members: String) -> String {
        #"{"title": "a.jpg", "photoTakenTime": {"timestamp": "1560000000"}, \#(members)}"#
    }

    private static func xmp(_ property: String) -> String {
        "<x:xmpmeta xmlns:x=\"adobe:ns:meta/\"><rdf:RDF xmlns:rdf=\"http://www.w3.org/1999/02/22-rdf-syntax-ns#\">"
            + "<rdf:Description rdf:about=\"\" \(property)/></rdf:RDF></x:xmpmeta>"
    }

    private static let cases: [(name: String, text: String, mayName: Bool)] = [
        ("a.jpg.json", takeout(#""geoData": {"latitude": 48.1, "longitude": 11.5}"#), true),
        ("a.jpg.json", takeout(#""geoData": {"latitude": 0.0, "longitude": 0.0, "altitude": 0.0}"#), false),
        ("a.jpg.json", takeout(#""geoData": {"latitude": 0, "longitude" : 0e0, "latitudeSpan": 0.0}"#), false),
        ("a.jpg.json", takeout(#""geoData": {"latitude": 0.0, "longitude": 11.5}"#), true),
        ("a.jpg.json", takeout(#""geoDataExif": {"latitude": -48.1, "longitude": 0.0}"#), true),
        ("a.jpg.json", takeout(#""people": [{"name": "Ylva"}]"#), false),
        // What no program is known to write, and some may.
        ("a.jpg.json", takeout(#""regions": [{"Latitude": "48.1", "Longitude": "11.5"}]"#), true),
        ("a.jpg.json", #"{"lat": 48.1}"#, true),
        ("a.jpg.json", "not JSON", true),
        ("a.jpg.xmp", xmp(#"xmlns:exif="http://ns.adobe.com/exif/1.0/" exif:GPSLatitude="48,9.5N""#), true),
        ("a.jpg.xmp", xmp(#"xmlns:exif="http://ns.adobe.com/exif/1.0/" exif:gpsdestlatitude="48,9.5N""#), true),
        ("a.jpg.xmp", xmp(#"xmlns:xmp="http://ns.adobe.com/xap/1.0/" xmp:Rating="4""#), false),
        ("a.jpg.xmp", "<html/>", true),
        ("a.jpg.xmp", "", false),
        ("a.jpg.xmp", " \n\0\0", false),
    ]

    @Test(arguments: cases.indices)
    func inDoubtItDoes(_ number: Int) {
        let (name, text, mayName) = Self.cases[number]
        #expect(SidecarFacts.mayNamePlace(Data(text.utf8), named: name) == mayName, "\(text)")
        var wide = Data([0xFF, 0xFE])
        for unit in text.utf16 { withUnsafeBytes(of: unit.littleEndian) { wide.append(contentsOf: $0) } }
        if text.contains("a") { #expect(SidecarFacts.mayNamePlace(wide, named: name) == mayName, "\(text), in UTF-16") }
    }
}
