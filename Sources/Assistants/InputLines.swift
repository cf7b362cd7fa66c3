import Executors
import Foundation
import Synchronization

/// Lines of a descriptor, one at a time: the next one is read when somebody asks for it, so that nothing piles up here.
final class InputLines: Sendable {
    enum Line: Equatable {
        /// Without its end.
        case line(Data)
        /// One that was longer than a line may be; it has been read over.
        case tooLong
        case end
    }

    /// As long as the daemon takes one.
    static let maximumLength = 1 << 20

    private struct State {
        var buffer = Data()
        var hasEnded = false
    }

    private let descriptor: Int32
    private let state = Mutex(State())
    private let thread = BlockingPool(name: "input", threads: 1)

    init(descriptor: Int32) { self.descriptor = descriptor }

    func next() async throws -> Line {
        try await thread.run { [self] in state.withLock { read(&$0) } }
    }

    private func read(_ state: inout State) -> Line {
        var isTooLong = false
        while true {
            if let end = state.buffer.firstIndex(of: UInt8(ascii: "\n")) {
                let line = Data(state.buffer[..<end])
                state.buffer = Data(state.buffer[(end + 1)...])
                if isTooLong || line.count > Self.maximumLength { return .tooLong }
                if !line.allSatisfy({ $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\r") }) { return .line(line) }
                continue
            }
            if state.buffer.count > Self.maximumLength {
                isTooLong = true
                state.buffer.removeAll()
            }
            guard !state.hasEnded, let more = chunk(), !more.isEmpty else {
                state.hasEnded = true
                let rest = state.buffer
                state.buffer.removeAll()
                if isTooLong { return .tooLong }
                return rest.isEmpty ? .end : .line(rest)
            }
            state.buffer += more
        }
    }

    /// What there is, empty at the end, nil where it cannot be read.
    private func chunk() -> Data? {
        var bytes = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = Foundation.read(descriptor, &bytes, bytes.count)
            if count >= 0 { return Data(bytes[..<count]) }
            if errno != EINTR { return nil }
        }
    }
}
