import Foundation

/// Finds the daemon's process without its help: by who has the listening socket open.
///
/// Not by `library.lock`: whoever wants to stop a daemon knows its socket, and not always its library. Not by who is at
/// the other end of a connection: with socket activation that is the service manager, and where the listener's queue is
/// full, there is no connection.
package enum ListeningDaemon {
    /// The process called `smilepiled`, of those that may be looked into, that listens at `path`.
    package static func process(at path: String) -> pid_t? {
        let sockets = Set(listeners(at: path).map { "socket:[\($0)]" })
        guard !sockets.isEmpty else { return nil }
        let processes = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        return processes.lazy.compactMap { pid_t($0) }.first { isDaemon($0) && holds(sockets, $0) }
    }

    private static let usualEnd = "/smilepile/control.sock"

    /// The sockets of daemons that this user may talk to, but for the one at `path`: those of processes that may be looked
    /// into, and the system's own.
    package static func sockets(except path: String) -> [String] {
        let tried = canonical(path)
        let listening = listeners().filter { canonical($0.path) != tried }
        let processes = ((try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? [])
            .compactMap { pid_t($0) }.filter { isDaemon($0) && isOwn($0) }
        return listening.filter { inode, path in
            processes.contains { holds(["socket:[\(inode)]"], $0) }
                || (path == "/run/smilepile/control.sock" && access(path, R_OK | W_OK) == 0)
        }.map(\.path).sorted { one, other in
            // Where daemons usually are first.
            let (isUsual, isOther) = (one.hasSuffix(Self.usualEnd), other.hasSuffix(Self.usualEnd))
            return isUsual == isOther ? one < other : isUsual
        }
    }

    /// The inodes of sockets that listen at `path`.
    private static func listeners(at path: String) -> [Substring] {
        let wanted = canonical(path)
        return listeners().filter { canonical($0.path) == wanted }.map(\.inode)
    }

    /// The sockets that listen, from `/proc/net/unix`: number, references, protocol, flags, type, state, inode, path.
    private static func listeners() -> [(inode: Substring, path: String)] {
        let listening = 0x10000
        return table().split(separator: "\n").dropFirst().compactMap { line in
            // A path may have spaces of its own.
            let fields = line.split(separator: " ", maxSplits: 7, omittingEmptySubsequences: true)
            guard fields.count == 8, let flags = Int(fields[3], radix: 16), flags & listening != 0,
                fields[7].hasPrefix("/")
            else { return nil }
            return (fields[6], String(fields[7]))
        }
    }

    /// Read to its end by hand: the kernel says that it is empty, and Foundation then takes the first page for all.
    private static func table() -> String {
        guard let file = FileHandle(forReadingAtPath: "/proc/net/unix") else { return "" }
        var bytes = Data()
        while let chunk = try? file.read(upToCount: 1 << 16), !chunk.isEmpty { bytes += chunk }
        // Names may be any bytes; those that are not text are not ours.
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The same socket may be named through links; the name itself need not be there any more.
    private static func canonical(_ path: String) -> String {
        let url = URL(fileURLWithPath: path)
        return url.deletingLastPathComponent().resolvingSymlinksInPath().path + "/" + url.lastPathComponent
    }

    private static func isDaemon(_ pid: pid_t) -> Bool {
        (try? String(contentsOfFile: "/proc/\(pid)/comm", encoding: .utf8)) == "smilepiled\n"
    }

    /// Others' daemons do not talk to this user, who may well see them where the user is root.
    private static func isOwn(_ pid: pid_t) -> Bool {
        var status = stat()
        return stat("/proc/\(pid)", &status) == 0 && status.st_uid == geteuid()
    }

    private static func holds(_ sockets: Set<String>, _ pid: pid_t) -> Bool {
        let folder = "/proc/\(pid)/fd"
        let descriptors = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return descriptors.contains { name in
            (try? FileManager.default.destinationOfSymbolicLink(atPath: folder + "/" + name)).map(sockets.contains)
                ?? false
        }
    }
}
