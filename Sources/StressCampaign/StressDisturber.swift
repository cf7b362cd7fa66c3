import BenchSupport
import Foundation
import LibraryModel

/// Does to the daemon and its helpers what a bad day does: kills helpers, stops them for a while, stops the daemon; and
/// hands the machine to a child now and then, after which every open connection is that child's.
final class StressDisturber {
    let connection: AccountedConnection
    private(set) var killed = 0
    private(set) var workersStopped = 0
    private(set) var daemonStopped = 0
    private(set) var lent = 0
    private static let pin = PIN("stress 4711")
    private let daemon: StressDaemon
    private let shared: StressShared
    private var random: SeededChoices

    init(daemon: StressDaemon, seed: UInt64, shared: StressShared) {
        self.daemon = daemon
        self.shared = shared
        random = SeededChoices(seed: seed, -1)
        connection = AccountedConnection(name: "disturber", socket: daemon.socket)
    }

    func run() {
        do {
            try connection.open()
            _ = try connection.ask(SetPIN(pin: Self.pin))
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
        if lent == 0 || random.oneIn(40) { return try lend() }
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

    private func lend() throws {
        _ = try connection.ask(SetMode(mode: .kids))
        lent += 1
        // For so long the child has the machine, while clients go on.
        usleep(UInt32(random.roll(1000...100_000)))
        if (try? connection.ask(SetMode(mode: .parent))) != nil { connection.ledger.fail("a child left kids mode") }
        // Four wrong ones in a row cost nothing.
        if random.oneIn(2), (try? connection.ask(Unlock(pin: PIN("stress 4712")))) != nil {
            connection.ledger.fail("a wrong PIN unlocked")
        }
        _ = try connection.ask(Unlock(pin: Self.pin))
        _ = try connection.ask(SetMode(mode: .parent))
    }

    private func pause(_ pid: Int32, milliseconds: Int) {
        kill(pid, SIGSTOP)
        // The pause itself.
        usleep(UInt32(milliseconds) * 1000)
        kill(pid, SIGCONT)
    }
}
