import Browser
import ControlSocket
import EndToEndSupport
import Foundation
import LibraryModel
import SampleAlbum
import Testing

/// The page from the first address to the last picture, as somebody would show it to a guest: `Scripts/show-page` prints the
/// steps and leaves a picture of each. In a house of its own, because what is reviewed stays reviewed.
@Suite(
    .serialized, .timeLimit(.minutes(5)), .enabled(if: Browser.program != nil, "needs Chromium: Scripts/setup --tests"),
    .inAHouse)
struct ShowTests {
    private let house = House.here

    private func saw(_ step: String, in page: Page? = nil) async {
        print("✓ \(step)")
        await page?.picture("show \(step.prefix(40))")
    }

    // MARK: With a finger

    @Test func anAddressLetsAPhoneInAndTenPhotosAreSwiped() async throws {
        let printed = try await house.smilepile("web")
        let address = try #require(printed.split(separator: "\n").first { $0.contains("#pair=") })
        let phone = try await house.stranger(Look(width: 360, isTouched: true))
        try await House.pair(phone, with: String(address), as: "Phone of a guest")
        try await phone.wait(until: "document.querySelectorAll('.tile.loaded').length > 8")
        try await phone.wait(until: "tests.has('.count', '24 photos')")
        await saw("The printed address opens the album of 24 photos on a phone", in: phone)

        try await phone.go(to: "#/review")
        try await phone.wait(until: "document.querySelector('swipe-card img')?.naturalWidth > 0")
        let middle = try await phone.middle(of: "swipe-card")
        let ways: [(x: Double, y: Double)] = [(-150, 0), (150, 0), (0, -180), (0, -180), (0, -180)]
        for count in 1...10 {
            let way = ways[(count - 1) % ways.count]
            try await phone.swipe(
                (0...5).map { step in
                    Page.Point(x: middle.x + way.x * Double(step) / 5, y: middle.y + way.y * Double(step) / 5)
                })
            try await phone.waits(for: "\(count) decided · \(24 - count) left", in: "review-screen [role=status]")
        }
        try await phone.click(on: "Finish…")
        try await phone.waits(for: "10 decisions", in: ".summary h2")
        #expect(try await house.call(ListTrash()).photos.isEmpty)
        await saw("Ten photos are swiped, and nothing is done before one says so", in: phone)
        try await phone.click(on: "Apply")
        try await phone.waits(for: "Applied: 2 to the favourites, 2 to the trash.", in: "toast-list")
        #expect(try await house.call(ListTrash()).photos.count == 2)
        #expect(try await house.photos(SearchPhotos(PhotoFilter(favoritesOnly: true))).count == 2)
        await saw("Applied: 2 photos are favourites, 2 are in the trash", in: phone)

        try await phone.go(to: "#/trash")
        try await phone.wait(until: "document.querySelectorAll('.trash-grid li').length === 2")
        try await phone.clickWhereSeen("document.querySelector('.trash-grid input')")
        try await phone.click(on: "Restore")
        try await phone.waits(for: "Restored", in: "toast-list")
        try await phone.wait(until: "document.querySelectorAll('.trash-grid li').length === 1")
        #expect(try await house.photos().count == 23)
        await saw("One of them is taken out of the trash again", in: phone)
        #expect(phone.faults == [])
        await seeWhereRequestsWent(phone)
        try await phone.close()
    }

    /// Nothing may have left the machine.
    private func seeWhereRequestsWent(_ page: Page) async {
        #expect(page.foreignRequests(than: house.address) == [])
        let count = page.requests.count
        #expect(count > 20)
        await saw("All \(count) requests of this tab went to \(house.address), none elsewhere")
    }

    // MARK: With a mouse

    @Test func categoriesFilesAndBackups() async throws {
        let file = house.place.folder.file("dropped/evening.jpg")
        let folder = house.place.folder.file("dropped")
        try SampleAlbum(width: 200, height: 150, seed: 90).write(count: 1, to: folder)
        let made = try #require(FileManager.default.contentsOfDirectory(atPath: folder).first)
        try FileManager.default.moveItem(atPath: folder + "/" + made, toPath: file)
        let before = try await house.photos().count
        try await house.inTab(at: "#/categories") { page in
            try await page.click(on: "Add category")
            try await page.write("Evenings", into: "Name")
            try await page.click(on: "Save")
            try await page.waits(for: "Evenings", in: ".categories .name")
            await saw("A category is made", in: page)

            try await page.drop(file)
            try await page.wait(until: "location.hash === '#/import'")
            try await page.waits(for: "1 imported", in: "job-card .outcomes")
            #expect(try await house.photos().count == before + 1)
            await saw("A file that is dropped on the window is imported, with a receipt", in: page)

            try await page.go(to: "#/backup")
            try await page.wait(until: "document.querySelector('made-backups:not([hidden])')")
            try await page.click(on: "Make a backup")
            try await page.waits(for: "\(before + 1) photos", in: "backup-screen job-card .sum")
            try await page.waits(for: "Finished", in: "backup-screen job-card [role=status]")
            try await page.waits(for: "verified", in: ".made-backups .badge")
            let backup = try #require(try await house.call(ListBackups()).backups.first)
            #expect(backup.verifiedAt != nil && backup.photos == before + 1)
            await saw("A backup is written, read back and listed", in: page)
            await seeWhereRequestsWent(page)
        }
    }

    @Test func aKilledProgramIsNothingToTheDaemonAndThePageGoesOnByItself() async throws {
        let daemon = house.place.daemonPID
        let photo = try await house.photos()[0]
        try await house.inTab { page in
            try await page.wait(until: "document.querySelectorAll('.tile.loaded').length > 8")
            try await page.run("window.neverReloaded = true")
            let pid = try await house.startPage().pid
            kill(pid, SIGKILL)
            try await page.wait(until: "tests.point(document.querySelector('.away'))")
            await saw("smilepile-web is killed (kill -9 \(pid)); the page says so and keeps what it shows", in: page)
            #expect(house.place.daemonPID == daemon)
            try await house.smilepile("photos", "caption", String(photo.id), "Written while the page was away")
            try await house.startPage()
            try await page.wait(until: "document.querySelector('.away').hidden")
            try await page.clickWhereSeen("document.querySelector('.tile.loaded a[href*=\"\(photo.uuid)\"]')")
            try await page.waits(for: "Written while the page was away", in: "photo-view h1")
            #expect(try await page.evaluate("window.neverReloaded === true"))
            await saw("It is started again; the page goes on by itself, and the daemon was there all along", in: page)
        }
        _ = try await house.call(SetCaption(id: photo.id, caption: nil))
    }

    @Test func kidsModeIsTheDaemonsAndEndsWithThePIN() async throws {
        try await house.inTab(Look(width: 360, isTouched: true), at: "#/settings") { page in
            try await page.click(on: "Set a PIN")
            try await page.write(House.pin, into: "New PIN")
            try await page.write(House.pin, into: "New PIN, once more")
            try await page.press("Enter")
            try await page.waits(for: "PIN saved", in: "toast-list")
            let parents = try await house.call(Discover()).methods
            try await page.click(on: "Start kids mode")
            try await page.wait(until: "document.querySelector('dialog[open]')")
            try await page.click(on: "Start kids mode")
            try await page.wait(until: "document.querySelectorAll('kids-screen .kids-categories img').length === 3")
            await saw("Kids mode: categories and their photos, nothing else", in: page)

            let needAParent = parents.filter { $0.role == "parent" && $0.kind != .observation }.map(\.name)
            let refused: [String] = try await page.evaluate(BrowserTests.KidsTests.refusals(of: needAParent))
            #expect(Set(refused) == Set(needAParent) && needAParent.count > 40)
            await saw("The daemon refuses all \(needAParent.count) messages that need a parent, asked from this page")

            try await page.click(on: "For parents")
            try await page.write(House.pin, into: "PIN")
            try await page.click(on: "Unlock")
            try await page.wait(until: "document.querySelector('.tile.loaded')")
            try await page.go(to: "#/settings")
            try await page.click(on: "Leave kids mode")
            try await page.waits(for: "Kids mode is off", in: "toast-list")
            await saw("The PIN leads back", in: page)
        }
        _ = try await house.call(ClearPIN(pin: PIN(House.pin)))
    }

    // MARK: Without a browser

    @Test func withoutACookieThereIsThePairingPageAndNothingElse() async throws {
        let uuid = try await house.photos()[0].uuid
        let routes: [(method: String, path: String)] =
            ["thumbnail", "photo", "original"].flatMap {
                [("GET", "/photos/\(uuid)/\($0)"), ("HEAD", "/photos/\(uuid)/\($0)")]
            } + [
                ("POST", "/rpc"), ("POST", "/qr"), ("POST", "/upload"), ("PATCH", "/upload/x"), ("HEAD", "/upload/x"),
                ("DELETE", "/upload/x"), ("GET", "/events"), ("POST", "/reconnect"), ("POST", "/unpair"),
                ("GET", "/library"), ("GET", "/photos"), ("GET", "/.env"),
            ]
        for route in routes {
            let status = try await ask(route.method, route.path).status
            #expect(status == "401", "\(route)")
        }
        await saw("curl without a cookie, \(routes.count) routes: 401 for each")
        let page = try await ask("GET", "/")
        #expect(page.status == "200")
        for name in ["content-security-policy", "x-content-type-options", "x-frame-options", "referrer-policy"] {
            #expect(page.headers.contains { $0.lowercased().hasPrefix(name + ":") }, "\(name)")
        }
        await saw("The page that pairs is there for all, with these headers:")
        for header in page.headers where !header.isEmpty { print("✓     \(header)") }
    }

    private func ask(_ method: String, _ path: String) async throws -> (status: String, headers: [String]) {
        let verb = method == "HEAD" ? ["--head"] : ["--request", method]
        let answer = try await house.place.run(
            "/usr/bin/curl",
            ["--silent", "--max-time", "20", "--dump-header", "-", "--output", "/dev/null"] + verb
                + ["--header", "Origin: \(house.address)", house.address + path])
        let lines = answer.output.split(whereSeparator: \.isNewline).map(String.init)
        return (
            lines.first?.split(separator: " ").dropFirst().first.map(String.init) ?? "none", Array(lines.dropFirst())
        )
    }
}
