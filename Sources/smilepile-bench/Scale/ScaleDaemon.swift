import BenchSupport
import Foundation

/// A daemon on a library, and commands that are typed to it.
final class ScaleDaemon {
    private let socket: String
    private let process: Process
    private var pid: Int32 { process.processIdentifier }

    /// Starts it, and returns when it listens.
    init(library: String, in work: WorkFolder) throws {
        let folder = work.newPath("run")
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        socket = folder + "/control.sock"
        process = try Command(
            [try Programs.beside("smilepiled"), "--library", library, "--socket", socket],
            environment: ["SMILEPILE_KEY_FILE": BenchLibrary.keyFile(of: library)]
        ).start(log: try work.newLog())
        _ = try LineSocket.waiting(for: socket, of: process)
    }

    /// Runs a command line, from its start to its end.
    /// - Parameters:
    ///   - photos: that it is about.
    ///   - marked: id of the photo that another caller marks meanwhile.
    func measure(_ words: [String], photos: Int, marked: Int, in work: WorkFolder) throws -> ScaleSample {
        ProcessFacts.forgetPeak(of: pid)
        let other = try OtherCaller(socket: socket, photo: marked)
        var waits: OtherCaller.Waits?
        defer { if waits == nil { _ = other.end() } }
        let seconds = try Measuring.blockingSeconds { try run(words, in: work) }
        let ended = other.end()
        waits = ended
        return ScaleSample(photos: photos, seconds: seconds, peak: ProcessFacts.peakMemory(pid), waits: ended)
    }

    func run(_ words: [String], in work: WorkFolder) throws {
        do {
            try Command([try Programs.beside("smilepile")] + words + ["--socket", socket]).run(in: work)
        } catch let ended as Command.Failure where ended.status == Self.attention {
            // A merge tells that the photo which the other caller marks is another one in the backup.
        }
    }

    /// Exit code of what was done, and has something to tell.
    private static let attention: Int32 = 5

    func end() { if process.isRunning { process.stop() } }
}
