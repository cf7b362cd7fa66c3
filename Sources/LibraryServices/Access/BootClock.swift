import Foundation
import LibraryStorage

/// The clock by which wrong PINs have to wait: it runs from the machine's start, also while the machine sleeps, and setting
/// the date does nothing to it. Injected, so that tests can let it pass.
package struct BootClock: Sendable {
    package let now: @Sendable () -> BootTime

    package init(now: @escaping @Sendable () -> BootTime) { self.now = now }

    /// The kernel names each of its starts by a random UUID (`boot_id`, 122 random bits). So the name has nothing of the machine in it, and
    /// needs nothing: another machine's start has another one. Containers of one machine share the name, and the clock with it.
    ///
    /// Rejected: to put the machine's own name (`/etc/machine-id`) in front of it, which copies of a disk have in common.
    package static let system: BootClock = {
        let named = try? String(contentsOfFile: "/proc/sys/kernel/random/boot_id", encoding: .utf8)
        guard let boot = named?.trimmingWhitespace, !boot.isEmpty else {
            // Which start of the machine this is cannot be told, so time is counted from this process's own: less than has
            // passed, never more.
            let (boot, began) = (UUID().uuidString, milliseconds())
            return BootClock { BootTime(boot: boot, milliseconds: milliseconds() - began) }
        }
        return BootClock { BootTime(boot: boot, milliseconds: uptime() ?? milliseconds()) }
    }()

    /// From the kernel's own file: what is preloaded to fake a process's clocks does not reach it.
    private static func uptime() -> Int64? {
        let text = try? String(contentsOfFile: "/proc/uptime", encoding: .utf8)
        guard let seconds = text?.split(separator: " ").first.flatMap({ Double($0) }), seconds >= 0, seconds < 1e12
        else { return nil }
        return Int64(seconds * 1000)
    }

    private static func milliseconds() -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_BOOTTIME, &time)
        return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
    }
}
