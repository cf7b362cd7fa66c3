import CLinux
import Dispatch
import Foundation
import ServiceMesh
import Synchronization

/// The daemon's end of a pipe whose bytes go into one file, up to a bound. A program that speaks for somebody who is not at this
/// machine writes into such a pipe and not into the file: whoever has a file's descriptor can make it as large as the disk, and
/// nothing takes it back. Here nothing comes after the bound, after the disk's reserve is reached, or after ``end()``; the
/// program's next write fails with `EPIPE` then.
///
/// Rejected: a limit on file sizes of the whole program (`RLIMIT_FSIZE`), which is the same for each of its files and says
/// nothing of their sum; a memory file sealed at its size, which is memory of as many bytes.
package final class BoundedIntake: Sendable {
    /// One thread for all: uploads are as fast as the disk that they share.
    private static let queue = DispatchQueue(label: "smilepile-uploads")
    private static let capacity: Int32 = 256 << 10
    /// Bytes taken at once; one upload does not keep the others waiting for longer.
    private static let turn = 4 << 20
    /// Bytes that are written between two looks at the disk's room.
    private static let stride: Int64 = 16 << 20

    private struct State {
        /// Nil once it has ended. The pipe's descriptor is the source's, which closes it.
        var source: (any DispatchSourceRead)?
        var rest: Int64
        var sinceLook: Int64 = 0
    }

    private let reader: Int32
    private let file: OwnedFile
    private let hasRoom: @Sendable () -> Bool
    private let state: Mutex<State>

    /// - Parameters:
    ///   - file: written at its position, and nobody else's.
    ///   - most: bytes that are taken, 0 or more.
    ///   - hasRoom: whether the disk takes more; asked once for each 16 MiB, on a thread that may block.
    /// - Returns: the intake, and the end to write into.
    package static func begin(
        into file: OwnedFile, most: Int64, hasRoom: @escaping @Sendable () -> Bool
    ) throws -> (intake: BoundedIntake, writer: OwnedFile) {
        var ends: [Int32] = [-1, -1]
        guard clinux_pipe(&ends, capacity) == 0 else {
            throw FileSystem.Failure(action: "open", path: "a pipe", code: errno)
        }
        let intake = BoundedIntake(reader: ends[0], file, most: most, hasRoom)
        return (intake, OwnedFile(owning: ends[1]))
    }

    private init(reader: Int32, _ file: OwnedFile, most: Int64, _ hasRoom: @escaping @Sendable () -> Bool) {
        self.reader = reader
        self.file = file
        self.hasRoom = hasRoom
        state = Mutex(State(rest: most))
        state.withLock { state in
            let source = DispatchSource.makeReadSource(fileDescriptor: reader, queue: Self.queue)
            source.setEventHandler { [weak self] in self?.take() }
            // The kernel may look at a descriptor that is watched until the source says that it does not any more.
            source.setCancelHandler { close(reader) }
            source.activate()
            state.source = source
        }
    }

    deinit { state.withLock { end(&$0) } }

    /// Writes what is in the pipe into the file. After it returns, whatever had been written into the pipe before is there, as
    /// far as it is taken. Blocks.
    package func take() {
        state.withLock { state in
            guard state.source != nil else { return }
            withUnsafeTemporaryAllocation(byteCount: 64 << 10, alignment: 16) { buffer in
                var taken = 0
                while taken < Self.turn {
                    guard state.rest > 0, let count = read(into: buffer, most: state.rest) else { return end(&state) }
                    guard count > 0 else { return }
                    let bytes = UnsafeRawBufferPointer(rebasing: buffer[..<count])
                    do {
                        try file.withDescriptor { try FileSystem.write(bytes, to: $0, at: nil, "an upload") }
                    } catch {
                        return end(&state)
                    }
                    taken += count
                    state.rest -= Int64(count)
                    state.sinceLook += Int64(count)
                    if state.sinceLook >= Self.stride {
                        state.sinceLook = 0
                        guard hasRoom() else { return end(&state) }
                    }
                }
            }
        }
    }

    /// Takes what is in the pipe, and nothing after it. Blocks.
    package func end() {
        take()
        state.withLock { end(&$0) }
    }

    package var hasEnded: Bool { state.withLock { $0.source == nil } }

    private func end(_ state: inout State) {
        state.source?.cancel()
        state.source = nil
    }

    /// - Returns: bytes that were there; 0 where there are none now, nil where there will be none.
    private func read(into buffer: UnsafeMutableRawBufferPointer, most: Int64) -> Int? {
        while true {
            let count = Foundation.read(reader, buffer.baseAddress, min(buffer.count, Int(clamping: most)))
            if count > 0 { return count }
            if count < 0 && errno == EINTR { continue }
            return count < 0 && errno == EAGAIN ? 0 : nil
        }
    }
}
