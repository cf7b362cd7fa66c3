import Executors
import ServiceMesh
import Synchronization

/// All that is derived from what people type, a passphrase or a PIN: on a thread of its own, one at a time, so that neither
/// searches nor thumbnails wait for it, and its memory is taken once (``Argon2`` says how much at most).
///
/// Who waits for a turn may be called off, by a deadline too, and is gone at once; a derivation that has begun ends first,
/// within seconds. Rejected: a thread for each, bounded by memory: all of them become slower, and a PIN waits for every export.
package final class KeyDeriver: Sendable {
    /// What may wait beside the one that is being made.
    package static let mostWaiting = 16

    private let pool: BlockingPool
    private let waiting = Mutex(0)
    private let isWaiting: @Sendable () -> Void

    /// Its thread goes after others: nobody waits for a search while somebody else's passphrase is looked at.
    package convenience init() {
        // Those that were called off keep a place in the pool's queue until their turn, so that queue is longer than this one.
        self.init(on: BlockingPool(name: "passphrases", threads: 1, niceness: 5, capacity: 1_024))
    }

    /// - Parameters:
    ///   - pool: of one thread; a simulation has one that does its steps.
    ///   - isWaiting: told of each that waits for its turn; for tests.
    package init(on pool: BlockingPool, isWaiting: @escaping @Sendable () -> Void = {}) {
        self.pool = pool
        self.isWaiting = isWaiting
    }

    package func shutDown() async { await pool.shutDown() }

    // MARK: What is derived

    /// - Throws: ``PasswordHash/Failure``, or as ``turn(_:)``.
    package func hash(_ secret: [UInt8], cost: PasswordHash.Cost = .standard) async throws -> PasswordHash {
        try await turn { try PasswordHash(of: secret, cost: cost) }
    }

    /// - Throws: ``PasswordHash/Failure``, or as ``turn(_:)``.
    package func matches(_ secret: [UInt8], _ hash: PasswordHash) async throws -> Bool {
        try await turn { try hash.matches(secret) }
    }

    /// Keys under a passphrase, as a text. Errors: those of ``KeyExport``, or as ``turn(_:)``.
    package func export(_ keys: [DataKey], passphrase: String, cost: KeyExport.Cost = .standard) async throws -> String
    {
        try await turn { try KeyExport.seal(keys, passphrase: passphrase, cost: cost) }
    }

    /// The keys of an export. Errors: those of ``KeyExport``, or as ``turn(_:)``.
    package func open(_ export: String, passphrase: String) async throws -> [DataKey] {
        try await turn { try KeyExport.open(export, passphrase: passphrase) }
    }

    /// A backup's own key, new. Errors: those of ``KeyExport``, or as ``turn(_:)``.
    package func makeBackupKey(_ keyring: Keyring, passphrase: String) async throws -> WrappedBackupKey {
        try await turn { try keyring.makeBackupKey(passphrase: passphrase) }
    }

    // MARK: Turns

    /// Does `work` when its turn comes.
    /// - Throws: what `work` throws; `resource_exhausted` where ``mostWaiting`` wait already; `CancellationError` where it was
    ///   called off before its turn.
    func turn<T: Sendable>(_ work: @escaping @Sendable () throws -> T) async throws -> T {
        try Task.checkCancellation()
        guard enter() else {
            throw MeshError(
                .resourceExhausted,
                "\(Self.mostWaiting) passphrases or PINs are waiting to be looked at already. Try again in a moment.")
        }
        let turn = Turn<T>()
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                guard turn.wait(with: continuation) else { return leave() }
                let isTaken = pool.submit { [self] in
                    guard let continuation = turn.begin() else { return }
                    leave()
                    continuation.resume(with: Result { try work() })
                }
                if !isTaken, let continuation = turn.begin() {
                    leave()
                    continuation.resume(throwing: BlockingPool.Refusal.shutDown)
                }
                isWaiting()
            }
        } onCancel: {
            if let continuation = turn.callOff() {
                leave()
                continuation.resume(throwing: CancellationError())
            }
        }
    }

    private func enter() -> Bool {
        waiting.withLock { count in
            guard count < Self.mostWaiting else { return false }
            count += 1
            return true
        }
    }

    private func leave() { waiting.withLock { $0 -= 1 } }
}

/// A turn that is waited for: it begins, or is called off, and whichever comes first has the continuation.
private final class Turn<T: Sendable>: Sendable {
    private enum State {
        case new
        case waiting(CheckedContinuation<T, any Error>)
        case over
    }

    private let state = Mutex(State.new)

    /// - Returns: whether it waits; false where it was called off before: the continuation is resumed then.
    func wait(with continuation: CheckedContinuation<T, any Error>) -> Bool {
        let waits = state.withLock { state in
            guard case .new = state else { return false }
            state = .waiting(continuation)
            return true
        }
        if !waits { continuation.resume(throwing: CancellationError()) }
        return waits
    }

    /// - Returns: nil where it was called off.
    func begin() -> CheckedContinuation<T, any Error>? { end() }

    /// - Returns: nil where it has begun, or does not wait yet.
    func callOff() -> CheckedContinuation<T, any Error>? { end() }

    private func end() -> CheckedContinuation<T, any Error>? {
        state.withLock { state in
            defer { state = .over }
            guard case .waiting(let continuation) = state else { return nil }
            return continuation
        }
    }
}
