import Randomness

/// A generator of which every step's own is made: the same seed, client and step give the same choices, however many of
/// them the step before has taken.
package struct SeededChoices {
    private var numbers: SplitMix64

    package init(seed: UInt64, _ parts: Int...) {
        numbers = SplitMix64(seed: seed)
        for part in parts { numbers = SplitMix64(seed: next() ^ UInt64(bitPattern: Int64(part))) }
    }

    package mutating func next() -> UInt64 { numbers.next() }

    /// 0..<`sides`.
    package mutating func roll(_ sides: Int) -> Int { Int(next() % UInt64(max(1, sides))) }

    package mutating func roll(_ range: ClosedRange<Int>) -> Int { range.lowerBound + roll(range.count) }

    /// True once in so many times.
    package mutating func oneIn(_ times: Int) -> Bool { roll(times) == 0 }

    package mutating func pick<Element>(_ choices: some Collection<Element>) -> Element? {
        guard !choices.isEmpty else { return nil }
        return choices[choices.index(choices.startIndex, offsetBy: roll(choices.count))]
    }
}
