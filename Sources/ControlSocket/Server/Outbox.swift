import CLinux
import Glibc
import ServiceMesh

/// Bytes on their way to a client that did not fit into the kernel's buffer.
///
/// Kept in pieces and not in one array, which would have to be copied to grow and to shrink, and would hold up to four
/// times the bytes that wait.
struct Outbox {
    /// Lines shorter than this are put together, so that many of them go out in one call.
    private static let smallPiece = 16 << 10
    private static let largestTogether = 64 << 10

    private var pieces: [[UInt8]] = []
    /// Pieces before this one have gone out, and are empty.
    private var first = 0
    /// Bytes of the first piece that have gone out.
    private var sent = 0
    /// Open files by the place of their piece, until its first byte has gone out: they go with that.
    private var files: [Int: [OwnedFile]] = [:]

    /// Open files that wait.
    private(set) var fileCount = 0
    /// Bytes that wait.
    private(set) var count = 0
    var isEmpty: Bool { count == 0 }

    enum Movement { case moved, full, broken }

    /// Sends `line` now as far as it goes, behind the lines that wait already, and keeps the rest.
    /// - Parameter files: that go with its first byte; 8 at most.
    /// - Returns: false where the connection is broken.
    mutating func put(_ line: [UInt8], _ files: [OwnedFile] = [], on socket: Int32) -> Bool {
        guard isEmpty else {
            append(line, files)
            return true
        }
        let written = line.withUnsafeBytes { Self.send($0, files, on: socket) }
        if written == line.count { return true }
        guard written >= 0 || errno == EAGAIN else { return false }
        append(line, written > 0 ? [] : files)
        if written > 0 { advance(by: written) }
        return true
    }

    private static func send(_ bytes: UnsafeRawBufferPointer, _ files: [OwnedFile], on socket: Int32) -> Int {
        guard !files.isEmpty else { return clinux_send_now(socket, bytes.baseAddress, bytes.count) }
        defer { withExtendedLifetime(files) {} }
        let descriptors = files.map { file in file.withDescriptor { $0 } }
        return clinux_send_files_now(
            socket, bytes.baseAddress, bytes.count, descriptors, Int32(descriptors.count))
    }

    /// Keeps `line` behind the lines that wait already, and sends nothing.
    mutating func append(_ line: [UInt8], _ files: [OwnedFile] = []) {
        count += line.count
        guard files.isEmpty else {
            // A piece of its own, so that they go with its own first byte.
            self.files[pieces.count] = files
            fileCount += files.count
            pieces.append(line)
            return
        }
        if line.count < Self.smallPiece, let last = pieces.last, !last.isEmpty,
            last.count + line.count <= Self.largestTogether
        {
            pieces[pieces.count - 1].append(contentsOf: line)
        } else {
            pieces.append(line)
        }
    }

    /// Sends the lines that wait, as far as the kernel takes them.
    mutating func flush(on socket: Int32) -> Movement {
        var moved = false
        while !isEmpty {
            let files = files[first] ?? []
            let written = pieces[first].withUnsafeBytes { all in
                Self.send(UnsafeRawBufferPointer(rebasing: all[sent...]), files, on: socket)
            }
            if written > 0, !files.isEmpty {
                self.files[first] = nil
                fileCount -= files.count
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
                if !files.isEmpty {
                    files = Dictionary(uniqueKeysWithValues: files.map { ($0.key - first, $0.value) })
                }
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
        files = [:]
        fileCount = 0
    }
}
