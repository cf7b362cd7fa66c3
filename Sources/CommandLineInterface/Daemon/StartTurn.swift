import CLinux
import Foundation

/// The turn to start a daemon: one `smilepile up` of a user at a time.
///
/// Of two at once, both would find no daemon and start one; the second would end at the library's lock before the
/// first one answers, and its `up` would fail where there is nothing wrong. A lock on the log's folder and not on a
/// file, which could be put aside between opening and locking it.
package final class StartTurn: Sendable {
    private let descriptor: Int32

    private init(_ descriptor: Int32) { self.descriptor = descriptor }

    /// The kernel ends the lock with the descriptor, also where the program is killed.
    deinit { close(descriptor) }

    /// Waits until it is this program's turn. Nil where the folder cannot be locked, as on some network file systems:
    /// then the library's own lock has to do.
    package static func take(in folder: String, ifBusy: @escaping @Sendable () -> Void) async -> StartTurn? {
        let descriptor = clinux_open(folder, O_RDONLY | O_DIRECTORY, 0)
        guard descriptor >= 0 else { return nil }
        let turn = StartTurn(descriptor)
        if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { return turn }
        guard errno == EWOULDBLOCK else { return nil }
        ifBusy()
        return await withCheckedContinuation { continuation in
            // Another start may take minutes; the cooperative pool is not for waiting.
            Thread {
                var result = flock(turn.descriptor, LOCK_EX)
                while result != 0 && errno == EINTR { result = flock(turn.descriptor, LOCK_EX) }
                continuation.resume(returning: result == 0 ? turn : nil)
            }.start()
        }
    }
}
