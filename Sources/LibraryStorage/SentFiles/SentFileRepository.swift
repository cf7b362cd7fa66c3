import LibraryModel
import ServiceMesh

/// What programs of devices have sent, inside one transaction: by device, folder and name. A folder is named by the names on the way
/// there with slashes between them, the top by nothing.
package protocol SentFileRepository {
    /// Files and folders of a device.
    func count(of device: String) throws -> Int
    func find(_ name: String, in folder: String, of device: String) throws -> StoredSentFile?
    /// What is in a folder, by the bytes of its names; those behind a name.
    func contents(
        of folder: String, of device: String, after name: String?, limit: Int
    ) throws -> [StoredSentFile]
    /// Enters one, or takes the place of what has its name. A category that is not there is none.
    /// - Throws: the catalogue's own error where there is no such device.
    func store(_ file: StoredSentFile, in folder: String, of device: String) throws
    /// One that is not there is no error. What is in a folder stays.
    func remove(_ name: String, in folder: String, of device: String) throws
}

package struct StoredSentFile: Sendable, Equatable {
    package var name: String
    /// Bytes; nil for a folder.
    package let size: Int64?
    package let modifiedAt: Timestamp
    package let sentAt: Timestamp
    /// SHA-256 of a file, lower-case hex.
    package let digest: String?
    /// Of a folder at the top: the category that it was when it was made, whatever it is called today. Nil where that is gone.
    package var categoryId: Int64?

    package init(
        name: String, size: Int64?, modifiedAt: Timestamp, sentAt: Timestamp, digest: String? = nil,
        categoryId: Int64? = nil
    ) {
        self.name = name
        self.size = size
        self.modifiedAt = modifiedAt
        self.sentAt = sentAt
        self.digest = digest
        self.categoryId = categoryId
    }

    package var isFolder: Bool { size == nil }
}
