import Foundation
import Testing

/// The guides for whoever changes the program name files; each of them is there.
@Suite struct GuideTests {
    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()

    @Test(
        arguments: [
            ("Sources/LibraryServices/LibraryServices.docc/AddingAMessage.md", 4),
            ("Sources/SQLiteCatalogue/SQLiteCatalogue.docc/AddingAField.md", 22),
            ("Sources/WebPage/WebPage.docc/ThePage.md", 1),
        ])
    func everyFileThatAGuideNamesIsThere(_ guide: String, _ least: Int) throws {
        let text = try String(contentsOf: Self.root.appendingPathComponent(guide), encoding: .utf8)
        let quoted = text.split(separator: "`", omittingEmptySubsequences: false).enumerated()
            .filter { $0.offset % 2 == 1 }.map { String($0.element) }
        let paths = quoted.filter { path in
            path.contains("/") && !path.contains(where: \.isWhitespace)
                && [".swift", ".js", ".css", ".md"].contains { path.hasSuffix($0) }
        }
        #expect(paths.count >= least, "\(guide)")
        for path in paths {
            let places = ["", "Sources/", "Sources/WebPage/Resources/", "Sources/WebPage/Resources/assets/"]
            let isThere = places.contains { place in
                FileManager.default.fileExists(atPath: Self.root.appendingPathComponent(place + path).path)
            }
            #expect(isThere, "\(guide) names \(path)")
        }
    }
}
