import Dispatch
import Foundation

/// SIGTERM and SIGINT ask the daemon to stop; a second one ends it at once. SIGHUP is accepted: settings are in the
/// catalogue and always current.
struct DaemonSignals {
    private let sources: [any DispatchSourceSignal]
    private let received: AsyncStream<Int32>

    init() {
        let (received, arrived) = AsyncStream.makeStream(of: Int32.self, bufferingPolicy: .bufferingNewest(8))
        self.received = received
        sources = [SIGTERM, SIGINT, SIGHUP].map { number in
            // The default action would end the process before the source sees the signal.
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler { arrived.yield(number) }
            source.resume()
            return source
        }
    }

    /// Returns at the first signal to stop. From then on another one exits with 1.
    func untilToldToStop(log: DaemonLog, manager: ServiceManager) async {
        for await number in received {
            guard number == SIGHUP else { break }
            manager.tell("RELOADING=1\nMONOTONIC_USEC=\(ServiceManager.monotonicMicroseconds)")
            log.write(.info, "settings are always current; there is nothing to read again")
            manager.tell("READY=1")
        }
        for source in sources {
            source.setEventHandler { _exit(1) }
        }
    }
}
