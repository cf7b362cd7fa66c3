import BenchSupport
import Foundation
import ServiceMesh
import Synchronization

/// Somebody who marks one photo as a favourite and takes the mark away, again and again, while something large is done: what
/// they wait is what a person feels.
final class OtherCaller: Sendable {
    /// Seconds.
    struct Waits {
        /// All but one in a hundred wait no longer.
        let common: Double
        let longest: Double
    }

    private let times = Mutex<[Double]>([])
    private let isOver = Atomic(false)
    private let ended = DispatchSemaphore(value: 0)

    /// - Parameter photo: its id; there need not be one.
    init(socket path: String, photo: Int) throws {
        let socket = try LineSocket(path: path)
        // A thread of its own, which blocks: the connection is no other thread's from here on.
        let link = Handed(socket)
        Thread.detachNewThread { [self] in
            defer { ended.signal() }
            var isFavorite = false
            while !isOver.load(ordering: .relaxed) {
                isFavorite.toggle()
                let request =
                    #"{"jsonrpc":"2.0","id":1,"method":"photo.favorite","params":"#
                    + #"{"ids":[\#(photo)],"isFavorite":\#(isFavorite),"ignoreMissing":true}}"# + "\n"
                guard let seconds = try? Measuring.blockingSeconds({ try link.socket.ask(Array(request.utf8)) }) else {
                    return
                }
                times.withLock { $0.append(seconds) }
                // Beside what is measured, and not instead of it.
                usleep(2000)
            }
        }
    }

    /// Ends with the answer that is waited for.
    func end() -> Waits {
        isOver.store(true, ordering: .relaxed)
        ended.wait()
        return times.withLock { times in
            Waits(common: Measuring.percentile(times, 0.99), longest: times.max() ?? 0)
        }
    }

    /// - Note: Unchecked, because a connection is not `Sendable`: the thread that it is handed to is the only one that uses it.
    private struct Handed: @unchecked Sendable {
        let socket: LineSocket
        init(_ socket: LineSocket) { self.socket = socket }
    }
}
