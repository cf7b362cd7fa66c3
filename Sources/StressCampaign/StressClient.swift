import BenchSupport
import ControlSocket
import Foundation
import LibraryModel
import ServiceMesh
import Synchronization

/// One member of the family: connects, asks, misbehaves as its plan says, and keeps the accounts.
///
/// A thread of its own runs it: a client that blocks must not keep others from running.
final class StressClient {
    let number: Int
    let plan: StressPlan
    let connection: AccountedConnection
    let sources: ImportSources
    let shared: StressShared
    var beliefs: ClientBeliefs
    /// Photos that were seen, anybody's: to look at.
    var seen: [Photo] = []
    var jobs: [JobID] = []
    var jobsLeft: Int
    var session: String?
    var cursor: String?
    var backups: [String] = []
    /// What is different about the connection at the moment.
    private(set) var manner = StressPlan.Manner.steady
    private var steps = 0

    init(_ number: Int, of clients: Int, plan: StressPlan, socket: String, sources: ImportSources, shared: StressShared)
    {
        self.number = number
        self.plan = plan
        self.sources = sources
        self.shared = shared
        connection = AccountedConnection(name: "client \(number)", socket: socket)
        beliefs = ClientBeliefs(client: number, of: clients)
        jobsLeft = 2500 / clients
    }

    /// Visits the daemon until the time is over.
    func run() {
        var visit = 0
        while !shared.isOver {
            do {
                try perform(plan.visit(visit))
            } catch {
                connection.ledger.fail("\(error)")
                connection.close()
                // Nothing is learned from going on with a daemon that no longer answers.
                if connection.ledger.failures.count > 3 { return }
            }
            visit += 1
        }
    }

    private func perform(_ visit: StressPlan.Visit) throws {
        manner = visit.manner
        connection.isTimed = manner != .slowReading
        try connection.open()
        if manner == .child {
            // Awaited: requests of one connection run at once, and the role is that of the moment.
            _ = try connection.ask(Hello(role: .kid))
        }
        // With the machine in a child's hands a connection is good for little more.
        for _ in 0..<visit.steps where !shared.isOver && (manner == .child || !connection.wasDenied) {
            var (operation, random) = plan.step(steps)
            steps += 1
            if manner == .malformed && random.oneIn(2) { putMalformed(&random) }
            try perform(operation, &random)
            switch manner {
            case .slowReading: try connection.pumpOnce(reads: false)
            case .bursting, .halfClosing: try connection.pumpOnce(reads: true)
            default: try connection.pump(reads: true) { connection.waiting >= visit.window }
            }
        }
        try leave(visit)
    }

    private func leave(_ visit: StressPlan.Visit) throws {
        switch manner {
        case .vanishing: break
        case .breakingOff:
            connection.put(Array(#"{"jsonrpc":"2.0","id":0,"method":"photo.se"#.utf8), refused: false)
            try connection.pumpOnce(reads: true)
        case .halfClosing:
            try connection.endOutput()
            try connection.readToEnd()
        case .oversized:
            connection.putOversized()
            try connection.readToEnd()
        case .slowReading:
            let until = MonotonicClock.now() + UInt64(visit.pause) * 1_000_000
            while MonotonicClock.now() < until {
                try connection.pumpOnce(reads: false)
                // Not reading for a time is what this client is there for.
                usleep(20_000)
            }
            try connection.drain { shared.isOver }
        default: try connection.drain { shared.isOver }
        }
        connection.close()
    }

    /// Sends `message` as the connection's manner and chance want it: with a deadline, or called off at once.
    func send<M: Message>(
        _ message: M, _ random: inout SeededChoices, waits: Bool = false,
        _ take: @escaping (AccountedConnection.Ending) -> Void
    ) throws {
        let deadline: Int? =
            if manner == .hurried { random.oneIn(4) ? 0 : 1 } else if random.oneIn(10) { random.roll(1...5000) } else {
                nil
            }
        let isForbidden = manner == .child && M.access == .parent
        let id = try connection.send(message, deadlineMs: deadline, waits: waits) { [connection] ending in
            if isForbidden, case .done = ending { connection.ledger.fail("a child was let do \(M.method)") }
            take(ending)
        }
        if random.oneIn(waits ? 2 : 15) { connection.cancel(id) }
    }

    /// Sends `message` and looks at its reply where it came.
    func look<M: Message>(
        _ message: M, _ random: inout SeededChoices, waits: Bool = false, _ seen: @escaping (M.Reply) -> Void
    ) throws {
        let name = connection.name
        try send(message, &random, waits: waits) { [connection] ending in
            guard case .done(let data) = ending else { return }
            do {
                seen(try JSONDecoder().decode(M.Reply.self, from: data))
            } catch {
                connection.ledger.fail("\(name): the reply to \(M.method) is not understood: \(error)")
            }
        }
    }

    private func putMalformed(_ random: inout SeededChoices) {
        let lines = [
            #"{"jsonrpc":"2.0","id":"#, "[]", #"[{"jsonrpc":"2.0","id":1,"method":"rpc.ping"}]"#, "12", "null",
            #"{"jsonrpc":"2.0","id":null,"method":"rpc.ping"}"#, #"{"jsonrpc":"2.0","method":"rpc.ping"}"#,
            #"{"jsonrpc":"1.0","id":{},"method":"rpc.ping"}"#, #"{"jsonrpc":"2.0","method":"category.add"}"#,
            "\u{0}\u{1}", String(repeating: "[", count: 2000), #"{"jsonrpc":"2.0","id":1.5,"method":"rpc.ping"}"#,
        ]
        let line = random.oneIn(8) ? [0x22, 0xFF, 0xFE, 0x22] : Array((random.pick(lines) ?? "").utf8)
        connection.put(line + [0x0A], refused: true)
        if random.oneIn(3) { connection.put([0x0D, 0x0A, 0x0A], refused: false) }
        if random.oneIn(3) {
            connection.put(
                Array(#"{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":-1}}"#.utf8) + [0x0A], refused: false
            )
        }
    }
}

/// What all clients of a run look at.
final class StressShared: Sendable {
    private let over = Atomic(false)
    private let discoveredTurns = Atomic(0)
    /// One that was made before anything else, and stays.
    let backup: String
    /// Methods that the daemon names and the clients know no type for.
    private let discovered: DiscoveredMethods

    init(discovered: DiscoveredMethods, backup: String) {
        self.discovered = discovered
        self.backup = backup
    }

    /// The next of the discovered methods, in turn: chance would leave some of them out of a short run.
    func nextDiscovered() -> DiscoveredMethods.Method? {
        guard !discovered.methods.isEmpty else { return nil }
        let turn = discoveredTurns.wrappingAdd(1, ordering: .relaxed).oldValue
        return discovered.methods[turn % discovered.methods.count]
    }

    var isOver: Bool { over.load(ordering: .relaxed) }

    func end() { over.store(true, ordering: .relaxed) }
}
