import Configuring
import ServiceMesh

/// The configuration, read again at SIGHUP.
struct Reload: Sendable {
    let spoken: DaemonOptions.Spoken
    /// What the daemon was started with.
    let options: DaemonOptions
    let log: DaemonLog

    /// What can change while it runs, changes; of the rest it is said that it needs a new start. A configuration that cannot be used
    /// changes nothing.
    func run() {
        let now: DaemonOptions
        do {
            now = try spoken.options()
        } catch {
            return log.write(.error, DaemonLog.sentence(error) + " What was read before goes on counting.")
        }
        log.keep(now.logLevel)
        log.write(.info, "the configuration was read again; what is logged: \(now.logLevel.rawValue)")
        var waiting: [ConfigurationKey] = []
        if now.library != options.library { waiting.append(.library) }
        if now.socket != options.socket { waiting.append(.socket) }
        if now.workers != options.workers { waiting.append(.workers) }
        guard !waiting.isEmpty else { return }
        log.write(
            .warning,
            "\(waiting.map(\.rawValue).joined(separator: " and ")) changed in the configuration, and \(waiting.count == 1 ? "counts" : "count") "
                + "from the daemon's next start: smilepile down, then smilepile up")
    }
}
