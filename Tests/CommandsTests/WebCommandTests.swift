import ControlSocket
import Foundation
import LibraryModel
import QRCodes
import ServiceMesh
import TestSupport
import Testing

@testable import Commands

@Suite struct WebCommandTests {
    private func device(_ id: String, _ name: String) throws -> Device {
        let time = Timestamp.now()
        return Device(id: id, name: name, userAgent: nil, createdAt: time, lastSeenAt: time)
    }

    @Test func aDeviceIsMeantByItsIdItsNameOrTheBeginningOfTheId() throws {
        let devices = [
            try device("11a8d64a-0000", "Phone"), try device("11a8ffff-0000", "Phone"),
            try device("2222", "11a8d64a-0000"),
        ]
        func found(_ wanted: String) -> [String] { WebDevices.matches(wanted, in: devices).map(\.id) }
        #expect(found("11A8D64A-0000") == ["11a8d64a-0000"])
        #expect(found("Phone").count == 2)
        #expect(found("11a8") == ["11a8d64a-0000", "11a8ffff-0000"])
        #expect(found("11a8f") == ["11a8ffff-0000"])
        // Too short to be meant.
        #expect(found("11a").isEmpty)
        #expect(found("").isEmpty)
    }

    @Test func aCodeIsAsWideAsItSaysAndHasItsCorners() throws {
        let code = try #require(QRCode("http://192.168.1.5:8468/#pair=AAAAAAAAAAAAAAAAAAAAAA"))
        for line in code.lines {
            let plain = line.replacingOccurrences(of: "\u{1B}[30;107m", with: "")
                .replacingOccurrences(of: "\u{1B}[0m", with: "")
            #expect(plain.count == code.columns)
            #expect(plain.hasPrefix("    ") && plain.hasSuffix("    "))
        }
        // Beside the margin, the finder's first rows: seven dark modules, then dark, light, dark.
        #expect(code.lines[2].contains("    █▀▀▀▀▀█ "))
        #expect(code.columns <= 80)
    }

    @Test func aRecordCountsOnlyWhileItsProgramRuns() throws {
        let folder = try TemporaryFolder("web-record")
        let socket = folder.file("control.sock")
        #expect(WebRecord.running(socket: socket) == nil)
        var claim: WebRecord.Claim? = try WebRecord.Claim(socket: socket)
        let record = WebRecord(pid: 7, address: "http://127.0.0.1:1", listens: "127.0.0.1:1")
        try claim?.write(record)
        #expect(WebRecord.running(socket: socket) == record)
        #expect(throws: ControlError.self) { try WebRecord.Claim(socket: socket) }
        claim = nil
        #expect(WebRecord.running(socket: socket) == nil)
    }

    @Test func anAddressForOthersIsOneThatTheyReach() {
        func record(_ listens: String, _ addresses: [String]?) -> WebRecord {
            let home = addresses.map {
                WebRecord.Home(
                    addresses: $0, doors: $0.map { _ in "http://192.168.1.5:8469" }, authority: "SmilePile nas",
                    fingerprint: "AB:CD", certificateEnds: 1_830_124_183, authorityEnds: 2_111_442_584)
            }
            return WebRecord(pid: 7, address: "http://127.0.0.1:8468", listens: listens, home: home)
        }
        let both = ["https://192.168.1.5:8468", "https://10.0.0.7:8468"]
        #expect(WebStart.reachable(record("192.168.1.5:8468, 127.0.0.1:8468", both)) == both[0])
        // A home without a network yet.
        #expect(WebStart.reachable(record("127.0.0.1:8468", [])) == "http://127.0.0.1:8468")
        #expect(WebStart.reachable(record("127.0.0.1:8468", nil)) == "http://127.0.0.1:8468")
        #expect(record("", both).home?.json["certificateEnds"] == "2027-12-29T23:49:43Z")
    }

    @Test func aRecordIsWrittenAgainWholeAndNoLonger() throws {
        let folder = try TemporaryFolder("web-record")
        let socket = folder.file("control.sock")
        let claim = try WebRecord.Claim(socket: socket)
        let path = WebRecord.path(socket: socket)
        var sizes: Set<Int> = []
        for count in [16, 0, 3] {
            let addresses = (0..<count).map { "https://[fd00:1234:5678:9abc:def0:1234:5678:\($0)]:8468" }
            let home = WebRecord.Home(
                addresses: addresses, doors: addresses, authority: "SmilePile", fingerprint: "AB", certificateEnds: 1,
                authorityEnds: 2)
            let record = WebRecord(pid: 7, address: "http://127.0.0.1:1", listens: "127.0.0.1:1", home: home)
            try claim.write(record)
            #expect(WebRecord.running(socket: socket) == record)
            sizes.insert(try Data(contentsOf: URL(fileURLWithPath: path)).count)
        }
        #expect(sizes.count == 1)
    }
}
