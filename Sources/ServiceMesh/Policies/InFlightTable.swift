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
    // Unsafe only in how it is declared: allocated in init, freed in deinit, and what it points to is atomic.
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
        letPass(first, before: word)
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

    /// Gives a call that has just begun a moment to end.
    ///
    /// A default actor that is asked while it is at work puts the asker into its queue, and as long as anybody stands
    /// there, every ask goes through that queue and through the pool's: several times the cost of a short call, and with
    /// callers that ask again at once it never ends (560 to 980 ns an ask with 64 callers, 350 with this). Most such
    /// meetings are over within the time of one short call, so this looks at the place for a little longer than that,
    /// without sleeping; a call that has been under way for longer is left alone. Callers on an executor of the mesh's
    /// own were tried instead: every ask then goes through a queue.
    private func letPass(_ index: Int, before word: UInt64) {
        let there = places[index].call.load(ordering: .relaxed)
        guard there != 0, word >> 8 &- there >> 8 < Self.patience else { return }
        for _ in 0..<Self.looks where places[index].call.load(ordering: .relaxed) == 0 { return }
    }

    /// How young a call has to be to be waited for, in units of 16 ns.
    private static let patience: UInt64 = 256
    /// How often it is looked at: less than two microseconds together. Measured with 64 callers and 200 ns between their
    /// asks, 300 looks left every third run in the queue, and these none.
    private static let looks = 1_500

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
