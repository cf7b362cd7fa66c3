import Browser
import ControlSocket
import EndToEndSupport
import LibraryModel
import Testing

extension BrowserTests {
    /// The password of a device's programs, as a parent makes and ends it under Devices.
    @Suite struct UploadProgramTests {
        @Test func aPasswordIsShownOnceAndEnded() async throws {
            let house = House.here
            let device = try await house.call(
                PairDevice(code: house.call(InviteDevice()).code, name: "Ada’s phone")
            ).device
            try await house.inTab(at: "#/devices") { page in
                try await page.waits(for: "Ada’s phone", in: ".device:last-child")
                try await page.click(on: "Automatic upload from Ada’s phone")
                try await page.waits(for: "/dav/", in: "dialog pre")
                let password: String = try await page.evaluate(
                    "[...document.querySelectorAll('dialog pre')].at(-1).textContent")
                #expect(password.wholeMatch(of: /([0-9a-z]{4}-){6}[0-9a-z]{4}/) != nil)
                await page.picture("password of a program")
                try await page.press("Escape")
                try await page.waits(for: "An app on it uploads automatically", in: ".device:last-child")
                #expect(try await house.call(ListDevices()).devices.last?.hasPassword == true)
                await page.picture("device with an app")
                try await page.click(on: "End the password on Ada’s phone")
                try await page.clickWhereSeen("document.querySelector('dialog button.danger')")
                try await page.wait(
                    until: "!document.querySelector('.device:last-child').textContent.includes('An app on it')")
                #expect(try await house.call(ListDevices()).devices.last?.hasPassword == nil)
                #expect(page.faults == [])
            }
            _ = try await house.call(ForgetDevice(id: device.id))
        }
    }
}
