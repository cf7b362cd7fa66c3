import BenchSupport
import Foundation

/// The daemon beside this program, with a library of its own, as a process to be looked at and to be stopped.
final class StressDaemon {
    struct Facts {
        let residentBytes: Int64
        let peakBytes: Int64
        let descriptors: Int
        let threads: Int
    }

    struct Failed: Error, CustomStringConvertible {
        let description: String
    }

    let folder: String
    let library: String
    let socket: String
    private let process: Process
    private let log: FileHandle
    var pid: Int32 { process.processIdentifier }

    /// Starts it and returns when it listens.
    init(in work: WorkFolder) throws {
        folder = work.newPath("stress")
        library = folder + "/library"
        socket = folder + "/control.sock"
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        log = try work.newLog()
        process = try Command(
            [try Programs.beside("smilepiled"), "--library", library, "--socket", socket],
            environment: ["SMILEPILE_KEY_FILE": BenchLibrary.keyFile(of: library)]
        ).start(log: log)
        _ = try LineSocket.waiting(for: socket, of: process)
    }

    var facts: Facts {
        let status = (try? String(contentsOfFile: "/proc/\(pid)/status", encoding: .utf8)) ?? ""
        func value(_ name: String) -> Int64 {
            let line = status.split(separator: "\n").first { $0.hasPrefix(name + ":") }
            return line?.split { " \t".contains($0) }.dropFirst().first.flatMap { Int64($0) } ?? 0
        }
        let descriptors = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(pid)/fd"))?.count ?? 0
        return Facts(
            residentBytes: value("VmRSS") << 10, peakBytes: ProcessFacts.peakMemory(pid), descriptors: descriptors,
            threads: Int(value("Threads")))
    }

    var isRunning: Bool { process.isRunning }

    /// Asks it to end, and waits until it has.
    /// - Throws: ``Failed`` where it does not, or ends with an error; with the end of its log.
    func stop() throws {
        kill(pid, SIGTERM)
        // A process that hangs must not hang this one: after a minute it is ended the hard way, and that is told.
        let ending = process
        let late = DispatchWorkItem { ending.stop() }
        DispatchQueue.global().asyncAfter(deadline: .now() + 60, execute: late)
        process.waitUntilExit()
        late.cancel()
        StartedProcesses.remove(pid)
        guard process.terminationReason == .exit, process.terminationStatus == 0 else {
            throw Failed(description: "the daemon ended with \(process.terminationStatus): \(words)")
        }
    }

    func endNow() { if process.isRunning { process.stop() } }

    /// The end of what it has logged.
    var words: String {
        try? log.seek(toOffset: 0)
        return String(decoding: ((try? log.readToEnd()) ?? Data()).suffix(600), as: UTF8.self)
    }

    /// Whether a process is one of the daemon's own: a pid may name another by now.
    func isChild(_ child: Int32) -> Bool {
        guard let text = try? String(contentsOfFile: "/proc/\(child)/stat", encoding: .utf8),
            let end = text.lastIndex(of: ")")
        else { return false }
        // After the name: state, and then the parent.
        return text[end...].split(separator: " ").dropFirst(2).first.flatMap { Int32($0) } == pid
    }
}
