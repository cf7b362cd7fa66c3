import LibraryServices
import LibraryStorage
import Synchronization

/// The clock of a machine's start, in a test's hands.
package final class SetBootClock: Sendable {
    private let time: Mutex<BootTime>

    package init(boot: String = "first", milliseconds: Int64 = 1_000_000) {
        time = Mutex(BootTime(boot: boot, milliseconds: milliseconds))
    }

    package var clock: BootClock { BootClock { [self] in time.withLock { $0 } } }

    package func pass(milliseconds: Int64) {
        time.withLock { $0 = BootTime(boot: $0.boot, milliseconds: $0.milliseconds + milliseconds) }
    }

    /// The machine was started again so long ago.
    package func restart(as boot: String, milliseconds: Int64) {
        time.withLock { $0 = BootTime(boot: boot, milliseconds: milliseconds) }
    }
}
