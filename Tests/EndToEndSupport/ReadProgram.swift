import Foundation
import Synchronization

/// A program at work whose output is read line by line while it runs. Ended when the value goes.
public final class ReadProgram: Sendable {
    public let pid: Int32
    /// For one reader.
    public let lines: AsyncStream<String>
    private let ended: Task<Int32, Never>
    private let errorText: ErrorText

    /// A class, because a `Mutex` alone cannot be shared by closures.
    private final class ErrorText: Sendable {
        let text = Mutex("")
    }

    public init(_ program: String, _ arguments: [String], environment: [String: String]) throws {
        let process = Process()
        process.executableURL = URL(
            fileURLWithPath: program.hasPrefix("/") ? program : Installation.programs + "/" + program)
        process.arguments = arguments
        process.environment = environment
        process.standardInput = FileHandle.nullDevice
        let (output, errors) = (Pipe(), Pipe())
        process.standardOutput = output
        process.standardError = errors
        let (lines, line) = AsyncStream.makeStream(of: String.self)
        let (ends, end) = AsyncStream.makeStream(of: Int32.self)
        process.terminationHandler = { process in
            end.yield(process.terminationStatus)
            end.finish()
        }
        try process.run()
        let errorText = ErrorText()
        self.errorText = errorText
        self.lines = lines
        pid = process.processIdentifier
        // Threads of their own: reading a pipe blocks.
        let errorDescriptor = errors.fileHandleForReading
        let whenRead = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            Self.read(errorDescriptor) { text in errorText.text.withLock { $0 += text + "\n" } }
            whenRead.signal()
        }
        let descriptor = output.fileHandleForReading
        Thread.detachNewThread {
            Self.read(descriptor) { line.yield($0) }
            whenRead.wait()
            line.finish()
        }
        ended = Task {
            for await status in ends { return status }
            return -1
        }
    }

    deinit {
        // One that has been stopped ends by this too; one that has ended was waited for by Foundation.
        if !hasEnded.load(ordering: .acquiring) { kill(pid, SIGKILL) }
    }

    private let hasEnded = Atomic(false)

    private static func read(_ handle: FileHandle, _ take: (String) -> Void) {
        var rest = Data()
        while true {
            let data = handle.availableData
            if data.isEmpty { break }
            rest += data
            while let end = rest.firstIndex(of: 0x0A) {
                take(String(decoding: rest[..<end], as: UTF8.self))
                rest = rest[(end + 1)...]
            }
        }
        if !rest.isEmpty { take(String(decoding: rest, as: UTF8.self)) }
    }

    /// The exit code, or the signal that ended it, once it has ended.
    public func status() async -> Int32 {
        let status = await ended.value
        hasEnded.store(true, ordering: .releasing)
        return status
    }

    /// What it has said on standard error; all of it once ``lines`` have ended.
    public var errors: String { errorText.text.withLock { $0 } }
}
