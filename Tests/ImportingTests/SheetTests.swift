import Foundation
import LibraryModel
import LibraryTestSupport
import SampleAlbum
import ServiceMesh
import SmilePile
import Testing

@testable import Importing

@Suite struct SheetTests {
    private func bytes(of page: MadeSheetPage) throws -> Data {
        let content = try #require(page.content)
        var bytes = [UInt8](repeating: 0, count: Int(page.size) + 1)
        let count = content.withDescriptor { pread($0, &bytes, bytes.count, 0) }
        #expect(Int64(count) == page.size)
        return Data(bytes.prefix(max(0, count)))
    }

    /// What a page shows, as plain pixels of a photo that was made of it.
    private func pixels(of page: MadeSheetPage, _ test: TestLibrary) async throws -> (PhotoPixels, [UInt8]) {
        let folder = test.folder.file("sheet-\(UUID().uuidString)")
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try bytes(of: page).write(to: URL(fileURLWithPath: folder + "/sheet.png"))
        let before = Set(try await test.allPhotos().map(\.id))
        _ = try await test.importing(folder)
        let sheet = try #require(try await test.allPhotos().first { !before.contains($0.id) })
        let pixels = try await test.mesh.send(GetPhotoPixels(id: sheet.id, width: 412, height: 583))
        return (pixels, Array(try #require(Data(base64Encoded: pixels.rgb))))
    }

    @Test func aPageHasThePicturesAndTheColoursOfTheirCategories() async throws {
        let test = try await TestLibrary()
        _ = try await test.importSamples(6)
        let kid = CallContext.root(mesh: test.mesh, role: .kid)
        let page = try await test.mesh.send(MakeSheetPage(format: .png, heading: "Été 🎉 2025", page: 1), in: kid)
        #expect(page.photos == 6 && page.pages == 1 && page.next == nil && page.mediaType == "image/png")
        #expect(page.width == 1654 && page.height == 2339)
        let (shown, rgb) = try await pixels(of: page, test)
        func isClose(_ x: Int, _ y: Int, _ colour: (Int, Int, Int)) -> Bool {
            let at = (y * shown.width + x) * 3
            return abs(Int(rgb[at]) - colour.0) < 40 && abs(Int(rgb[at + 1]) - colour.1) < 40
                && abs(Int(rgb[at + 2]) - colour.2) < 40
        }
        // Paper at the corners, words above, more than paper where the first pictures are, the lower half empty.
        #expect(isClose(3, 3, (255, 255, 255)) && isClose(shown.width - 4, shown.height - 4, (255, 255, 255)))
        func inked(_ rows: Range<Int>) -> Int {
            rows.reduce(0) { sum, y in sum + (0..<shown.width).filter { !isClose($0, y, (255, 255, 255)) }.count }
        }
        #expect(inked(20..<36) > 40)
        // Words are grey: no ink has more of one colour than of another.
        let isGrey = (20..<36).allSatisfy { y in
            (0..<shown.width).allSatisfy { x in
                let at = (y * shown.width + x) * 3
                return abs(Int(rgb[at]) - Int(rgb[at + 2])) < 12
            }
        }
        #expect(isGrey)
        #expect(inked(50..<110) > 8_000)
        #expect(inked(300..<500) == 0)
        let category = try await test.mesh.send(ListCategories()).categories.first { $0.photoCount > 0 }
        let colour = try #require(category.flatMap { UInt32($0.colorHex.dropFirst(), radix: 16) })
        let bar = (Int(colour >> 16), Int(colour >> 8 & 255), Int(colour & 255))
        let isBarSeen = (100..<160).contains { y in (30..<100).filter { isClose($0, y, bar) }.count > 50 }
        #expect(isBarSeen)
        #expect(try test.files("staging").isEmpty)
        await test.library.close()
    }

    @Test func whatDoesNotFitGoesOnTheNextPage() async throws {
        let test = try await TestLibrary()
        _ = try await test.importSamples(9)
        var after: String?
        var photos: [Int] = []
        repeat {
            let page = try await test.mesh.send(MakeSheetPage(after: after, columns: 1))
            #expect(page.mediaType == "image/jpeg")
            #expect(try bytes(of: page).starts(with: [0xFF, 0xD8]))
            photos.append(page.photos)
            #expect(page.pages == 9 / photos[0] + (9 % photos[0] == 0 ? 0 : 1))
            after = page.next
        } while after != nil
        #expect(photos.reduce(0, +) == 9 && photos.count > 1)
        await test.library.close()
    }

    @Test func aPhotoThatCannotBeOpenedHasAnEmptyPlace() async throws {
        let test = try await TestLibrary()
        _ = try await test.importSamples(3)
        let all = try await test.allPhotos()
        try Data("no picture".utf8).write(to: URL(fileURLWithPath: test.path + "/" + all[0].path))
        try FileManager.default.removeItem(atPath: test.path + "/" + all[1].path)
        let page = try await test.mesh.send(MakeSheetPage(columns: 2, format: .png))
        #expect(page.photos == 3)
        let (shown, rgb) = try await pixels(of: page, test)
        // Grey over the whole first box, but for its words.
        let grey = (60..<120).filter { y in
            let at = (y * shown.width + 40) * 3
            return abs(Int(rgb[at]) - 0xEC) < 6
        }
        #expect(grey.count > 50)
        await test.library.close()
    }

    @Test func whatNoPageHasIsRefused() async throws {
        let test = try await TestLibrary()
        for request in [
            MakeSheetPage(columns: 0), MakeSheetPage(columns: 9), MakeSheetPage(page: 0),
            MakeSheetPage(heading: String(repeating: "x", count: 201)),
            MakeSheetPage(after: "somewhere"),
            MakeSheetPage(
                PhotoFilter(from: LocalDateTime("2025-02-01"), to: LocalDateTime("2025-01-01"))),
        ] {
            #expect(await status { _ = try await test.mesh.send(request) } == .invalidArgument)
        }
        #expect(
            await status { _ = try await test.mesh.send(MakeSheetPage(PhotoFilter(categoryId: 99))) }
                == .notFound)
        let empty = try await test.mesh.send(MakeSheetPage())
        #expect(empty.photos == 0 && empty.pages == 1)
        await test.library.close()
    }

    @Test func wordsAreOneLineOfWhatCanBeSeen() {
        let hostile = "a\u{202E}gpj\nb\u{7}\u{FE0F}c\u{200D}" + String(repeating: "z", count: 5_000)
        let line = SheetLayout.line(hostile)
        #expect(line.hasPrefix("agpj b\u{FFFD}c") && line.unicodeScalars.count <= 200)
    }
}
