import Foundation
import ZipArchive

/// Random bytes that let in whoever has them. The library keeps their digest, which lets nobody in; and because they are random,
/// what looking the digest up takes tells nothing of how much of a guess was right.
package struct BearerSecret {
    /// In base64url without its padding.
    package let text: String
    /// SHA-256, in hex.
    package let digest: String

    private init(_ bytes: [UInt8]) {
        text = Self.text(bytes)
        digest = ContentDigest(of: bytes).sha256.hex
    }

    /// A new one.
    package static func random(bytes count: Int) -> BearerSecret {
        // The kernel's.
        var generator = SystemRandomNumberGenerator()
        return BearerSecret((0..<count).map { _ in UInt8.random(in: .min ... .max, using: &generator) })
    }

    /// One that somebody shows; nil for all that is not the one text of so many bytes.
    package init?(_ text: String, bytes count: Int) {
        guard text.utf8.count == (count * 8 + 5) / 6 else { return nil }
        let padding = String(repeating: "=", count: (3 - count % 3) % 3)
        let base64 = text.replacing("-", with: "+").replacing("_", with: "/") + padding
        guard let data = Data(base64Encoded: base64), data.count == count, Self.text(Array(data)) == text else {
            return nil
        }
        self.init(Array(data))
    }

    private static func text(_ bytes: [UInt8]) -> String {
        Data(bytes).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }
}
