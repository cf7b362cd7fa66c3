import Executors
import Foundation
import Synchronization

/// A folder for everything that a measurement writes, removed at its end, and on Ctrl-C as well.
package final class WorkFolder: Sendable {
    package let path: String
    private let counter = Atomic(0)
    private let caught: CaughtSignals
    private let mounts = Mounts()
    private let discarded = Mutex<[String]>([])
    /// Bytes that the disk has free while nothing that was discarded has to go.
    private static let ample = 20 << 30

    /// - Parameter parent: where to make it; the folder for temporary files unless told. It should be on the disk that
    ///   is to be measured.
    package init(in parent: String?) throws {
        let parent = parent ?? FileManager.default.temporaryDirectory.path
        let path = URL(fileURLWithPath: parent).standardizedFileURL.path + "/smilepile-bench-\(getpid())"
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        self.path = path
        Self.spread(path)
        caught = try CaughtSignals([SIGINT, SIGTERM]) { [mounts] number in
            StartedProcesses.endAll()
            mounts.end()
            try? FileManager.default.removeItem(atPath: path)
            _exit(128 + number)
        }
    }

    /// Has ext4 give each folder in this one a region of the disk of its own. It keeps them together otherwise, and passes over
    /// the inodes that were freed in the last minutes one by one: making a file where a former run's were removed took 0.76 ms
    /// instead of 0.02, and that is what restores were measured by.
    private static func spread(_ path: String) {
        let chattr = Process()
        chattr.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        chattr.arguments = ["chattr", "+T", path]
        // Other file systems refuse, and have no need of it.
        chattr.standardError = FileHandle.nullDevice
        try? chattr.run()
        chattr.waitUntilExit()
    }

    /// A path in the folder that nothing has yet.
    package func newPath(_ name: String) -> String {
        "\(path)/\(name)-\(counter.add(1, ordering: .relaxed).newValue)"
    }

    /// A file in the folder for what programs say.
    package func newLog() throws -> FileHandle {
        let log = newPath("log")
        guard FileManager.default.createFile(atPath: log, contents: nil) else {
            throw CocoaError(.fileWriteUnknown)
        }
        return try FileHandle(forUpdating: URL(fileURLWithPath: log))
    }

    /// Something in the folder that nobody needs any more. It goes at the end, or when the disk gets full: whoever makes files
    /// after others were removed pays for that, on ext4 (`spread`).
    package func discard(_ path: String) throws {
        let free = try FileManager.default.attributesOfFileSystem(forPath: self.path)[.systemFreeSize] as? NSNumber
        let all = discarded.withLock { paths in
            paths.append(path)
            guard (free?.intValue ?? 0) < Self.ample else { return [String]() }
            defer { paths = [] }
            return paths
        }
        for path in all where FileManager.default.fileExists(atPath: path) {
            try FileManager.default.removeItem(atPath: path)
        }
    }

    /// Has a file system in the folder unmounted before the folder goes.
    package func willUnmount(_ place: String) { mounts.add(place) }

    package func remove() {
        caught.end()
        mounts.end()
        try? FileManager.default.removeItem(atPath: path)
    }
}

/// File systems that are mounted for as long as we run.
private final class Mounts: Sendable {
    private let places = Mutex<[String]>([])

    func add(_ place: String) { places.withLock { $0.append(place) } }

    /// Also where somebody still uses them: what they hold is not needed any more.
    func end() {
        for place in places.withLock({ $0 }) {
            let umount = Process()
            umount.executableURL = URL(fileURLWithPath: "/usr/bin/env")
            umount.arguments = ["umount", "--lazy", place]
            try? umount.run()
            umount.waitUntilExit()
        }
    }
}
