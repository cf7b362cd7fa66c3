import Synchronization
import TestSupport
import Testing

@testable import ServiceMesh

@Suite(.timeLimit(.minutes(1))) struct ObservedQueryTests {
    private let store = Store()
    private let hub = ObservationHub(interval: 0, clock: MeshClock(simulating: StillTime()))

    private func observe(_ query: String = "q") -> QueryObservation<Int> {
        hub.observe(query, reading: ["own"]) { [store] in store.read() }
    }

    @Test func theCurrentValueComesFirstThenEachOtherOne() async throws {
        var changes = observe().makeAsyncIterator()
        var change = try #require(try await changes.next())
        #expect(change.value == 0 && change.sequence == 1 && !change.overflowed)
        for value in 1...20 {
            store.value = value
            hub.changed(["own"])
            change = try #require(try await changes.next())
            #expect(change.value == value && change.sequence == UInt64(value + 1) && !change.overflowed)
        }
    }

    @Test func onlySoManyDifferentOnesAreObservedAtOnceAndJoiningOneIsNone() async throws {
        let hub = ObservationHub(interval: 0, clock: MeshClock(simulating: StillTime()), queries: 2)
        func observe(_ query: String) -> QueryObservation<Int> { hub.observe(query, reading: ["own"]) { 7 } }
        var first: QueryObservation? = observe("one")
        let second = observe("two")
        do {
            for try await _ in observe("three") { Issue.record("it was observed") }
            Issue.record("it ended without an error")
        } catch let error as MeshError {
            #expect(error.status == .resourceExhausted && error.message.contains("End an observation"))
        }
        var joined = observe("two").makeAsyncIterator()
        #expect(try await joined.next()?.value == 7)
        withExtendedLifetime((first, second)) {}
        // What nobody observes any more leaves its place.
        first = nil
        var third = observe("three").makeAsyncIterator()
        #expect(try await third.next()?.value == 7)
    }

    @Test func whatIsReadAndFoundTheSameIsNotSaid() async throws {
        var changes = observe().makeAsyncIterator()
        _ = try await changes.next()
        hub.changed(["own"])
        // A newcomer gets its value when that read is done.
        var newcomer = observe().makeAsyncIterator()
        #expect(try await newcomer.next()?.sequence == 1)
        #expect(store.reads == 2)
        store.value = 1
        hub.changed(["own"])
        let change = try #require(try await changes.next())
        #expect(change.value == 1 && change.sequence == 2 && !change.overflowed)
    }

    @Test func whatItDoesNotReadCostsNoRead() async throws {
        var changes = observe().makeAsyncIterator()
        _ = try await changes.next()
        for _ in 0..<100 { hub.changed(["other"]) }
        store.value = 1
        hub.changed(["other", "own"])
        #expect(try await changes.next()?.value == 1)
        #expect(store.reads == 2)
    }

    @Test func changesDuringAReadShareTheNextOne() async throws {
        let gate = Gate()
        let store = store
        let observation = hub.observe("held", reading: ["own"]) {
            let value = store.read()
            await gate.pass()
            return value
        }
        await gate.arrivals(1)
        for value in 1...100 {
            store.value = value
            hub.changed(["own"])
        }
        gate.open()
        var changes = observation.makeAsyncIterator()
        var last = try await changes.next()?.value
        while last != 100 { last = try await changes.next()?.value }
        #expect(store.reads == 2)
    }

    @Test func aNewcomerSeesEveryChangeMadeBeforeItCame() async throws {
        let gate = Gate()
        let store = store
        let observation = { [hub] in
            hub.observe("held", reading: ["own"]) {
                let value = store.read()
                if value == 1 { await gate.pass() }
                return value
            }
        }
        var old = observation().makeAsyncIterator()
        #expect(try await old.next()?.value == 0)
        store.value = 1
        hub.changed(["own"])
        await gate.arrivals(1)
        // A read that began too early is under way, and an older value is the newest known.
        store.value = 2
        hub.changed(["own"])
        var newcomer = observation().makeAsyncIterator()
        gate.open()
        #expect(try await newcomer.next()?.value == 2)
    }

    @Test func readsAreSpacedAndTheLastOneIsNotLost() async throws {
        let (pauses, store) = (Pauses(), store)
        let gate = pauses.gate
        let hub = ObservationHub(interval: 100, clock: MeshClock(simulating: pauses))
        let observe = { hub.observe("q", reading: ["own"]) { store.read() } }
        var changes = observe().makeAsyncIterator()
        _ = try await changes.next()
        for value in 1...50 {
            store.value = value
            hub.changed(["own"])
        }
        await gate.arrivals(1)
        #expect(store.reads == 1 && pauses.lengths == [100])
        // Who comes now does not wait for the pause.
        var newcomer = observe().makeAsyncIterator()
        #expect(try await newcomer.next()?.value == 50)
        #expect(try await changes.next()?.value == 50)
        store.value = 51
        hub.changed(["own"])
        await gate.arrivals(2)
        #expect(store.reads == 2)
        gate.open()
        #expect(try await changes.next()?.value == 51)
        #expect(store.reads == 3)
    }

    @Test func aDearAnswerIsReadHalfOfTheTimeAtMost() async throws {
        let (pauses, store) = (Pauses(), store)
        let hub = ObservationHub(interval: 100, clock: MeshClock(simulating: pauses))
        let observation = hub.observe("q", reading: ["own"]) {
            pauses.clock.withLock { $0 += 1000 }
            return store.read()
        }
        var changes = observation.makeAsyncIterator()
        _ = try await changes.next()
        hub.changed(["own"])
        await pauses.gate.arrivals(1)
        #expect(pauses.lengths == [1000])
        pauses.gate.open()
    }

    @Test func equalQueriesShareOneRead() async throws {
        var first = observe().makeAsyncIterator()
        _ = try await first.next()
        let others = (0..<100).map { _ in observe() }
        for other in others {
            var changes = other.makeAsyncIterator()
            #expect(try await changes.next()?.value == 0)
        }
        #expect(hub.count == 1 && store.reads == 1)
        var different = observe("another").makeAsyncIterator()
        _ = try await different.next()
        #expect(hub.count == 2 && store.reads == 2)
    }

    @Test func nothingIsLeftOfTenThousandThatCameAndWent() async throws {
        let hub = hub
        let weak = WeakSlots()
        await withTaskGroup(of: Void.self) { group in
            for worker in 0..<50 {
                group.addTask { [self] in
                    for number in 0..<200 {
                        let observation = observe("query \((worker + number) % 7)")
                        weak.add(observation.subscription.slot)
                        // Some take a value, some never ask, some go while they wait.
                        if number % 3 == 0 {
                            var changes = observation.makeAsyncIterator()
                            _ = try? await changes.next()
                        } else if number % 3 == 1 {
                            let waiting = Task { for try await _ in observation {} }
                            waiting.cancel()
                            _ = try? await waiting.value
                        }
                        hub.changed(["own"])
                    }
                }
            }
        }
        #expect(hub.count == 0)
        #expect(weak.count == 10_000)
        // A read that was under way when the last one went may still be handing out what it found.
        #expect(await hub.turns.take())
        #expect(weak.alive == 0)
    }

    private final class WeakSlots: Sendable {
        private struct Entry {
            weak var slot: Slot<Int>?
        }
        private let entries = Mutex<[Entry]>([])
        var count: Int { entries.withLock { $0.count } }
        var alive: Int { entries.withLock { $0.count { $0.slot != nil } } }
        func add(_ slot: Slot<Int>) { entries.withLock { $0.append(Entry(slot: slot)) } }
    }

    /// Counts the values that are alive. The number is no field of the counted object: Thread Sanitizer does not see the
    /// handing over inside the runtime, and calls a first look at such a field a race.
    private struct Counted: Sendable, Equatable {
        let number: Int
        private let life: Life
        init(_ number: Int, _ alive: Counter) { (self.number, life) = (number, Life(alive)) }
        static func == (left: Counted, right: Counted) -> Bool { left.number == right.number }
    }

    private final class Life: Sendable {
        private let alive: Counter
        init(_ alive: Counter) {
            self.alive = alive
            alive.value.add(1, ordering: .relaxed)
        }
        deinit { alive.value.subtract(1, ordering: .relaxed) }
    }

    private final class Counter: Sendable {
        let value = Atomic(0)
    }

    @Test func whoNeverAsksHoldsOneValueAtMost() async throws {
        let (alive, store) = (Counter(), store)
        let observe = { [hub] in hub.observe("q", reading: ["own"]) { Counted(store.read(), alive) } }
        let sleeper = observe()
        var changes = observe().makeAsyncIterator()
        _ = try await changes.next()
        for value in 1...1000 {
            store.value = value
            hub.changed(["own"])
            #expect(try await changes.next()?.value.number == value)
            // The newest, which the sleeper's slot holds too, and one that a read or an iterator has not let go yet.
            #expect(alive.value.load(ordering: .relaxed) <= 3)
        }
        var late = sleeper.makeAsyncIterator()
        var change = try #require(try await late.next())
        #expect(change.overflowed)
        // Slots are filled one after the other: the last value may be in the other's first.
        if change.value.number == 999 { change = try #require(try await late.next()) }
        #expect(change.value.number == 1000)
    }

    @Test func aReadThatFailsEndsItForAllAndTheNextBeginsAnew() async throws {
        let (broken, store) = (FlagBox(), store)
        let observe = { [hub] in
            hub.observe("q", reading: ["own"]) {
                guard !broken.isSet.load(ordering: .relaxed) else { throw MeshError(.dataLoss, "The disk is broken.") }
                return store.read()
            }
        }
        var (one, two) = (observe().makeAsyncIterator(), observe().makeAsyncIterator())
        _ = try await one.next()
        _ = try await two.next()
        broken.isSet.store(true, ordering: .relaxed)
        hub.changed(["own"])
        await #expect(throws: MeshError(.dataLoss, "The disk is broken.")) { _ = try await one.next() }
        await #expect(throws: MeshError(.dataLoss, "The disk is broken.")) { _ = try await two.next() }
        #expect(hub.count == 0)
        broken.isSet.store(false, ordering: .relaxed)
        var next = observe().makeAsyncIterator()
        #expect(try await next.next()?.value == 0)
    }

    private final class FlagBox: Sendable {
        let isSet = Atomic(false)
    }

    @Test func aBusyCatalogueIsAskedAgain() async throws {
        let (left, store) = (Refusals(), store)
        let observation = hub.observe("q", reading: ["own"]) {
            if left.takeOne() { throw MeshError(.resourceExhausted, "Too many reads.") }
            return store.read()
        }
        var changes = observation.makeAsyncIterator()
        #expect(try await changes.next()?.value == 0)
        #expect(left.takeOne() == false)
    }

    private final class Refusals: Sendable {
        private let left = Mutex(3)
        func takeOne() -> Bool {
            left.withLock { left in
                guard left > 0 else { return false }
                left -= 1
                return true
            }
        }
    }

    @Test func closingEndsThoseWhoObserveAndThoseWhoCome() async throws {
        var changes = observe().makeAsyncIterator()
        _ = try await changes.next()
        hub.close()
        for var iterator in [changes, observe().makeAsyncIterator()] {
            do {
                _ = try await iterator.next()
                Issue.record("It went on.")
            } catch {
                #expect(MeshError(describing: error).status == .unavailable)
            }
        }
        #expect(hub.count == 0)
    }

    @Test func oneThatIsCancelledEndsAlone() async throws {
        let observation = observe()
        var other = observe().makeAsyncIterator()
        _ = try await other.next()
        let first = Gate()
        let cancelled = Task {
            var values = 0
            for try await _ in observation {
                values += 1
                first.open()
            }
            return values
        }
        await first.pass()
        cancelled.cancel()
        #expect(try await cancelled.value == 1)
        store.value = 1
        hub.changed(["own"])
        #expect(try await other.next()?.value == 1)
    }

    @Test func onlySoManyQueriesAreReadAtOnce() async throws {
        let gate = Gate()
        let running = Peak()
        let observations = (0..<20).map { number in
            hub.observe(number, reading: ["own"]) {
                running.enter()
                await gate.pass()
                running.leave()
                return number
            }
        }
        await gate.arrivals(1)
        gate.open()
        for (number, observation) in observations.enumerated() {
            var changes = observation.makeAsyncIterator()
            #expect(try await changes.next()?.value == number)
        }
        #expect(running.most == 1)
    }

    private final class Peak: Sendable {
        private let state = Mutex((now: 0, most: 0))
        var most: Int { state.withLock { $0.most } }
        func enter() {
            state.withLock { state in
                state.now += 1
                state.most = max(state.most, state.now)
            }
        }
        func leave() { state.withLock { $0.now -= 1 } }
    }

    @Test func aValueIsWrittenAsJSONOnceForAllWhoGetIt() async throws {
        var (one, two) = (observe().makeAsyncIterator(), observe().makeAsyncIterator())
        let (first, second) = (try #require(try await one.next()), try #require(try await two.next()))
        _ = try first.encoding.data { try JSON.encode(first.value) }
        let shared = try second.encoding.data {
            Issue.record("It was written again.")
            return try JSON.encode(second.value)
        }
        #expect(String(decoding: shared, as: UTF8.self) == "0")
    }
}
