import Executors
import Foundation
import Synchronization

/// A folder for everything that a measurement writes, removed at its end, and on Ctrl-C as well.
final class WorkFolder: Sendable {
    let path: String
    private let counter = Atomic(0)
    private let caught: CaughtSignals

    /// - Parameter parent: where to make it; the folder for temporary files unless told. It should be on the disk that
    ///   is to be measured.
    init(in parent: String?) throws {
        let parent = parent ?? FileManager.default.temporaryDirectory.path
        let path = URL(fileURLWithPath: parent).standardizedFileURL.path + "/smilepile-bench-\(getpid())"
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        self.path = path
        caught = try CaughtSignals([SIGINT, SIGTERM]) { number in
            StartedProcesses.endAll()
            try? FileManager.default.removeItem(atPath: path)
            _exit(128 + number)
        }
    }

    /// A path in the folder that nothing has yet.
    func newPath(_ name: String) -> String {
        "\(path)/\(name)-\(counter.add(1, ordering: .relaxed).newValue)"
    }

    /// A file in the folder for what programs say.
    func newLog() throws -> FileHandle {
        let log = newPath("log")
        guard FileManager.default.createFile(atPath: log, contents: nil) else {
            throw CocoaError(.fileWriteUnknown)
        }
        return try FileHandle(forUpdating: URL(fileURLWithPath: log))
    }

    func remove() {
        caught.end()
        try? FileManager.default.removeItem(atPath: path)
    }
}
