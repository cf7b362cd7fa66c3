import Foundation

/// Finds the daemon's process without its help: by who has the listening socket open.
///
/// Not by `library.lock`: whoever wants to stop a daemon knows its socket, and not always its library. Not by who is at
/// the other end of a connection: with socket activation that is the service manager, and where the listener's queue is
/// full, there is no connection.
enum ListeningDaemon {
    /// The process called `smilepiled`, of those that may be looked into, that listens at `path`.
    static func process(at path: String) -> pid_t? {
        let sockets = Set(listeners(at: path).map { "socket:[\($0)]" })
        guard !sockets.isEmpty else { return nil }
        let processes = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        return processes.lazy.compactMap { pid_t($0) }.first { isDaemon($0) && holds(sockets, $0) }
    }

    /// The inodes of sockets that listen at `path`, from `/proc/net/unix`: number, references, protocol, flags, type,
    /// state, inode, path.
    private static func listeners(at path: String) -> [Substring] {
        let wanted = canonical(path)
        let listening = 0x10000
        return table().split(separator: "\n").dropFirst().compactMap { line in
            // A path may have spaces of its own.
            let fields = line.split(separator: " ", maxSplits: 7, omittingEmptySubsequences: true)
            guard fields.count == 8, let flags = Int(fields[3], radix: 16), flags & listening != 0,
                fields[7].hasPrefix("/"), canonical(String(fields[7])) == wanted
            else { return nil }
            return fields[6]
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

    private static func holds(_ sockets: Set<String>, _ pid: pid_t) -> Bool {
        let folder = "/proc/\(pid)/fd"
        let descriptors = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return descriptors.contains { name in
            (try? FileManager.default.destinationOfSymbolicLink(atPath: folder + "/" + name)).map(sockets.contains)
                ?? false
        }
    }
}
