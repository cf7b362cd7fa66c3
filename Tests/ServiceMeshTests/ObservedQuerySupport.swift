import Synchronization
import TestSupport

@testable import ServiceMesh

/// A stored value, and how often it was read.
final class Store: Sendable {
    private let state = Mutex((value: 0, reads: 0))

    var value: Int {
        get { state.withLock { $0.value } }
        set { state.withLock { $0.value = newValue } }
    }

    var reads: Int { state.withLock { $0.reads } }

    func read() -> Int {
        state.withLock { state in
            state.reads += 1
            return state.value
        }
    }
}

/// Time that the test moves, and pauses that end when it says so.
final class Pauses: SimulatedTime {
    let clock = Mutex<UInt64>(0)
    let gate = Gate()
    private let asked = Mutex<[UInt64]>([])
    var lengths: [UInt64] { asked.withLock { $0 } }

    func now() -> UInt64 { clock.withLock { $0 } }

    func sleep(until nanoseconds: UInt64) async throws {
        let length = nanoseconds - now()
        asked.withLock { $0.append(length) }
        await gate.pass()
    }
}

/// Time that stands still: no pause is ever due.
struct StillTime: SimulatedTime {
    func now() -> UInt64 { 0 }
    func sleep(until nanoseconds: UInt64) async throws {}
}
