import Foundation

/// One connection to the daemon, of lines out and lines in, that never blocks but in ``pump(milliseconds:reads:_:)``:
/// whether it reads is up to its owner, because not reading is one of the things to be tried.
final class LineLink {
    enum Movement {
        case moved, quiet
        /// The daemon has ended the connection, and everything it sent has been handed out.
        case ended
    }

    private let descriptor: Int32
    private var isClosed = false
    private var canWrite = true
    private var outgoing: [UInt8] = []
    private var written = 0
    private var incoming: [UInt8] = []
    private var searched = 0
    private var chunk = [UInt8](repeating: 0, count: 1 << 16)

    init(path: String) throws {
        descriptor = try LineSocket.connected(to: path)
        _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
    }

    deinit { close() }

    func close() {
        if !isClosed { Foundation.close(descriptor) }
        isClosed = true
    }

    func put(_ bytes: some Sequence<UInt8>) { outgoing += bytes }

    var hasUnsent: Bool { canWrite && written < outgoing.count }

    /// Tells the daemon that nothing more comes. What was put before must have gone.
    func endOutput() {
        shutdown(descriptor, Int32(SHUT_WR))
        canWrite = false
    }

    /// Sends and receives what can be, waiting so long at most for either, and hands out each line without its end.
    func pump(milliseconds: Int32, reads: Bool, _ take: (ArraySlice<UInt8>) -> Void) -> Movement {
        var state = pollfd(fd: descriptor, events: 0, revents: 0)
        if reads { state.events |= Int16(POLLIN) }
        if hasUnsent { state.events |= Int16(POLLOUT) }
        guard poll(&state, 1, milliseconds) > 0 else { return .quiet }
        if state.revents & Int16(POLLOUT) != 0 { send() }
        guard reads else { return .moved }
        guard state.revents & Int16(POLLIN | POLLHUP | POLLERR) != 0 else { return .moved }
        let count = recv(descriptor, &chunk, chunk.count, 0)
        if count < 0 && (errno == EAGAIN || errno == EINTR) { return .moved }
        guard count > 0 else { return .ended }
        incoming += chunk[..<count]
        cut(take)
        return .moved
    }

    private func send() {
        let count = outgoing.withUnsafeBytes { all in
            Foundation.send(
                descriptor, all.baseAddress.map { $0 + written }, all.count - written, Int32(MSG_NOSIGNAL))
        }
        if count > 0 {
            written += count
        } else if errno != EAGAIN && errno != EINTR {
            // What it has sent until now can still be read.
            canWrite = false
        }
        if written == outgoing.count {
            outgoing.removeAll(keepingCapacity: true)
            written = 0
        }
    }

    private func cut(_ take: (ArraySlice<UInt8>) -> Void) {
        var begin = 0
        while let end = incoming[max(begin, searched)...].firstIndex(of: 0x0A) {
            take(incoming[begin..<end])
            begin = end + 1
            searched = begin
        }
        searched = incoming.count - begin
        incoming.removeFirst(begin)
    }
}
