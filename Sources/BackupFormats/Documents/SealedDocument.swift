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
package struct SealedDocument: Codable, Sendable, Equatable {
    package struct Value: Codable, Sendable, Equatable {
        /// Of the photo.
        let uuid: String
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
    package var values: [Value]
    /// The sealed ``LibraryLock``; absent without a passphrase, and where the library has none.
    package let lock: Data?

    /// - Parameter values: as the library has them.
    package init(values: [Value]) {
        self.init(version: Self.version, key: nil, values: values, lock: nil)
    }

    private init(version: Int, key: BackupKey?, values: [Value], lock: Data?) {
        self.version = version
        self.key = key
        self.values = values
        self.lock = lock
    }

    /// The sealed values of photos, as they are stored, by photo and field.
    /// - Returns: nil where they have none.
    static func of(
        _ photos: SpooledList<SourcedPhoto>, in transaction: any CatalogueTransaction
    ) throws -> SealedDocument? {
        let wanted = try SpooledIndex(photos, by: \.photo.uuid)
        var values: [Value] = []
        var last: SealedRow.Name?
        while true {
            let page = try transaction.sealedFields.page(after: last, limit: SealedFieldStore.batch)
            guard let end = page.last else { break }
            for row in page where try wanted.place(of: row.name.uuid) != nil {
                values.append(Value(uuid: row.name.uuid, field: row.name.field, sealed: Data(row.sealed)))
            }
            last = end.name
        }
        return values.isEmpty ? nil : SealedDocument(values: values)
    }

    /// What opens them: `passphrase`, or the ids of the keys, with spaces between them.
    package var sealedWith: String {
        if key != nil { return BackupSummary.sealedWithPassphrase }
        let ids = Set(values.compactMap { (try? SealedValue(Array($0.sealed)))?.keyID.description })
        return ids.isEmpty ? "unknown" : ids.sorted().joined(separator: " ")
    }

    /// Whether each value says that another key sealed it.
    func isUnder(noneOf keyring: Keyring) -> Bool {
        values.allSatisfy { value in
            (try? SealedValue(Array(value.sealed))).map { keyring[$0.keyID] == nil } ?? false
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
    package func sidecars(_ rings: [Keyring]) -> [SealedSidecar]? {
        var sidecars: [SealedSidecar] = []
        for value in values where SealedSidecar.isField(value.field) {
            let bytes = Array(value.sealed)
            guard let opened = rings.lazy.compactMap({ try? $0.open(bytes, at: SealedFields.place(value.name)) }).first,
                let sidecar = SealedSidecar(value.name, opened: opened)
            else { return nil }
            sidecars.append(sidecar)
        }
        return sidecars
    }

    /// The same values without those of other photos.
    package func only(of photos: SpooledList<SourcedPhoto>) throws -> SealedDocument? {
        let wanted = try SpooledIndex(photos, by: \.photo.uuid)
        var document = self
        try document.values.removeAll { try wanted.place(of: $0.uuid) == nil }
        return document.values.isEmpty && lock == nil ? nil : document
    }

    /// Sealed again, under a backup's own key. What does not open stays under the key that it has: whoever finds that one can
    /// open it still.
    /// - Parameters:
    ///   - keyring: the library's.
    ///   - lock: also the library's.
    /// - Returns: uuids of photos with values that did not open, too.
    package func resealed(
        under key: BackupKey, _ keyring: Keyring, lock: LibraryLock? = nil
    ) throws -> (document: SealedDocument, unopened: Set<String>) {
        let backupKeys = Keyring(active: try key.opened(keyring))
        var unopened: Set<String> = []
        let values = self.values.map { value in
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
        let rest = SealedDocument(version: version, key: key, values: [], lock: lock)
        return BackupDocument(
            BackupFormat.sealedEntry, try LongLists.encode(rest, [.init("values", values) { $0 }], in: scratch))
    }

    /// The version that a document says it has, whatever else it says.
    private struct Version: Decodable {
        let version: Int
    }

    /// - Returns: nil for one of a later version.
    /// - Throws: `data_loss` for what no version of this program writes; an error of decoding.
    init?(reading bytes: DocumentBytes) throws {
        let lists = try LongLists(bytes, ["values": BackupFormat.maximumPhotos * 16])
        guard try lists.decodeRest(Version.self).version <= Self.version else { return nil }
        self = try lists.decodeRest(Self.self)
        guard version == Self.version else {
            throw MeshError(refusingBackup: "\(BackupFormat.sealedEntry) has no known version.")
        }
        values = try lists.decode("values") { $0 }
        if let key, key.export.utf8.count > 10_000 || key.sealed.utf8.count > 1_000 {
            throw MeshError(refusingBackup: "the key in \(BackupFormat.sealedEntry) is none.")
        }
        guard lock?.count ?? 0 <= LibraryLock.maximumBytes else {
            throw MeshError(refusingBackup: "the lock in \(BackupFormat.sealedEntry) is none.")
        }
        var names: Set<SealedRow.Name> = []
        for value in values {
            guard BackupContents.isUUID(value.uuid), (1...100).contains(value.field.utf8.count),
                value.sealed.count <= Self.valueBytes.upperBound, names.insert(value.name).inserted
            else {
                throw MeshError(
                    refusingBackup: "a value in \(BackupFormat.sealedEntry) is too long, there twice, or of no photo.")
            }
        }
    }
}

/// The sealed fields of a backup, opened: what a restore takes over.
package struct OpenedFields: Sendable {
    /// As they are sealed in the library, by the photo's uuid in the backup.
    package private(set) var values: [String: [SealedField: [UInt8]]] = [:]
    package private(set) var count = 0
    /// Sidecars that are sealed in the backup, by the uuids of their photos there.
    package private(set) var sidecars: [String: [SealedSidecar]] = [:]
    /// What opens their bytes.
    package private(set) var rings: [Keyring] = []
    /// The children's lock, where the backup has one and it opened.
    package private(set) var lock: LibraryLock?
    /// Fields of a photo that did not open, by its uuid in the backup.
    package private(set) var unopened: [String: Set<String>] = [:]
    /// Why, where it is the same for all.
    package private(set) var problem: String?
    /// Whether that is a key or a passphrase that nobody has given yet: the backup keeps the values, and a second restore adds them.
    package private(set) var isLocked = false
    /// The library's keys; nil where it has none, and then nothing is open.
    package private(set) var keyring: Keyring?

    package static let none = OpenedFields()

    /// With places where pictures were taken, by the uuids that these have in the backup.
    package func adding(_ positions: [String: GeoPosition], _ keyring: Keyring) -> OpenedFields {
        var opened = self
        opened.keyring = keyring
        for (uuid, position) in positions {
            opened.values[uuid, default: [:]][.location] = Array(position.text.utf8)
            opened.count += 1
        }
        return opened
    }

    package func telling(apart others: OtherPictures) -> OpenedFields {
        guard !others.uuids.isEmpty else { return self }
        func renamed<Value>(_ all: [String: Value]) -> [String: Value] {
            Dictionary(all.map { (others.uuid($0), $1) }, uniquingKeysWith: { first, _ in first })
        }
        var opened = self
        (opened.values, opened.sidecars) = (renamed(values), renamed(sidecars))
        opened.unopened = renamed(unopened)
        return opened
    }

    /// A line for each photo with values that did not open, under its path in the backup; one for all where the reason is the
    /// same for all.
    /// - Parameter there: fields that the library's photo has, by the uuid in the backup: of those there is nothing to take
    ///   over.
    package func lines(
        _ contents: BackupContents, _ detail: String, there: [String: Set<String>] = [:]
    ) throws -> [ReceiptLine] {
        let lacking = unopened.map { uuid, fields in (uuid, fields.subtracting(there[uuid] ?? [])) }
        let unopened = Dictionary(uniqueKeysWithValues: lacking.filter { !$0.1.isEmpty })
        if let problem {
            let count = unopened.values.reduce(0) { $0 + $1.count }
            guard count > 0 else { return [] }
            let values = count == 1 ? "1 sealed value" : "\(count) sealed values"
            let photos = unopened.count == 1 ? "1 photo" : "\(unopened.count) photos"
            return [
                ReceiptLine(
                    item: BackupFormat.sealedEntry, outcome: BackupFormat.sealedOutcome,
                    detail: "\(values) of \(photos) \(count == 1 ? "is" : "are") not taken over: \(problem)")
            ]
        }
        guard !self.unopened.isEmpty || !values.isEmpty else { return [] }
        var strangers = Set(self.unopened.keys).union(values.keys)
        let known = try contents.photos.compactMap { sourced in
            strangers.remove(sourced.photo.uuid)
            return unopened[sourced.photo.uuid] == nil
                ? nil
                : ReceiptLine(item: sourced.photo.path, outcome: BackupFormat.sealedOutcome, detail: detail)
        }
        return known
            + strangers.sorted().map {
                ReceiptLine(
                    item: $0, outcome: BackupFormat.sealedOutcome,
                    detail: "sealed fields of a photo that the backup does not have; left out")
            }
    }

    private init() { keyring = nil }

    /// - Parameters:
    ///   - key: the backup's, where it was opened with the passphrase.
    ///   - keyring: the library's; nil where it has none.
    ///   - problem: why it has none.
    /// - Throws: `invalid_argument` for a key of another backup.
    package init(_ document: SealedDocument, key: BackupKey?, _ keyring: Keyring?, problem: String? = nil) throws {
        self.keyring = keyring
        if let key, key.export != document.key?.export {
            throw MeshError(.invalidArgument, "The 'key' is not of this backup. Ask for it again: backup.openKey.")
        }
        let own = try document.own(keyring, opened: key)
        rings = [own, keyring].compactMap { $0 }
        if let own { lock = document.lock.flatMap { LibraryLock(opening: $0, own) } }
        for value in document.values {
            let place = SealedFields.place(value.name)
            let bytes = Array(value.sealed)
            let plaintext = rings.lazy.compactMap { try? $0.open(bytes, at: place) }.first
            if let plaintext, let sidecar = SealedSidecar(value.name, opened: plaintext) {
                sidecars[value.uuid, default: []].append(sidecar)
                count += 1
            } else if let plaintext, let field = SealedField(rawValue: value.field),
                DetailText.isValid(plaintext, field)
            {
                values[value.uuid, default: [:]][field] = plaintext
                count += 1
            } else {
                unopened[value.uuid, default: []].insert(value.field)
            }
        }
        guard count == 0, !unopened.isEmpty else { return }
        isLocked = problem == nil
        if let problem {
            self.problem = problem
        } else if document.key != nil, own == nil {
            self.problem = "they are under a passphrase; give it, and restore once more: --passphrase"
        } else if document.key == nil, keyring.map({ document.isUnder(noneOf: $0) }) ?? true {
            self.problem =
                "they are under a key of the library that wrote the backup; take it over, and restore once more: "
                + "smilepile keys import FILE"
        } else {
            isLocked = false
        }
    }
}
