/// The data keys of a library that are open: the one that new values are sealed with, and those of older values.
package struct Keyring: Sendable {
    /// The one that seals.
    package let active: KeyID
    private let keys: [KeyID: DataKey]

    /// - Parameter keys: with the active one among them.
    package init(active: DataKey, others: [DataKey] = []) {
        self.active = active.id
        keys = Dictionary(([active] + others).map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
    }

    package var all: [DataKey] { keys.values.sorted { $0.id.description < $1.id.description } }

    package subscript(id: KeyID) -> DataKey? { keys[id] }

    /// - Returns: as it is stored.
    package func seal(_ plaintext: [UInt8], at place: SealedPlace) -> [UInt8] {
        guard let key = keys[active] else { preconditionFailure("the active key is one of them") }
        return key.seal(plaintext, at: place).bytes
    }

    /// - Parameter bytes: as they are stored.
    package func open(_ bytes: [UInt8], at place: SealedPlace) throws(SealingError) -> [UInt8] {
        let value = try SealedValue(bytes)
        guard let key = keys[value.keyID] else { throw .unknownKey(value.keyID) }
        return try key.open(value, at: place)
    }
}
