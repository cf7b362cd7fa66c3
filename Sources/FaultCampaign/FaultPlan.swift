import BenchSupport
/// One round of the campaign: which call of which operation, and what happens there. Its text is what repeats it.
package struct FaultPlan: Sendable, CustomStringConvertible {
    enum Kind: String, Sendable { case kill, fault }

    let kind: Kind
    let operation: FaultOperation
    let call: FaultCall
    /// 1 for the first such call of the operation.
    let nth: Int
    let effect: FaultEffect
    /// How many calls after one that failed the kill comes, or a second one after the next start began; 0 for none.
    let kill: Int
    /// Of the operation's own choices.
    let seed: UInt64

    /// `kill/import/fdatasync/3/after/71`, or `fault/import/fdatasync/3/EIO+5/71` for a kill five calls later;
    /// `kill/import/fdatasync/3/after+5/71` for one at the fifth call of the start that comes next.
    package var description: String {
        [
            kind.rawValue, operation.rawValue, call.name, "\(nth)", effect.rawValue + (kill > 0 ? "+\(kill)" : ""),
            "\(seed)",
        ].joined(separator: "/")
    }

    init?(_ text: String) {
        let parts = text.split(separator: "/").map(String.init)
        guard parts.count == 6, let kind = Kind(rawValue: parts[0]), let operation = FaultOperation(rawValue: parts[1]),
            let call = FaultCall(name: parts[2]), let nth = Int(parts[3]), nth > 0,
            let seed = UInt64(parts[5])
        else { return nil }
        let words = parts[4].split(separator: "+")
        guard let effect = words.first.flatMap({ FaultEffect(rawValue: String($0)) }),
            let kill = words.count > 1 ? Int(words[1]) : 0
        else { return nil }
        self.init(kind: kind, operation: operation, call: call, nth: nth, effect: effect, kill: kill, seed: seed)
    }

    init(
        kind: Kind, operation: FaultOperation, call: FaultCall, nth: Int, effect: FaultEffect, kill: Int, seed: UInt64
    ) {
        self.kind = kind
        self.operation = operation
        self.call = call
        self.nth = nth
        self.effect = effect
        self.kill = kill
        self.seed = seed
    }

    /// Round `number`: operations in turn, everything else by the seed.
    /// - Parameter calls: how many of each call the operation makes when nothing disturbs it.
    /// - Returns: nil where the operation makes none.
    init?(
        kind: Kind, number: Int, seed: UInt64, only: FaultOperation?, calls: [FaultOperation: [FaultCall: Int]]
    ) {
        var random = SeededChoices(seed: seed, kind == .kill ? 1 : 2, number)
        let operation = only ?? FaultOperation.allCases[number % FaultOperation.allCases.count]
        let made = (calls[operation] ?? [:]).filter { $0.value > 0 }
        guard let call = random.pick(made.keys.sorted { $0.rawValue < $1.rawValue }), let count = made[call],
            let effect = random.pick(kind == .kill ? FaultEffect.kills(at: call) : FaultEffect.errors(at: call))
        else { return nil }
        self.init(
            kind: kind, operation: operation, call: call, nth: 1 + random.roll(count), effect: effect,
            kill: kind == .fault && random.oneIn(2) ? random.roll(1...16) : 0, seed: seed &* 1_000_003 &+ UInt64(number)
        )
    }

    /// Every call of an operation: killed before it, after it and in the middle of it, then once more during the start that comes
    /// next, and failing with each error that it can have for good.
    /// - Parameter calls: how many of each call it makes when nothing disturbs it.
    static func every(call calls: [FaultCall: Int], of operation: FaultOperation, seed: UInt64) -> [FaultPlan] {
        FaultCall.allCases.flatMap { call in
            (0..<(calls[call] ?? 0)).flatMap { number in
                func plan(_ kind: Kind, _ effect: FaultEffect, kill: Int = 0) -> FaultPlan {
                    FaultPlan(
                        kind: kind, operation: operation, call: call, nth: number + 1, effect: effect, kill: kill,
                        seed: seed)
                }
                let errors = FaultEffect.errors(at: call).filter { [.diskFull, .inputOutputError].contains($0) }
                return FaultEffect.kills(at: call).map { plan(.kill, $0) }
                    // At another call of the start each time.
                    + [plan(.kill, .killAfter, kill: 1 + number % 40)] + errors.map { plan(.fault, $0) }
            }
        }
    }
}
