import Browser
import EndToEndSupport
import LibraryModel
import SampleAlbum
import Testing

extension BrowserTests {
    /// What a family is led to once its first photos are there.
    @Suite struct FirstStepsTests {
        private static let steps = "document.querySelector('.first-steps')"
        private static let areDone = "!\(steps) && localStorage.getItem('firstSteps') === 'done'"

        private static func withAPhoto(_ body: (Installation, Page) async throws -> Void) async throws {
            try await House.withoutPhotos(beside: .here) { place, page, _ in
                #expect(try await page.evaluate("!\(steps)"))
                try SampleAlbum(width: 160, height: 120).write(count: 1, to: place.folder.file("first"))
                _ = try await place.smilepile("import", place.folder.file("first"))
                try await page.waits(for: "Add your phone", in: ".first-steps")
                try await page.waits(for: "Set up a backup", in: ".first-steps")
                #expect(try await page.evaluate("Boolean(tests.point(\(steps)))"), "where it is seen")
                try await body(place, page)
                #expect(page.faults == [])
            }
        }

        @Test func eachGoesAsItIsDone() async throws {
            try await Self.withAPhoto { place, page in
                let client = try place.client()
                defer { client.close() }
                let code = try await client.call(InviteDevice()).code
                _ = try await client.call(PairDevice(code: code, name: "Phone"))
                try await page.reload()
                try await page.waits(for: "Set up a backup", in: ".first-steps")
                #expect(try await page.evaluate("!tests.has('.first-steps', 'Add your phone')"))
                _ = try await place.smilepile("backup", "create", place.folder.file("first.zip"))
                try await page.reload()
                try await page.wait(until: Self.areDone)
            }
        }

        @Test func oneClickHidesThemForGood() async throws {
            try await Self.withAPhoto { _, page in
                try await page.click(on: "Hide these steps")
                try await page.wait(until: Self.areDone)
                try await page.reload()
                try await page.wait(until: "document.querySelector('.tile.loaded')")
                #expect(try await page.evaluate(Self.areDone))
            }
        }
    }
}
