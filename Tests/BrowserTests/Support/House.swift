import Browser
import ControlSocket
import EndToEndSupport
import Foundation
import LibraryModel
import SampleAlbum
import ServiceMesh
import Testing

/// A family's machine and the browser in front of it: the daemon, the page's program and Chromium, each the real one,
/// with an album of 24 photos in three categories. Starting them takes seconds, so that all tests of a suite share one
/// house; each leaves it as it was.
final class House: Sendable {
    /// The one of the test that runs.
    static var here: House {
        guard let current else { preconditionFailure("only in a suite with .inAHouse") }
        return current
    }

    @TaskLocal fileprivate static var current: House?

    static let categories = ["Family", "Holidays", "Garden"]

    let place: Installation
    let browser: Browser
    /// `http://127.0.0.1:PORT`, which stays the same when the page's program is started again.
    let address: String
    /// A tab of the browser that is paired; all others are beside it.
    private let paired: Page
    /// What the library has when a test begins.
    private let album: [Photo]

    private init(place: Installation, browser: Browser, address: String, paired: Page, album: [Photo]) {
        (self.place, self.browser, self.address, self.paired, self.album) = (place, browser, address, paired, album)
    }

    fileprivate static func open() async throws -> House {
        let place = try Installation("page")
        try await place.up()
        try await fill(place, photos: 24)
        let page = try await start(place, listen: "127.0.0.1:0")
        let browser = try await Browser.start()
        let paired = try await newPage(of: browser, beside: nil, Look())
        try await pair(paired, with: page.pairing, as: "Tablet in the kitchen")
        let client = try place.client()
        defer { client.close() }
        let album = try await client.call(SearchPhotos(limit: 1000)).photos
        return House(place: place, browser: browser, address: page.address, paired: paired, album: album)
    }

    /// Imports photos, each into the next category.
    private static func fill(_ place: Installation, photos: Int) async throws {
        let album = place.folder.file("album")
        try SampleAlbum(width: 480, height: 360).write(count: photos, to: album)
        let files = try FileManager.default.contentsOfDirectory(atPath: album).sorted()
        for (number, file) in files.enumerated() {
            let folder = place.folder.file("sorted/" + categories[number % categories.count])
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            try FileManager.default.moveItem(atPath: album + "/" + file, toPath: folder + "/" + file)
        }
        // A new library has categories of its own, of which the family is one.
        for name in ["Holidays", "Garden"] { try await done(place, ["categories", "add", name]) }
        for name in ["Cars", "Games", "Sports"] { try await done(place, ["categories", "delete", name, "--yes"]) }
        for category in categories {
            try await done(place, ["import", place.folder.file("sorted/" + category), "--category", category])
        }
    }

    fileprivate func close() async {
        try? await browser.close()
        _ = try? await place.smilepile("web", "stop")
        _ = try? await place.smilepile("down")
    }

    /// Another library, in which nothing is, in the same browser.
    /// - Parameter options: with which its page is started, given where it may put files.
    static func withoutPhotos(
        beside house: House, options: (Installation) async throws -> [String] = { _ in [] },
        _ body: (_ place: Installation, _ page: Page, _ address: String) async throws -> Void
    ) async throws {
        let place = try Installation("empty")
        try await place.up()
        let started = try await start(place, listen: "127.0.0.1:0", try await options(place))
        let page = try await newPage(of: house.browser, beside: nil, Look())
        do {
            // A certificate of the house's own is one that people click away.
            try await page.send("Security.setIgnoreCertificateErrors", ["ignore": true])
            try await page.navigate(started.pairing)
            try await page.click(on: "Open the album")
            try await page.wait(until: "document.querySelector('.empty')")
            try await body(place, page, started.address)
        } catch {
            _ = try? await place.smilepile("web", "stop")
            throw error
        }
        try await page.close()
        _ = try await place.smilepile("web", "stop")
        _ = try await place.smilepile("down")
    }

    // MARK: Programs

    /// Runs a command, which must succeed.
    /// - Returns: what it printed.
    @discardableResult
    func smilepile(_ arguments: String...) async throws -> String { try await Self.done(place, arguments) }

    /// With the PIN that ``pin`` is.
    @discardableResult
    func smilepile(withPIN arguments: String...) async throws -> String {
        let file = place.folder.file("pin")
        if !FileManager.default.fileExists(atPath: file) {
            try Data((Self.pin + "\n").utf8).write(to: URL(fileURLWithPath: file))
            chmod(file, 0o600)
        }
        return try await Self.done(place, arguments + ["--pin-file", file])
    }

    static let pin = "2580"

    @discardableResult
    private static func done(_ place: Installation, _ arguments: [String]) async throws -> String {
        let outcome = try await place.run("smilepile", arguments)
        guard outcome.status == 0 else {
            throw MeshError(.internal, "smilepile \(arguments.joined(separator: " ")): \(outcome.errors)")
        }
        return outcome.output
    }

    struct Started: Decodable {
        let address: String
        /// With a new code in its fragment.
        let pairing: String
        let pid: Int32
    }

    /// Starts the page's program, or says where it runs already.
    private static func start(
        _ place: Installation, listen: String, _ options: [String] = []
    ) async throws -> Started {
        let text = try await done(place, ["web", "start", "--json", "--listen", listen] + options)
        return try JSONDecoder().decode(Started.self, from: Data(text.utf8))
    }

    @discardableResult
    func startPage() async throws -> Started {
        try await Self.start(place, listen: String(address.dropFirst("http://".count)))
    }

    // MARK: The browser

    /// Makes a browser known, as a person does who opens the address that was printed.
    static func pair(_ page: Page, with address: String, as name: String) async throws {
        try await page.navigate(address)
        try await page.wait(until: "tests.control('Name of this device')?.value")
        try await page.write(name, into: "Name of this device")
        try await page.click(on: "Open the album")
        try await page.wait(until: "document.querySelector('.tile.loaded, kids-screen a, .empty')")
    }

    private static func newPage(of browser: Browser, beside page: Page?, _ look: Look) async throws -> Page {
        let page = try await browser.newPage(beside: page)
        try await page.bringHands()
        try await page.take(look)
        return page
    }

    /// A new tab at a place of the page, such as `#/trash`, closed at the end. Whatever the body does there, nothing may
    /// have been thrown in the page, and nothing may have been asked of another machine.
    func inTab(_ look: Look = Look(), at place: String = "#/photos", _ body: (Page) async throws -> Void) async throws {
        let page = try await tab(look)
        do {
            try await page.navigate(address + "/" + place)
            try await body(page)
        } catch {
            await page.picture("failed \(Test.current?.name ?? "")")
            for complaint in page.faults { Issue.record("\(complaint)") }
            try? await page.close()
            throw error
        }
        #expect(page.faults == [])
        #expect(page.foreignRequests(than: address) == [])
        try await page.close()
    }

    /// A tab of the browser that is paired, empty. The caller closes it.
    func tab(_ look: Look) async throws -> Page { try await Self.newPage(of: browser, beside: paired, look) }

    /// A tab of another device, which is not paired yet.
    func stranger(_ look: Look = Look()) async throws -> Page {
        try await Self.newPage(of: browser, beside: nil, look)
    }

    /// A tab with the cookies of the browser that is paired, for a page of somebody else's.
    func tabForStrangersPage() async throws -> Page {
        try await Self.newPage(of: browser, beside: paired, Look())
    }

    /// What a test has left is no business of the next one's, also where it has failed: the daemon and the page's program
    /// run, a parent is looking, and the library has its album and nothing else.
    func tidy() async throws {
        try await place.up()
        try await startPage()
        if try await call(GetMode()).mode == .kids { try await smilepile(withPIN: "mode", "parent") }
        if try await call(GetPINStatus()).isSet { _ = try await call(ClearPIN(pin: PIN(Self.pin))) }
        _ = try await call(ScheduleBackups(off: true))
        try await deleteGroups()
        let trashed = try await call(ListTrash(limit: 1000)).photos.map(\.photo.id)
        if !trashed.isEmpty { _ = try await call(RestorePhotos(ids: trashed)) }
        // A photo that has come back from a backup has a new number.
        let before = Dictionary(uniqueKeysWithValues: album.map { ($0.uuid, $0) })
        for photo in try await photos() {
            if let was = before[photo.uuid] {
                _ = try await call(
                    EditPhoto(
                        id: photo.id, name: was.name, caption: was.caption ?? "", categoryId: was.categoryId,
                        isFavorite: was.isFavorite))
            } else {
                _ = try await call(DeletePhotos(ids: [photo.id]))
                _ = try await call(PurgeTrash(ids: [photo.id]))
            }
        }
        for category in try await call(ListCategories()).categories
        where !Self.categories.contains(category.displayName) {
            _ = try await call(DeleteCategory(id: category.id))
        }
    }

    // MARK: The library, as another program knows it

    func call<M: Message>(_ message: M) async throws -> M.Reply {
        let client = try place.client()
        defer { client.close() }
        return try await client.call(message)
    }

    /// A file of the album's, as it was imported.
    func photoFile() throws -> String? {
        let folder = place.folder.file("sorted/" + Self.categories[0])
        return try FileManager.default.contentsOfDirectory(atPath: folder).first.map { folder + "/" + $0 }
    }

    /// Newest first, as the page shows them.
    func photos(_ filter: SearchPhotos = SearchPhotos(limit: 1000)) async throws -> [Photo] {
        try await call(filter).photos
    }

    func category(_ name: String) async throws -> Category {
        let found = try await call(ListCategories()).categories.first { $0.displayName == name }
        return try #require(found)
    }
}

/// One ``House`` for all tests of a suite, tidied after each that may change it: not between those of a ``Furnished`` suite.
struct InAHouse: SuiteTrait, TestTrait, TestScoping {
    var isRecursive: Bool { true }

    func scopeProvider(for _: Test, testCase _: Test.Case?) -> Self? { self }

    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        guard let house = House.current else {
            let house = try await House.open()
            let outcome = await Self.outcome(of: { try await House.$current.withValue(house) { try await function() } })
            await house.close()
            return try outcome.get()
        }
        guard testCase != nil, Viewer.current == nil else { return try await function() }
        let outcome = await Self.outcome(of: function)
        do { try await house.tidy() } catch { Issue.record(error, "what is left of the test stays") }
        try outcome.get()
    }

    static func outcome(of function: @Sendable () async throws -> Void) async -> Result<Void, any Error> {
        do {
            return .success(try await function())
        } catch {
            return .failure(error)
        }
    }
}

extension Trait where Self == InAHouse {
    static var inAHouse: Self { InAHouse() }
}
