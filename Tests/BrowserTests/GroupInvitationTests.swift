import Browser
import ControlSocket
import EndToEndSupport
import Foundation
import LibraryModel
import SampleAlbum
import ServiceMesh
import Testing

extension BrowserTests {
    /// Groups of several families, each with a machine, a daemon and a page of its own.
    @Suite struct GroupInvitationTests {
        private static let dialogIsGone = "!document.querySelector('dialog')"

        private static func focused(_ name: String) -> String {
            "tests.name(document.activeElement) === \(Page.literal(name))"
        }

        /// Another family, on the screen of its groups.
        private static func neighbours(
            _ house: House, _ body: (_ place: Installation, _ page: Page) async throws -> Void
        ) async throws {
            try await House.withoutPhotos(beside: house) { place, page, _ in
                try await page.go(to: "#/groups")
                try await page.waits(for: "No groups yet", in: "groups-screen")
                do {
                    try await body(place, page)
                } catch {
                    await page.picture("failed neighbours \(Test.current?.name ?? "")")
                    throw error
                }
                #expect(page.faults == [])
            }
        }

        /// Nothing of a secret is left: in what is shown or hidden, in fields, in addresses.
        private static func hasForgotten(_ secret: String, _ page: Page) async throws {
            let kept: [String] = try await page.evaluate(
                """
                [document.documentElement.outerHTML, location.href, JSON.stringify(history.state), JSON.stringify({ ...localStorage }),
                  JSON.stringify({ ...sessionStorage }), ...[...document.querySelectorAll('input, textarea')].map(({ value }) => value)]
                  .filter((text) => text?.includes(\(Page.literal(secret))))
                """)
            #expect(kept == [])
            #expect(!page.requests.contains { $0.url.contains(secret) })
        }

        /// By keys alone.
        private static func invite(_ name: String, in page: Page) async throws -> String {
            try await page.wait(until: "tests.control('Invite…')")
            try await page.press("Tab", until: focused("Invite…"))
            try await page.press("Enter")
            try await page.wait(until: focused("Their first name"))
            try await page.press("Enter")
            try await page.waits(for: "Say whom you invite.", in: "dialog .fault")
            try await page.type(name)
            try await page.press("Enter")
            try await page.waits(for: "#join=", in: "dialog pre")
            return try await page.evaluate("document.querySelector('dialog pre').textContent")
        }

        @Test func anotherFamilyIsInvitedAndJoins() async throws {
            let house = House.here
            let group = try await house.group()
            var invitation = ""
            try await house.inTab(at: "#/groups/" + group.id) { page in
                try await page.wait(until: "document.querySelector('group-members li')")
                // Oneself is neither removed nor invited.
                #expect(try await page.evaluate("document.querySelectorAll('group-members li button').length") == 0)
                invitation = try await Self.invite("Ben", in: page)
                let link = try InvitationLink(invitation)
                #expect(link.address.text == house.address)
                for said in ["shown this once", "holds until you remove", "Only this machine reaches", "Join a group"] {
                    try await page.waits(for: said, in: "dialog")
                }
                try await page.waits(for: "smilepile groups join", in: "dialog pre")
                try await page.wait(until: "document.querySelector('dialog .qr-code')?.getClientRects().length")
                #expect(
                    try await page.evaluate("document.documentElement.outerHTML.includes(\(Page.literal(link.token)))"))
                try await page.press("Escape")
                try await page.wait(until: Self.dialogIsGone)
                try await page.wait(until: Self.focused("Invite…"))
                try await page.waits(for: "Ben", in: "group-members .name")
                try await Self.hasForgotten(link.token, page)
                // Whoever keeps it for others does not end it for them by leaving.
                try await page.click(on: "Leave group…")
                try await page.waits(for: "it would end for them too", in: "dialog")
                #expect(try await page.evaluate("document.querySelector('dialog .button.danger') === null"))
                try await page.press("Escape")
                try await page.wait(until: Self.dialogIsGone)
                try await page.click(on: "Delete group…")
                try await page.waits(for: "It ends for", in: "dialog")
                try await page.press("Escape")
                try await page.wait(until: Self.dialogIsGone)
            }
            try await Self.neighbours(house) { place, page in
                try await page.press("Tab", until: Self.focused("Join a group"))
                try await page.press("Enter")
                try await page.wait(until: Self.focused("Invitation"))
                try await page.run(
                    """
                    const real = window.fetch;
                    window.plain = 0;
                    window.fetch = (path, options) => {
                      if (options?.body?.includes?.('photos.invalid')) window.plain += 1;
                      return real(path, options);
                    };
                    """)
                let stranger = String(repeating: "A", count: 43)
                for (text, answer) in [
                    ("", "This is no invitation."), ("Cousins", "This is no invitation."),
                    ("\(house.address)/#join=short", "This is no invitation."),
                    ("\(house.address)/#reviews=\(stranger)", "This invitation is for reviews"),
                    ("\(house.address)/#join=\(stranger)", "takes this invitation"),
                    ("http://127.0.0.1:1/#join=\(stranger)", "takes this invitation"),
                    ("http://photos.invalid/#join=\(stranger)", "This address is not encrypted"),
                ] {
                    try await page.write(text, into: "Invitation")
                    if text.isEmpty { try await page.press("Delete") }
                    try await page.press("Enter")
                    try await page.waits(for: answer, in: "dialog .fault:not([hidden])")
                }
                // Whoever allows it is asked no more; the name is nobody's.
                try await page.click(on: "Join all the same")
                try await page.click(on: "Join")
                try await page.waits(for: "takes this invitation", in: "dialog .fault:not([hidden])")
                let sent: Int = try await page.evaluate("window.plain")
                #expect(sent == 1)
                // With what was copied around it.
                try await page.write("smilepile groups join \(invitation) ", into: "Invitation")
                try await page.press("Enter")
                try await page.waits(for: "Cousins", in: "group-view h1")
                try await page.wait(until: Self.dialogIsGone)
                try await page.wait(until: "document.querySelector('group-photo img')?.naturalWidth > 0")
                try await page.waits(for: "Ben (you)", in: "group-members .name")
                try await page.waits(for: house.address, in: "group-hubs h3")
                try await page.waits(for: "Keeps Cousins", in: "group-hubs")
                #expect(try await page.evaluate("tests.control('Invite…') === undefined"))
                #expect(try await page.evaluate("document.querySelectorAll('group-members li button').length") == 0)
                try await Self.hasForgotten(InvitationLink(invitation).token, page)
                let client = try place.client()
                defer { client.close() }
                #expect(try await client.call(ListGroups()).groups.map(\.id) == [group.id])
                await page.picture("joined")
                try await page.take(Look(width: 390, isDark: true, isTouched: true))
                try await page.run("document.querySelector('group-hubs').scrollIntoView()")
                await page.picture("joined on a phone")
            }
        }

        private static let zbar = "/usr/bin/zbarimg"

        /// What a phone's camera sees of the dialog is the invitation; the page that it opens says what to do with it.
        @Test(
            .enabled(if: FileManager.default.isExecutableFile(atPath: zbar), "needs zbar-tools: Scripts/setup --tests"),
            arguments: [
                Look(width: 390, isTouched: true), Look(width: 390, isDark: true, isTouched: true), Look(width: 1280),
            ])
        func aCameraReadsTheInvitation(_ look: Look) async throws {
            let house = House.here
            let group = try await house.group()
            try await house.inTab(look, at: "#/groups/" + group.id) { page in
                let invitation = try await Self.invite("Ben", in: page)
                try await page.wait(until: "document.querySelector('dialog .qr-code')?.getClientRects().length")
                let seen = house.place.folder.file("seen.png")
                try await page.screenshot().write(to: URL(fileURLWithPath: seen))
                await page.picture("invitation to a group \(look)")
                let read = try await house.place.run(Self.zbar, ["--quiet", "--raw", seen])
                #expect(read.output == invitation + "\n")
                let token = try InvitationLink(invitation).token

                let phone = try await house.stranger(look)
                try await phone.navigate(invitation)
                try await phone.waits(for: "You are invited to a group", in: "pairing-screen h1")
                try await phone.waits(for: invitation, in: "pairing-screen pre")
                #expect(try await phone.evaluate("!location.href.includes(\(Page.literal(token)))"))
                await phone.picture("invited \(look)")
                #expect(phone.faults == [])
                try await phone.close()

                // One that lets another machine of theirs in is not taken for one into a group.
                let reviews = invitation.replacingOccurrences(of: "#join=", with: "#reviews=")
                let laptop = try await house.stranger(look)
                try await laptop.navigate(reviews)
                try await laptop.waits(for: "An invitation for reviews", in: "pairing-screen h1")
                try await laptop.waits(for: "smilepile swipe join", in: "pairing-screen")
                #expect(try await laptop.evaluate("!location.href.includes(\(Page.literal(token)))"))
                #expect(laptop.faults == [])
                try await laptop.close()

                // Where it is from, it is of no use.
                try await page.press("Escape")
                try await page.wait(until: Self.dialogIsGone)
                try await page.go(to: "#join=" + token)
                try await page.waits(for: "New group", in: "groups-screen .button")
                try await Self.hasForgotten(token, page)
            }
        }

        /// Who has closed the dialog too early gets another invitation; the first one ends with it, and both with the member.
        @Test func aMemberIsInvitedAgainAndRemoved() async throws {
            let house = House.here
            let group = try await house.group(withoutPhoto: "Cousins")
            let first = try await house.invite("Ben", to: group)
            try await Self.neighbours(house) { place, neighbours in
                let client = try place.client()
                defer { client.close() }
                _ = try await client.call(JoinGroups(address: house.address, token: first.token))
                try await neighbours.waits(for: "Keeps Cousins", in: "group-hubs")
                try await house.inTab(at: "#/groups/" + group.id) { page in
                    try await page.wait(until: "tests.control('New invitation for Ben')")
                    try await page.press("Tab", until: Self.focused("New invitation for Ben"))
                    try await page.press("Enter")
                    try await page.waits(for: "ends at once", in: "dialog")
                    // What ends something is not what Enter does by itself.
                    try await page.press("Enter")
                    try await page.wait(until: Self.dialogIsGone)
                    try await page.press("Enter")
                    try await page.click(on: "Make a new one")
                    try await page.waits(for: "#join=", in: "dialog pre")
                    let text: String = try await page.evaluate("document.querySelector('dialog pre').textContent")
                    let second = try InvitationLink(text)
                    #expect(second.token != first.token)
                    try await page.press("Escape")
                    try await page.wait(until: Self.dialogIsGone)
                    try await page.wait(until: Self.focused("New invitation for Ben"))
                    try await Self.hasForgotten(second.token, page)

                    try await neighbours.click(on: "Sync now with \(house.address)")
                    try await neighbours.waits(for: "Ask for a new invitation", in: "group-hub [role=status]")
                    try await neighbours.waits(for: "1 machine could not be asked", in: "group-hub job-card .sum")
                    try await neighbours.click(on: "Join a group")
                    try await neighbours.write(text, into: "Invitation")
                    try await neighbours.click(on: "Join")
                    try await neighbours.waits(for: "Cousins", in: "group-view h1")

                    try await page.press("Tab", until: Self.focused("Remove Ben"))
                    try await page.press("Enter")
                    try await page.waits(for: "stays until it expires", in: "dialog")
                    try await page.press("Enter")
                    try await page.wait(until: Self.dialogIsGone)
                    try await page.wait(until: Self.focused("Remove Ben"))
                    #expect(try await house.call(ListGroupMembers(id: group.id)).members.count == 2)
                    try await page.press("Enter")
                    try await page.click(on: "Remove")
                    try await page.waits(for: "Ben is not in Cousins any more", in: "toast-list")
                    try await page.wait(until: "document.querySelectorAll('group-members li').length === 1")
                    try await page.wait(
                        until: "document.activeElement === document.querySelector('group-members h2')")
                    #expect(try await house.call(ListGroupMembers(id: group.id)).members.map(\.firstName) == ["Ada"])
                }
            }
        }

        /// Somebody whom one has in another group comes in with the invitation that they have.
        @Test func aKnownPersonComesIntoAnotherGroup() async throws {
            let house = House.here
            _ = try await house.invite("Ben", to: house.group(withoutPhoto: "Cousins"))
            let second = try await house.group(withoutPhoto: "Neighbours")
            try await house.inTab(at: "#/groups/" + second.id) { page in
                try await page.click(on: "Invite…")
                try await page.choose(option: "Ben", in: "Who")
                #expect(try await page.evaluate("tests.control('Their first name') === undefined"))
                try await page.click(on: "Make an invitation")
                try await page.waits(for: "Ben is in Neighbours now", in: "toast-list")
                try await page.waits(for: "Ben", in: "group-members .name")
                #expect(try await page.evaluate(Self.dialogIsGone))
            }
        }

        /// What was sent while the other machine was away may come too late; the receipt tells, and so does the page.
        @Test func whatAnotherMachineDoesNotTakeIsTold() async throws {
            let house = House.here
            let cousins = try await house.group(withoutPhoto: "Cousins")
            let invitation = try await house.invite("Ben", to: cousins)
            let friends = try await house.group(withoutPhoto: "Friends")
            let ben = try #require(try await house.call(ListGroupMembers(id: cousins.id)).members.last)
            _ = try await house.call(InviteGroupMember(groupId: friends.id, userId: ben.userId))
            try await Self.neighbours(house) { place, page in
                let client = try place.client()
                defer { client.close() }
                let album = place.folder.file("album")
                try SampleAlbum(width: 320, height: 240).write(count: 1, to: album)
                try #require(try await place.smilepile("import", album).status == 0)
                _ = try await client.call(JoinGroups(address: house.address, token: invitation.token))
                try await page.waits(for: "Cousins", in: "group-hub")
                try await page.waits(for: "Friends", in: "group-hub")

                try await house.smilepile("web", "stop")
                let photo = try #require(try await place.allPhotos(client).first)
                _ = try await client.call(SendGroupPhoto(groupId: cousins.id, id: photo.id))
                try await page.click(on: "Sync now with \(house.address)")
                try await page.waits(for: "does not answer", in: "group-hub [role=status]")
                try await page.waits(for: "1 machine could not be asked", in: "group-hub job-card .sum")
                try await page.wait(until: Self.focused("Sync now with \(house.address)"))
                await page.picture("machine away")

                _ = try await house.call(DeleteGroup(id: cousins.id))
                try await house.startPage()
                try await page.press("Enter")
                try await page.waits(for: "1 photo of yours was not taken there", in: "group-hub job-card .sum")
                try await page.wait(until: "document.querySelectorAll('group-hub job-card').length === 1")
                try await page.wait(until: "document.querySelector('group-hub p[role=status]').hidden")
                try await page.waits(for: "Keeps Friends", in: "group-hubs")
                // The machine's own try says it too: nobody has to look at a receipt.
                try await page.waits(for: "Sent to Cousins", in: "group-hubs .undelivered")
                try await page.waits(for: "The group is gone", in: "group-hubs .undelivered")
                await page.picture("photo lost")
                try await page.take(Look(width: 390, isDark: true, isTouched: true))
                await page.picture("photo lost on a phone")
                try await page.take(Look(width: 1280))
                try await page.click(on: "Receipt")
                try await page.waits(for: "its group is gone", in: "dialog .receipt")
                try await page.press("Escape")
                try await page.wait(until: Self.dialogIsGone)

                try await page.click(on: "Forget \(house.address)")
                try await page.waits(for: "it is not told", in: "dialog")
                try await page.click(on: "Forget")
                try await page.waits(for: "No groups yet", in: "groups-screen")
                try await page.wait(until: "!document.querySelector('group-hub')")
                // It is told all the same.
                try await page.waits(for: "Sent to Cousins", in: "group-hubs .undelivered")
                try await page.wait(until: "document.activeElement === document.querySelector('groups-screen h1')")
            }
        }

        /// Not by hidden buttons: a child's connection is refused.
        @Test func aChildInvitesNobody() async throws {
            let house = House.here
            let group = try await house.group(withoutPhoto: "Cousins")
            let invitation = try await house.invite("Ben", to: group)
            let ben = try #require(try await house.call(ListGroupMembers(id: group.id)).members.last)
            try await house.inTab(at: "#/groups/" + group.id) { page in
                try await page.wait(until: "tests.control('Remove Ben')")
                _ = try await house.call(SetPIN(pin: PIN(House.pin)))
                _ = try await house.call(SetMode(mode: .kids))
                try await page.wait(until: "document.querySelectorAll('.kids-categories img').length === 3")
                try await page.reload()
                try await page.wait(until: "document.querySelectorAll('.kids-categories img').length === 3")
                for name in ["Invite…", "Remove Ben", "New invitation for Ben", "Join a group"] {
                    #expect(try await page.evaluate("tests.control(\(Page.literal(name))) === undefined"))
                }
                for (method, params) in [
                    ("group.invite", "{ groupId: '\(group.id)', firstName: 'Eve' }"),
                    ("group.invite", "{ groupId: '\(group.id)', userId: '\(ben.userId)', newToken: true }"),
                    ("group.remove", "{ groupId: '\(group.id)', userId: '\(ben.userId)' }"),
                    ("group.join", "{ address: '\(house.address)', token: '\(invitation.token)' }"),
                    ("group.hubs", "{}"), ("group.forget", "{ id: '\(group.id)' }"), ("group.sync", "{}"),
                ] {
                    let status: String = try await page.evaluate(
                        """
                        fetch('/rpc', {
                          method: 'POST', headers: { 'Content-Type': 'application/json' },
                          body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: '\(method)', params: \(params) }),
                        }).then((reply) => reply.json()).then(({ error }) => error?.data.status ?? 'done')
                        """)
                    #expect(status == "permission_denied", "\(method)")
                }
            }
            try await house.smilepile(withPIN: "mode", "parent")
            _ = try await house.call(ClearPIN(pin: PIN(House.pin)))
            #expect(try await house.call(ListGroupMembers(id: group.id)).members.map(\.firstName) == ["Ada", "Ben"])
        }
    }
}
