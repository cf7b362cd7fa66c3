import CCurl
import CLinux
import Foundation

/// The thread that owns every handle of libcurl's, and all that it does. Nothing here is seen by another thread but the
/// inbox.
final class TransferLoop {
    private let multi: MultiHandle
    private let inbox: TransferInbox
    private let surroundings: Surroundings
    private var transfers: [UInt64: Transfer] = [:]
    /// The longest sleep while nothing is to be done, in milliseconds.
    private static let longestSleep: Int32 = 60_000

    private init(_ multi: MultiHandle, _ inbox: TransferInbox, _ surroundings: Surroundings) {
        self.multi = multi
        self.inbox = inbox
        self.surroundings = surroundings
    }

    /// libcurl's own state, which is made once in a process.
    private static let preparation = ccurl_prepare()

    static func start(_ surroundings: Surroundings) throws(HTTPClientError) -> TransferInbox {
        guard preparation == CURLE_OK else { throw .unexpected(Int32(bitPattern: preparation.rawValue)) }
        guard let pointer = curl_multi_init() else { throw .unexpected(Int32(bitPattern: CURLE_FAILED_INIT.rawValue)) }
        let limits = surroundings.limits
        // Without a pipe to be woken by, which libcurl does not complain of, every request would wait for the end of a sleep.
        guard curl_multi_wakeup(pointer) == CURLM_OK,
            ccurl_limit_connections(pointer, limits.connectionsOfHost, limits.connections) == CURLM_OK
        else {
            curl_multi_cleanup(pointer)
            throw .unexpected(Int32(bitPattern: CURLE_FAILED_INIT.rawValue))
        }
        let multi = MultiHandle(pointer: pointer)
        let inbox = TransferInbox(multi, capacity: limits.transfers)
        // It holds the inbox and not the client, so that a forgotten client goes away.
        let thread = Thread {
            _ = clinux_set_thread_name("http-client")
            blockBrokenPipes()
            TransferLoop(multi, inbox, surroundings).run()
            inbox.thread.leave()
        }
        thread.stackSize = 1 << 20
        thread.start()
        return inbox
    }

    /// OpenSSL writes to sockets that the other side has closed, and libcurl, where it is told to leave signals alone,
    /// does not keep SIGPIPE from the program. Blocked in this thread, the signal goes nowhere: the kernel sends it to the
    /// thread that writes.
    private static func blockBrokenPipes() {
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, SIGPIPE)
        pthread_sigmask(SIG_BLOCK, &signals, nil)
    }

    private func run() {
        while true {
            let mail = inbox.take()
            if mail.isStopping {
                for arrival in mail.arrivals { refuse(arrival, .stopped) }
                break
            }
            for arrival in mail.arrivals { begin(arrival) }
            for id in mail.cancelled { end(id, .failure(.cancelled)) }
            let now = ContinuousClock.now
            for (id, transfer) in transfers where transfer.deadline <= now { end(id, .failure(.timedOut)) }
            var running: Int32 = 0
            check(curl_multi_perform(multi.pointer, &running))
            readResults()
            check(curl_multi_poll(multi.pointer, nil, 0, sleep(), nil))
        }
        endAll(.stopped)
        inbox.close()
        curl_multi_cleanup(multi.pointer)
    }

    /// Milliseconds until the next deadline, rounded up. libcurl wakes by itself for its own.
    private func sleep() -> Int32 {
        guard let next = transfers.values.map(\.deadline).min() else { return Self.longestSleep }
        let left = ContinuousClock.now.duration(to: next)
        guard left < .milliseconds(Self.longestSleep) else { return Self.longestSleep }
        return Int32(max(0, (left / .milliseconds(1)).rounded(.up)))
    }

    /// A loop that cannot work would turn for ever: whoever waits is told.
    private func check(_ code: CURLMcode) {
        if code != CURLM_OK { endAll(.unexpected(code.rawValue)) }
    }

    private func begin(_ arrival: Arrival) {
        do throws(HTTPClientError) {
            guard arrival.deadline > ContinuousClock.now else { throw .timedOut }
            let transfer = try Transfer(arrival, surroundings)
            let code = curl_multi_add_handle(multi.pointer, transfer.easy)
            guard code == CURLM_OK else {
                transfer.close()
                throw .unexpected(code.rawValue)
            }
            transfers[arrival.id] = transfer
        } catch {
            refuse(arrival, error)
        }
    }

    private func refuse(_ arrival: Arrival, _ error: HTTPClientError) {
        inbox.leave()
        arrival.continuation.resume(returning: .failure(error))
    }

    private func readResults() {
        var left: Int32 = 0
        while let message = curl_multi_info_read(multi.pointer, &left) {
            guard message.pointee.msg == CURLMSG_DONE else { continue }
            let easy = message.pointee.easy_handle
            // Read before the handle is removed: the message goes with it.
            let code = ccurl_result(message)
            guard let (id, transfer) = transfers.first(where: { $0.value.easy == easy }) else { continue }
            end(id, transfer.result(code))
        }
    }

    /// Ends a transfer, done or not. One that is not done loses its connection.
    private func end(_ id: UInt64, _ result: TransferResult) {
        // Cancelled and done at the same time: the first has it.
        guard let transfer = transfers.removeValue(forKey: id) else { return }
        curl_multi_remove_handle(multi.pointer, transfer.easy)
        transfer.close()
        inbox.leave()
        transfer.continuation.resume(returning: result)
    }

    private func endAll(_ error: HTTPClientError) {
        for id in Array(transfers.keys) { end(id, .failure(error)) }
    }
}
