import Foundation
import ServiceMesh
import Testing

@Suite struct CallTests {
    @Test func aMessageReachesItsService() async throws {
        let (mesh, _) = try await startedMesh()
        #expect(try await mesh.send(Echo(text: "ä")) == EchoReply(text: "ä"))
        await mesh.stop()
    }

    @Test func rolesAreCheckedBeforeAnythingElse() async throws {
        let (mesh, _) = try await startedMesh()
        let kid = CallContext.root(mesh: mesh, role: .kid)
        _ = try await mesh.send(Echo(text: ""), in: kid)
        #expect(await meshStatus { _ = try await mesh.send(Fail(), in: kid) } == .permissionDenied)
        let counts = try await mesh.counts("test.fail")
        #expect(counts.admitted == 0 && counts.refused == 1)
        await mesh.stop()
    }

    @Test func aServiceActsOnItsOwnAuthorityForAKid() async throws {
        let (mesh, workshop) = try await startedMesh()
        workshop.gate.open()
        let kid = CallContext.root(mesh: mesh, role: .kid)
        #expect(try await mesh.send(Relay(text: "x"), in: kid).text == "x")
        await mesh.stop()
    }

    @Test func traceAndDeadlineTravelWithTheCall() async throws {
        let (mesh, workshop) = try await startedMesh()
        workshop.gate.open()
        let deadline = Deadline.after(milliseconds: 600_000)
        let root = CallContext.root(mesh: mesh, role: .parent, deadline: deadline, trace: 42)
        let relayed = try await mesh.send(Relay(text: "x"), in: root)
        #expect(relayed.chain == ["test.relay"] && relayed.trace == 42 && relayed.deadline == deadline.nanoseconds)
        await mesh.stop()
    }

    @Test func workPastItsDeadlineIsNotStarted() async throws {
        let (mesh, _) = try await startedMesh()
        #expect(
            await meshStatus { _ = try await mesh.send(Echo(text: ""), deadline: .after(milliseconds: 0)) }
                == .deadlineExceeded)
        #expect(try await mesh.counts("test.echo").admitted == 0)
        await mesh.stop()
    }

    @Test func aDeadlineCancelsWorkThatRuns() async throws {
        let (mesh, workshop) = try await startedMesh()
        async let result = meshStatus {
            _ = try await mesh.send(Hold(text: ""), deadline: .after(milliseconds: 20))
        }
        await workshop.gate.arrivals(1)
        // Longer than the deadline by the clock that it is on; then the work finds itself cancelled.
        let end = MonotonicClock.now() + 30_000_000
        while MonotonicClock.now() < end { await Task.yield() }
        workshop.gate.open()
        #expect(await result == .deadlineExceeded)
        await mesh.stop()
    }

    @Test func aDeadlineEndsTheWaitForAPlace() async throws {
        let (mesh, workshop) = try await startedMesh()
        let running = (0..<2).map { _ in Task { try await mesh.send(Hold(text: "")) } }
        await workshop.gate.arrivals(2)
        // The gate stays closed: only the deadline can end this call.
        #expect(
            await meshStatus { _ = try await mesh.send(Echo(text: ""), deadline: .after(milliseconds: 20)) }
                == .deadlineExceeded)
        #expect(try await mesh.waiting("Workshop") == 0)
        workshop.gate.open()
        for task in running { _ = try await task.value }
        await mesh.stop()
    }

    @Test func aDeadlineIsSaidToBeOneHoweverDeepItStruck() async throws {
        let (mesh, workshop) = try await startedMesh()
        // The call inside finds itself cancelled and says so in the mesh's own words. Long enough that it gets there on a busy
        // machine: work whose time is over is not begun, and nobody would come to the gate.
        async let result = meshStatus {
            _ = try await mesh.send(Relay(text: ""), deadline: .after(milliseconds: 1000))
        }
        await workshop.gate.arrivals(1)
        let end = MonotonicClock.now() + 1_010_000_000
        while MonotonicClock.now() < end { await Task.yield() }
        workshop.gate.open()
        #expect(await result == .deadlineExceeded)
        await mesh.stop()
    }

    @Test func cancelledWaitersWithADeadlineLoseNoPlace() async throws {
        let (mesh, workshop) = try await startedMesh()
        workshop.gate.open()
        for round in 0..<300 {
            let tasks = (0..<5).map { _ in
                Task { try await mesh.send(Hold(text: ""), deadline: .after(milliseconds: 600_000)) }
            }
            if round % 2 == 0 { await Task.yield() }
            for task in tasks { task.cancel() }
            for task in tasks { _ = try? await task.value }
        }
        let service = try await mesh.send(GetMeshStatistics()).services.first { $0.name == "Workshop" }
        #expect(service?.running == 0 && service?.waiting == 0)
        await mesh.stop()
    }

    @Test func workThatWasDoneIsAnsweredThoughItsCallerWasCancelled() async throws {
        let (mesh, workshop) = try await startedMesh()
        let call = Task { try await mesh.send(Commit(), deadline: .after(milliseconds: 600_000)) }
        await workshop.gate.arrivals(1)
        call.cancel()
        // Time for the deadline's timer to notice that it is off, before the work ends.
        for _ in 0..<10_000 { await Task.yield() }
        workshop.gate.open()
        #expect(await meshStatus { _ = try await call.value } == nil)
        await mesh.stop()
    }

    @Test func unknownErrorsBecomeInternalOnes() async throws {
        let (mesh, _) = try await startedMesh()
        #expect(await meshStatus { _ = try await mesh.send(Fail()) } == .internal)
        let counts = try await mesh.counts("test.fail")
        #expect(counts.failed == 1 && counts.inFlight == 0)
        await mesh.stop()
    }

    @Test func aMessageWithoutServiceIsUnimplemented() async throws {
        let mesh = try Mesh(services: [])
        #expect(await meshStatus { _ = try await mesh.send(Echo(text: "")) } == .unimplemented)
    }

    @Test func aFullServiceRefusesAtOnceAndCountsEverything() async throws {
        let (mesh, workshop) = try await startedMesh()
        // Two run, three wait.
        let waiting = (0..<5).map { index in Task { try await mesh.send(Hold(text: "\(index)")) } }
        await workshop.gate.arrivals(2)
        while try await mesh.waiting("Workshop") < 3 { await Task.yield() }
        #expect(await meshStatus { _ = try await mesh.send(Echo(text: "")) } == .resourceExhausted)
        #expect(try await mesh.counts("test.echo").refused == 1)
        workshop.gate.open()
        for task in waiting { _ = try await task.value }
        let counts = try await mesh.counts("test.hold")
        #expect(counts.admitted == 5 && counts.completed == 5 && counts.inFlight == 0)
        await mesh.stop()
    }

    @Test func aCancelledWaiterGivesItsPlaceUp() async throws {
        let (mesh, workshop) = try await startedMesh()
        let running = (0..<2).map { _ in Task { try await mesh.send(Hold(text: "")) } }
        await workshop.gate.arrivals(2)
        let waiter = Task { try await mesh.send(Echo(text: "")) }
        while try await mesh.waiting("Workshop") < 1 { await Task.yield() }
        waiter.cancel()
        #expect(await meshStatus { _ = try await waiter.value } == .cancelled)
        #expect(try await mesh.waiting("Workshop") == 0)
        workshop.gate.open()
        for task in running { _ = try await task.value }
        let counts = try await mesh.counts("test.echo")
        #expect(counts.admitted == 0 && counts.refused == 1)
        await mesh.stop()
    }

    @Test func everyCallEndsInExactlyOneWay() async throws {
        let (mesh, workshop) = try await startedMesh()
        workshop.gate.open()
        await withTaskGroup(of: Void.self) { group in
            for index in 0..<400 {
                group.addTask {
                    let task = Task { try await mesh.send(Hold(text: "")) }
                    if index % 3 == 0 { task.cancel() }
                    _ = try? await task.value
                    if index % 5 == 0 { _ = try? await mesh.send(Fail()) }
                }
            }
        }
        for method in ["test.hold", "test.fail"] {
            let counts = try await mesh.counts(method)
            #expect(counts.inFlight == 0)
            #expect(counts.admitted == counts.completed + counts.failed + counts.cancelled)
        }
        #expect(try await mesh.waiting("Workshop") == 0)
        await mesh.stop()
    }
}

extension Mesh {
    fileprivate func waiting(_ service: String) async throws -> Int {
        try await send(GetMeshStatistics()).services.first { $0.name == service }?.waiting ?? 0
    }
}

@Suite struct LifecycleTests {
    @Test func servicesStartInOrderAndStopInReverse() async throws {
        let workshop = Workshop()
        let (mesh, _) = try await startedMesh(workshop)
        await mesh.stop()
        await mesh.stop()
        #expect(workshop.log.all == ["start Workshop", "start Office", "stop Office", "stop Workshop"])
    }

    @Test func aFailedStartStopsWhatHadStarted() async throws {
        let log = EventLog()
        let mesh = try Mesh(services: [Workshop(log: log), Refuser()])
        await #expect(throws: Fail.Broken.self) { try await mesh.start() }
        #expect(log.all == ["start Workshop", "stop Workshop"])
    }

    @Test func stoppingWaitsForWhatRunsAndRefusesTheRest() async throws {
        let (mesh, workshop) = try await startedMesh()
        let running = Task { try await mesh.send(Hold(text: "last")) }
        await workshop.gate.arrivals(1)
        let stopping = Task { await mesh.stop() }
        while await meshStatus({ _ = try await mesh.send(Echo(text: "")) }) == nil { await Task.yield() }
        #expect(await meshStatus { _ = try await mesh.send(Echo(text: "")) } == .unavailable)
        workshop.gate.open()
        #expect(try await running.value.text == "last")
        await stopping.value
        #expect(workshop.log.all.last == "stop Workshop")
    }

    @Test func aServiceThatCannotWorkIsNamed() async throws {
        let mesh = try Mesh(services: [Invalid()])
        try await mesh.start()
        let health = try await mesh.send(CheckMeshHealth())
        #expect(!health.isHealthy)
        #expect(health.services.first { $0.name == "Invalid" }?.problem?.status == .dataLoss)
        await mesh.stop()
    }

    @Test func twoMessagesOfOneNameAreAMistake() {
        #expect(throws: MeshError.self) { try Mesh(services: [Workshop(), Workshop()]) }
    }

    private actor Refuser: MeshService {
        static let serviceName = "Refuser"
        static var messages: MessageList<Refuser> {}
        func start(on mesh: Mesh) throws { throw Fail.Broken() }
    }

    private actor Invalid: MeshService {
        static let serviceName = "Invalid"
        static var messages: MessageList<Invalid> {}
        func checkHealth() throws { throw MeshError(.dataLoss, "The disk is gone.") }
    }
}
