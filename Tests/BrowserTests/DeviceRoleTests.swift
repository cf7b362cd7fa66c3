import Browser
import ControlSocket
import EndToEndSupport
import LibraryModel
import Testing

extension BrowserTests {
    /// What the page is for somebody who looks on and for a child, as a parent has said at another device.
    @Suite struct DeviceRoleTests {
        /// What of these a page shows a control for.
        private static func offered(_ names: [String], on page: Page) async throws -> [String] {
            let list = "[" + names.map(Page.literal).joined(separator: ",") + "]"
            return try await page.evaluate("\(list).filter((name) => tests.control(name))")
        }

        private static func sees(_ page: Page, photos count: Int) async throws {
            try await page.wait(
                until: "document.querySelector('timeline-strip .count')?.textContent.includes('\(count)')")
        }

        /// The code of the dialog that a parent has open, after they have said whom it is for.
        private static func invitation(on page: Page) async throws -> String {
            try await page.waits(for: "#pair=", in: "dialog pre")
            let invitation: String = try await page.evaluate("document.querySelector('dialog pre').textContent")
            try await page.press("Escape")
            return invitation
        }

        @Test func aLookerSeesMarksFavouritesAndIsOfferedNothingElse() async throws {
            let house = House.here
            let tablet = try await house.stranger(Look(width: 1000))
            try await house.inTab(at: "#/devices") { page in
                try await page.click(on: "Add device")
                try await page.wait(until: "document.querySelector('dialog input[value=looker]')")
                await page.picture("whose device")
                try await page.clickWhereSeen("document.querySelector('dialog input[value=looker]')")
                try await page.click(on: "Next")
                try await House.pair(tablet, with: Self.invitation(on: page), as: "Grandma’s tablet")
                try await page.waits(for: "Looks on", in: ".device:last-child")
                await page.picture("devices with a looker")

                // The timeline, with what may be done to a selection.
                try await Self.sees(tablet, photos: 24)
                await tablet.picture("looker")
                let more = ["Review", "Import", "Trash", "Jobs", "Backup", "Storage", "Devices", "Groups", "Kids mode"]
                #expect(try await Self.offered(more, on: tablet) == [])
                #expect(try await Self.offered(["Photos", "Categories", "Settings"], on: tablet).count == 3)
                try await tablet.press("a", .control)
                try await tablet.wait(until: "document.querySelector('selection-bar:not([hidden])')")
                #expect(
                    try await Self.offered(
                        ["Move to category", "Write caption", "Move to trash", "Download as ZIP", "Favourite"],
                        on: tablet)
                        == ["Download as ZIP", "Favourite"])
                try await tablet.press("Delete")
                try await tablet.press("Escape")

                // A photo, whose mark the daemon takes and whose original is saved.
                let uuid = try await house.photos()[0].uuid
                try await tablet.go(to: "#/photo/\(uuid)")
                try await tablet.wait(until: "document.querySelector('zoom-surface img')?.naturalWidth > 0")
                #expect(try await Self.offered(["Move to trash", "Send to a group"], on: tablet) == [])
                try await tablet.click(on: "Favourite")
                try await tablet.waits(for: "favourite", in: "toast-list")
                #expect(try await house.call(GetPhoto(uuid: uuid)).isFavorite)
                try await tablet.click(on: "About this photo")
                #expect(
                    try await tablet.evaluate("!document.querySelector('photo-facts :is(textarea, select, .sealed)')"))
                #expect(try await Self.offered(["Original"], on: tablet).count == 1)
                await tablet.picture("looker photo")
                let status: Int = try await tablet.evaluate(
                    "fetch('/photos/\(uuid)/original').then(({ status }) => status)")
                #expect(status == 200)

                // The address of another screen leads to the photos, and categories are to be looked at.
                try await tablet.go(to: "#/trash")
                try await tablet.wait(until: "document.querySelector('timeline-screen')")
                try await tablet.go(to: "#/categories")
                try await tablet.waits(for: "Holidays", in: ".categories")
                #expect(try await tablet.evaluate("!document.querySelector('.categories button')"))
                #expect(try await house.photos().count == 24)

                // Made a parent's, it has everything, without a reload.
                try await page.click(on: "Whose Grandma’s tablet is")
                try await page.wait(until: "document.querySelector('dialog input[value=parent]')")
                try await page.clickWhereSeen("document.querySelector('dialog input[value=parent]')")
                try await page.click(on: "Save")
                try await tablet.wait(until: "tests.control('Import') && tests.control('Add category')")
                #expect(tablet.faults == [])
                try await Self.forget("Grandma’s tablet", in: house)
            }
            try await tablet.close()
        }

        @Test func aChildsDeviceShowsChosenCategoriesAndThePINIsNoWayOut() async throws {
            let house = House.here
            let tablet = try await house.stranger(Look(width: 800, isTouched: true))
            let holidays = try await house.category("Holidays").id
            let photos = try await house.photos()
            let hidden = try #require(photos.first { $0.categoryId == holidays })
            try await house.inTab(at: "#/devices") { page in
                try await page.click(on: "Add device")
                try await page.wait(until: "document.querySelector('dialog input[value=child]')")
                try await page.clickWhereSeen("document.querySelector('dialog input[value=child]')")
                try await page.click(on: "Next")
                // None chosen yet: it says so, and stays.
                try await page.waits(for: "at least one category", in: "dialog .fault")
                await page.picture("a child's device")
                for name in ["Family", "Garden"] { try await page.clickWhereSeen(Self.box(name)) }
                try await page.click(on: "Next")
                try await House.pair(tablet, with: Self.invitation(on: page), as: "Children’s tablet")
                try await page.waits(for: "Family, Garden", in: ".device:last-child")

                try await tablet.wait(until: "document.querySelectorAll('.kids-categories img').length === 2")
                #expect(try await tablet.evaluate("!tests.control('For parents')"))
                await tablet.picture("a child's tablet")
                let statuses: [Int] = try await tablet.evaluate(
                    """
                    Promise.all(['thumbnail', 'photo', 'original'].map((kind) => (
                      fetch('/photos/\(hidden.uuid)/' + kind).then(({ status }) => status))))
                    """)
                #expect(statuses == [404, 404, 404])

                // Others are chosen while one of the first is looked at.
                try await tablet.click(on: "Garden")
                try await tablet.wait(until: "document.querySelector('kids-screen .tile.loaded')")
                try await page.click(on: "Whose Children’s tablet is")
                try await page.wait(until: "document.querySelector('dialog input[value=child]')")
                for name in ["Garden", "Holidays"] { try await page.clickWhereSeen(Self.box(name)) }
                try await page.click(on: "Save")
                try await tablet.waits(for: "Holidays", in: ".kids-categories")
                #expect(
                    try await tablet.evaluate(
                        "!document.querySelector('.kids-categories').textContent.includes('Garden')"))
                #expect(tablet.faults == [])
                try await Self.forget("Children’s tablet", in: house)
            }
            try await tablet.close()
        }

        private static func box(_ category: String) -> String {
            "[...document.querySelectorAll('dialog fieldset label')].find((one) => one.textContent === '\(category)')"
        }

        private static func forget(_ name: String, in house: House) async throws {
            for device in try await house.call(ListDevices()).devices where device.name == name {
                _ = try await house.call(ForgetDevice(id: device.id))
            }
        }
    }
}
