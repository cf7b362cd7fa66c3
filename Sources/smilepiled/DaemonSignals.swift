import Executors
import Foundation
import Synchronization

/// SIGTERM and SIGINT ask the daemon to stop; a second one ends it at once. SIGHUP has it read the configuration again.
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
    /// - Parameter reload: reads the configuration again, and blocks; called for one SIGHUP after the other.
    func untilToldToStop(manager: ServiceManager, reload: @escaping @Sendable () -> Void) async {
        let reader = BlockingPool(name: "configuration", threads: 1)
        for await _ in reloads {
            manager.tell("RELOADING=1\nMONOTONIC_USEC=\(ServiceManager.monotonicMicroseconds)")
            // Refused only where the pool is shut down, which it is below.
            try? await reader.run(reload)
            manager.tell("READY=1")
        }
        await reader.shutDown()
    }
}
