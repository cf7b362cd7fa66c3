/// Steele, Lea and Flood's SplitMix64: 64 bits of state, and the same numbers for the same seed on every machine, which
/// the system's generator cannot give. Not for secrets.
@frozen
public struct SplitMix64: RandomNumberGenerator, Sendable {
    /// What successive states differ by: 2^64 divided by the golden ratio, odd.
    public static let increment: UInt64 = 0x9E37_79B9_7F4A_7C15

    @usableFromInline var state: UInt64

    @inlinable
    public init(seed: UInt64) { state = seed }

    @inlinable
    public mutating func next() -> UInt64 {
        state &+= Self.increment
        return Self.mixed(state)
    }

    /// 0 ..< `bound`; 0 for a bound below 1.
    @inlinable
    public mutating func below(_ bound: Int) -> Int { Int(next() % UInt64(max(1, bound))) }

    /// The number that belongs to a state: another for each, and no two alike.
    @inlinable
    public static func mixed(_ state: UInt64) -> UInt64 {
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
