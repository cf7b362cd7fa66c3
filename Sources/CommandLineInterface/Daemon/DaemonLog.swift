import CLinux
import ControlSocket
import Foundation

/// Where a program that stays and that no service manager watches writes its log:
/// `$XDG_STATE_HOME/smilepile/daemon.log`, and `web.log` for the web program.
package struct DaemonLog {
    /// Bytes past which the log of earlier runs is put aside, as `daemon.log.1`, when the program is started.
    private static let largest: Int64 = 8_000_000
    /// How much of its end is looked at for the reason of a failed start.
    private static let tail = 16_384

    package let path: String
    /// Where the present run's part begins.
    private let begin: Int64

    /// The log's folder, made where there is none.
    package static func folder(environment: [String: String]) throws -> String {
        let folder = ControlAddress.stateFolder(environment)
        do {
            try FileManager.default.createDirectory(
                atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            throw CommandFailure.local(
                "The folder \(folder) for the log cannot be made. Set XDG_STATE_HOME to a folder of yours.")
        }
        return folder
    }

    package static func open(_ name: String = "daemon.log", environment: [String: String]) throws -> DaemonLog {
        let folder = try folder(environment: environment)
        let path = folder + "/" + name
        if size(of: path) > largest { rename(path, path + ".1") }
        // Made here, with this mode: what spawning creates follows the umask.
        let descriptor = clinux_open(path, O_WRONLY | O_CREAT | O_APPEND, 0o600)
        guard descriptor >= 0 else {
            throw CommandFailure.local(
                "The log \(path) cannot be written: \(String(cString: strerror(errno))). Make it writable, or set "
                    + "XDG_STATE_HOME to a folder of yours.")
        }
        close(descriptor)
        return DaemonLog(path: path, begin: size(of: path))
    }

    private static func size(of path: String) -> Int64 {
        var status = stat()
        return stat(path, &status) == 0 ? Int64(status.st_size) : 0
    }

    /// The last lines that the present run wrote.
    package func lastLines(_ count: Int) -> [String] {
        guard let file = FileHandle(forReadingAtPath: path) else { return [] }
        let start = max(begin, Self.size(of: path) - Int64(Self.tail))
        guard (try? file.seek(toOffset: UInt64(start))) != nil, let data = try? file.read(upToCount: Self.tail) else {
            return []
        }
        return String(decoding: data, as: UTF8.self).split(separator: "\n").suffix(count).map(String.init)
    }
}
