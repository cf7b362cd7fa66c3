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
        var devices: [String: DeviceRole] = [:]
        var doors: [UInt64: Door] = [:]
        var lastKey: UInt64 = 0
    }

    private let state = Mutex(State())

    package init() {}

    /// With which role somebody begins who comes now.
    package var roleOfNewcomers: Role { state.withLock { $0.mode == .parent ? .parent : .kid } }

    /// With which role a device begins that comes now, and the most that a PIN gives it; nil where it is not paired, or not any
    /// more.
    package func standing(ofDevice id: String) -> HeldRole.Standing? {
        state.withLock { state in
            guard let ceiling = state.devices[id]?.ceiling else { return nil }
            return HeldRole.Standing(state.mode == .parent ? .parent : .kid, ceiling: ceiling)
        }
    }

    /// The devices that are paired.
    func admit(devices: [String: DeviceRole]) { state.withLock { $0.devices = devices } }

    /// What a device is that asks; nil for one that is not paired any more.
    func role(ofDevice id: String) -> DeviceRole? { state.withLock { $0.devices[id] } }

    /// Who asks in the running call, as far as it decides about what they see.
    package var viewer: Viewer {
        // What a parent's device has begun goes on as a parent's, a job too, whatever becomes of the device.
        guard let context = CallContext.current, let id = context.caller, context.originalRole <= .kid else {
            return .anybody
        }
        return switch role(ofDevice: id) {
        case .parent, .looker: .anybody
        // What was a device's and is nobody's any more sees nothing: no categories are stored for it.
        case .child, nil: .child(device: id)
        }
    }

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
