import Browser
import ControlSocket
import LibraryModel
import Testing

extension BrowserTests {
    /// Groups, and the photo of the day.
    @Suite struct GroupsTests {
        private static let dialogIsGone = "!document.querySelector('dialog')"

        private static let lookedAt = "document.dispatchEvent(new Event('visibilitychange'))"

        private static func focused(_ name: String) -> String {
            "tests.name(document.activeElement) === \(Page.literal(name))"
        }

        @Test func oneIsMadeRenamedAndDeletedByKeys() async throws {
            let house = House.here
            try await house.inTab(at: "#/groups") { page in
                try await page.waits(for: "No groups yet", in: "groups-screen")
                try await page.press("Tab", until: Self.focused("New group"))
                try await page.press("Enter")
                try await page.wait(until: Self.focused("Name of the group"))
                try await page.press("Enter")
                try await page.waits(for: "A group needs a name.", in: "dialog .fault")
                try await page.type("Cousins")
                try await page.press("Enter")
                try await page.waits(for: "Say what the others call you.", in: "dialog .fault")
                try await page.press("Tab", until: Self.focused("Your first name"))
                try await page.type("Ada")
                try await page.press("Enter")
                // Into the group, where one is told so.
                try await page.wait(until: "tests.has('group-view h1', 'Cousins')")
                try await page.wait(until: "document.activeElement === document.querySelector('group-view h1')")
                try await page.waits(for: "No photos at the moment", in: "group-view .empty")
                let group = try #require(try await house.call(ListGroups()).groups.first)
                #expect(group.name == "Cousins" && group.members.map(\.firstName) == ["Ada"])
                #expect(try await page.evaluate("location.hash") == "#/groups/" + group.id)

                try await page.press("Tab", until: Self.focused("Rename group"))
                try await page.press("Enter")
                try await page.write("All cousins", into: "Name of the group")
                try await page.press("Enter")
                try await page.waits(for: "All cousins", in: "group-view h1")
                try await page.click(on: "Undo")
                try await page.wait(
                    until: "tests.plain(document.querySelector('group-view h1').textContent) === 'Cousins'")

                // What cannot be undone is not what Enter does by itself.
                try await page.press("Tab", until: Self.focused("Delete group…"))
                try await page.press("Enter")
                try await page.waits(for: "This cannot be undone", in: "dialog")
                try await page.press("Enter")
                try await page.wait(until: Self.dialogIsGone)
                #expect(try await house.call(ListGroups()).groups.map(\.id) == [group.id])
                try await page.press("Enter")
                try await page.press("Tab", until: Self.focused("Delete"))
                try await page.press("Enter")
                try await page.wait(
                    until: "location.hash === '#/groups' && tests.has('groups-screen', 'No groups yet')")
                #expect(try await house.call(ListGroups()).groups == [])
            }
        }

        @Test func aPhotoIsSentFromItsViewOnceADay() async throws {
            let house = House.here
            let photos = try await house.photos()
            let cousins = try await house.group(withoutPhoto: "Cousins")
            let neighbours = try await house.group(withoutPhoto: "Neighbours")
            _ = try await house.call(
                SendGroupPhoto(groupId: neighbours.id, id: photos[1].id, utcOffset: UTCOffset.range.upperBound))
            try await house.inTab { page in
                // As far ahead as any clock is: whose day it is, is the browser's to say.
                try await page.send("Emulation.setTimezoneOverride", ["timezoneId": "Pacific/Kiritimati"])
                try await page.go(to: "#/photo/" + photos[0].uuid)
                try await page.run(
                    """
                    const real = window.fetch;
                    window.offsets = [];
                    window.fetch = (path, options) => {
                      const { method, params } = options?.body ? JSON.parse(options.body) : {};
                      if (method?.startsWith('group.')) window.offsets.push(`${method} ${params.utcOffset}`);
                      return real(path, options);
                    };
                    """)
                try await page.click(on: "Send to a group")
                for part in ["One photo a day", "at most 2048 pixels", "no place", "no camera", "gone after 48 hours"] {
                    try await page.waits(for: part, in: "dialog")
                }
                // By the names of both: what is chosen is the only one that can be.
                let states: [String] = try await page.evaluate(
                    """
                    [...document.querySelectorAll('dialog .choice')].map((one) => {
                      const { disabled, checked } = one.querySelector('input');
                      return [tests.plain(one.textContent).split(' ')[0], disabled, checked].join(' ');
                    })
                    """)
                #expect(states == ["Cousins false true", "Neighbours true false"])
                try await page.waits(for: "has had your photo for today", in: "dialog .choice")
                try await page.click(on: "Send")
                try await page.waits(for: "Sent to Cousins", in: "toast-list")
                let offsets: [String] = try await page.evaluate("window.offsets")
                #expect(offsets.contains("group.list 840") && offsets.last == "group.send 840")
                let sent = try await house.call(ListGroupPhotos(groupId: cousins.id)).photos
                #expect(sent.count == 1 && sent.first?.senderName == "Ada")

                // A second one there is not.
                try await page.click(on: "Send to a group")
                try await page.wait(until: "document.querySelectorAll('dialog input:disabled').length === 2")
                #expect(try await page.evaluate("tests.control('Send') === undefined"))
                try await page.press("Escape")
                try await page.wait(until: Self.dialogIsGone)
            }
        }

        /// Somebody is faster at another device.
        @Test func aSecondPhotoOfTheDayIsRefusedInASentence() async throws {
            let house = House.here
            let photos = try await house.photos()
            let group = try await house.group(withoutPhoto: "Cousins")
            try await house.inTab(at: "#/photo/" + photos[0].uuid) { page in
                try await page.click(on: "Send to a group")
                try await page.wait(until: "tests.control('Send')")
                _ = try await house.call(SendGroupPhoto(groupId: group.id, id: photos[1].id))
                try await page.click(on: "Send")
                try await page.waits(for: "This group has had your photo for today", in: "dialog .fault")
                try await house.smilepile("groups", "delete", "Cousins", "--yes")
                try await page.click(on: "Send")
                try await page.waits(for: "The group or the photo is not here any more", in: "dialog .fault")
                try await page.press("Escape")
                try await page.wait(until: Self.dialogIsGone)
                // Where there is none, the way to one.
                try await page.click(on: "Send to a group")
                try await page.click(on: "Go to the groups")
                try await page.waits(for: "No groups yet", in: "groups-screen")
                try await page.wait(until: Self.dialogIsGone)
            }
        }

        @Test func aPhotoCountsDownIsLookedAtAndKept() async throws {
            let house = House.here
            let group = try await house.group()
            let before = try await house.photos().map(\.id)
            try await house.inTab(at: "#/groups/" + group.id) { page in
                try await page.wait(until: "document.querySelector('group-photo img')?.naturalWidth > 0")
                try await page.waits(for: "Ada (you)", in: "group-photo h3")
                try await page.waits(for: "gone in 48 hours", in: "group-photo .left")
                await page.picture("group")
                // By itself once; then as a page does that is looked at again, without waiting for it.
                try await Self.pass(hours: 17, in: page)
                try await page.waits(for: "gone in 31 hours", in: "group-photo .left")
                try await Self.pass(hours: 47.5, in: page, Self.lookedAt)
                try await page.wait(
                    until: """
                        /^gone in \\d+ minutes$/.test(
                            tests.plain(document.querySelector('.left.attention')?.textContent ?? ''))
                        """)
                // Not read out with every minute.
                #expect(
                    try await page.evaluate("!document.querySelector('.left').closest('[role=status], [aria-live]')"))
                try await Self.pass(hours: 49, in: page, Self.lookedAt)
                try await page.waits(for: "gone in less than a minute", in: "group-photo .left")
                try await Self.pass(hours: 0, in: page, Self.lookedAt)
                try await page.waits(for: "gone in 48 hours", in: "group-photo .left")

                try await page.clickWhereSeen("document.querySelector('group-photo .picture')")
                try await page.wait(until: "document.querySelector('dialog.large zoom-surface img')?.naturalWidth > 0")
                let width = "document.querySelector('dialog.large img').getBoundingClientRect().width"
                let small: Double = try await page.evaluate(width)
                // The first one may come before the picture has its place, which fits it once more.
                try await page.press("+", until: "\(width) > \(small) * 1.2")
                try await page.press("Escape")
                try await page.wait(until: Self.dialogIsGone)

                try await page.clickWhereSeen("document.querySelector('group-photo > .button')")
                try await page.choose(option: "Garden", in: "Into the category")
                try await page.click(on: "Keep")
                try await page.waits(for: "The photo goes to Garden", in: "toast-list")
                try await page.waits(for: "1 imported", in: "group-view job-card .outcomes")
                try await page.waits(for: "Finished", in: "group-view job-card [role=status]")
                try await page.click(on: "Receipt")
                try await page.waits(for: "Ada.jpg", in: "dialog .receipt")
            }
            let kept = try await house.photos().filter { !before.contains($0.id) }
            let garden = try await house.category("Garden").id
            #expect(kept.map(\.categoryId) == [garden])
        }

        /// Midnight where one looks may be none where the daemon is, and then nothing tells of it.
        @Test func theNextDayOneMaySendAgain() async throws {
            let house = House.here
            let group = try await house.group()
            try await house.inTab(at: "#/groups/" + group.id) { page in
                try await page.waits(for: "You have sent today’s photo.", in: "group-view .today")
                try await page.holdReplies(
                    to: "group.list", edit: "for (const group of told.result.groups) group.hasSentToday = false")
                try await Self.pass(hours: 24, in: page, Self.lookedAt)
                try await page.wait(until: "window.held === 1")
                try await page.run("window.release()")
                try await page.waits(for: "You have not sent a photo today", in: "group-view .today")
                try await page.click(on: "Choose a photo")
                try await page.wait(until: "document.querySelector('.tile.loaded')")
            }
        }

        /// Lets the page's clock be this much ahead.
        private static func pass(hours: Double, in page: Page, _ then: String = "") async throws {
            try await page.run(
                """
                window.RealDate ??= Date;
                window.Date = class extends RealDate {
                  static now() { return RealDate.now() + \(hours) * 3_600_000; }
                  constructor(...given) { super(...(given.length > 0 ? given : [Date.now()])); }
                };
                \(then);
                """)
        }

        @Test func whatHappensElsewhereIsShown() async throws {
            let house = House.here
            let photo = try await house.photos()[0]
            let group = try await house.group(withoutPhoto: "Cousins")
            try await house.inTab(at: "#/groups") { page in
                try await page.waits(for: "You have not sent today", in: ".groups .badge")
                try await page.waits(for: "no photo yet", in: ".groups .facts")
                try await page.clickWhereSeen("document.querySelector('.groups a')")
                try await page.waits(for: "You have not sent a photo today", in: "group-view .today")
                try await house.smilepile("groups", "send", String(photo.id), "Cousins")
                try await page.wait(until: "document.querySelector('group-photo img')?.naturalWidth > 0")
                try await page.waits(for: "You have sent today’s photo.", in: "group-view .today")
                try await page.waits(for: "1 photo", in: "group-view [role=status]")

                // Two more, elsewhere: the one that is shown stays the same element.
                try await page.run("window.shown = document.querySelector('group-photo')")
                try await house.smilepile("groups", "create", "Neighbours", "--as", "Ada")
                try await house.smilepile("groups", "send", String(photo.id), "Neighbours")
                try await house.smilepile("groups", "rename", "Cousins", "Family")
                try await page.waits(for: "Family", in: "group-view h1")
                #expect(try await page.evaluate("window.shown === document.querySelector('group-photo')"))

                try await page.click(on: "All groups")
                try await page.wait(until: "document.querySelectorAll('.groups .badge.sent').length === 2")
                try await page.wait(until: "document.activeElement === document.querySelector('groups-screen h1')")
                try await page.clickWhereSeen("document.querySelector('.groups a[href*=\"\(group.id)\"]')")
                try await page.wait(until: "document.querySelector('group-photo')")
                try await house.smilepile("groups", "delete", "Family", "--yes")
                try await page.waits(for: "This group is not here any more", in: "groups-screen h1")
                try await page.click(on: "All groups")
                try await page.wait(until: "document.querySelectorAll('.groups li').length === 1")
            }
        }

        /// Where others needed the room the row stays, without its file.
        @Test func aPictureThatIsNotThereIsSaidToBeGone() async throws {
            let house = House.here
            let group = try await house.group()
            try await house.inTab { page in
                try await page.run(
                    """
                    const real = window.fetch;
                    window.fetch = async (path, options) => {
                      const reply = await real(path, options);
                      if (!options?.body?.includes?.('"group.photos"')) return reply;
                      const told = await reply.json();
                      for (const photo of told.result.photos) Object.assign(photo, { localPath: undefined }, window.told);
                      return new Response(JSON.stringify(told), { status: reply.status, headers: reply.headers });
                    };
                    """)
                try await page.go(to: "#/groups/" + group.id)
                for (told, text) in [
                    ("{}", "The picture is no longer here"), ("{ isComing: true, width: 0 }", "still on its way"),
                    ("{ width: 0 }", "The picture could not be fetched"),
                ] {
                    try await page.run("window.told = \(told)")
                    try await page.go(to: "#/groups")
                    try await page.go(to: "#/groups/" + group.id)
                    try await page.waits(for: text, in: "group-photo .picture")
                    #expect(try await page.evaluate("document.querySelector('group-photo > .button').disabled"))
                }
            }
        }

        @Test func aChildHasNoGroups() async throws {
            let house = House.here
            let group = try await house.group()
            let photo = try #require(try await house.call(ListGroupPhotos(groupId: group.id)).photos.first)
            let status = "fetch('/group-photos/\(photo.id)').then((reply) => reply.status)"
            try await house.inTab(at: "#/groups") { page in
                try await page.wait(until: "document.querySelector('.groups li')")
                #expect(try await page.evaluate(status) == 200)
                _ = try await house.call(SetPIN(pin: PIN(House.pin)))
                _ = try await house.call(SetMode(mode: .kids))
                try await page.wait(until: "document.querySelectorAll('.kids-categories img').length === 3")
                for place in ["#/groups/" + group.id, "#/groups"] {
                    try await page.go(to: place)
                    try await page.reload()
                    try await page.wait(until: "document.querySelectorAll('.kids-categories img').length === 3")
                    for seen in [
                        "document.querySelector('groups-screen, group-view, group-photo')",
                        "tests.has('body', 'Cousins')", "tests.control('Groups')", "tests.control('Send to a group')",
                    ] {
                        #expect(try await !page.evaluate("Boolean(\(seen))"), "\(seen)")
                    }
                }
                #expect(try await page.evaluate(status) == 403)
            }
            try await house.smilepile(withPIN: "mode", "parent")
            _ = try await house.call(ClearPIN(pin: PIN(House.pin)))
        }
    }
}
