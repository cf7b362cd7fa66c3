import Foundation

/// A value that one thread at a time may look at: the same as `Synchronization.Mutex`, and used like it.
///
/// Why not that one: on Linux it is made of instructions that Thread Sanitizer does not see, so every value behind it
/// is reported as a race, and real ones drown. A pthread mutex is seen. It costs a few nanoseconds more.
///
/// Unchecked, because it points to memory: the value is reached only inside `withLock`, under the mutex, and comes in
/// and out as `sending`; the pointers never change and are freed by the only owner, of which there is one because the
/// type cannot be copied.
public struct Lock<Value>: ~Copyable, @unchecked Sendable {
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let value: UnsafeMutablePointer<Value>

    public init(_ initial: sending Value) {
        mutex = .allocate(capacity: 1)
        mutex.initialize(to: pthread_mutex_t())
        let code = pthread_mutex_init(mutex, nil)
        precondition(code == 0, "a mutex without attributes needs nothing that could be missing")
        value = .allocate(capacity: 1)
        value.initialize(to: initial)
    }

    deinit {
        value.deinitialize(count: 1)
        value.deallocate()
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
    }

    /// Runs `body` while no other thread does. `body` has to be short, must not block and must not come back here.
    public borrowing func withLock<Result, Failure: Error>(
        _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return try body(&value.pointee)
    }
}
