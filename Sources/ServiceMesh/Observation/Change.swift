import Foundation
import Synchronization

/// One value of something observed. `sequence` rises with each change; where values were dropped because this
/// consumer was slower than the changes, the next one it gets is marked `overflowed`.
public struct Change<Value: Sendable>: Sendable {
    public let sequence: UInt64
    public let value: Value
    public let overflowed: Bool
    /// The value as JSON, made by the first consumer that needs it and shared by all of them.
    let encoding: SharedEncoding

    /// - Parameter encoding: the same for every consumer's copy of one value.
    init(sequence: UInt64, value: Value, overflowed: Bool, encoding: SharedEncoding = SharedEncoding()) {
        self.sequence = sequence
        self.value = value
        self.overflowed = overflowed
        self.encoding = encoding
    }

    /// The same change as another value that is made from it.
    public func map<Other: Sendable>(_ transform: (Value) -> Other) -> Change<Other> {
        Change<Other>(sequence: sequence, value: transform(value), overflowed: overflowed)
    }
}

/// A value's JSON, made at most once: a thousand observers of one list must not cost a thousand encodings of it.
final class SharedEncoding: Sendable {
    private let data = Mutex<Data?>(nil)

    func data(_ encode: () throws -> Data) throws -> Data {
        if let known = data.withLock({ $0 }) { return known }
        // Not under the lock: two that come at once encode twice, and nobody waits for a large value.
        let made = try encode()
        return data.withLock { data in
            if let data { return data }
            data = made
            return made
        }
    }
}
