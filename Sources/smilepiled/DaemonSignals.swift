import Executors
import Foundation
import Synchronization

/// SIGTERM and SIGINT ask the daemon to stop; a second one ends it at once. SIGHUP is accepted: settings are in the
/// catalogue and always current.
struct DaemonSignals {
    private let caught: CaughtSignals
    /// An element for each SIGHUP that has not been followed by another one; ends when the daemon is to stop.
    private let reloads: AsyncStream<Void>

    /// - Throws: `POSIXError` where the system has no descriptors left.
    init() throws {
        let (reloads, reload) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        self.reloads = reloads
        let isStopping = Atomic(false)
        caught = try CaughtSignals([SIGTERM, SIGINT, SIGHUP]) { number in
            guard number != SIGHUP else { return _ = reload.yield() }
            // Here and not in the task that stops the daemon, which may be what does not come to its end.
            if isStopping.exchange(true, ordering: .relaxed) { _exit(1) }
            reload.finish()
        }
    }

    /// Returns at the first signal to stop, also one that came before. From that one on another exits with 1.
    func untilToldToStop(log: DaemonLog, manager: ServiceManager) async {
        for await _ in reloads {
            manager.tell("RELOADING=1\nMONOTONIC_USEC=\(ServiceManager.monotonicMicroseconds)")
            log.write(.info, "settings are always current; there is nothing to read again")
            manager.tell("READY=1")
        }
    }
}
