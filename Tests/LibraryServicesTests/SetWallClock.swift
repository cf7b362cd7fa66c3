import LibraryServices
import ServiceMesh
import Synchronization

/// The clock on the wall, in a test's hands.
final class SetWallClock: Sendable {
    private let time: Mutex<Timestamp>

    init(_ rfc3339: String) { time = Mutex(Timestamp(rfc3339: rfc3339) ?? Timestamp(milliseconds: 0)) }

    var clock: WallClock { WallClock { [self] in now } }
    var now: Timestamp { time.withLock { $0 } }

    func pass(milliseconds: Int64) { time.withLock { $0.milliseconds += milliseconds } }
}
