import CLinux
import Glibc

/// Bytes on their way to a client that did not fit into the kernel's buffer.
struct Outbox {
    private var bytes: [UInt8] = []
    /// Bytes of `bytes` that have gone out.
    private var sent = 0

    var count: Int { bytes.count - sent }
    var isEmpty: Bool { count == 0 }

    enum Movement { case moved, full, broken }

    /// Sends `line` now as far as it goes, behind what waits already, and keeps the rest.
    /// - Returns: false where the connection is broken.
    mutating func put(_ line: [UInt8], on socket: Int32) -> Bool {
        guard isEmpty else {
            if sent > bytes.count / 2 {
                bytes.removeFirst(sent)
                sent = 0
            }
            bytes.append(contentsOf: line)
            return true
        }
        let written = line.withUnsafeBytes { clinux_send_now(socket, $0.baseAddress, $0.count) }
        if written == line.count { return true }
        guard written >= 0 || errno == EAGAIN else { return false }
        bytes = written > 0 ? Array(line[written...]) : line
        sent = 0
        return true
    }

    /// Sends what waits, as far as the kernel takes it.
    mutating func flush(on socket: Int32) -> Movement {
        var moved = false
        while !isEmpty {
            let written = bytes.withUnsafeBytes { all in
                let rest = UnsafeRawBufferPointer(rebasing: all[sent...])
                return clinux_send_now(socket, rest.baseAddress, rest.count)
            }
            guard written >= 0 else { return errno == EAGAIN ? (moved ? .moved : .full) : .broken }
            sent += written
            moved = true
        }
        discard()
        return .moved
    }

    /// Lets go of everything, and of the memory.
    mutating func discard() {
        bytes = []
        sent = 0
    }
}
