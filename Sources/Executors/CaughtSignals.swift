import CLinux
import Foundation
import Synchronization

/// Signals that mean something else than the end of the program, for as long as this value lives.
///
/// ```swift
/// let interrupts = try CaughtSignals([SIGINT]) { _ in stopAfterThisPhoto() }
/// ```
///
/// None is lost: from the moment that the initializer returns, each finds a handler that puts it into a pipe, and a
/// thread of its own takes it from there, whatever the other threads are doing. Signals of one kind that come before
/// the kernel has delivered the first are one, as everywhere.
///
/// `DispatchSource.makeSignalSource` was rejected. It needs the signal ignored, and installs its own handler later, on
/// another thread; what comes between the two is thrown away by the kernel: two of a hundred that were sent to a daemon
/// in its first 30 ms. Nor does it install that handler a second time, so another source for the same signal is deaf.
/// signalfd was rejected too: it wants the signal blocked in every thread, and Dispatch lets the main thread of a
/// program with `await` at its top level sleep in `sigsuspend` with none blocked.
public final class CaughtSignals: Sendable {
    private struct Handlers {
        var byID: [UInt64: (numbers: Set<Int32>, handle: @Sendable (Int32) -> Void)] = [:]
        var lastID: UInt64 = 0
        var isReading = false
    }

    private static let handlers = Mutex(Handlers())

    private let numbers: Set<Int32>
    private let id: UInt64

    /// - Parameters:
    ///   - numbers: which signals; where several of these values want one, each gets it.
    ///   - handle: called for each signal, one after the other, on a thread that has nothing else to do.
    /// - Throws: `POSIXError` where the system has no descriptors left, or one of the signals cannot be caught.
    public init(_ numbers: Set<Int32>, _ handle: @escaping @Sendable (Int32) -> Void) throws {
        let pipe = clinux_signals_pipe()
        guard pipe >= 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EMFILE) }
        self.numbers = numbers
        let (id, isFirst) = Self.handlers.withLock { handlers -> (UInt64, Bool) in
            handlers.lastID += 1
            handlers.byID[handlers.lastID] = (numbers, handle)
            defer { handlers.isReading = true }
            return (handlers.lastID, !handlers.isReading)
        }
        self.id = id
        if isFirst { Self.startReading(pipe) }
        // Last, so that the first signal finds its handler.
        for number in numbers where clinux_signal_catch(number) != 0 {
            throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EINVAL)
        }
    }

    deinit { end() }

    /// Gives the signals back what they did before, unless another of these values wants them. Again does nothing.
    public func end() {
        Self.handlers.withLock { handlers in
            handlers.byID[id] = nil
            let wanted = handlers.byID.values.reduce(into: Set<Int32>()) { $0.formUnion($1.numbers) }
            // Under the lock, so that nobody who comes now is left without.
            for number in numbers.subtracting(wanted) { _ = clinux_signal_release(number) }
        }
    }

    /// The thread stays for as long as the process: a pipe that nobody reads would be forgotten signals.
    private static func startReading(_ pipe: Int32) {
        let thread = Thread {
            _ = clinux_set_thread_name("signals")
            var byte: UInt8 = 0
            while true {
                let count = read(pipe, &byte, 1)
                guard count == 1 || errno == EINTR else { return }
                if count == 1 { handle(Int32(byte)) }
            }
        }
        thread.stackSize = 256 << 10
        thread.start()
    }

    private static func handle(_ number: Int32) {
        let waiting = handlers.withLock { handlers in
            handlers.byID.filter { $0.value.numbers.contains(number) }.sorted { $0.key < $1.key }.map(\.value.handle)
        }
        for handle in waiting { handle(number) }
    }
}
