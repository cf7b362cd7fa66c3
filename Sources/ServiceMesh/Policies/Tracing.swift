import Synchronization

/// Numbers for requests that enter the process: none comes twice within one run, and two runs' differ.
///
/// A counter from a random start, scrambled (splitmix64's finaliser, a bijection). The system's random numbers were
/// rejected: each is a system call of some 300 ns here, more than the rest of a call together.
@usableFromInline
enum TraceNumber {
    private static let counter = Atomic<UInt64>(.random(in: 0 ... .max))

    @usableFromInline
    static func next() -> UInt64 {
        var mixed = counter.wrappingAdd(0x9E37_79B9_7F4A_7C15, ordering: .relaxed).newValue
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        mixed ^= mixed >> 31
        // Zero means "no trace" in logs and JSON; one in 2^64 may repeat for it.
        return mixed == 0 ? 1 : mixed
    }
}
