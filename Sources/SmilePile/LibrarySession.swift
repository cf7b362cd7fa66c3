import LibraryModel
import LibraryServices
import ServiceMesh
import Synchronization

/// One person's use of an embedded library, with the role that a connection to a daemon would have: a kid's in kids mode,
/// until it is unlocked.
///
/// A program that shows a library to children sends what they ask for through a session. What it does on its own, through
/// ``PhotoLibrary/mesh``, it does as the library's owner, in whatever mode. Both pass the same gate.
///
/// ```swift
/// let session = library.session()
/// let page = try await session.send(SearchPhotos())
/// try await session.unlock(PIN(typed))
/// try await session.send(DeletePhotos(ids: [12]))
/// ```
public final class LibrarySession: Sendable {
    private struct Following {
        let access: Role
        let cancel: @Sendable () -> Void
    }

    private struct State {
        var held: HeldRole
        /// How often it was made to fall.
        var falls = 0
        var following: [UInt64: Following] = [:]
        var lastKey: UInt64 = 0
    }

    private let mesh: Mesh
    private let access: LibraryAccess
    private let state: Mutex<State>
    private let door = Mutex<UInt64?>(nil)

    init(mesh: Mesh, access: LibraryAccess) {
        self.mesh = mesh
        self.access = access
        state = Mutex(State(held: HeldRole(access.roleOfNewcomers)))
        let key = access.add { [weak self] fall in self?.demote(fall) }
        door.withLock { $0 = key }
        // The mode may have changed between the two.
        if access.roleOfNewcomers == .kid { demote(.to(.kid)) }
    }

    deinit { if let key = door.withLock({ $0 }) { access.remove(key) } }

    /// The role that a message would be sent with now.
    public var role: Role { state.withLock { $0.held.role(at: MonotonicClock.withSleep()) } }

    /// As ``/ServiceMesh/Mesh/send(_:deadline:)``, with this session's role.
    public func send<M: HandledMessage>(_ message: M, deadline: Deadline? = nil) async throws -> M.Reply {
        let role = state.withLock { $0.held.use(at: MonotonicClock.withSleep()) }
        return try await mesh.send(message, in: .root(mesh: mesh, role: role), deadline: deadline)
    }

    /// As ``/ServiceMesh/Mesh/observe(_:in:onChange:)``, with this session's role. Ends with `permission_denied` when the role
    /// falls: at once where it is made to, before the next change where its time is over.
    public func observe<M: HandledObservation>(
        _ message: M, onChange: @escaping @Sendable (Change<M.Update>) async throws -> Void
    ) async throws -> M.Reply {
        let role = state.withLock { $0.held.use(at: MonotonicClock.withSleep()) }
        let context = CallContext.root(mesh: mesh, role: role)
        let task = Task { [self] in
            try await mesh.observe(message, in: context) { change in
                try self.requireRole(for: M.self)
                try await onChange(change)
            }
        }
        let key = begin(Following(access: M.access, cancel: { task.cancel() }))
        defer { end(key) }
        do {
            return try await withTaskCancellationHandler {
                try await task.value
            } onCancel: {
                task.cancel()
            }
        } catch {
            // The one that was refused at the door says so itself.
            if role >= M.access { try requireRole(for: M.self) }
            throw error
        }
    }

    /// Raises the role to a parent's for as long as `UnlockLimits` say. Errors: as `Unlock`.
    @discardableResult
    public func unlock(_ pin: PIN) async throws -> Unlocked {
        let falls = state.withLock { $0.falls }
        let unlocked = try await send(Unlock(pin: pin))
        state.withLock {
            // Whoever locks up locks out who was on the way in.
            guard $0.falls == falls else { return }
            $0.held.grant(
                .init(.parent, idle: UnlockLimits.idle, total: UnlockLimits.total), at: MonotonicClock.withSleep())
        }
        return unlocked
    }

    /// Lowers the role to a kid's.
    public func lock() { demote(.to(.kid)) }

    private func requireRole<M: Message>(for message: M.Type) throws {
        guard role < M.access else { return }
        throw MeshError(losing: M.access, for: M.method)
    }

    private func begin(_ following: Following) -> UInt64 {
        let (key, isAllowed) = state.withLock { state in
            state.lastKey += 1
            state.following[state.lastKey] = following
            return (state.lastKey, state.held.role(at: MonotonicClock.withSleep()) >= following.access)
        }
        if !isAllowed { following.cancel() }
        return key
    }

    private func end(_ key: UInt64) { state.withLock { _ = $0.following.removeValue(forKey: key) } }

    private func demote(_ fall: RoleFall) {
        let ending = state.withLock { state in
            state.held.demote(fall)
            state.falls += 1
            let role = state.held.role(at: MonotonicClock.withSleep())
            return state.following.values.filter { $0.access > role }
        }
        for following in ending { following.cancel() }
    }
}
