import Randomness
import Synchronization

/// Numbers for requests that enter the process: none comes twice within one run, and two runs' differ.
///
/// A counter from a random start, scrambled (SplitMix64's finaliser, a bijection). The system's random numbers were
/// rejected: each is a system call of some 300 ns here, more than the rest of a call together.
@usableFromInline
enum TraceNumber {
    private static let counter = Atomic<UInt64>(.random(in: 0 ... .max))

    @usableFromInline
    static func next() -> UInt64 {
        let mixed = SplitMix64.mixed(counter.wrappingAdd(SplitMix64.increment, ordering: .relaxed).newValue)
        // Zero means "no trace" in logs and JSON; one in 2^64 may repeat for it.
        return mixed == 0 ? 1 : mixed
    }
}
