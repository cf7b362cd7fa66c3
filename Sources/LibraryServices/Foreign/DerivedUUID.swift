import Foundation
import LibraryModel
import ZipArchive

/// Identities of what has none of its own: made from what is said of it, the same in every run, so that a second run finds what
/// the first one made.
package enum DerivedUUID {
    /// RFC 9562, version 8: bits of our own choosing.
    package static func of(_ parts: [String]) -> String {
        let text = parts.map { "\($0.utf8.count):\($0)" }.joined(separator: ",")
        var bytes = Array(ContentDigest(of: Data("smilepile migrate \(text)".utf8)).sha256.bytes.prefix(16))
        bytes[6] = bytes[6] & 0x0f | 0x80
        bytes[8] = bytes[8] & 0x3f | 0x80
        let digits = Array(bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined())
        let groups = [0..<8, 8..<12, 12..<16, 16..<20, 20..<32].map { String(digits[$0]) }
        return groups.joined(separator: "-")
    }
}
