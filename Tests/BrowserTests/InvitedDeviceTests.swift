import Browser
import EndToEndSupport
import Foundation
import Testing

extension BrowserTests {
    /// Devices that may open the page.
    @Suite struct InvitedDeviceTests {
        private static let zbar = "/usr/bin/zbarimg"

        /// What a phone's camera would see of the dialog, in both themes, is the address and nothing else.
        @Test(
            .enabled(if: FileManager.default.isExecutableFile(atPath: zbar), "needs zbar-tools: Scripts/setup --tests"),
            arguments: [false, true])
        func aCameraReadsTheInvitation(isDark: Bool) async throws {
            let house = House.here
            try await house.inTab(Look(width: 360, isDark: isDark, isTouched: true), at: "#/devices") { page in
                try await page.click(on: "Add device")
                try await page.click(on: "Next")
                try await page.wait(until: "document.querySelector('dialog .qr-code')?.getClientRects().length")
                let invitation: String = try await page.evaluate("document.querySelector('dialog pre').textContent")
                let seen = house.place.folder.file("seen.png")
                try await page.screenshot().write(to: URL(fileURLWithPath: seen))
                await page.picture("invitation 360 \(isDark ? "dark" : "light")")
                let read = try await house.place.run(Self.zbar, ["--quiet", "--raw", seen])
                #expect(read.output == invitation + "\n")
                // The secret was in no address.
                let code = try #require(invitation.split(separator: "=").last)
                #expect(!page.requests.contains { $0.url.contains(code) })
            }
        }

        @Test func aDeviceIsInvitedPairedAndForgotten() async throws {
            let house = House.here
            let phone = try await house.stranger(Look(width: 360, isTouched: true))
            try await house.inTab(at: "#/devices") { page in
                try await page.click(on: "Add device")
                try await page.click(on: "Next")
                try await page.waits(for: "#pair=", in: "dialog pre")
                let invitation: String = try await page.evaluate("document.querySelector('dialog pre').textContent")
                await page.picture("invitation")
                try await phone.navigate(house.address)
                try await phone.waits(for: "smilepile web", in: "pairing-screen pre")
                await phone.picture("not paired")
                try await House.pair(phone, with: invitation, as: "Grandma’s phone")
                try await page.press("Escape")
                try await page.waits(for: "Grandma’s phone", in: ".device h2")
                try await page.click(on: "Forget Grandma’s phone")
                try await page.click(on: "Forget")
                try await page.waits(for: "forgotten", in: "toast-list")
                // At once, and with nothing of the album left on its screen.
                try await phone.waits(for: "Welcome to your album", in: "pairing-screen h1")
                #expect(try await phone.evaluate("!document.querySelector('.tile')"))
                #expect(phone.faults == [])
            }
            try await phone.close()
        }
    }
}
