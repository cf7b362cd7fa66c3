import CCurl
import Dispatch
import Synchronization

typealias TransferResult = Result<HTTPResponse, HTTPClientError>

/// A request on its way to the thread.
struct Arrival: Sendable {
    let id: UInt64
    let request: HTTPRequest
    let receiving: HTTPReceiving
    let deadline: ContinuousClock.Instant
    /// Resumed once: by the inbox that refuses it, or by the thread.
    let continuation: CheckedContinuation<TransferResult, Never>
}

/// libcurl's handle for many transfers.
struct MultiHandle: @unchecked Sendable {
    // Sendable because other threads use it for one purpose: to wake the thread that owns it. `curl_multi_wakeup` is made
    // for that. They do so under the inbox's lock and only while the inbox has the handle, and the owner takes it out
    // of there, under the same lock, before it frees it.
    let pointer: UnsafeMutableRawPointer
}

/// What other threads say to the one that does the transfers.
final class TransferInbox: Sendable {
    struct Mail {
        var arrivals: [Arrival] = []
        var cancelled: [UInt64] = []
        var isStopping = false
    }

    private struct State {
        var mail = Mail()
        var lastID: UInt64 = 0
        /// Requests that wait or run.
        var count = 0
        /// Nil once nobody reads any more.
        var handle: MultiHandle?
    }

    private let state: Mutex<State>
    private let capacity: Int
    /// Left by the thread at its end.
    let thread = DispatchGroup()

    init(_ handle: MultiHandle, capacity: Int) {
        state = Mutex(State(handle: handle))
        self.capacity = capacity
        thread.enter()
    }

    // MARK: Other threads

    func nextID() -> UInt64 {
        state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
    }

    /// Runs inside the task that asks, after its cancellation handler has been set up: either the task is cancelled
    /// already and that is seen here, or the handler comes to ``cancel(_:)`` afterwards.
    func submit(_ arrival: Arrival) {
        let refusal: HTTPClientError? = state.withLock { state in
            guard !Task.isCancelled else { return .cancelled }
            guard !state.mail.isStopping else { return .stopped }
            guard state.count < capacity else { return .busy }
            state.count += 1
            state.mail.arrivals.append(arrival)
            Self.wake(state)
            return nil
        }
        if let refusal { arrival.continuation.resume(returning: .failure(refusal)) }
    }

    func cancel(_ id: UInt64) {
        state.withLock { state in
            // Nobody would empty it any more.
            guard !state.mail.isStopping else { return }
            state.mail.cancelled.append(id)
            Self.wake(state)
        }
    }

    func stopAdmission() {
        state.withLock { state in
            state.mail.isStopping = true
            Self.wake(state)
        }
    }

    func ended() async {
        await withCheckedContinuation { continuation in
            thread.notify(queue: .global()) { continuation.resume() }
        }
    }

    private static func wake(_ state: State) {
        // It fails only where the handle has no pipe, which was looked at when it was made.
        if let handle = state.handle { _ = curl_multi_wakeup(handle.pointer) }
    }

    // MARK: The thread

    func take() -> Mail {
        state.withLock { state in
            defer { state.mail = Mail(isStopping: state.mail.isStopping) }
            return state.mail
        }
    }

    func leave() { state.withLock { $0.count -= 1 } }

    /// Before the handle is freed.
    func close() { state.withLock { $0.handle = nil } }
}
