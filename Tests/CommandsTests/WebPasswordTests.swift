import ControlSocket
import Foundation
import LibraryModel
import ServiceMesh
import TestSupport
import Testing

@testable import CommandLineInterface
@testable import Commands

@Suite("Passwords of devices' programs")
struct WebPasswordTests {
    private static let password = "7k3m-aaaa-bbbb-cccc-dddd-eeee-ffff"

    private func stage() throws -> Stage {
        let device = Device(
            id: "11a8d64a-0000-4000-8000-000000000000", name: "Ada's \u{1B}phone", userAgent: nil,
            createdAt: Timestamp(milliseconds: 0), lastSeenAt: Timestamp(milliseconds: 0))
        let stage = Stage()
        try stage.answer("device.list", DeviceList(devices: [device]))
        try stage.answer("device.makePassword", DevicePassword(device: device, password: Self.password))
        try stage.answer("device.endPassword", device)
        return stage
    }

    @Test("A password is shown once, with where it is entered") func make() async throws {
        let made = try stage()
        #expect(await made.run("web", "password", "11a8") == .done)
        #expect(made.results.contains("smilepile") && made.results.contains(Self.password))
        #expect(made.results.contains("/dav/") && made.messages.contains("The page does not run."))
        let machine = try stage()
        #expect(await machine.run("web", "password", "11a8", "--json") == .done)
        let json = try JSONDecoder().decode(JSONValue.self, from: Data(machine.results.utf8))
        #expect(json["password"]?.stringValue == Self.password && json["user"]?.stringValue == "smilepile")
    }

    @Test("A password is ended, and nothing is made") func end() async throws {
        let ended = try stage()
        #expect(await ended.run("web", "password", "11a8", "--revoke") == .done)
        #expect(ended.results.contains("Ada's ␛phone are out") && !ended.results.contains(Self.password))
        #expect(await ended.run("web", "password", "nobody") != .done)
    }

    @Test("Other devices have the home's address, where there is one") func address() {
        let home = WebRecord.Home(
            addresses: ["https://192.168.1.5:8468"], doors: [], authority: "a", fingerprint: "f", certificateEnds: 0,
            authorityEnds: 0)
        let listens = "127.0.0.1:8468"
        let plain = WebRecord(pid: 1, address: "http://127.0.0.1:8468", listens: listens)
        #expect(WebDevices.programAddress(nil) == nil)
        #expect(WebDevices.programAddress(plain) == "http://127.0.0.1:8468/dav/")
        let shown = WebRecord(pid: 1, address: plain.address, listens: listens, home: home)
        #expect(WebDevices.programAddress(shown) == "https://192.168.1.5:8468/dav/")
    }
}
