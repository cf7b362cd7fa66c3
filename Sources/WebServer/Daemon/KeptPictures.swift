import Foundation
import ServiceMesh
import Synchronization

/// Thumbnails that the daemon handed over a moment ago, as whole responses: the same wall of them is asked for by several
/// browsers and windows, and by one that goes back.
///
/// What is kept is one device's, for an address with the digest of what it shows, so that other content has another address.
/// It is given to nobody but that device, for ten seconds at most, and only while the daemon tells when photos change: each
/// change forgets all of it, and so does a daemon that goes away. A device that is forgotten takes its own along.
final class KeptPictures: Sendable {
    /// Bytes of the largest one, and of all together.
    static let largest = 64 << 10
    static let most = 32 << 20

    struct Key: Hashable {
        let token: String
        let path: String
        let version: String
    }

    private struct Kept {
        let response: MadeResponse
        let until: UInt64
    }

    private struct State {
        /// Whether the daemon tells of changes.
        var isTold = false
        /// How often the pictures that were asked for before have become old.
        var age: UInt64 = 0
        var pictures: [Key: Kept] = [:]
        var bytes = 0
        var watch: Task<Void, Never>?
        var isStopped = false

        mutating func clear() {
            age += 1
            pictures = [:]
            bytes = 0
        }
    }

    private let state = Mutex(State())
    private let seconds: Int

    /// - Parameter seconds: for which one is given without asking the daemon again.
    init(seconds: Int) { self.seconds = seconds }

    func find(_ key: Key, now: UInt64) -> MadeResponse? {
        state.withLock { state in
            guard state.isTold, let kept = state.pictures[key], kept.until > now else { return nil }
            return kept.response
        }
    }

    /// What is to be asked for before the daemon is asked for a picture, so that a change in between is noticed; nil where
    /// nothing would be kept.
    /// - Parameter session: of the device that asks; by its connection changes are heard of where no other's does so yet.
    func age(_ session: DeviceSession) -> UInt64? {
        state.withLock { state in
            // What a child's device does not see changes unheard of there.
            if state.watch == nil, !state.isStopped, !session.seesSome {
                state.watch = Task { [weak self] in await self?.follow(session) }
            }
            return state.isTold ? state.age : nil
        }
    }

    /// - Parameter age: from before the daemon was asked.
    func keep(_ response: MadeResponse, as key: Key, asOf age: UInt64, now: UInt64) {
        state.withLock { state in
            guard state.isTold, state.age == age, response.size <= Self.largest else { return }
            if let old = state.pictures[key] { state.bytes -= old.response.cost }
            state.pictures[key] = Kept(response: response, until: now &+ UInt64(seconds) * 1_000_000_000)
            state.bytes += response.cost
            // All at once, and seldom: a picture that is wanted again is back with the next request.
            if state.bytes > Self.most { state.clear() }
        }
    }

    /// This device gets no kept picture any more, and the ones that it has asked for are dropped.
    func forget(_ token: String) {
        state.withLock { state in
            state.age += 1
            for (key, kept) in state.pictures where key.token == token {
                state.bytes -= kept.response.cost
                state.pictures[key] = nil
            }
        }
    }

    // MARK: Changes

    /// Observes the newest photo and how many there are, which every device may that sees all; only that a change comes matters, and not which. This
    /// ends with the connection, and begins again with the next device that asks for a picture.
    private func follow(_ session: DeviceSession) async {
        do {
            let params = try JSONEncoder().encode(["limit": 1])
            _ = try await session.connection().observe(method: "photo.observe", params: params) { [weak self] _ in
                self?.tell(isTold: true)
            }
        } catch {
            // Nothing is kept meanwhile.
        }
        tell(isTold: false)
        // A timer by nature: before the next try to reach a daemon that is away.
        try? await Task.sleep(for: .seconds(1))
        state.withLock { $0.watch = nil }
    }

    private func tell(isTold: Bool) {
        state.withLock { state in
            state.clear()
            state.isTold = isTold
        }
    }

    func stop() {
        let watch = state.withLock { state in
            state.isStopped = true
            state.clear()
            state.isTold = false
            return state.watch
        }
        watch?.cancel()
    }
}
