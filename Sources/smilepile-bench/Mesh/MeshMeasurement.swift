import BenchSupport
import Foundation
import ServiceMesh
import ServiceMeshTesting

/// What an ask costs: through the mesh with every policy on, straight at the actor, and in Erlang/OTP and Go.
///
/// One caller asks and waits, again and again; with 64 callers the time for each ask is that of all of them together
/// divided by their number of asks. Every contender works in slices of a few milliseconds and shows its median slice, so
/// that what a busy machine takes away in between counts for none of them.
struct MeshMeasurement: Measurement {
    static let name = "mesh"
    static let summary = "an ask through the mesh vs a raw actor call, Erlang's gen_server:call and a Go channel"
    static let options = [
        Arguments.Option("asks", "N", "asks in each run, about (200000)"),
        Arguments.Option("callers", "N", "how many ask at once (1, and then 64)"),
        Arguments.Option("runs", "N", "runs of each contender, medians are shown (5)"),
        Arguments.Option("floods", "N", "asks at a service whose queue is full (1000000)"),
    ]
    static let quick = ["--asks", "20000", "--runs", "3", "--floods", "100000"]

    let asks: Int
    let runs: Int
    let callers: [Int]
    let floods: Int

    init(_ arguments: Arguments) throws {
        asks = try arguments.number("asks", in: 640...100_000_000) ?? 200_000
        runs = try arguments.number("runs", in: 1...1000) ?? 5
        floods = try arguments.number("floods", in: 1000...100_000_000) ?? 1_000_000
        callers = try arguments.number("callers", in: 1...640).map { [$0] } ?? [1, 64]
    }

    func figures(in work: WorkFolder) async throws -> [Figure] {
        let service = EchoService()
        let mesh = try Mesh(services: [service], journal: MemoryJobJournal())
        try await mesh.start()
        let erlang = try PeerAsks.erlang(in: work)
        let go = try PeerAsks.go(in: work)
        var figures: [Figure] = []
        for callers in callers {
            note("mesh: \(asks) asks from \(callers) caller\(callers == 1 ? "" : "s"), \(runs) runs")
            figures += try await compare(callers, mesh, service, erlang, go, work)
        }
        if callers.count > 1 { figures += try await crowd(mesh, service, erlang, go, work) }
        await mesh.stop()
        return figures + (try await FloodMeasurement(asks: floods).figures())
    }

    /// Whether many callers at once get as much done as one: here, at a bare actor, and in the other systems, because
    /// what a second core costs a service that does one thing after the other is no peculiarity of the mesh.
    private func crowd(
        _ mesh: Mesh, _ service: EchoService, _ erlang: PeerAsks.Program?, _ go: PeerAsks.Program?, _ work: WorkFolder
    ) async throws -> [Figure] {
        let (one, many) = (AskLoad(total: asks, callers: 1), AskLoad(total: asks, callers: 64))
        var systems: [(name: String, must: Double?, ask: @Sendable (AskLoad) async throws -> Double)] = [
            ("mesh asks", 1, { load in try await Self.nanoseconds(load) { _ = try await mesh.send(Echo(number: 1)) } }),
            ("raw actor calls", nil, { load in try await Self.nanoseconds(load) { _ = await service.echo(1) } }),
        ]
        for (name, program) in [("gen_server:calls", erlang), ("Go channel asks", go)] {
            guard let program else { continue }
            systems.append((name, nil, { load in try program.nanoseconds(load, in: work) }))
        }
        note("mesh: \(many.callers) callers against one, in \(systems.count) systems, \(runs) runs")
        let contenders: [Measuring.Contender] = systems.flatMap { system in
            [many, one].map { load in { try await system.ask(load) } }
        }
        let medians = try await Measuring.interleaved(runs: runs, contenders)
        return systems.enumerated().map { index, system in
            .times(
                "\(system.name), 64 callers vs 1 caller", ours: medians[2 * index] / 1e9,
                peer: medians[2 * index + 1] / 1e9, atLeast: system.must, show: Self.nanoseconds)
        }
    }

    private func compare(
        _ callers: Int, _ mesh: Mesh, _ service: EchoService, _ erlang: PeerAsks.Program?, _ go: PeerAsks.Program?,
        _ work: WorkFolder
    ) async throws -> [Figure] {
        let load = AskLoad(total: asks, callers: callers)
        var contenders: [Measuring.Contender] = [
            { try await Self.nanoseconds(load) { _ = try await mesh.send(Echo(number: 1)) } },
            { try await Self.nanoseconds(load) { _ = await service.echo(1) } },
        ]
        for program in [erlang, go].compactMap({ $0 }) {
            contenders.append { try program.nanoseconds(load, in: work) }
        }
        var medians = try await Measuring.interleaved(runs: runs, contenders).makeIterator()
        let ours = medians.next() ?? 0
        let raw = medians.next() ?? 0
        let what = "mesh ask, \(callers) caller\(callers == 1 ? "" : "s")"
        func figure(_ name: String, _ peer: Double?, _ tool: Tool?, must: Double?) -> Figure {
            guard let peer else {
                return .missing(
                    "\(what) vs \(name)", ours: Self.nanoseconds(ours / 1e9), tool ?? .erlang,
                    must: must.map(Format.ratio))
            }
            return .times(
                "\(what) vs \(name)", ours: ours / 1e9, peer: peer / 1e9, atLeast: must,
                show: Self.nanoseconds)
        }
        return [
            figure("gen_server:call", erlang == nil ? nil : medians.next(), .erlang, must: 4),
            figure("Go channel ask", go == nil ? nil : medians.next(), .go, must: 1),
            figure("raw actor call", raw, nil, must: nil),
        ]
    }

    private static func nanoseconds(_ seconds: Double) -> String { String(format: "%.0f ns", seconds * 1e9) }

    /// Nanoseconds for each ask, in the median slice.
    private static func nanoseconds(
        _ load: AskLoad, _ ask: @escaping @Sendable () async throws -> Void
    ) async throws -> Double {
        for _ in 0..<20_000 { try await ask() }
        var times: [Double] = []
        for _ in 0..<load.slices {
            let seconds = try await Measuring.seconds {
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for _ in 0..<load.callers { group.addTask { for _ in 0..<load.asks { try await ask() } } }
                    try await group.waitForAll()
                }
            }
            times.append(seconds * 1e9 / Double(load.asks * load.callers))
        }
        return Measuring.median(times)
    }
}

/// How much is asked in a run.
struct AskLoad: Sendable {
    let callers: Int
    /// Of each caller in each slice: enough to make starting the callers cheap beside them.
    let asks: Int
    let slices: Int

    /// About `total` asks from `callers` callers.
    init(total: Int, callers: Int) {
        self.callers = callers
        asks = callers == 1 ? 2000 : 400
        slices = max(5, total / (asks * callers))
    }
}
