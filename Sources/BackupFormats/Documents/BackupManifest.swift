import Foundation
import Scratch
import ServiceMesh

/// `manifest.json`: what the backup is, and every other entry with its size and digest.
package struct BackupManifest: Sendable {
    package struct File: Codable, Sendable {
        package let path: String
        package let size: Int64
        /// Of the entry's bytes, lower-case hex.
        package let sha256: String
        /// Set where these are not the bytes that the catalogue had recorded.
        let damaged: Bool?

        package init(path: String, size: Int64, sha256: String, damaged: Bool? = nil) {
            (self.path, self.size, self.sha256, self.damaged) = (path, size, sha256, damaged)
        }
    }

    let facts: Facts
    /// Nil where another program wrote it.
    package let files: SpooledList<File>?

    /// What it says beside its list.
    struct Facts: Codable, Sendable {
        let backupVersion: String
        // Not ours alone is read: of another program's, what it does not say is found out.
        let appVersion: String?
        let platform: String?
        let timestamp: Timestamp?
        let photoCount: Int?
        let categoryCount: Int?
        let generator: String?
        /// Set where the backup holds a part of the library only.
        let isPartial: Bool?
        /// What the sealed fields need to be opened: ids of keys, or `passphrase`; absent without sealed fields.
        let sealedWith: String?
        /// Set where originals and sidecars were left out.
        let withoutOriginals: Bool?
        /// Empty, where it has the list.
        let files: [File]?
    }

    /// - Throws: an error of decoding; `data_loss`.
    static func read(_ bytes: DocumentBytes, scratch: Scratch) throws -> BackupManifest {
        let lists = try LongLists(bytes, ["files": BackupFormat.maximumEntries])
        let facts = try lists.decodeRest(Facts.self)
        return BackupManifest(
            facts: facts, files: try facts.files.map { _ in try lists.spool("files", in: scratch) { $0 } })
    }
}
