import Files
import Foundation
import LibraryModel
import LibraryServices
import LibraryStorage
import Sealing
import ServiceMesh
import Sidecars

/// A sidecar that names a place, as a backup holds it: no position is in a backup that the picture itself does not have, unless
/// it is sealed. What the sidecar is stands among the sealed values, and its bytes, sealed likewise, in an entry of their own:
/// those of a whole library may be more than a document has room for.
///
/// Rejected: to take the position out of it, which leaves another file than the one that was entrusted.
package struct SealedSidecar: Codable, Sendable {
    /// Of its photo.
    let uuid: String
    /// Among the photo's sidecars, from 0.
    let place: Int
    /// As the library has it, with the digest of its open bytes, by which a short one could be guessed.
    package let sidecar: KeptSidecar

    private static let fieldPrefix = "sidecar."

    private static let suffix = ".sealed"

    /// The name of the entry with its bytes.
    var entry: String { sidecar.path + Self.suffix }
    /// Bytes of that entry.
    var entrySize: Int64 { Self.entrySize(sidecar.fileSize) }
    /// Of the sealed value that tells of it.
    var name: SealedRow.Name { SealedRow.Name(uuid: uuid, field: Self.field(place)) }

    private var content: SealedPlace { SealedPlace(table: "sidecars", column: name.field, row: uuid) }

    /// The field of a sealed value that tells of a sidecar.
    package static func field(_ place: Int) -> String { fieldPrefix + "\(place)" }

    package static func isField(_ field: String) -> Bool { field.hasPrefix(fieldPrefix) }

    static func isEntry(_ path: String) -> Bool { path.hasSuffix(suffix) }

    package static func entrySize(_ bytes: Int64) -> Int64 { bytes &+ Int64(SealedValue.overhead) }

    package init(uuid: String, place: Int, sidecar: KeptSidecar) {
        self.uuid = uuid
        self.place = place
        self.sidecar = sidecar
    }

    /// - Parameter opened: the value, open.
    /// - Returns: nil where it is none of a sidecar, or of none that can be.
    init?(_ name: SealedRow.Name, opened: [UInt8]) {
        guard name.field.hasPrefix(Self.fieldPrefix), let place = Int(name.field.dropFirst(Self.fieldPrefix.count)),
            (0..<KeptSidecar.maximumCount).contains(place), name.field == Self.field(place),
            let sidecar = try? JSONDecoder().decode(KeptSidecar.self, from: Data(opened)),
            BackupContents.isPossible(sidecar)
        else { return nil }
        self.init(uuid: name.uuid, place: place, sidecar: sidecar)
    }

    package func value(sealedBy keyring: Keyring) throws -> SealedDocument.Value {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let plaintext = Array(try encoder.encode(sidecar))
        return SealedDocument.Value(
            uuid: uuid, field: name.field, sealed: Data(keyring.seal(plaintext, at: SealedFields.place(name))))
    }

    /// A stored sidecar, which is small, or has become something else.
    package static func bytes(of source: any ByteSource) throws -> [UInt8] {
        var room = [UInt8](repeating: 0, count: SidecarLimits.bytes + 1)
        let count = try room.withUnsafeMutableBytes { try source.read(into: $0, at: 0) }
        guard count <= SidecarLimits.bytes else {
            throw MeshError(.dataLoss, "it has more bytes than a sidecar, of which \(SidecarLimits.bytes) are read")
        }
        return Array(room.prefix(count))
    }

    /// - Returns: the bytes of the entry.
    package func seal(_ bytes: [UInt8], with keyring: Keyring) -> [UInt8] { keyring.seal(bytes, at: content) }

    /// - Parameter entry: the bytes of the entry.
    /// - Returns: nil where none of these keys opens them.
    func open(_ entry: [UInt8], with rings: [Keyring]) -> [UInt8]? {
        rings.lazy.compactMap { try? $0.open(entry, at: content) }.first
    }
}
