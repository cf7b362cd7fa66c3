import ServiceMesh
import ServiceMeshTesting

/// A client of a simulated library: asks what its seed says, and gives up at times.
struct CatalogueClient: Sendable {
    let number: Int
    let library: SimulatedLibrary
    let simulation: Simulation
    let history: History<CatalogueModel.Input, CatalogueModel.Output>
    /// See ``CatalogueChoice/kinds``.
    var kinds: [Int] = []

    /// `count` requests of the seed's choice, some cancelled, some with too little time.
    func act(_ count: Int) async {
        let choice = CatalogueChoice(
            choose: { [simulation] in simulation.choose($0) }, newIdentity: { [library] in library.newIdentity() },
            kinds: kinds)
        for _ in 0..<count {
            let input = choice.request()
            let deadline =
                simulation.oneIn(6)
                ? Deadline.after(milliseconds: Int64(simulation.choose(4)), on: simulation.clock) : nil
            guard simulation.oneIn(6) else {
                await ask(input, deadline)
                continue
            }
            let patience = simulation.choose(8)
            await withTaskGroup { group in
                group.addTask { await ask(input, deadline) }
                for _ in 0..<patience { await simulation.pause() }
                group.cancelAll()
            }
        }
    }

    func ask(_ input: CatalogueModel.Input, _ deadline: Deadline? = nil) async {
        await history.record(input, by: number) { await library.ask(input, deadline) }
    }
}
