import Foundation
import Testing

@testable import WebServer

@Suite struct MultipartFormTests {
    private let type = "multipart/form-data; boundary=AaB03x"

    private func read(_ text: String, _ type: String? = nil) throws -> MultipartForm {
        try MultipartForm(Data(text.utf8), type: type ?? self.type)
    }

    private let good =
        "--AaB03x\r\nContent-Disposition: form-data; name=\"age_ms\"\r\n\r\n12\r\n"
        + "--AaB03x\r\nContent-Disposition: form-data; name=\"photo\"; filename=\"a \\\"b\\\"; c.jpg\"\r\n"
        + "Content-Type: image/jpeg\r\n\r\n\r\n--AaB03\r\n\r\n--AaB03x--\r\n"

    @Test func partsAreFoundAsTheyWereSent() throws {
        let form = try read(good)
        #expect(form.parts.map(\.name) == ["age_ms", "photo"] && form.parts.map(\.isFile) == [false, true])
        // What only looks like a boundary is part of the picture.
        #expect(form.bytes[form.parts[1].body] == Data("\r\n--AaB03\r\n".utf8))
        #expect(try form.text("age_ms") == "12")
        #expect(try form.text("photo") == nil)
        #expect(try read(good, "Multipart/Form-Data;charset=x; boundary=\"AaB03x\"").parts.count == 2)
    }

    @Test(arguments: [
        nil, "", "text/plain", "multipart/form-data", "multipart/form-data; boundary=",
        "multipart/mixed; boundary=AaB03x",
        "multipart/form-data; boundary=a; boundary=AaB03x", "multipart/form-data; boundary=\"a b\"",
        "multipart/form-data; boundary=" + String(repeating: "a", count: 71),
    ])
    func whatIsNoFormIsNone(_ type: String?) {
        #expect(throws: Refusal.self) { _ = try MultipartForm(Data(good.utf8), type: type) }
    }

    @Test(arguments: [
        "", "--AaB03x", "--AaB03x\r\n", "--AaB03xyz\r\n", "preamble\r\n--AaB03x--\r\n",
        "--AaB03x\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\nx", "--AaB03x\r\n\r\nx\r\n--AaB03x--\r\n",
        "--AaB03x\r\nContent-Disposition: form-data\r\n\r\nx\r\n--AaB03x--\r\n",
        "--AaB03x\r\nContent-Disposition: form-data; name=\"a\r\n\r\nx\r\n--AaB03x--\r\n",
        "--AaB03x\r\nContent-Disposition: attachment; name=\"a\"\r\n\r\nx\r\n--AaB03x--\r\n",
        "--AaB03x\r\nContent-Disposition: form-data; name=\"a\"; name=\"b\"\r\n\r\nx\r\n--AaB03x--\r\n",
        "--AaB03x\r\nContent-Disposition: form-data; name=\"a\"\r\nContent-Transfer-Encoding: base64\r\n\r\nx\r\n--AaB03x--",
        "--AaB03x\r\nX: " + String(repeating: "y", count: 5000) + "\r\n\r\nx\r\n--AaB03x--\r\n",
    ])
    func whatCannotBeReadIsRefused(_ text: String) {
        #expect(throws: Refusal.self) { _ = try read(text) }
    }

    @Test func itHasFewParts() {
        let part = "--AaB03x\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\nx\r\n"
        let most = String(repeating: part, count: MultipartForm.mostParts)
        #expect((try? read(most + "--AaB03x--\r\n"))?.parts.count == MultipartForm.mostParts)
        #expect(throws: Refusal.self) { _ = try read(most + part + "--AaB03x--\r\n") }
    }

    /// Every way in which a form can be cut off or have one byte changed is read or refused.
    @Test func nothingOfItCrashes() {
        let bytes = Array(good.utf8)
        for end in bytes.indices { _ = try? MultipartForm(Data(bytes[..<end]), type: type) }
        for index in bytes.indices {
            for byte in [0, 10, 13, 34, 45, 59, 92, 255] as [UInt8] {
                var changed = bytes
                changed[index] = byte
                if let form = try? MultipartForm(Data(changed), type: type) {
                    for part in form.parts { #expect(part.body.upperBound <= changed.count) }
                }
            }
        }
    }
}
