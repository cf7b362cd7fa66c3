import Foundation
import LibraryModel
import LibraryStorage
import Sealing
import ServiceMesh

/// The children's lock of a library: its PIN, as a hash, and whether it was in kids mode. In a backup it is under the passphrase or not
/// at all: a hash of six digits in the open would soon be the six digits.
package struct LibraryLock: Codable, Sendable, Equatable {
    private let pin: String
    package let mode: AppMode

    private static let place = SealedPlace(table: "settings", column: "lock", row: "library")
    /// Bytes of its sealed form: more than any that is written.
    static let maximumBytes = 4096

    /// Nil where there is no PIN, and so no kids mode.
    init?(of transaction: any CatalogueTransaction) throws {
        guard let pin = try transaction.access.pin() else { return nil }
        (self.pin, mode) = (pin.hash, try transaction.access.mode())
    }

    /// - Returns: nil where another key sealed it, or what it says is no lock.
    init?(opening sealed: Data, _ keys: Keyring) {
        guard let plain = try? keys.open(Array(sealed), at: Self.place),
            let lock = try? JSONDecoder().decode(LibraryLock.self, from: Data(plain)),
            (try? PasswordHash(text: lock.pin)) != nil
        else { return nil }
        self = lock
    }

    func sealed(with keys: Keyring) throws -> Data {
        Data(keys.seal(Array(try JSONEncoder().encode(self)), at: Self.place))
    }

    package func apply(in transaction: any CatalogueTransaction) throws {
        try transaction.access.store(PINRecord(hash: pin))
        try transaction.access.setMode(mode)
    }
}
