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
        func found(_ wanted: String) -> [String] { CommandTable.matches(wanted, in: devices).map(\.id) }
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
}
