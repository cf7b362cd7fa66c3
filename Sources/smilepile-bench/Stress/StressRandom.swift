/// A generator of which every step's own is made: the same seed, client and step give the same choices, however many of
/// them the step before has taken.
struct StressRandom {
    private var state: UInt64

    init(seed: UInt64, _ parts: Int...) {
        state = seed
        for part in parts { state = next() ^ UInt64(bitPattern: Int64(part)) }
    }

    /// SplitMix64.
    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// 0..<`sides`.
    mutating func roll(_ sides: Int) -> Int { Int(next() % UInt64(max(1, sides))) }

    mutating func roll(_ range: ClosedRange<Int>) -> Int { range.lowerBound + roll(range.count) }

    /// True once in so many times.
    mutating func oneIn(_ times: Int) -> Bool { roll(times) == 0 }

    mutating func pick<Element>(_ choices: some Collection<Element>) -> Element? {
        guard !choices.isEmpty else { return nil }
        return choices[choices.index(choices.startIndex, offsetBy: roll(choices.count))]
    }
}
