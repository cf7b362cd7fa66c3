import Executors
import Files
import LibraryModel
import LibraryStorage
import Sealing
import ServiceMesh
import Synchronization

/// The keys of the library's sealed fields: unwrapped with the key file when something sealed is used for the first time,
/// and held until the library is closed.
///
/// A key is made in one case only: nothing was ever sealed here. Where sealed values are and their key is not, nothing is
/// sealed until it is back; a new key then would look like a library that works, and has lost what it had.
package final class SealedFields: Sendable {
    private let catalogue: any Catalogue
    /// Nil where no place for one is known.
    private let keyFile: KeyFile?
    private let namedFiles: NamedFiles
    private let pool: BlockingPool
    private let opened = Mutex<Keyring?>(nil)

    package init(catalogue: any Catalogue, keyFile: KeyFile?, namedFiles: NamedFiles, pool: BlockingPool) {
        self.catalogue = catalogue
        self.keyFile = keyFile
        self.namedFiles = namedFiles
        self.pool = pool
    }

    var keyFilePath: String? { keyFile?.path }

    package static func place(_ name: SealedRow.Name) -> SealedPlace {
        SealedPlace(table: "sealed_fields", column: name.field, row: name.uuid)
    }

    // MARK: Keys

    /// - Returns: nil where the library has no keys.
    /// - Throws: `failed_precondition` where it has, and they do not open.
    package func keyring() async throws -> Keyring? {
        if let opened = opened.withLock({ $0 }) { return opened }
        let stored = try await catalogue.read { try $0.sealedFields.keys() }
        guard let active = stored.first(where: \.isActive) else { return nil }
        let wrapping = try await wrappingKey()
        let keys = stored.compactMap { try? Self.unwrapped($0, wrapping) }
        guard let key = keys.first(where: { $0.id.description == active.id }) else { throw otherKeyFile }
        let keyring = Keyring(active: key, others: keys)
        opened.withLock { $0 = keyring }
        return keyring
    }

    /// As ``keyring()``, and makes the keys where nothing was ever sealed.
    /// - Throws: `failed_precondition` too where there are sealed values and no keys.
    package func keyringMakingOne() async throws -> Keyring {
        if let keyring = try await keyring() { return keyring }
        // One look at both: between two, somebody else may have made the key, and sealed with it.
        let isElsewhere = try await catalogue.read {
            try $0.sealedFields.keys().isEmpty && $0.sealedFields.totals().values > 0
        }
        guard !isElsewhere else { throw keyIsElsewhere }
        let wrapping = try await wrappingKey(making: true)
        let key = try DataKey()
        let new = Self.stored(key, wrapping, isActive: true)
        // Files first, then the row: the key file is durable by now.
        let isFirst = try await catalogue.write { transaction in
            let sealedFields = transaction.sealedFields
            guard try sealedFields.keys().isEmpty, try sealedFields.totals().values == 0 else { return false }
            try sealedFields.store(new)
            return true
        }
        guard isFirst else {
            guard let keyring = try await keyring() else { throw keyIsElsewhere }
            return keyring
        }
        let keyring = Keyring(active: key)
        opened.withLock { $0 = keyring }
        return keyring
    }

    /// After the catalogue's keys were changed: they are read again when they are needed.
    package func forget() { opened.withLock { $0 = nil } }

    /// A new key in the place of the active one, which stays for what was sealed with it.
    func activateNewKey() async throws -> KeyID {
        let wrapping = try await wrappingKey()
        let key = try DataKey()
        let new = Self.stored(key, wrapping, isActive: true)
        try await catalogue.write { try $0.sealedFields.store(new) }
        forget()
        return key.id
    }

    /// Enters keys from elsewhere. Where no active key opens, the first of them becomes the active one.
    /// - Returns: how many are new here, or open now and did not before.
    func takeOver(_ keys: [DataKey]) async throws -> Int {
        let wrapping = try await wrappingKey(making: true)
        let count = try await catalogue.write { transaction in
            let sealedFields = transaction.sealedFields
            let stored = try sealedFields.keys()
            let open = stored.filter { (try? Self.unwrapped($0, wrapping)) != nil }
            let new = keys.filter { key in !open.contains { $0.id == key.id.description } }
            var hasActive = open.contains(where: \.isActive)
            for key in new {
                let known = stored.first { $0.id == key.id.description }
                var entry = Self.stored(key, wrapping, isActive: known?.isActive ?? false, known?.createdAt)
                entry.exportedAt = known?.exportedAt
                hasActive = hasActive || entry.isActive
                try sealedFields.store(entry)
            }
            if !hasActive, let first = keys.first,
                var entry = try sealedFields.keys().first(where: { $0.id == first.id.description })
            {
                entry.isActive = true
                try sealedFields.store(entry)
            }
            return new.count
        }
        forget()
        return count
    }

    private static func stored(
        _ key: DataKey, _ wrapping: WrappingKey, isActive: Bool, _ createdAt: Timestamp? = nil
    ) -> StoredDataKey {
        StoredDataKey(
            id: key.id.description, wrapped: wrapping.wrap(key), keyFile: wrapping.id, isActive: isActive,
            createdAt: createdAt ?? .now())
    }

    private static func unwrapped(_ stored: StoredDataKey, _ wrapping: WrappingKey) throws -> DataKey {
        guard let id = KeyID(stored.id) else { throw SealingError.malformed }
        return try wrapping.unwrap(stored.wrapped, id: id)
    }

    // MARK: The key file

    private func wrappingKey(making: Bool = false) async throws -> WrappingKey {
        guard let keyFile else { throw Self.noPlace }
        let namedFiles = namedFiles
        let key = try await pool.run { () throws -> WrappingKey? in
            guard !Self.isInLibrary(keyFile, namedFiles) else { throw Self.inLibrary(keyFile) }
            return making ? try keyFile.make() : try keyFile.read()
        }
        guard let key else { throw Self.missing(keyFile) }
        return key
    }

    /// Also where it is to be made, in a folder that is not there yet.
    private static func isInLibrary(_ keyFile: KeyFile, _ namedFiles: NamedFiles) -> Bool {
        var path = keyFile.path
        while path != "/" {
            if namedFiles.isInLibrary(path) { return true }
            if FileIdentity(at: path).map(namedFiles.ownFolders.contains) == true { return true }
            path = FileSystem.parent(of: path)
        }
        return false
    }

    private static func refusal(_ message: String) -> MeshError {
        MeshError(.failedPrecondition, message, details: ["reason": "key_file"])
    }

    private static let noPlace = refusal(
        "There is no place for a key file, which sealed fields need. Name one in SMILEPILE_KEY_FILE, or hand it over with "
            + "the unit's LoadCredential=\(KeyFile.credential):PATH.")

    private static func inLibrary(_ keyFile: KeyFile) -> MeshError {
        refusal(
            "The key file \(keyFile.path) lies in the library's folder, where every copy of the library would hold the key "
                + "too. Move it out of there, and name its place in SMILEPILE_KEY_FILE.")
    }

    private static func missing(_ keyFile: KeyFile) -> MeshError {
        refusal(
            "The key file \(keyFile.path) is missing, so nothing sealed can be read or changed. Put it back, or take the "
                + "keys over from an export: smilepile keys import FILE")
    }

    private var otherKeyFile: MeshError {
        Self.refusal(
            "The key file \(keyFilePath ?? "") is not the one that this library's keys were wrapped with, so nothing sealed "
                + "can be read or changed. Put the right one there, or take the keys over from an export: "
                + "smilepile keys import FILE")
    }

    private var keyIsElsewhere: MeshError {
        Self.refusal(
            "There are sealed values here whose key is not, so nothing is sealed with a new one. Take the key over from an "
                + "export: smilepile keys import FILE. Or clear those values.")
    }
}
