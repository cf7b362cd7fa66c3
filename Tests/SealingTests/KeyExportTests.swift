import Foundation
@testable import Sealing
import ServiceMesh
import Testing

/// What was exported under a passphrase comes back under that one alone.
@Suite struct KeyExportTests {
    private let cost = KeyExport.Cost(passes: 1, kibibytes: 8)
    private let passphrase = "correct horse Möwe"

    private func refusal(_ text: String, _ passphrase: String) -> MeshError? {
        do {
            _ = try KeyExport.open(text, passphrase: passphrase)
            return nil
        } catch {
            return MeshError(describing: error)
        }
    }

    @Test func keysComeBack() throws {
        let keys = [try DataKey(), try DataKey()]
        let text = try KeyExport.seal(keys, passphrase: passphrase, cost: cost)
        let back = try KeyExport.open(" " + text, passphrase: passphrase.decomposedStringWithCanonicalMapping)
        #expect(back.count == 2 && zip(keys, back).allSatisfy { $0.isSame(as: $1) })
        #expect(text.hasPrefix("smilepile-keys-1 ") && !text.contains(keys[0].id.description))
    }

    @Test func anotherPassphraseIsRefused() throws {
        let text = try KeyExport.seal([DataKey()], passphrase: passphrase, cost: cost)
        for wrong in [passphrase + " ", passphrase.uppercased(), "another one"] {
            #expect(refusal(text, wrong)?.status == .invalidArgument)
        }
        for wrong in ["", "short", String(repeating: "x", count: 1_001), String(repeating: "x", count: 1 << 20)] {
            #expect(refusal(text, wrong)?.message.contains("8 to 1000") == true)
            #expect(throws: MeshError.self) { try KeyExport.seal([DataKey()], passphrase: wrong, cost: cost) }
        }
    }

    @Test func everyChangedByteIsRefused() throws {
        let text = try KeyExport.seal([DataKey()], passphrase: passphrase, cost: cost)
        let beginning = "smilepile-keys-1 "
        let bytes = Array(try #require(Data(base64Encoded: text.dropFirst(beginning.count).trimmingWhitespace)))
        for index in bytes.indices {
            var changed = bytes
            changed[index] ^= 0x01
            let other = beginning + Data(changed).base64EncodedString()
            #expect(refusal(other, passphrase)?.status == .invalidArgument, "byte \(index)")
            let cut = beginning + Data(bytes.prefix(index)).base64EncodedString()
            #expect(refusal(cut, passphrase)?.status == .invalidArgument, "\(index) bytes")
        }
    }

    /// It may be anybody's: what it asks for is bounded before it is given.
    @Test func costsPastTheBoundsAreRefused() throws {
        let text = try KeyExport.seal([DataKey()], passphrase: passphrase, cost: cost)
        let beginning = "smilepile-keys-1 "
        let bytes = Array(try #require(Data(base64Encoded: text.dropFirst(beginning.count).trimmingWhitespace)))
        for (at, value) in [
            (1, UInt32.max), (1, 0), (1, 11), (5, UInt32.max), (5, 0), (5, (256 << 10) + 1), (5, 1 << 20),
        ] {
            var changed = bytes
            withUnsafeBytes(of: value.littleEndian) { changed.replaceSubrange(at..<at + 4, with: $0) }
            let other = beginning + Data(changed).base64EncodedString()
            let error = refusal(other, passphrase)
            #expect(error?.status == .invalidArgument)
            #expect(error?.message.contains("256 MiB and 10 passes are the most") == true)
        }
        for other in ["", "smilepile-keys-1", beginning, beginning + "%%%", "smilepile-keys-2 AAAA", "PK\u{3}\u{4}"] {
            #expect(refusal(other, passphrase)?.status == .invalidArgument)
        }
    }
}

extension Substring {
    fileprivate var trimmingWhitespace: String { trimmingCharacters(in: .whitespacesAndNewlines) }
}
