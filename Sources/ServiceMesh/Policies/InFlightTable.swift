import Synchronization

/// The calls of one service that are running: a place for each, as many as may run at once.
///
/// Taking a place is admission, and what stands in it tells `mesh.stats` which message has been running since when.
/// So admission and observation are one atomic step when a call comes and one when it leaves. Counters
/// for both took three. Orderings are sequentially consistent because ``Admission`` weighs them against its mark.
final class InFlightTable: Sendable {
    private struct Place: ~Copyable {
        /// 0 while free, else ``word(message:began:)``.
        let call = Atomic<UInt64>(0)
        /// The number of the message that the call waits for, see ``Gate/number``; 0 for none.
        let waitsFor = Atomic<UInt32>(0)
    }

    /// One running call as `mesh.stats` sees it.
    struct Running {
        let message: UInt8
        /// Nanoseconds on the monotonic clock, to 16 of them.
        let began: UInt64
        let waitsFor: UInt32
    }

    private let count: Int
    // Unsafe only in how it is declared, because a pointer is not `Sendable`: it is set in init and never again, freed in
    // deinit when nobody can have it any more, and what it points to is atomic.
    nonisolated(unsafe) private let places: UnsafeMutablePointer<Place>
    /// Where the last call left, which is where a free place is.
    private let hint = Atomic(0)

    init(count: Int) {
        self.count = count
        places = .allocate(capacity: count)
        for index in 0..<count { (places + index).initialize(to: Place()) }
    }

    deinit {
        places.deinitialize(count: count)
        places.deallocate()
    }

    /// What stands in a place: the time in units of 16 ns, which lasts for 36 years, and the service's number for
    /// the message, 1…255.
    static func word(message: UInt8, began: UInt64) -> UInt64 { (began >> 4) << 8 | UInt64(message) }

    /// Nil where every place is taken. Each place must be given back by one ``release(_:)``.
    func claim(_ word: UInt64) -> Int32? {
        let first = hint.load(ordering: .relaxed)
        var index = first
        repeat {
            if places[index].call.load(ordering: .sequentiallyConsistent) == 0,
                places[index].call.compareExchange(
                    expected: 0, desired: word, ordering: .sequentiallyConsistent
                ).exchanged
            {
                return Int32(truncatingIfNeeded: index)
            }
            index &+= 1
            if index == count { index = 0 }
        } while index != first
        return nil
    }

    func release(_ place: Int32) {
        let index = Int(place)
        places[index].waitsFor.store(0, ordering: .relaxed)
        places[index].call.store(0, ordering: .sequentiallyConsistent)
        hint.store(index, ordering: .relaxed)
    }

    /// The call in `place` waits for another one. Of several at once the last is told; a task that outlives its call
    /// may mark the place's next one. It is there to be read by people.
    func mark(_ place: Int32, waitsFor message: UInt32) {
        places[Int(place)].waitsFor.store(message, ordering: .relaxed)
    }

    func unmark(_ place: Int32, waitsFor message: UInt32) {
        _ = places[Int(place)].waitsFor.compareExchange(expected: message, desired: 0, ordering: .relaxed)
    }

    /// Those running now, each read once: calls that come and go meanwhile are in it or not.
    var running: [Running] {
        (0..<count).compactMap { index in
            let word = places[index].call.load(ordering: .sequentiallyConsistent)
            guard word != 0 else { return nil }
            return Running(
                message: UInt8(truncatingIfNeeded: word), began: (word >> 8) << 4,
                waitsFor: places[index].waitsFor.load(ordering: .relaxed))
        }
    }

    var runningCount: Int {
        (0..<count).count { places[$0].call.load(ordering: .sequentiallyConsistent) != 0 }
    }
}
