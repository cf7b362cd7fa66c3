import Browser
import ControlSocket
import EndToEndSupport
import Foundation
import LibraryModel
import SampleAlbum
import ServiceMesh
import Testing

extension BrowserTests {
    /// Two machines of one person, each with a daemon and a page of its own.
    @Suite struct ReviewMachineTests {
        private static func focused(_ name: String) -> String {
            "tests.name(document.activeElement) === \(Page.literal(name))"
        }

        private static let dialogIsGone = "!document.querySelector('dialog')"

        /// By keys alone.
        private static func letIn(_ name: String, in page: Page) async throws -> String {
            try await page.press("Tab", until: focused("Let a machine in"))
            try await page.press("Enter")
            try await page.wait(until: focused("Its name"))
            try await page.press("Enter")
            try await page.waits(for: "Give the machine a name.", in: "dialog .fault")
            try await page.type(name)
            try await page.press("Enter")
            try await page.waits(for: "#reviews=", in: "dialog pre")
            return try await page.evaluate("document.querySelector('dialog pre').textContent")
        }

        @Test func anotherMachineIsLetInAndJoins() async throws {
            let house = House.here
            try await house.inTab(at: "#/devices") { page in
                try await page.waits(for: "Reviews on your other machines", in: "review-machines h2")
                let invitation = try await Self.letIn("Laptop", in: page)
                let link = try InvitationLink(invitation, for: .reviews)
                #expect(link.address.text == house.address)
                for said in ["shown this once", "opens your reviews and nothing else", "Only this machine reaches"] {
                    try await page.waits(for: said, in: "dialog")
                }
                try await page.waits(for: "smilepile swipe join", in: "dialog pre")
                try await page.wait(until: "document.querySelector('dialog .qr-code')?.getClientRects().length")
                await page.picture("machine let in")
                try await page.press("Escape")
                try await page.wait(until: Self.dialogIsGone)
                try await page.waits(for: "has not asked yet", in: "review-machines li")
                #expect(
                    try await page.evaluate("!document.documentElement.outerHTML.includes(\(Page.literal(link.token)))")
                )
                // A second one of that name is none.
                try await page.click(on: "Let a machine in")
                try await page.write("LAPTOP", into: "Its name")
                try await page.press("Enter")
                try await page.waits(for: "is let in already", in: "dialog .fault")
                try await page.press("Escape")
                try await page.wait(until: Self.dialogIsGone)

                try await House.withoutPhotos(beside: house) { place, other, _ in
                    try await other.go(to: "#/devices")
                    try await Self.join(invitation, house, place, other)
                    // Who lets in sees it without asking.
                    try await page.waits(for: "last asked", in: "review-machines li")
                    try await page.click(on: "Disconnect Laptop")
                    try await page.waits(for: "Its invitation ends at once", in: "dialog")
                    try await page.click(on: "Disconnect")
                    try await page.waits(for: "Laptop is disconnected", in: "toast-list")
                    try await page.wait(until: "!document.querySelector('review-machines li')")
                    try await page.wait(until: Self.focused("Reviews on your other machines"))

                    try await other.click(on: "Sync now with \(house.address)")
                    try await other.waits(for: "1 machine could not be asked", in: "review-machines job-card .sum")
                    try await other.wait(until: "!document.querySelector('review-machines p.attention').hidden")
                    await other.picture("machine disconnected")
                    try await other.click(on: "Disconnect \(house.address)")
                    try await other.waits(for: "What came from it stays", in: "dialog")
                    try await other.click(on: "Disconnect")
                    try await other.wait(until: "!document.querySelector('review-machines li')")
                    #expect(other.faults == [])
                }
            }
            #expect(try await house.call(ListReviewMachines()).machines.isEmpty)
        }

        private static func join(
            _ invitation: String, _ house: House, _ place: Installation, _ page: Page
        ) async throws {
            try await page.press("Tab", until: focused("Join a machine of yours"))
            try await page.press("Enter")
            try await page.wait(until: focused("Invitation"))
            let stranger = String(repeating: "A", count: 43)
            for (text, answer) in [
                ("Laptop", "This is no invitation."),
                ("\(house.address)/#join=\(stranger)", "This invitation is to groups"),
                ("\(house.address)/#reviews=\(stranger)", "takes this invitation"),
                ("http://photos.invalid/#reviews=\(stranger)", "This address is not encrypted"),
            ] {
                try await page.write(text, into: "Invitation")
                try await page.press("Enter")
                try await page.waits(for: answer, in: "dialog .fault:not([hidden])")
            }
            try await page.write("smilepile swipe join \(invitation) ", into: "Invitation")
            try await page.press("Enter")
            try await page.waits(for: "Joined \(house.address)", in: "toast-list")
            try await page.wait(until: dialogIsGone)
            try await page.waits(for: house.address, in: "review-machines h3")
            try await page.waits(for: "synced now", in: "review-machines li")
            try await page.click(on: "Sync now with \(house.address)")
            try await page.waits(for: "0 decisions sent, 0 fetched", in: "review-machines job-card .sum")
            await page.picture("machine joined")
            try await page.take(Look(width: 390, isDark: true, isTouched: true))
            await page.picture("machine joined on a phone")
            try await page.take(Look(width: 1280))
            let client = try place.client()
            defer { client.close() }
            #expect(try await client.call(ListReviewMachines()).machines.map(\.name) == [house.address])
        }
    }
}
