import CSystemd
import Foundation
import ServiceMesh

/// What is said to systemd, or to whoever else set NOTIFY_SOCKET (`smilepile up` does). Without one, nothing happens.
struct ServiceManager: Sendable {
    func tell(_ state: String) { sd_notify(0, state) }

    /// For RELOADING, which must carry the time of the reload.
    static var monotonicMicroseconds: UInt64 { MonotonicClock.now() / 1000 }

    /// Feeds systemd's watchdog, where there is one, at half its interval, and only while every service answers.
    func feedWatchdog(from mesh: Mesh) -> Task<Void, Never>? {
        var interval: UInt64 = 0
        guard sd_watchdog_enabled(0, &interval) > 0, interval > 0 else { return nil }
        let pause = interval * 1000 / 2
        return Task {
            while !Task.isCancelled {
                if await mesh.health().isHealthy { tell("WATCHDOG=1") }
                // A timer by nature: systemd counts time.
                try? await Task.sleep(nanoseconds: pause)
            }
        }
    }
}
