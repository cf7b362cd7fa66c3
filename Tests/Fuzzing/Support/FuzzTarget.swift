import CLibFuzzer
import Foundation
import Synchronization

/// One thing that reads bytes which nobody vouches for, and what must hold whatever they are.
///
/// Each target is a program of its own, so that libFuzzer follows only what that target can reach. Memory and time are
/// bounded by libFuzzer's limits (see Scripts/fuzz); what else must hold is said with ``require(_:_:)``.
public protocol FuzzTarget: SendableMetatype {
    /// Inputs to begin with, made by the program's own writers: what chance would need a century to come upon.
    static func seeds() throws -> [[UInt8]]

    static func run(_ input: [UInt8])
}

extension FuzzTarget {
    /// Where `SMILEPILE_FUZZ_SEEDS` names a folder, writes the seeds into it; else is libFuzzer's program.
    public static func main() throws {
        if let folder = ProcessInfo.processInfo.environment["SMILEPILE_FUZZ_SEEDS"] {
            for (number, seed) in try seeds().enumerated() {
                try Data(seed).write(to: URL(fileURLWithPath: "\(folder)/seed-\(number)"))
            }
            return
        }
        current.withLock { $0 = Running(run: run) }
        var count = CommandLine.argc
        var arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = CommandLine.unsafeArgv
        exit(
            LLVMFuzzerRunDriver(&count, &arguments) { bytes, count in
                current.withLock { $0 }?.run(Array(UnsafeBufferPointer(start: bytes, count: count)))
                return 0
            })
    }
}

/// The program's target: libFuzzer calls a C function, which holds nothing.
private let current = Mutex<Running?>(nil)

/// A function put into a structure, because one that goes through a generic function alone is wrapped anew each time.
private struct Running {
    let run: @Sendable ([UInt8]) -> Void
}

/// Ends the program with the input as a finding where `condition` does not hold.
public func require(_ condition: Bool, _ what: @autoclosure () -> String) {
    if !condition { fail(what()) }
}

/// Ends the program with the input as a finding.
public func fail(_ what: String) -> Never {
    FileHandle.standardError.write(Data("VIOLATED: \(what)\n".utf8))
    abort()
}
