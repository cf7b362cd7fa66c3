import BenchSupport
import Foundation
import ServiceMesh
import SmilePile

/// An operation that was recorded once, and libraries as power cuts at any moment of it would have left them.
package struct CrashRound {
    /// What repeats it: `state/purge/71`.
    package struct Plan: Sendable, CustomStringConvertible {
        let operation: FaultOperation
        let seed: UInt64

        package var description: String { "state/\(operation.rawValue)/\(seed)" }

        init(_ operation: FaultOperation, seed: UInt64) {
            self.operation = operation
            self.seed = seed
        }

        init?(_ text: String) {
            let parts = text.split(separator: "/").map(String.init)
            guard parts.count == 3, parts[0] == "state", let operation = FaultOperation(rawValue: parts[1]),
                let seed = UInt64(parts[2])
            else { return nil }
            self.init(operation, seed: seed)
        }
    }

    struct Missed: Error, CustomStringConvertible {
        let description: String
    }

    struct State {
        let call: FaultCall
        let acknowledged: Int
        let findings: [FaultFinding]
    }

    private let setting: FaultSetting
    private let place: FaultPlace
    private let plan: Plan
    private let recording: FaultRound.Recording
    private let journal: CrashJournal
    private let base: CrashModel
    private let kept: KeptInodes
    private var random: SeededChoices
    /// With a disk that keeps none of its promises, something must be found.
    var liesAboutSyncs = false

    /// Records the operation.
    /// - Throws: ``Missed`` where what was recorded does not lead to what the folder holds.
    init(_ setting: FaultSetting, _ place: FaultPlace, _ plan: Plan) throws {
        self.setting = setting
        self.place = place
        self.plan = plan
        recording = try FaultRound.record(setting, place, plan.operation, seed: plan.seed)
        journal = try CrashJournal(path: recording.journal)
        base = recording.base
        kept = try KeptInodes(folder: place.folder + "/kept")
        random = SeededChoices(seed: plan.seed, 5)
        try requireCompleteness()
    }

    /// What the shim does not see would be missing in every state.
    private func requireCompleteness() throws {
        let model = model(after: journal.records.count)
        let (found, expected) = (recording.after.files, model.latest.files)
        let differing = Set(found.keys).union(expected.keys).filter {
            // In memory by nature: SQLite makes it anew.
            !$0.hasSuffix("-shm") && found[$0] != expected[$0]
        }
        guard differing.isEmpty else {
            throw Missed(description: "\(plan): the recorder has missed changes of \(differing.sorted())")
        }
    }

    private func model(after count: Int) -> CrashModel {
        var model = base
        model.liesAboutSyncs = liesAboutSyncs
        for record in journal.records[..<count] { model.apply(record.change) }
        return model
    }

    /// Lets up to `count` power cuts happen, and tells `take` what each has left; fewer where one of them costs a file
    /// that the others need.
    mutating func run(_ count: Int, _ take: (State) -> Void) async throws {
        // What the operation itself has removed is in no state.
        let kept = kept.take(model(after: journal.records.count).keptInodes, from: place.data)
        var made = 0
        for _ in 0..<(10 * count) where made < count {
            let moment = random.roll(0...journal.records.count)
            let (image, lost) = model(after: moment).crashed(&random)
            guard kept.isSuperset(of: image.inodes.values) else { continue }
            let last = moment > 0 ? journal.records[moment - 1] : nil
            var check = FaultCheck(
                place: place, operation: plan.operation, world: recording.world, clients: recording.clients,
                position: last?.end ?? 0)
            try await look(&check, at: image)
            made += 1
            let words = "after \(moment) of \(journal.records.count) changes, without \(lost)"
            take(
                State(
                    call: last?.call ?? .write, acknowledged: check.acknowledged,
                    findings: check.findings.map { FaultFinding(kind: $0.kind, text: "\($0.text) \(words)") }))
            guard self.kept.take(kept, from: place.data) == kept else { return }
        }
    }

    /// In this process: a daemon for each would take most of the time.
    private func look(_ check: inout FaultCheck, at image: FolderImage) async throws {
        try image.write(to: place.data, keeping: kept)
        do {
            let library = try await PhotoLibrary.open(at: place.library)
            do {
                try await check.run(MeshAnswering(mesh: library.mesh))
            } catch {
                check.find(.broken, "the library cannot be looked at: \(error)")
            }
            await library.close()
        } catch {
            check.find(.broken, "the library does not open: \(error)")
        }
    }
}
