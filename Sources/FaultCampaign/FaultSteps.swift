/// What was asked of a library, in order, and what is known of each.
struct FaultStep: Sendable {
    enum Outcome: Sendable, Equatable {
        case acknowledged
        /// Said not to have happened: whole or absent, either is honest.
        case refused(String)
        /// Without an answer.
        case unknown
    }

    typealias Change = @Sendable (inout FaultWorld) -> Void

    let request: String
    /// How much the recorder had written when it was sent.
    let sent: Int
    /// The same when its answer was read: what the recorder wrote until then, it may rest on.
    var answered: Int?
    var outcome = Outcome.unknown
    var change: Change
}

extension [FaultStep] {
    /// What a library that began as `world` may hold after these.
    ///
    /// What was acknowledged must be there, each of the others whole or not at all.
    /// - Parameter position: of a crash in what the recorder wrote; later answers were not given, later requests not made.
    /// - Returns: the way from `world` that leads to `found`, or nil where none does, and how many changes had to be there.
    func explain(_ found: FaultWorld, from world: FaultWorld, at position: Int = .max) -> Explanation {
        let made = filter { $0.sent <= position }
        let certain = made.indices.filter { made[$0].isCertain(at: position) }
        let open = made.indices.filter { !made[$0].isCertain(at: position) }
        var least: [String] = []
        // With none of them and with all of them first: these are the usual cases.
        let most = 1 << Swift.min(open.count, 14)
        for choice in [0, most - 1] + (most > 2 ? [Int](1..<(most - 1)) : []) {
            var candidate = world
            for index in made.indices {
                let place = open.firstIndex(of: index)
                if place == nil || choice & (1 << (place ?? 0)) != 0 { made[index].change(&candidate) }
            }
            candidate = candidate.naming(unknownSessionsAs: found)
            if candidate == found { return Explanation(certain: certain.count, differences: []) }
            let differences = found.differences(from: candidate)
            if least.isEmpty || differences.count < least.count { least = differences }
        }
        let requests = made.map { "\($0.request): \($0.isCertain(at: position) ? "acknowledged" : "\($0.outcome)")" }
        return Explanation(certain: certain.count, differences: least + ["after " + requests.joined(separator: "; ")])
    }

    struct Explanation {
        /// Acknowledged changes that were looked for.
        let certain: Int
        /// Between what was found and the nearest of what it might be.
        let differences: [String]
    }
}

extension FaultStep {
    fileprivate func isCertain(at position: Int) -> Bool {
        outcome == .acknowledged && answered.map { $0 <= position } == true
    }
}
