import LibraryModel
import ServiceMesh

/// The sealed fields of a catalogue inside one transaction, and the keys that open them, themselves wrapped. Nothing here
/// opens anything.
///
/// Values belong to a photo's uuid, be it in the library or in the trash, and go when it is in neither. Of what is sealed, be it a value
/// or a token, a catalogue knows this: the 16 bytes behind the first are the id of its key.
package protocol SealedFieldRepository {
    // MARK: Values

    /// Those of photos, in the library or in the trash, by the photo's uuid, and of one photo in the order of fields. A photo that has
    /// none is left out.
    func values(of uuids: [String]) throws -> [String: [SealedRow]]
    /// Values of all photos, by uuid and field, from the one behind `name` on.
    func page(after name: SealedRow.Name?, limit: Int) throws -> [SealedRow]
    /// Where photos stand in the library's lists; nil for those that it does not have.
    func places(of uuids: [String]) throws -> [PhotoPlace?]
    func totals() throws -> SealedTotals
    /// How many values were sealed with each key, by the key's id.
    func counts() throws -> [String: Int]
    /// Enters values by the photo's uuid, in the place of those that are there for the same fields.
    func set(_ values: [String: [SealedField: [UInt8]]]) throws
    /// - Returns: how many values there were.
    func remove(_ fields: [SealedField], of uuid: String) throws -> Int
    /// Removes all values of these photos.
    /// - Returns: how many values there were, and of how many photos.
    func removeAll(of uuids: [String]) throws -> SealedTotals
    /// Puts other bytes in the place of those that are still there as they were read.
    /// - Returns: how many were.
    func reseal(_ rows: [(row: SealedRow, sealed: [UInt8])]) throws -> Int

    /// Runs `body`, in which photos that leave the catalogue leave their values: they are entered again under their uuids. At its end
    /// the values of photos that have not come back go. What `body` throws has to undo the transaction.
    func keepingValues<Value>(_ body: () throws -> Value) throws -> Value

    // MARK: Keys

    /// The active one first, then the latest.
    func keys() throws -> [StoredDataKey]
    /// Enters a key, or what has changed of it. Of an active one the others become inactive.
    func store(_ key: StoredDataKey) throws
    /// Removes inactive keys that no value and no token is sealed with.
    /// - Returns: how many there were.
    func removeUnusedKeys() throws -> Int
}

extension SealedFieldRepository {
    /// Those of one photo, in the library or in the trash, by field.
    package func values(of uuid: String) throws -> [SealedRow] { try values(of: [uuid])[uuid] ?? [] }

    /// Enters one photo's values, in the place of those that are there for the same fields.
    package func set(_ values: [SealedField: [UInt8]], of uuid: String) throws { try set([uuid: values]) }

    package func activeKey() throws -> String? { try keys().first { $0.isActive }?.id }
}

/// One sealed value.
package struct SealedRow: Sendable, Equatable {
    /// Which one it is, and where it stands among all.
    package struct Name: Sendable, Hashable {
        /// Of the photo.
        package let uuid: String
        /// A ``SealedField``, or what a later version calls one.
        package let field: String

        package init(uuid: String, field: String) {
            self.uuid = uuid
            self.field = field
        }
    }

    package let name: Name
    /// As it is stored.
    package let sealed: [UInt8]

    package init(name: Name, sealed: [UInt8]) {
        self.name = name
        self.sealed = sealed
    }
}

package struct SealedTotals: Sendable, Equatable {
    package var values: Int
    /// Photos that have any, those in the trash included.
    package var photos: Int

    package init(values: Int, photos: Int) {
        self.values = values
        self.photos = photos
    }
}

/// A data key as the catalogue has it: wrapped, so that it says nothing without a key file.
package struct StoredDataKey: Sendable, Equatable {
    package let id: String
    package var wrapped: [UInt8]
    /// The id of the key file's key, with which it is wrapped.
    package var keyFile: String
    /// Whether new values are sealed with it.
    package var isActive: Bool
    package let createdAt: Timestamp
    /// When it was exported under a passphrase last.
    package var exportedAt: Timestamp?

    package init(
        id: String, wrapped: [UInt8], keyFile: String, isActive: Bool, createdAt: Timestamp,
        exportedAt: Timestamp? = nil
    ) {
        self.id = id
        self.wrapped = wrapped
        self.keyFile = keyFile
        self.isActive = isActive
        self.createdAt = createdAt
        self.exportedAt = exportedAt
    }
}
