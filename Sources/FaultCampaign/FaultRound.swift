import BenchSupport
import Foundation
import LibraryModel
import ServiceMesh

/// What is the same in every round of a run.
struct FaultSetting: Sendable {
    let template: FaultTemplate
    /// The daemon.
    let program: String
    let shim: String
}

/// One round: a daemon with a library of its own is disturbed, started again without disturbance, and looked at.
struct FaultRound {
    struct Outcome {
        var findings: [FaultFinding] = []
        var acknowledged = 0
        /// Where it was disturbed; nil where it never came to that call.
        var fired: (call: FaultCall, path: String)?
        /// Calls of the operation, by kind.
        var calls: [FaultCall: Int] = [:]
    }

    let setting: FaultSetting
    let place: FaultPlace
    let control: FaultControl
    /// Nil to let the operation run undisturbed and to count its calls.
    let plan: FaultPlan?
    let operation: FaultOperation

    /// How much the recorder has written.
    private var position: () -> Int = { 0 }
    private var clients: [FaultClient] = []
    private var world: FaultWorld
    private var outcome = Outcome()
    private var random: SeededChoices

    init(_ setting: FaultSetting, _ place: FaultPlace, _ control: FaultControl, _ plan: FaultPlan) {
        self.init(setting, place, control, plan, plan.operation, seed: plan.seed)
    }

    init(
        _ setting: FaultSetting, _ place: FaultPlace, _ control: FaultControl, _ plan: FaultPlan?,
        _ operation: FaultOperation, seed: UInt64
    ) {
        self.setting = setting
        self.place = place
        self.control = control
        self.plan = plan
        self.operation = operation
        world = setting.template.world
        random = SeededChoices(seed: seed, 3)
    }

    static func run(
        _ setting: FaultSetting, _ place: FaultPlace, _ control: FaultControl, _ plan: FaultPlan
    ) async throws -> Outcome {
        var round = FaultRound(setting, place, control, plan)
        return try await round.run()
    }

    /// Runs an operation undisturbed, and counts its calls; the same checks hold.
    static func count(
        _ setting: FaultSetting, _ place: FaultPlace, _ control: FaultControl, _ operation: FaultOperation,
        seed: UInt64
    ) async throws -> Outcome {
        var round = FaultRound(setting, place, control, nil, operation, seed: seed)
        return try await round.run()
    }

    /// An operation that nothing disturbed, with everything that it did to the disk.
    struct Recording {
        let journal: String
        let base: CrashModel
        /// What the folder held at its end.
        let after: FolderImage
        let world: FaultWorld
        let clients: [FaultClient]
    }

    static func record(
        _ setting: FaultSetting, _ place: FaultPlace, _ operation: FaultOperation, seed: UInt64
    ) throws -> Recording {
        let journal = place.folder + "/journal"
        unlink(journal)
        let control = try FaultControl(path: place.folder + "/recorder", root: place.data, journal: journal)
        var round = FaultRound(setting, place, control, nil, operation, seed: seed)
        try round.prepare()
        let image = try FolderImage(of: place.data)
        let base = CrashModel(image, at: place.data)
        round.position = {
            var found = stat()
            return stat(journal, &found) == 0 ? Int(found.st_size) : 0
        }
        let daemon = try round.start(control)
        defer { daemon.kill() }
        if let connection = try daemon.connect(to: place.socket) { round.perform(on: connection, of: daemon) }
        try round.end(daemon)
        guard round.outcome.findings.isEmpty else {
            throw CrashRound.Missed(
                description: "\(operation.rawValue), undisturbed: \(round.outcome.findings.map(\.text))")
        }
        return Recording(
            journal: journal, base: base, after: try FolderImage(of: place.data), world: round.world,
            clients: round.clients)
    }

    private mutating func run() async throws -> Outcome {
        try prepare()
        let daemon: FaultDaemon
        if operation.isStart { arm() }
        daemon = try start(control)
        defer { daemon.kill() }
        if let connection = try daemon.connect(to: place.socket) {
            if !operation.isStart { arm() }
            perform(on: connection, of: daemon)
        }
        try end(daemon)
        for call in FaultCall.allCases { outcome.calls[call] = control.seen(call) }
        control.disarm()
        if let plan, plan.kind == .kill, plan.kill > 0 { try killAgain(at: plan.kill) }
        try await look()
        return outcome
    }

    /// A kill while a start puts in order what the first one has left; where it has come to its end before, at its end.
    private mutating func killAgain(at call: Int) throws {
        control.arm(.killAfter, at: FaultCall.allCases, nth: call)
        let daemon = try start(control)
        defer { daemon.kill() }
        guard let connection = try daemon.connect(to: place.socket) else { return control.disarm() }
        // Jobs that go on make calls too.
        try? endJobs(on: connection)
        connection.close()
        control.disarm()
    }

    private func endJobs(on connection: AccountedConnection) throws {
        for job in try connection.ask(ListJobs()).jobs where !job.state.hasEnded {
            _ = try connection.ask(WaitForJob(job: job.id))
        }
    }

    // MARK: Disturbing

    /// The library as it is before the daemon starts.
    private mutating func prepare() throws {
        control.disarm()
        guard operation == .upgrade, let version = random.pick(setting.template.earlier) else {
            try place.renew(with: setting.template.image)
            if operation == .recovery { try breakOff() }
            if operation == .clean { try place.addStrayThumbnails() }
            return
        }
        try place.renew(with: version.image)
        world = version.world
    }

    /// A kill somewhere in an operation, for the next start to put in order.
    private mutating func breakOff() throws {
        guard let broken = random.pick(FaultOperation.recovered) else { return }
        let control = try FaultControl(path: place.folder + "/before", root: place.data)
        let daemon = try start(control)
        defer { daemon.kill() }
        guard let connection = try daemon.connect(to: place.socket) else { return }
        control.arm(.killAfter, at: FaultCall.allCases, nth: random.roll(1...60))
        perform(broken, on: connection)
    }

    private func arm() {
        guard let plan else { return control.count() }
        control.arm(plan.effect, at: [plan.call], nth: plan.nth, thenKill: plan.kill)
    }

    private func start(_ control: FaultControl) throws -> FaultDaemon {
        try FaultDaemon(
            program: setting.program, library: place.library, socket: place.socket, log: place.log,
            shim: setting.shim, control: control)
    }

    private mutating func perform(on connection: AccountedConnection, of daemon: FaultDaemon) {
        guard let client = perform(operation, on: connection), operation == .stop else { return }
        client.connection.close()
        daemon.ask(to: SIGTERM)
    }

    /// - Returns: the client, where the daemon has answered to the end.
    @discardableResult
    private mutating func perform(_ operation: FaultOperation, on connection: AccountedConnection) -> FaultClient? {
        let client = FaultClient(connection, position: position)
        clients.append(client)
        var scene = FaultScene(client: client, template: setting.template, place: place, random: random)
        do {
            defer { random = scene.random }
            try scene.perform(operation)
            // Whoever has seen an error goes on working.
            if plan?.kind == .fault && self.operation != .upgrade && operation == self.operation {
                // A restore that goes on by itself would be a change that comes later than the one below.
                for job in try client.ask(ListJobs())?.jobs ?? [] where !job.state.hasEnded {
                    _ = try client.ask(WaitForJob(job: job.id))
                }
                try scene.touch()
            }
            return client
        } catch {
            return nil
        }
    }

    /// Waits for the daemon's end where it is at hand, and kills it otherwise.
    private mutating func end(_ daemon: FaultDaemon) throws {
        outcome.fired = control.fired
        if let silence = clients.last?.silence, silence.contains("no reply within") { find(silence) }
        do {
            let isKilled = plan?.kind == .kill && outcome.fired != nil
            if isKilled || operation == .stop { _ = try daemon.wait() }
        } catch {
            find("\(error)")
        }
        let ending = daemon.poll()
        let connection = clients.last?.connection
        connection?.close()
        for failure in connection?.ledger.failures ?? [] where plan?.kind != .fault { find(failure) }
        daemon.kill()
        guard let ending else { return }
        // A start that cannot do its work says so and ends; nothing else may end a daemon.
        let isRefused = operation.isStart && plan?.kind == .fault && ending == .exit(1)
        let isStopped = operation == .stop && (ending == .exit(0) || (plan?.kind == .fault && ending == .exit(1)))
        let isKilled = (plan?.kind == .kill || plan?.kill != 0) && ending == .signal(SIGKILL)
        if !isRefused && !isStopped && !isKilled { find("the daemon ended with \(ending): \(daemon.words)") }
    }

    private mutating func find(_ text: String) {
        outcome.findings.append(FaultFinding(kind: .broken, text: text))
    }

    // MARK: Looking

    /// A start that nothing disturbs, and what the library is then.
    private mutating func look() async throws {
        let daemon = try FaultDaemon(
            program: setting.program, library: place.library, socket: place.socket, log: place.log, shim: nil,
            control: nil)
        defer { daemon.kill() }
        guard let connection = try daemon.connect(to: place.socket) else {
            return find("the daemon does not start again: \(daemon.words)")
        }
        defer { connection.close() }
        var check = FaultCheck(place: place, operation: operation, world: world, clients: clients)
        do {
            try await check.run(SocketAnswering(connection: connection))
        } catch {
            check.find(.broken, "the library cannot be looked at: \(error); \(daemon.words)")
        }
        outcome.findings += check.findings + connection.ledger.failures.map { .init(kind: .broken, text: $0) }
        outcome.acknowledged = check.acknowledged
    }
}
