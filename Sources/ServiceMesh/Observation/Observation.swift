/// The changes of something as one consumer sees them: the current value first, then the newest each time it
/// asks. It holds one value at most, so a consumer that never asks costs nothing that grows, and one that goes
/// away ends only its own sequence (`AsyncStream` is unbounded by default and ends for all).
public struct Observation<Value: Sendable>: AsyncSequence, Sendable {
    public typealias Element = Change<Value>

    let subscription: Subscription<Value>

    public func makeAsyncIterator() -> Iterator { Iterator(subscription: subscription) }

    public struct Iterator: AsyncIteratorProtocol {
        let subscription: Subscription<Value>

        public mutating func next() async -> Change<Value>? {
            // An `ObservedValue` ends without an error.
            (try? await subscription.slot.next()) ?? nil
        }
    }
}

/// The same for the answer to a query, which has to be read: a read that fails ends the sequence with its error.
///
/// A type of its own and not an error in ``Observation``, so that following what cannot fail (a job) needs no `try`.
public struct QueryObservation<Value: Sendable>: AsyncSequence, Sendable {
    public typealias Element = Change<Value>

    let subscription: Subscription<Value>

    public func makeAsyncIterator() -> Iterator { Iterator(subscription: subscription) }

    public struct Iterator: AsyncIteratorProtocol {
        let subscription: Subscription<Value>

        /// - Throws: ``MeshError`` where the value could not be read, or where what was observed was closed.
        public mutating func next() async throws -> Change<Value>? { try await subscription.slot.next() }
    }
}
