import Foundation
import LibraryModel
import LibraryStorage
import Sealing
import ServiceMesh

/// The children's lock of a library: its PIN, as a hash, and whether it was in kids mode. In a backup it is under the passphrase or not
/// at all: a hash of six digits in the open would soon be the six digits.
struct LibraryLock: Codable, Sendable, Equatable {
    private let pin: String
    let mode: AppMode

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

    func apply(in transaction: any CatalogueTransaction) throws {
        try transaction.access.store(PINRecord(hash: pin))
        try transaction.access.setMode(mode)
    }
}

/// What becomes of a backup's lock, and what a person is told of it.
extension RestorePlan {
    /// Of a line that says that the library is open, and was not.
    static let unlockedOutcome = "unlocked"

    /// A library that becomes the backup gets its lock, unless it has one of its own: that is about who uses this machine. A merge
    /// takes none.
    mutating func takeLock(
        _ opened: OpenedFields, _ contents: BackupContents, in transaction: any CatalogueTransaction
    ) throws {
        guard !contents.isPartial, contents.saysLocked || opened.lock != nil, try transaction.access.pin() == nil
        else { return }
        guard mode == .replace else {
            lines.append(
                ReceiptLine(
                    item: "settings", outcome: ForeignContents.left,
                    detail:
                        "a merge takes over neither the PIN of the backup nor kids mode; set one here: smilepile pin set"
                ))
            return
        }
        guard let lock = opened.lock else {
            let why =
                contents.sealed?.lock == nil
                ? "a backup has them under a passphrase only, and this one was made without; set one here: smilepile pin set"
                : "they are under the passphrase; give it, and restore once more: --replace --passphrase"
            lines.append(
                ReceiptLine(
                    item: "settings", outcome: Self.unlockedOutcome,
                    detail: "the PIN and kids mode of the backup are not here, and the library is open: \(why)"))
            return
        }
        self.lock = lock
    }
}
