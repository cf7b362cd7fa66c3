import Synchronization
import Testing

@testable import ServiceMesh

/// The door itself, where its fast way and its slow way meet.
@Suite struct AdmissionTests {
    /// Calls at once, and the most there were.
    private final class Crowd: Sendable {
        private let state = Mutex((inside: 0, most: 0))

        var inside: Int { state.withLock { $0.inside } }
        var most: Int { state.withLock { $0.most } }

        func enter() {
            state.withLock { state in
                state.inside += 1
                state.most = max(state.most, state.inside)
            }
        }

        func leave() { state.withLock { $0.inside -= 1 } }
    }

    @Test func neverMoreThanItsLimitAreInsideWhoeverWaits() async throws {
        let admission = Admission(limit: AdmissionLimit(concurrent: 3, queued: 1_000), serviceName: "Test")
        let crowd = Crowd()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<200 {
                group.addTask {
                    for _ in 0..<50 {
                        let free = try admission.enterNow(1, now: 0, isNested: false)
                        let place =
                            if let free { free } else { try await admission.enter(1, isNested: false) }
                        crowd.enter()
                        await Task.yield()
                        crowd.leave()
                        admission.leave(place)
                    }
                }
            }
            try await group.waitForAll()
        }
        // Not less either: places are not lost.
        #expect(crowd.most == 3)
        #expect(admission.counts == (0, 0))
        await admission.drained()
    }

    @Test func onceNobodyWaitsPlacesAreTakenWithoutTheLockAgain() async throws {
        let admission = Admission(limit: AdmissionLimit(concurrent: 1, queued: 100), serviceName: "Test")
        for _ in 0..<100 {
            let first = try #require(try admission.enterNow(1, now: 0, isNested: false))
            async let others: Void = withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<8 {
                    group.addTask {
                        admission.leave(try await admission.enter(1, isNested: false))
                    }
                }
                try await group.waitForAll()
            }
            await Task.yield()
            admission.leave(first)
            try await others
            #expect(admission.isFast)
        }
    }

    @Test func aClosedDoorLetsOnlyNestedCallsInAndKnowsWhenTheLastHasLeft() async throws {
        let admission = Admission(limit: .standard, serviceName: "Test")
        let crowd = Crowd()
        let first = try #require(try admission.enterNow(1, now: 0, isNested: false))
        crowd.enter()
        admission.close()
        #expect(throws: MeshError.self) { try admission.enterNow(1, now: 0, isNested: false) }
        let second = try #require(try admission.enterNow(1, now: 0, isNested: true))
        crowd.enter()
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                await admission.drained()
                #expect(crowd.inside == 0)
            }
            for place in [first, second] {
                await Task.yield()
                crowd.leave()
                admission.leave(place)
            }
        }
        #expect(admission.counts == (0, 0))
    }
}

@Suite struct RouteTableTests {
    private final class Marker: Sendable {}

    @Test func everyTypeHasItsOwnRouteAndAStrangerNone() {
        let types: [Any.Type] = [
            Int.self, Int8.self, Int16.self, Int32.self, Int64.self, UInt.self, String.self, [Int].self, [String].self,
            [Int: String].self, Double.self, Float.self, Bool.self, Character.self, Set<Int>.self, (() -> Void).self,
        ]
        let routes = types.map { (type: ObjectIdentifier($0), route: Marker()) }
        for count in 0...routes.count {
            let table = RouteTable(routes.prefix(count).map { ($0.type, $0.route) })
            for (index, route) in routes.enumerated() {
                #expect(table.find(route.type) === (index < count ? route.route : nil))
            }
        }
    }
}

@Suite struct TraceNumberTests {
    @Test func noneComesTwice() async {
        let numbers = await withTaskGroup(of: [UInt64].self) { group in
            for _ in 0..<8 { group.addTask { (0..<2_000).map { _ in TraceNumber.next() } } }
            return await group.reduce(into: []) { $0 += $1 }
        }
        #expect(Set(numbers).count == 16_000)
        #expect(!numbers.contains(0))
    }
}
