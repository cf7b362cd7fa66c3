import Randomness
import Synchronization

/// Delays and failures on purpose, for tests: what happens when a service is slow or fails now and then.
///
/// They are injected between admission and the actor: a delayed call holds its place as a slow service would, and a failed
/// one counts as failed. The same seed and the same order of a message's calls give the same faults, whatever other
/// messages do. A mesh without a plan, which is every mesh but a test's, pays a look at a nil for it.
package final class FaultPlan: Sendable {
    package enum Fault: Sendable {
        /// Waits for so many milliseconds, before the service sees the call.
        case delay(milliseconds: ClosedRange<Int>)
        /// Fails so many of 100 calls, which the service never sees.
        case fail(MeshStatus, percent: Int)
    }

    enum Verdict: Equatable {
        case delay(milliseconds: Int)
        case fail(MeshStatus)
    }

    private let rules: [String: [Fault]]
    private let seed: UInt64
    private let calls = Mutex<[String: UInt64]>([:])

    /// - Parameter rules: by method, in the order in which they are applied; what fails goes no further.
    package init(seed: UInt64, rules: [String: [Fault]]) {
        self.seed = seed
        self.rules = rules
    }

    /// What happens to the next call of `method`.
    func verdicts(for method: String) -> [Verdict] {
        guard let rules = rules[method] else { return [] }
        let call = calls.withLock { calls in
            calls[method, default: 0] += 1
            return calls[method, default: 0]
        }
        var verdicts: [Verdict] = []
        for (index, rule) in rules.enumerated() {
            var random = SplitMix64(seed: seed ^ Self.hash(method) ^ (call &* 1_000_003 &+ UInt64(index)))
            switch rule {
            case .delay(let milliseconds):
                verdicts.append(.delay(milliseconds: Int.random(in: milliseconds, using: &random)))
            case .fail(let status, let percent):
                guard Int.random(in: 0..<100, using: &random) < percent else { continue }
                return verdicts + [.fail(status)]
            }
        }
        return verdicts
    }

    /// Lets the call's faults happen.
    func inject(_ method: String, on clock: MeshClock) async throws {
        for verdict in verdicts(for: method) {
            switch verdict {
            case .delay(let milliseconds):
                try await clock.sleep(for: .milliseconds(milliseconds))
            case .fail(let status):
                throw MeshError(status, "A fault of the test's plan.")
            }
        }
    }

    /// FNV-1a: Swift's own hashes differ from run to run.
    private static func hash(_ text: String) -> UInt64 {
        text.utf8.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
    }
}
