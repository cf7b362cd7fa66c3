import Foundation
import LibraryModel

/// Does to the daemon and its helpers what a bad day does: kills helpers, stops them for a while, stops the daemon.
final class StressDisturber {
    let connection: StressConnection
    private(set) var killed = 0
    private(set) var workersStopped = 0
    private(set) var daemonStopped = 0
    private let daemon: StressDaemon
    private let shared: StressShared
    private var random: StressRandom

    init(daemon: StressDaemon, seed: UInt64, shared: StressShared) {
        self.daemon = daemon
        self.shared = shared
        random = StressRandom(seed: seed, -1)
        connection = StressConnection(name: "disturber", socket: daemon.socket)
    }

    func run() {
        do {
            try connection.open()
            while !shared.isOver {
                // Trouble comes at times of its own, by the seed; nobody waits for it.
                usleep(UInt32(random.roll(30_000...300_000)))
                try disturb()
            }
        } catch {
            connection.ledger.fail("\(error)")
        }
        connection.close()
    }

    private func disturb() throws {
        guard !random.oneIn(4) else {
            pause(daemon.pid, milliseconds: random.roll(5...250))
            daemonStopped += 1
            return
        }
        let workers = try connection.ask(GetLibraryStatus()).imageWorkers.pids
        guard let worker = random.pick(workers), daemon.isChild(worker) else { return }
        if random.oneIn(2) {
            kill(worker, SIGKILL)
            killed += 1
        } else {
            pause(worker, milliseconds: random.roll(5...500))
            workersStopped += 1
        }
    }

    private func pause(_ pid: Int32, milliseconds: Int) {
        kill(pid, SIGSTOP)
        // The pause itself.
        usleep(UInt32(milliseconds) * 1000)
        kill(pid, SIGCONT)
    }
}
