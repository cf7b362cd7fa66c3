import BenchSupport
import Foundation
import Synchronization

/// `smilepile-bench faults`: kills a daemon at single system calls, lets them fail, and looks each time whether everything
/// that was acknowledged is there and nothing else.
package struct FaultsCommand {
    package static let name = "faults"
    package static let summary = "kills, failing calls and power cuts at every step, and what is left of the library"
    package static let options = [
        Arguments.Option("kills", "N", "rounds with a kill at one call (none unless told)"),
        Arguments.Option("faults", "N", "rounds with one call that fails (none unless told)"),
        Arguments.Option("states", "N", "libraries as a power cut leaves them (none unless told)"),
        Arguments.Option("every", "NAMES", "every call of these operations, separated by commas, in every way"),
        Arguments.Option("seed", "S", "the same seed makes the same rounds (1)"),
        Arguments.Option("lanes", "L", "at once, 1 to 16 (2)"),
        Arguments.Option("only", "NAME", "rounds of this operation alone"),
        Arguments.Option("repeat", "ROUND", "one round again, as it was printed"),
        Arguments.Option("programs", "FOLDER", "the daemon to be disturbed (the one beside this program)"),
        Arguments.Option("fixtures", "FOLDER", "catalogues of earlier versions (Tests/Fixtures)"),
        Arguments.Option("shim", "FILE", "what Scripts/faults has compiled (libfaults.so beside this program)"),
    ]

    package static let explanation = """
        Every round begins with the same small library and ends with a start that nothing disturbs. Then each acknowledged
        change has to be there, what was refused or never answered whole or absent, and nothing else: rows, files and
        thumbnails the same, staging empty, no unfinished backup, every backup whole, the storage check and SQLite's own
        without a finding, and every acknowledged job ended.

        A kill is SIGKILL before or after one call, or after half of a write. A fault is one call that fails with EIO,
        ENOSPC or EINTR, does half, or (a sync) leaves nothing in the file of what was written since the last one; the
        daemon goes on, or is killed some calls later. Calls that change what is on the disk below the library's and the
        backups' folders count; reads do not fail, and image helpers are not disturbed.

        --every backup,replace takes each call of these in turn: killed before, after and in the middle of it, killed there
        and once more during the next start, and failing with EIO and with ENOSPC.

        A state is what a power cut may leave of one recorded operation. Bytes are on the disk once their file was synced,
        names once their folder was; the rest is there or not: all, none, up to a moment, or any part, with writes
        torn at multiples of 512 bytes. Renames are whole. This is less than ext4, XFS or btrfs promise. Not modelled:
        disks that lie about syncs, sectors that go bad, bits that turn, folders that were just made.
        """

    struct Wrong: Error, CustomStringConvertible {
        let description: String
    }

    let kills: Int
    let faults: Int
    let states: Int
    let every: [FaultOperation]
    let seed: UInt64
    let lanes: Int
    let only: FaultOperation?
    let repeated: Repetition?
    let program: String
    let fixtures: String
    let shim: String

    package init(
        kills: Int, faults: Int, states: Int, every: [FaultOperation], seed: UInt64, lanes: Int, only: FaultOperation?,
        repeated: Repetition?, program: String, fixtures: String, shim: String
    ) {
        self.kills = kills
        self.faults = faults
        self.states = states
        self.every = every
        self.seed = seed
        self.lanes = lanes
        self.only = only
        self.repeated = repeated
        self.program = program
        self.fixtures = fixtures
        self.shim = shim
    }

    package init(_ arguments: Arguments) throws {
        kills = try arguments.number("kills", in: 0...1_000_000) ?? 0
        faults = try arguments.number("faults", in: 0...1_000_000) ?? 0
        states = try arguments.number("states", in: 0...1_000_000) ?? 0
        seed = UInt64(try arguments.number("seed", in: 0...Int.max) ?? 1)
        lanes = try arguments.number("lanes", in: 1...16) ?? 2
        only = try arguments.text("only").map { try Self.operation($0, "--only") }
        every =
            try arguments.text("every").map { text in
                try text.split(separator: ",").map { try Self.operation(String($0), "each of --every") }
            } ?? []
        repeated = try arguments.text("repeat").map { text in
            guard let round = Repetition(text) else {
                throw Arguments.Mistake(
                    description: "--repeat is a round as it was printed: kill/import/write/3/torn/7.")
            }
            return round
        }
        program = try arguments.text("programs").map { $0 + "/smilepiled" } ?? Programs.beside("smilepiled")
        fixtures = arguments.text("fixtures") ?? "Tests/Fixtures"
        shim = try arguments.text("shim") ?? Programs.beside("libfaults.so", by: "Scripts/faults, which also starts it")
    }

    private static func operation(_ text: String, _ what: String) throws -> FaultOperation {
        guard let operation = FaultOperation(rawValue: text) else {
            let names = FaultOperation.allCases.map(\.rawValue).joined(separator: ", ")
            throw Arguments.Mistake(description: "\(what) is one of \(names).")
        }
        return operation
    }

    /// - Throws: ``Wrong`` where anything was found.
    package func run(in work: WorkFolder) async throws {
        // For all lanes, whose libraries are copies of one; not where the family of whoever runs this has its own.
        setenv("SMILEPILE_KEY_FILE", work.path + "/key", 1)
        let folders = (0..<lanes).map { work.path + "/lane-\($0)" }
        let report = SharedReport()
        try await Lanes.run(1) { [self] _ in
            let place = try FaultPlace(folder: folders[0])
            let setting = try await makeSetting(in: place)
            for folder in folders { try await setting.template.writePhone(to: FaultPlace(folder: folder)) }
            switch repeated {
            case .round(let plan): return try await repeatRound(plan, setting, place, report)
            case .recording(let plan):
                return try await Self.crash(plan, 400, setting, place, report)
            case nil: break
            }
            let calls = try await countCalls(setting, place)
            for operation in every { try await rounds(of: operation, setting, folders, report) }
            for (kind, count) in [(FaultPlan.Kind.kill, kills), (.fault, faults)] where count > 0 {
                try await rounds(kind, count, setting, folders, calls, report)
            }
            if states > 0 { try await crashes(setting, folders, report) }
        }
        let result = report.change { $0 }
        print(result.text)
        if result.hasFindings { throw Wrong(description: "seed \(seed): something is wrong, see above") }
    }

    private func makeSetting(in place: FaultPlace) async throws -> FaultSetting {
        var template = try await FaultTemplate(in: place, program: program, seed: seed)
        try await template.addEarlier(from: fixtures, in: place, program: program)
        return FaultSetting(template: template, program: program, shim: shim)
    }

    /// Lets every operation run undisturbed: it must be as expected, and its calls are those to be disturbed.
    private func countCalls(
        _ setting: FaultSetting, _ place: FaultPlace
    ) async throws -> [FaultOperation: [FaultCall: Int]] {
        let control = try FaultControl(path: place.folder + "/control", root: place.data)
        var calls: [FaultOperation: [FaultCall: Int]] = [:]
        for operation in FaultOperation.allCases where only == nil || only == operation {
            for attempt in 0..<3 {
                let outcome = try await FaultRound.count(
                    setting, place, control, operation, seed: seed &+ UInt64(attempt))
                guard outcome.findings.isEmpty else {
                    let texts = outcome.findings.map(\.text).joined(separator: "\n")
                    throw Wrong(description: "\(operation.rawValue), undisturbed: \(texts)")
                }
                calls[operation, default: [:]].merge(outcome.calls) { max($0, $1) }
            }
        }
        for call in FaultCall.allCases
        where only == nil && calls.values.allSatisfy({ $0[call] == nil || $0[call] == 0 }) {
            throw Wrong(description: "no \(call.name) was seen: the daemon makes it in another way now")
        }
        return calls
    }

    private func repeatRound(
        _ plan: FaultPlan, _ setting: FaultSetting, _ place: FaultPlace, _ report: SharedReport
    ) async throws {
        let control = try FaultControl(path: place.folder + "/control", root: place.data)
        let outcome = try await FaultRound.run(setting, place, control, plan)
        note("\(plan): " + (outcome.fired.map { "at \($0.call.name) of \($0.path)" } ?? "the call never came"))
        report.change { $0.add(outcome, plan) }
    }

    /// Power cuts in one recording: enough to be worth the recording, few enough for each operation to have its turn.
    private var statesOfRecording: Int { max(4, min(40, states / 30)) }

    private static func crash(
        _ plan: CrashRound.Plan, _ count: Int, _ setting: FaultSetting, _ place: FaultPlace, _ report: SharedReport
    ) async throws {
        var round = try CrashRound(setting, place, plan)
        try await round.run(count) { state in
            report.change {
                $0.add(.states, plan.operation, state.call, acknowledged: state.acknowledged)
                $0.add(state.findings, plan.operation, state.call, again: "\(plan)")
            }
        }
    }

    /// With a disk that only says that it syncs, acknowledged changes are lost. Where none is found to be, nothing else
    /// would be found either.
    private func requireTeeth(_ setting: FaultSetting, _ place: FaultPlace) async throws {
        var lost = 0
        // All that one of them does may have come before its last sync.
        for attempt in 0..<UInt64(5) where lost == 0 {
            var round = try CrashRound(setting, place, CrashRound.Plan(.photos, seed: seed &+ attempt))
            round.liesAboutSyncs = true
            try await round.run(40) { state in
                lost += state.findings.count { $0.kind == .lost }
            }
        }
        guard lost > 0 else {
            throw Wrong(description: "a disk that does not sync loses nothing: nothing is looked at")
        }
    }

    private func crashes(_ setting: FaultSetting, _ folders: [String], _ report: SharedReport) async throws {
        let began = ContinuousClock.now
        let next = RoundNumbers()
        let (seed, only, wanted, most) = (seed, only, states, statesOfRecording)
        try await requireTeeth(setting, FaultPlace(folder: folders[0]))
        try await Lanes.run(folders.count) { lane in
            let place = try FaultPlace(folder: folders[lane])
            while case let left = wanted - report.change({ $0.counts[.states] ?? 0 }), left > 0 {
                let number = next.take()
                let operation = only ?? report.change { $0.leastCrashed }
                let plan = CrashRound.Plan(operation, seed: seed &* 1_000_003 &+ UInt64(number))
                try await Self.crash(plan, min(most, left), setting, place, report)
            }
        }
        let spent = began.duration(to: .now)
        report.change { $0.seconds[.states] = Double(spent.components.seconds) }
    }

    /// Each call of an operation in turn.
    private func rounds(
        of operation: FaultOperation, _ setting: FaultSetting, _ folders: [String], _ report: SharedReport
    ) async throws {
        let place = try FaultPlace(folder: folders[0])
        let control = try FaultControl(path: place.folder + "/control", root: place.data)
        // With the choices that its rounds make.
        let calls = try await FaultRound.count(setting, place, control, operation, seed: seed).calls
        let plans = FaultPlan.every(call: calls, of: operation, seed: seed)
        let began = ContinuousClock.now
        let next = RoundNumbers()
        try await Lanes.run(folders.count) { lane in
            let place = try FaultPlace(folder: folders[lane])
            let control = try FaultControl(path: place.folder + "/control", root: place.data)
            while case let number = next.take(), number < plans.count {
                let outcome = try await FaultRound.run(setting, place, control, plans[number])
                report.change { $0.add(outcome, plans[number]) }
            }
        }
        let spent = began.duration(to: .now).components.seconds
        let count = calls.values.reduce(0, +)
        note("\(operation.rawValue): each of its \(count) calls in every way, \(plans.count) rounds in \(spent) s")
    }

    private func rounds(
        _ kind: FaultPlan.Kind, _ wanted: Int, _ setting: FaultSetting, _ folders: [String],
        _ calls: [FaultOperation: [FaultCall: Int]], _ report: SharedReport
    ) async throws {
        let counted: FaultReport.Kind = kind == .kill ? .kills : .faults
        let began = ContinuousClock.now
        let next = RoundNumbers()
        let (seed, only) = (seed, only)
        try await Lanes.run(folders.count) { lane in
            let place = try FaultPlace(folder: folders[lane])
            let control = try FaultControl(path: place.folder + "/control", root: place.data)
            while report.change({ ($0.counts[counted] ?? 0) < wanted }) {
                let plan = FaultPlan(kind: kind, number: next.take(), seed: seed, only: only, calls: calls)
                guard let plan else { continue }
                let outcome = try await FaultRound.run(setting, place, control, plan)
                report.change { $0.add(outcome, plan) }
            }
        }
        let spent = began.duration(to: .now)
        report.change { $0.seconds[counted] = Double(spent.components.seconds) }
    }
}

/// What is to be done once more.
package enum Repetition {
    case round(FaultPlan)
    case recording(CrashRound.Plan)

    init?(_ text: String) {
        if let plan = FaultPlan(text) {
            self = .round(plan)
        } else if let plan = CrashRound.Plan(text) {
            self = .recording(plan)
        } else {
            return nil
        }
    }
}

/// Gives out 0, 1, 2 … to whichever lane asks.
private final class RoundNumbers: Sendable {
    private let next = Atomic(0)

    func take() -> Int { next.add(1, ordering: .relaxed).oldValue }
}

extension FaultReport {
    mutating func add(_ outcome: FaultRound.Outcome, _ plan: FaultPlan) {
        if outcome.fired == nil {
            miss()
        } else {
            add(
                plan.kind == .kill ? .kills : .faults, plan.operation, plan.call, acknowledged: outcome.acknowledged)
        }
        add(outcome.findings, plan.operation, plan.call, again: "\(plan)")
    }
}
