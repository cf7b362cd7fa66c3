import LibraryServices
import ServiceMesh
import Synchronization

/// The clock on the wall, in a test's hands.
package final class SetWallClock: Sendable {
    private let time: Mutex<Timestamp>

    package init(_ rfc3339: String) { time = Mutex(Timestamp(rfc3339: rfc3339) ?? Timestamp(milliseconds: 0)) }

    package var clock: WallClock { WallClock { [self] in now } }
    package var now: Timestamp { time.withLock { $0 } }

    package func pass(milliseconds: Int64) { time.withLock { $0.milliseconds += milliseconds } }
}
