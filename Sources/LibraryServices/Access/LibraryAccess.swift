import LibraryModel
import ServiceMesh
import Synchronization

/// What the mode means to those who are at the doors of a library: with which role newcomers begin, and when the roles of
/// those inside fall. The actor that keeps the mode sets it; doors (the socket, sessions of a program) read it without
/// waiting.
package final class LibraryAccess: Sendable {
    package typealias Door = @Sendable (RoleFall) async -> Void

    private struct State {
        var mode = AppMode.parent
        var devices: Set<String> = []
        var doors: [UInt64: Door] = [:]
        var lastKey: UInt64 = 0
    }

    private let state = Mutex(State())

    package init() {}

    /// With which role somebody begins who comes now.
    package var roleOfNewcomers: Role { state.withLock { $0.mode == .parent ? .parent : .kid } }

    /// With which role a device begins that comes now; nil where it is not paired, or not any more.
    package func role(ofDevice id: String) -> Role? {
        state.withLock { state in
            guard state.devices.contains(id) else { return nil }
            return state.mode == .parent ? .parent : .kid
        }
    }

    /// The ids of the devices that are paired.
    func admit(devices: Set<String>) { state.withLock { $0.devices = devices } }

    /// Adds a door, which is told of each fall and returns when nobody behind it has more any more.
    /// - Returns: what ``remove(_:)`` takes.
    package func add(_ door: @escaping Door) -> UInt64 {
        state.withLock { state in
            state.lastKey += 1
            state.doors[state.lastKey] = door
            return state.lastKey
        }
    }

    package func remove(_ key: UInt64) { state.withLock { _ = $0.doors.removeValue(forKey: key) } }

    /// For newcomers first: who comes in between is a kid already.
    package func begin(_ mode: AppMode) async {
        state.withLock { $0.mode = mode }
        if mode == .kids { await tell(.to(.kid)) }
    }

    func tell(_ fall: RoleFall) async {
        for door in state.withLock({ Array($0.doors.values) }) { await door(fall) }
    }
}
