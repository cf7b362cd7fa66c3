import Foundation

/// What the kernel says about a process under `/proc`; zero where it has gone.
package enum ProcessFacts {
    /// The most memory it ever had resident, in bytes (`VmHWM`). Pages that processes share count in each.
    package static func peakMemory(_ pid: Int32) -> Int64 {
        status(pid, "VmHWM:")
    }

    /// The memory that it has resident at this moment, in bytes. Pages that processes share count in each.
    package static func residentMemory(_ pid: Int32) -> Int64 { status(pid, "VmRSS:") }

    private static func status(_ pid: Int32, _ field: String) -> Int64 {
        guard let text = try? String(contentsOfFile: "/proc/\(pid)/status", encoding: .utf8),
            let line = text.split(separator: "\n").first(where: { $0.hasPrefix(field) }),
            let kilobytes = Int64(line.split(separator: " ").dropLast().last ?? "")
        else { return 0 }
        return kilobytes << 10
    }

    /// The memory that it has at this moment, in bytes, where a page that several processes share counts once in all.
    package static func memoryShare(_ pid: Int32) -> Int64 {
        guard let text = try? String(contentsOfFile: "/proc/\(pid)/smaps_rollup", encoding: .utf8),
            let line = text.split(separator: "\n").first(where: { $0.hasPrefix("Pss:") }),
            let kilobytes = Int64(line.split(separator: " ").dropLast().last ?? "")
        else { return 0 }
        return kilobytes << 10
    }

    /// Forgets a process's peak, so that the next one is of what comes now.
    /// - Parameter pid: this process's unless told.
    package static func forgetPeak(of pid: Int32 = getpid()) {
        try? "5".write(toFile: "/proc/\(pid)/clear_refs", atomically: false, encoding: .utf8)
    }

    /// Seconds on a core that programs have taken which this process started and which have ended.
    package static func processorSecondsOfEndedChildren() -> Double {
        var usage = rusage()
        getrusage(RUSAGE_CHILDREN.rawValue, &usage)
        return [usage.ru_utime, usage.ru_stime].reduce(0) { $0 + Double($1.tv_sec) + Double($1.tv_usec) / 1e6 }
    }

    /// Seconds on a core, its own and the kernel's for it.
    package static func processorSeconds(_ pid: Int32) -> Double {
        guard let text = try? String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8),
            let end = text.lastIndex(of: ")")
        else { return 0 }
        // After the name in parentheses, which may hold anything: state is field 3, utime 14, stime 15.
        let fields = text[end...].split(separator: " ")
        guard fields.count > 13, let user = Double(fields[12]), let system = Double(fields[13]) else { return 0 }
        return (user + system) / Double(sysconf(Int32(_SC_CLK_TCK)))
    }
}

/// The largest that a changing set of processes was, added up over those that lived at once.
package actor MemoryPeak {
    package init() {}

    /// Of each process at the moment of the largest sum.
    package private(set) var parts: [Int64] = []
    package var bytes: Int64 { parts.reduce(0, +) }

    /// The largest sum of what they had at one moment, shared pages counted once.
    package private(set) var shares: Int64 = 0

    package func sample(_ pids: [Int32]) {
        shares = max(shares, pids.reduce(0) { $0 + ProcessFacts.memoryShare($1) })
        let now = pids.map(ProcessFacts.peakMemory)
        if now.reduce(0, +) > bytes { parts = now }
    }
}
