import BackupFormats
import LibraryModel
import LibraryStorage
import ServiceMesh

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
