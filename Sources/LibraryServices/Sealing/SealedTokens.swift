import LibraryStorage
import Sealing
import ServiceMesh

/// Tokens that this library shows other machines, sealed as the fields of photos are: whoever gets the library's folder, or a copy of
/// it, gets what has come here, and not what will, and sends nothing in this person's name.
///
/// Where the key cannot be used, a token is kept as it is until it can: a key file that is lost would else keep a library from
/// every other machine for ever.
package struct SealedTokens: Sendable {
    let catalogue: any Catalogue
    let fields: SealedFields

    package init(catalogue: any Catalogue, fields: SealedFields) {
        self.catalogue = catalogue
        self.fields = fields
    }

    package static func place(ofHub id: String) -> SealedPlace {
        SealedPlace(table: "group_hubs", column: "token", row: id)
    }

    package static func place(ofPartner id: String) -> SealedPlace {
        SealedPlace(table: "swipe_partners", column: "token", row: id)
    }

    // MARK: Sealing

    /// What seals; made where nothing was ever sealed. Nil where it cannot be used.
    package func keyring() async -> Keyring? { try? await fields.keyringMakingOne() }

    package static func sealed(
        _ token: String, _ keyring: Keyring?, at place: SealedPlace, in transaction: any CatalogueTransaction
    ) throws -> StoredToken {
        // A rotation that has begun since seals at its end what is not sealed, and would not come to what is under the old key.
        guard let keyring, try transaction.sealedFields.activeKey() == keyring.active.description else {
            return .plain(token)
        }
        return .sealed(keyring.seal(Array(token.utf8), at: place))
    }

    /// Seals what is not sealed with the active key. What does not open stays as it is.
    /// - Returns: whether any lay there as it is.
    @discardableResult
    static func sealAll(_ keyring: Keyring, in transaction: any CatalogueTransaction) throws -> Bool {
        var wasPlain = false
        func seal(_ token: StoredToken, at place: SealedPlace, put: (StoredToken) throws -> Void) throws {
            switch token {
            case .none: return
            case .plain(let text):
                wasPlain = true
                try put(.sealed(keyring.seal(Array(text.utf8), at: place)))
            case .sealed(let bytes):
                guard let value = try? SealedValue(bytes), value.keyID != keyring.active,
                    let text = try? keyring.open(bytes, at: place)
                else { return }
                try put(.sealed(keyring.seal(text, at: place)))
            }
        }
        for hub in try transaction.groupHubs.all() {
            try seal(hub.token, at: place(ofHub: hub.id)) { try transaction.groupHubs.setToken($0, of: hub.id) }
        }
        for partner in try transaction.reviewMachines.partners() {
            try seal(partner.token, at: place(ofPartner: partner.id)) {
                try transaction.reviewMachines.setToken($0, of: partner.id)
            }
        }
        return wasPlain
    }

    /// Seals what versions before left as it is, and what could not be sealed when it came: the key may be here by now.
    package func sealPlain() async throws {
        let hasPlain = try await catalogue.read { transaction in
            try (transaction.groupHubs.all().map(\.token) + transaction.reviewMachines.partners().map(\.token))
                .contains { !$0.text.isEmpty }
        }
        guard hasPlain, let keyring = await keyring() else { return }
        let wasPlain = try await catalogue.write { transaction in
            guard try transaction.sealedFields.activeKey() == keyring.active.description else { return false }
            return try Self.sealAll(keyring, in: transaction)
        }
        // Those from before may still be where the catalogue had them.
        if wasPlain { _ = try await catalogue.eraseDeleted() }
    }

    // MARK: Opening

    /// - Throws: `failed_precondition` where the key is not here, with what to do.
    package func open(_ token: StoredToken, at place: SealedPlace) async throws -> String {
        guard case .sealed(let bytes) = token else { return token.text }
        let keyring: Keyring?
        do {
            keyring = try await fields.keyring()
        } catch {
            try Task.checkCancellation()
            let error = MeshError(describing: error)
            let reason = error.message.hasSuffix(".") ? error.message : "\(error.message)."
            throw MeshError(
                error.status, "The token for this machine cannot be opened. \(reason) Or \(Self.remedy)",
                details: error.details)
        }
        guard let text = try? keyring?.open(bytes, at: place) else {
            throw MeshError(
                .failedPrecondition,
                "The token for this machine was sealed with a key that is not here. Take the keys over from an export: "
                    + "smilepile keys import FILE. Or \(Self.remedy)")
        }
        return String(decoding: text, as: UTF8.self)
    }

    private static let remedy = "join that machine again, by another invitation."
}
