import Foundation
import ServiceMesh

/// JSON on its way to standard output.
package enum JSONText {
    /// The same document with characters that a terminal would obey written as `\u001B` and the like. JSON allows
    /// that inside texts, and outside of them nothing but ASCII stands, so the document means the same.
    package static func harmless(_ json: String) -> String {
        guard json.unicodeScalars.contains(where: { PlainText.isHarmful($0) && $0 != "\n" }) else { return json }
        var text = ""
        for scalar in json.unicodeScalars {
            if PlainText.isHarmful(scalar), scalar != "\n" {
                let hex = String(scalar.value, radix: 16, uppercase: true)
                text += "\\u" + String(repeating: "0", count: 4 - hex.count) + hex
            } else {
                text.unicodeScalars.append(scalar)
            }
        }
        return text
    }

    /// Keys in a stable order, so that two runs can be compared.
    package static func encode(_ value: some Encodable) throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.withoutEscapingSlashes, .sortedKeys]
        return try encoder.encode(value)
    }
}
