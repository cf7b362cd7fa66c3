import BenchSupport
import Foundation
import ServiceMesh
import ServiceMeshTesting

/// What a service costs that has more asks than it takes: each one beyond its bound has to be refused at once, and for
/// nothing.
///
/// All places and the whole queue of a service are taken, by asks that stand at a gate; then come a million more.
struct FloodMeasurement: Sendable {
    /// Asks beyond the bound.
    let asks: Int

    private struct Shed {
        let nanoseconds: Double
        let residentBytes: Int64
    }

    func figures() async throws -> [Figure] {
        let service = FloodedService()
        let mesh = try Mesh(services: [service], journal: MemoryJobJournal())
        try await mesh.start()
        note("mesh: \(asks) asks at a service with \(FloodedService.bound) asks waiting")
        let held = Task {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<FloodedService.capacity { group.addTask { _ = try await mesh.send(HoldFlood()) } }
                try await group.waitForAll()
            }
        }
        while try await !Self.isFull(mesh) { await Task.yield() }
        var found: [(callers: Int, shed: Shed)] = []
        for callers in [1, 64] { found.append((callers, try await shed(from: callers, on: mesh))) }
        await service.open()
        try await held.value
        try await requireConservation(mesh)
        await mesh.stop()
        return found.map { callers, shed in
            Figure(
                "ask past a full queue, \(callers) caller\(callers == 1 ? "" : "s")",
                ours: String(format: "%.0f ns", shed.nanoseconds), must: "1000 ns", holds: shed.nanoseconds < 1000)
        } + [
            Figure(
                "memory after \(asks) such asks",
                ours: "+" + Self.kilobytes(found.map(\.shed.residentBytes).max() ?? 0),
                must: "1024 kB", holds: found.allSatisfy { $0.shed.residentBytes < 1 << 20 })
        ]
    }

    /// The time for each ask and what this process's memory grew by.
    private func shed(from callers: Int, on mesh: Mesh) async throws -> Shed {
        let own = asks / callers
        // What the runtime needs once for so many tasks is not what an ask costs.
        try await ask(callers: callers, each: 500, mesh)
        let before = Self.residentBytes()
        let seconds = try await Measuring.seconds { try await ask(callers: callers, each: own, mesh) }
        return Shed(
            nanoseconds: seconds * 1e9 / Double(own * callers),
            residentBytes: max(0, Self.residentBytes() - before))
    }

    private func ask(callers: Int, each: Int, _ mesh: Mesh) async throws {
        try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<callers {
                group.addTask {
                    var refused = 0
                    for _ in 0..<each {
                        do {
                            _ = try await mesh.send(HoldFlood())
                        } catch let error as MeshError where error.status == .resourceExhausted {
                            refused += 1
                        }
                    }
                    return refused
                }
            }
            for try await refused in group where refused != each {
                throw LineSocket.Failure(description: "A full service let \(each - refused) asks in.")
            }
        }
    }

    private static func isFull(_ mesh: Mesh) async throws -> Bool {
        let statistics = try await mesh.send(GetMeshStatistics())
        return statistics.services.contains {
            $0.name == FloodedService.serviceName && $0.running + $0.waiting == FloodedService.capacity
        }
    }

    private func requireConservation(_ mesh: Mesh) async throws {
        let counts = try await mesh.send(GetMeshStatistics()).messages.first { $0.method == HoldFlood.method }
        guard let counts, counts.admitted == FloodedService.capacity, counts.completed == counts.admitted,
            counts.refused >= 2 * (asks / 64 * 64)
        else { throw LineSocket.Failure(description: "The mesh's counts after the flood do not add up.") }
    }

    private static func residentBytes() -> Int64 {
        guard let text = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8),
            let pages = text.split(separator: " ").dropFirst().first.flatMap({ Int64($0) })
        else { return 0 }
        return pages * Int64(sysconf(Int32(_SC_PAGESIZE)))
    }

    private static func kilobytes(_ bytes: Int64) -> String { "\(bytes >> 10) kB" }
}

/// A service whose work stands at a gate.
actor FloodedService: MeshService {
    static let serviceName = "FloodedService"
    static let bound = 256
    static let admission = AdmissionLimit(concurrent: 64, queued: bound)
    static var capacity: Int { admission.concurrent + bound }
    static var messages: MessageList<FloodedService> { HoldFlood.self }

    private var isOpen = false
    private var held: [CheckedContinuation<Void, Never>] = []

    func pass() async {
        guard !isOpen else { return }
        await withCheckedContinuation { held.append($0) }
    }

    func open() {
        isOpen = true
        for continuation in held { continuation.resume() }
        held = []
    }
}

/// Waits at the gate.
struct HoldFlood: HandledMessage {
    typealias Reply = Done
    static let method = "flood.hold"
    static let access = Role.kid
    static let kind = MessageKind.read
    static let summary = "Answers when the gate is opened."

    func perform(on service: FloodedService) async throws -> Done {
        await service.pass()
        return Done()
    }
}
