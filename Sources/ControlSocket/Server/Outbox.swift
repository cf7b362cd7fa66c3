import CLinux
import Glibc

/// Bytes on their way to a client that did not fit into the kernel's buffer.
///
/// Kept in pieces and not in one array, which would have to be copied to grow and to shrink, and would hold up to four
/// times what waits.
struct Outbox {
    /// Lines shorter than this are put together, so that many of them go out in one call.
    private static let smallPiece = 16 << 10
    private static let largestTogether = 64 << 10

    private var pieces: [[UInt8]] = []
    /// Pieces before this one have gone out, and are empty.
    private var first = 0
    /// Bytes of the first piece that have gone out.
    private var sent = 0

    /// Bytes that wait.
    private(set) var count = 0
    var isEmpty: Bool { count == 0 }

    enum Movement { case moved, full, broken }

    /// Sends `line` now as far as it goes, behind what waits already, and keeps the rest.
    /// - Returns: false where the connection is broken.
    mutating func put(_ line: [UInt8], on socket: Int32) -> Bool {
        guard isEmpty else {
            append(line)
            return true
        }
        let written = line.withUnsafeBytes { clinux_send_now(socket, $0.baseAddress, $0.count) }
        if written == line.count { return true }
        guard written >= 0 || errno == EAGAIN else { return false }
        append(line)
        if written > 0 { advance(by: written) }
        return true
    }

    /// Keeps `line` behind what waits already, and sends nothing.
    mutating func append(_ line: [UInt8]) {
        count += line.count
        if line.count < Self.smallPiece, let last = pieces.last, !last.isEmpty,
            last.count + line.count <= Self.largestTogether
        {
            pieces[pieces.count - 1].append(contentsOf: line)
        } else {
            pieces.append(line)
        }
    }

    /// Sends what waits, as far as the kernel takes it.
    mutating func flush(on socket: Int32) -> Movement {
        var moved = false
        while !isEmpty {
            let written = pieces[first].withUnsafeBytes { all in
                let rest = UnsafeRawBufferPointer(rebasing: all[sent...])
                return clinux_send_now(socket, rest.baseAddress, rest.count)
            }
            guard written >= 0 else { return errno == EAGAIN ? (moved ? .moved : .full) : .broken }
            advance(by: written)
            moved = true
        }
        return .moved
    }

    private mutating func advance(by written: Int) {
        sent += written
        count -= written
        guard count > 0 else { return discard() }
        let piece = pieces[first]
        if sent == piece.count {
            pieces[first] = []
            first += 1
            sent = 0
            if first > pieces.count / 2 {
                pieces.removeFirst(first)
                first = 0
            }
        } else if sent > Self.largestTogether, sent > piece.count / 2 {
            // What is held is never more than twice what waits: that is what the limits count.
            pieces[first] = Array(piece[sent...])
            sent = 0
        }
    }

    /// Lets go of everything, and of the memory.
    mutating func discard() {
        pieces = []
        first = 0
        sent = 0
        count = 0
    }
}
