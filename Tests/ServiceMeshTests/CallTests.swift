import Foundation
import ServiceMesh
import ServiceMeshTesting
import TestSupport
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
        let (time, executor) = (HandClock(), StandstillExecutor())
        let clock = MeshClock(simulating: time)
        let (mesh, workshop) = try await startedMesh(clock: clock)
        let result = Task(executorPreference: executor) {
            await meshStatus {
                _ = try await mesh.send(Hold(text: ""), deadline: .after(milliseconds: 20, on: clock))
            }
        }
        await workshop.gate.arrivals(1)
        time.pass(milliseconds: 20)
        // Then the work finds itself cancelled.
        await executor.standsStill()
        workshop.gate.open()
        #expect(await result.value == .deadlineExceeded)
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
        let (time, executor) = (HandClock(), StandstillExecutor())
        let clock = MeshClock(simulating: time)
        let (mesh, workshop) = try await startedMesh(clock: clock)
        let result = Task(executorPreference: executor) {
            await meshStatus {
                _ = try await mesh.send(Relay(text: ""), deadline: .after(milliseconds: 20, on: clock))
            }
        }
        await workshop.gate.arrivals(1)
        time.pass(milliseconds: 20)
        // The call inside finds itself cancelled and says so in the mesh's own words.
        await executor.standsStill()
        workshop.gate.open()
        #expect(await result.value == .deadlineExceeded)
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
        let executor = StandstillExecutor()
        let call = Task(executorPreference: executor) {
            try await mesh.send(Commit(), deadline: .after(milliseconds: 600_000))
        }
        await workshop.gate.arrivals(1)
        call.cancel()
        // The deadline's timer has noticed that it is off, before the work ends.
        await executor.standsStill()
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
        let mesh = try Mesh(services: [], journal: MemoryJobJournal())
        #expect(await meshStatus { _ = try await mesh.send(Echo(text: "")) } == .unimplemented)
    }

    @Test func aFullServiceRefusesAtOnceAndCountsEverything() async throws {
        let (mesh, workshop) = try await startedMesh()
        // Two run, three wait.
        let executor = StandstillExecutor()
        let waiting = (0..<5).map { index in
            Task(executorPreference: executor) { try await mesh.send(Hold(text: "\(index)")) }
        }
        await executor.standsStill()
        #expect(try await mesh.waiting("Workshop") == 3)
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
        let executor = StandstillExecutor()
        let waiter = Task(executorPreference: executor) { try await mesh.send(Echo(text: "")) }
        await executor.standsStill()
        #expect(try await mesh.waiting("Workshop") == 1)
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
        let mesh = try Mesh(services: [Workshop(log: log), Refuser()], journal: MemoryJobJournal())
        await #expect(throws: Fail.Broken.self) { try await mesh.start() }
        #expect(log.all == ["start Workshop", "stop Workshop"])
    }

    @Test func stoppingWaitsForWhatRunsAndRefusesTheRest() async throws {
        let (mesh, workshop) = try await startedMesh()
        let running = Task { try await mesh.send(Hold(text: "last")) }
        await workshop.gate.arrivals(1)
        let executor = StandstillExecutor()
        let stopping = Task(executorPreference: executor) { await mesh.stop() }
        await executor.standsStill()
        #expect(await meshStatus { _ = try await mesh.send(Echo(text: "")) } == .unavailable)
        workshop.gate.open()
        #expect(try await running.value.text == "last")
        await stopping.value
        #expect(workshop.log.all.last == "stop Workshop")
    }

    @Test func aServiceThatCannotWorkIsNamed() async throws {
        let mesh = try Mesh(services: [Invalid()], journal: MemoryJobJournal())
        try await mesh.start()
        let health = try await mesh.send(CheckMeshHealth())
        #expect(!health.isHealthy)
        #expect(health.services.first { $0.name == "Invalid" }?.problem?.status == .dataLoss)
        await mesh.stop()
    }

    @Test func twoMessagesOfOneNameAreAMistake() {
        #expect(throws: MeshError.self) { try Mesh(services: [Workshop(), Workshop()], journal: MemoryJobJournal()) }
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
