import Foundation
import LibraryModel
import LibraryServices
import LibraryStorage
import Scratch
import Sealing
import ServiceMesh

/// `sealed.json`: the sealed fields of the photos in a backup.
///
/// Each value is sealed for the same place as in the library, so one that was moved to another photo or field does not open.
/// With a passphrase the values are under the backup's own key, else under the keys of the library that wrote it.
package struct SealedDocument: Sendable {
    package struct Value: Codable, Sendable {
        /// Of the photo.
        package let uuid: String
        /// A ``/LibraryModel/SealedField``, or what a later version calls one.
        package let field: String
        /// Base64 in the document; see ``/Sealing/SealedValue``.
        package let sealed: Data

        var name: SealedRow.Name { SealedRow.Name(uuid: uuid, field: field) }
    }

    static let version = 1

    let version: Int
    /// The backup's own key, where it was made with a passphrase.
    package let key: BackupKey?
    /// Each once.
    package let values: SpooledList<Value>
    /// The sealed ``LibraryLock``; absent without a passphrase, and where the library has none.
    package let lock: Data?

    /// - Parameter values: as the library has them.
    package init(values: SpooledList<Value>) {
        self.init(version: Self.version, key: nil, values: values, lock: nil)
    }

    private init(version: Int, key: BackupKey?, values: SpooledList<Value>, lock: Data?) {
        self.version = version
        self.key = key
        self.values = values
        self.lock = lock
    }

    /// The document without its values.
    private struct Rest: Codable {
        let version: Int
        let key: BackupKey?
        let values: [Value]
        let lock: Data?
    }

    /// The sealed values of photos, as they are stored, by photo and field.
    /// - Returns: nil where they have none.
    static func of(
        _ photos: SpooledList<SourcedPhoto>, in transaction: any CatalogueTransaction, scratch: Scratch
    ) throws -> SealedDocument? {
        // Made where anything is sealed.
        let wanted = DeferredIndex(photos, by: \.photo.uuid)
        var values = SpooledList<Value>.Spooler(in: scratch)
        var last: SealedRow.Name?
        while true {
            let page = try transaction.sealedFields.page(after: last, limit: SealedFieldStore.batch)
            guard let end = page.last else { break }
            for row in page where try wanted.index().place(of: row.name.uuid) != nil {
                try values.append(Value(uuid: row.name.uuid, field: row.name.field, sealed: Data(row.sealed)))
            }
            last = end.name
        }
        return values.count == 0 ? nil : SealedDocument(values: try values.finish())
    }

    /// The same with more values.
    package func adding(_ more: [Value], in scratch: Scratch) throws -> SealedDocument {
        var values = SpooledList<Value>.Spooler(in: scratch)
        try self.values.forEach { try values.append($0) }
        for value in more { try values.append(value) }
        return SealedDocument(version: version, key: key, values: try values.finish(), lock: lock)
    }

    /// What opens them: `passphrase`, or the ids of the keys, with spaces between them.
    package func sealedWith() throws -> String {
        if key != nil { return BackupSummary.sealedWithPassphrase }
        var ids: Set<String> = []
        try values.forEach { value in
            if let id = (try? SealedValue(Array(value.sealed)))?.keyID.description { ids.insert(id) }
        }
        return ids.isEmpty ? "unknown" : ids.sorted().joined(separator: " ")
    }

    /// Whether each value says that another key sealed it.
    func isUnder(noneOf keyring: Keyring) throws -> Bool {
        try !values.contains { value in
            (try? SealedValue(Array(value.sealed))).map { keyring[$0.keyID] != nil } ?? true
        }
    }

    /// The backup's own key, which the library that wrote it opens without the passphrase. Nil where it has none, or that one
    /// does not open here.
    /// - Parameter opened: the same key, where the passphrase was given.
    package func own(_ keyring: Keyring?, opened: BackupKey? = nil) throws -> Keyring? {
        try (opened.map { try $0.opened(keyring) } ?? (try? key?.opened(keyring))).map { Keyring(active: $0) }
    }

    /// The sidecars of which these values tell.
    /// - Returns: nil where one of the values does not open.
    package func sidecars(_ rings: [Keyring]) throws -> [SealedSidecar]? {
        var sidecars: [SealedSidecar] = []
        for value in try values.compactMap({ SealedSidecar.isField($0.field) ? $0 : nil }) {
            let bytes = Array(value.sealed)
            guard let opened = rings.lazy.compactMap({ try? $0.open(bytes, at: SealedFields.place(value.name)) }).first,
                let sidecar = SealedSidecar(value.name, opened: opened)
            else { return nil }
            sidecars.append(sidecar)
        }
        return sidecars
    }

    /// The same values without those of other photos.
    package func only(of photos: SpooledList<SourcedPhoto>, in scratch: Scratch) throws -> SealedDocument? {
        let wanted = try SpooledIndex(photos, by: \.photo.uuid)
        let values = try values.spooled(in: scratch) { try wanted.place(of: $0.uuid) == nil ? nil : $0 }
        if values.isEmpty && lock == nil { return nil }
        return SealedDocument(version: version, key: key, values: values, lock: lock)
    }

    /// Sealed again, under a backup's own key. What does not open stays under the key that it has: whoever finds that one can
    /// open it still.
    /// - Parameters:
    ///   - keyring: the library's.
    ///   - lock: also the library's.
    /// - Returns: uuids of photos with values that did not open, too.
    package func resealed(
        under key: BackupKey, _ keyring: Keyring, lock: LibraryLock? = nil, in scratch: Scratch
    ) throws -> (document: SealedDocument, unopened: Set<String>) {
        let backupKeys = Keyring(active: try key.opened(keyring))
        var unopened: Set<String> = []
        let values = try self.values.spooled(in: scratch) { value in
            let place = SealedFields.place(value.name)
            guard let plaintext = try? keyring.open(Array(value.sealed), at: place) else {
                unopened.insert(value.uuid)
                return value
            }
            return Value(uuid: value.uuid, field: value.field, sealed: Data(backupKeys.seal(plaintext, at: place)))
        }
        let document = SealedDocument(
            version: version, key: key, values: values, lock: try lock?.sealed(with: backupKeys))
        return (document, unopened)
    }

    // MARK: Checking

    /// Bytes of one value: its text in UTF-8, and what sealing adds.
    private static let valueBytes = SealedValue.overhead...(SealedValue.overhead + 1 << 20)

    func encoded(in scratch: Scratch) throws -> BackupDocument {
        let rest = Rest(version: version, key: key, values: [], lock: lock)
        return BackupDocument(
            BackupFormat.sealedEntry, try LongLists.encode(rest, [.init("values", values) { $0 }], in: scratch))
    }

    /// The version that a document says it has, whatever else it says.
    private struct Version: Decodable {
        let version: Int
    }

    /// - Returns: nil for one of a later version.
    /// - Throws: `data_loss` for what no version of this program writes; an error of decoding.
    init?(reading bytes: DocumentBytes, in scratch: Scratch) throws {
        let lists = try LongLists(bytes, ["values": Self.maximumValues])
        guard try lists.decodeRest(Version.self).version <= Self.version else { return nil }
        let rest = try lists.decodeRest(Rest.self)
        guard rest.version == Self.version else {
            throw MeshError(refusingBackup: "\(BackupFormat.sealedEntry) has no known version.")
        }
        let values: SpooledList<Value> = try lists.spool("values", in: scratch) { $0 }
        self.init(version: rest.version, key: rest.key, values: values, lock: rest.lock)
        if let key, key.export.utf8.count > 10_000 || key.sealed.utf8.count > 1_000 {
            throw MeshError(refusingBackup: "the key in \(BackupFormat.sealedEntry) is none.")
        }
        guard lock?.count ?? 0 <= LibraryLock.maximumBytes else {
            throw MeshError(refusingBackup: "the lock in \(BackupFormat.sealedEntry) is none.")
        }
        let isAnyWrong = try values.contains { value in
            !BackupContents.isUUID(value.uuid) || !(1...100).contains(value.field.utf8.count)
                || value.sealed.count > Self.valueBytes.upperBound
        }
        let firstRepeated = isAnyWrong ? nil : try SpooledIndex(values) { $0.uuid + $0.field }.firstRepeated
        guard !isAnyWrong, firstRepeated == nil else {
            throw MeshError(
                refusingBackup: "a value in \(BackupFormat.sealedEntry) is too long, there twice, or of no photo.")
        }
    }

    /// Of a document: sixteen for each photo, and no more than an index has room for.
    private static let maximumValues = min(BackupFormat.maximumPhotos * 16, 30_000_000)
}
