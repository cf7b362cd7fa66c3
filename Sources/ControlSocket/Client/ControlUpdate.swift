import Foundation

/// A change of something observed, as the daemon sent it.
public struct ControlUpdate<Value: Sendable>: Sendable {
    /// Rises with each change.
    public let sequence: UInt64
    public let value: Value
    /// Whether older values were dropped before this one, by the daemon or here, because nobody took them.
    public let overflowed: Bool

    package init(sequence: UInt64, value: Value, overflowed: Bool) {
        self.sequence = sequence
        self.value = value
        self.overflowed = overflowed
    }
}
