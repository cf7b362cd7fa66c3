import Foundation
import LibraryModel
import LibraryServices
import LibraryStorage
import Scratch
import Sealing
import ServiceMesh

/// The sealed fields of a backup that open here: what a restore takes over.
///
/// They are opened once to tell which do, and again where one is asked for: what is open is never on a disk, nor is all of it in
/// memory.
package struct OpenedFields: Sendable {
    /// Those that opened, and are fields of photos.
    private var values: SpooledGroups<SealedDocument.Value>?
    /// Those that did not.
    private var unopened: SpooledGroups<SealedDocument.Value>?
    /// Where pictures of another program were taken, by their uuids in the backup.
    private var positions: [String: GeoPosition] = [:]
    /// Photos that have other uuids than in the backup, by these.
    private var others: [String: String] = [:]
    /// The other way round.
    private var originals: [String: String] = [:]
    package private(set) var count = 0
    /// Sidecars that are sealed in the backup, by the uuids of their photos there.
    package private(set) var sidecars: [String: [SealedSidecar]] = [:]
    /// What opens their bytes.
    package private(set) var rings: [Keyring] = []
    /// The children's lock, where the backup has one and it opened.
    package private(set) var lock: LibraryLock?
    /// Why, where it is the same for all.
    package private(set) var problem: String?
    /// Whether that is a key or a passphrase that nobody has given yet: the backup keeps the values, and a second restore adds them.
    package private(set) var isLocked = false
    /// The library's keys; nil where it has none, and then nothing is open.
    package private(set) var keyring: Keyring?

    package static let none = OpenedFields()

    /// Whether nothing is open that a photo could take over.
    package var isEmpty: Bool { values == nil && positions.isEmpty }

    /// As they are to be sealed in the library. Blocks.
    /// - Parameter uuid: of the photo in the backup.
    package func values(of uuid: String) throws -> [SealedField: [UInt8]] {
        var opened: [SealedField: [UInt8]] = [:]
        for value in try values?.all(of: originals[uuid] ?? uuid) ?? [] {
            guard let field = SealedField(rawValue: value.field) else { continue }
            opened[field] = Self.open(value, rings)
        }
        if let position = positions[uuid] { opened[.location] = Array(position.text.utf8) }
        return opened
    }

    private static func open(_ value: SealedDocument.Value, _ rings: [Keyring]) -> [UInt8]? {
        let bytes = Array(value.sealed)
        return rings.lazy.compactMap { try? $0.open(bytes, at: SealedFields.place(value.name)) }.first
    }

    /// With places where pictures were taken, by the uuids that these have in the backup.
    package func adding(_ positions: [String: GeoPosition], _ keyring: Keyring) -> OpenedFields {
        var opened = self
        opened.keyring = keyring
        opened.positions = positions
        opened.count += positions.count
        return opened
    }

    package func telling(apart others: OtherPictures) -> OpenedFields {
        guard !others.uuids.isEmpty else { return self }
        var opened = self
        opened.others = others.uuids
        opened.originals = Dictionary(others.uuids.map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
        opened.sidecars = Dictionary(
            sidecars.map { (others.uuid($0), $1) }, uniquingKeysWith: { first, _ in first })
        return opened
    }

    // MARK: What did not open

    /// A line for each photo with values that did not open, under its path in the backup; one for all where the reason is the
    /// same for all. Blocks.
    /// - Parameter there: fields that the library's photo has, by the uuid in the backup: of those there is nothing to take
    ///   over.
    package func lines(
        _ contents: BackupContents, _ detail: String, there: (_ uuid: String) throws -> Set<String> = { _ in [] }
    ) throws -> [ReceiptLine] {
        if let problem { return try summary(problem, there) }
        guard unopened != nil || values != nil else { return [] }
        let known = try contents.photos.compactMap { sourced in
            try lacking(sourced.photo.uuid, there).isEmpty
                ? nil : ReceiptLine(item: sourced.photo.path, outcome: BackupFormat.sealedOutcome, detail: detail)
        }
        let photos = try SpooledIndex(contents.photos, by: \.photo.uuid)
        var strangers: Set<String> = []
        for list in [values, unopened].compactMap({ $0?.list }) {
            try list.forEach { value in
                let uuid = others[value.uuid] ?? value.uuid
                if try photos.place(of: uuid) == nil { strangers.insert(uuid) }
            }
        }
        return known
            + strangers.sorted().map {
                ReceiptLine(
                    item: $0, outcome: BackupFormat.sealedOutcome,
                    detail: "sealed fields of a photo that the backup does not have; left out")
            }
    }

    /// Fields of a photo that did not open, and that the library's does not have.
    private func lacking(_ uuid: String, _ there: (String) throws -> Set<String>) throws -> Set<String> {
        let fields = try Set((unopened?.all(of: originals[uuid] ?? uuid) ?? []).map(\.field))
        return fields.isEmpty ? [] : try fields.subtracting(there(uuid))
    }

    private func summary(_ problem: String, _ there: (String) throws -> Set<String>) throws -> [ReceiptLine] {
        guard let unopened else { return [] }
        var (count, photos) = (0, 0)
        try unopened.list.forEach { place, value in
            // Each photo once.
            guard try unopened.index.place(of: value) == place else { return }
            let fields = try lacking(others[value.uuid] ?? value.uuid, there)
            count += fields.count
            photos += fields.isEmpty ? 0 : 1
        }
        guard count > 0 else { return [] }
        let values = count == 1 ? "1 sealed value" : "\(count) sealed values"
        let ofPhotos = photos == 1 ? "1 photo" : "\(photos) photos"
        return [
            ReceiptLine(
                item: BackupFormat.sealedEntry, outcome: BackupFormat.sealedOutcome,
                detail: "\(values) of \(ofPhotos) \(count == 1 ? "is" : "are") not taken over: \(problem)")
        ]
    }

    private init() { keyring = nil }

    /// Blocks.
    /// - Parameters:
    ///   - key: the backup's, where it was opened with the passphrase.
    ///   - keyring: the library's; nil where it has none.
    ///   - problem: why it has none.
    ///   - scratch: where lists lie that are made of the document's.
    /// - Throws: `invalid_argument` for a key of another backup.
    package init(
        _ document: SealedDocument, key: BackupKey?, _ keyring: Keyring?, problem: String? = nil, scratch: Scratch
    ) throws {
        self.keyring = keyring
        if let key, key.export != document.key?.export {
            throw MeshError(.invalidArgument, "The 'key' is not of this backup. Ask for it again: backup.openKey.")
        }
        let own = try document.own(keyring, opened: key)
        let rings = [own, keyring].compactMap { $0 }
        self.rings = rings
        if let own { lock = document.lock.flatMap { LibraryLock(opening: $0, own) } }
        var values = SpooledList<SealedDocument.Value>.Spooler(in: scratch)
        var unopened = SpooledList<SealedDocument.Value>.Spooler(in: scratch)
        try document.values.forEach { value in
            let plaintext = Self.open(value, rings)
            if let plaintext, let sidecar = SealedSidecar(value.name, opened: plaintext) {
                sidecars[value.uuid, default: []].append(sidecar)
                count += 1
            } else if let plaintext, let field = SealedField(rawValue: value.field),
                DetailText.isValid(plaintext, field)
            {
                try values.append(value)
                count += 1
            } else {
                try unopened.append(value)
            }
        }
        if values.count > 0 { self.values = try SpooledGroups(values.finish(), by: \.uuid) }
        if unopened.count > 0 { self.unopened = try SpooledGroups(unopened.finish(), by: \.uuid) }
        guard count == 0, self.unopened != nil else { return }
        isLocked = problem == nil
        if let problem {
            self.problem = problem
        } else if document.key != nil, own == nil {
            self.problem = "they are under a passphrase; give it, and restore once more: --passphrase"
        } else if document.key == nil, try keyring.map({ try document.isUnder(noneOf: $0) }) ?? true {
            self.problem =
                "they are under a key of the library that wrote the backup; take it over, and restore once more: "
                + "smilepile keys import FILE"
        } else {
            isLocked = false
        }
    }
}
