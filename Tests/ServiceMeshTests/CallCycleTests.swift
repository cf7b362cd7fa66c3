import Testing

@testable import ServiceMesh

@Suite struct CallCycleTests {
    #if DEBUG
        @Test func aServiceThatWaitsForItselfStopsADebugBuild() async {
            await #expect(processExitsWith: .failure) {
                let (mesh, _) = try await startedMesh()
                _ = try? await mesh.send(CallBack())
                // Reached where the trap did not spring: the test's process ends well and the test fails.
                await mesh.stop()
            }
        }
    #else
        @Test func aServiceThatWaitsForItselfIsRefused() async throws {
            let (mesh, _) = try await startedMesh()
            #expect(await meshStatus { _ = try await mesh.send(CallBack()) } == .internal)
            #expect(try await mesh.counts("test.echo").refused == 1)
            await mesh.stop()
        }
    #endif

    @Test func theErrorShowsTheRing() {
        let error = CallCycle.error(["a.ask", "b.ask", "a.tell"])
        #expect(error.status == .internal && error.message.contains("a.ask → b.ask → a.tell"))
    }

    @Test func callingSomebodyElseFromInsideIsNoCycle() async throws {
        let (mesh, workshop) = try await startedMesh()
        workshop.gate.open()
        #expect(try await mesh.send(Relay(text: "x")).text == "x")
        await mesh.stop()
    }
}
