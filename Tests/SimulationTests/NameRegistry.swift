import ServiceMesh
import ServiceMeshTesting

/// A store that gives out names once each, with a bug planted in it on request: it looks whether a name is free, awaits
/// something, and only then takes it.
actor NameRegistry: MeshService {
    static let serviceName = "NameRegistry"
    static var messages: MessageList<NameRegistry> {
        ClaimName.self
        ReleaseName.self
    }

    private let journal = NameJournal()
    private let actsLate: Bool
    private var owners: [String: Int] = [:]

    /// - Parameter actsLate: the bug.
    init(actsLate: Bool) { self.actsLate = actsLate }

    func claim(_ request: ClaimName) async throws -> Done {
        guard owners[request.name] == nil else {
            throw MeshError(.alreadyExists, "Somebody has the name \(request.name) already. Choose another one.")
        }
        if actsLate {
            await journal.write("claim \(request.name)")
            owners[request.name] = request.owner
        } else {
            owners[request.name] = request.owner
            await journal.write("claim \(request.name)")
        }
        return Done()
    }

    func release(_ request: ReleaseName) async throws -> Done {
        guard owners[request.name] == request.owner else {
            throw MeshError(.notFound, "The name \(request.name) is not yours. Claim it first.")
        }
        owners[request.name] = nil
        await journal.write("release \(request.name)")
        return Done()
    }
}

actor NameJournal {
    private var lines: [String] = []
    func write(_ line: String) { lines.append(line) }
}

struct ClaimName: HandledMessage {
    typealias Reply = Done
    static let method = "name.claim"
    static let access = Role.parent
    static let kind = MessageKind.write
    static let summary = "Takes a name that nobody has."
    let name: String
    let owner: Int
    func perform(on service: NameRegistry) async throws -> Done { try await service.claim(self) }
}

struct ReleaseName: HandledMessage {
    typealias Reply = Done
    static let method = "name.release"
    static let access = Role.parent
    static let kind = MessageKind.write
    static let summary = "Gives a name back."
    let name: String
    let owner: Int
    func perform(on service: NameRegistry) async throws -> Done { try await service.release(self) }
}

/// What the registry has to do, one request at a time.
struct NameModel: SequentialModel {
    enum Input: Sendable {
        case claim(String, Int)
        case release(String, Int)

        var name: String {
            switch self {
            case .claim(let name, _), .release(let name, _): name
            }
        }
    }

    let initial: [String: Int] = [:]

    func apply(_ input: Input, answering done: Bool?, to state: [String: Int]) -> [String: Int]? {
        var state = state
        switch input {
        case .claim(let name, let owner):
            let isFree = state[name] == nil
            guard done == nil || done == isFree else { return nil }
            if isFree { state[name] = owner }
        case .release(let name, let owner):
            let isOwned = state[name] == owner
            guard done == nil || done == isOwned else { return nil }
            if isOwned { state[name] = nil }
        }
        return state
    }
}

extension NameModel {
    typealias Record = History<Input, Bool>

    /// `clients` that claim and release a few names through the mesh, as `choose` says.
    static func exercise(
        _ mesh: Mesh, clients: Int, operations: Int, recording history: Record,
        choose: @escaping @Sendable (Int) -> Int
    ) async {
        await withTaskGroup { group in
            for client in 0..<clients {
                group.addTask {
                    for _ in 0..<operations {
                        let name = ["ada", "bob", "eva"][choose(3)]
                        let releases = choose(3) == 0
                        await history.record(releases ? .release(name, client) : .claim(name, client), by: client) {
                            do {
                                if releases {
                                    _ = try await mesh.send(ReleaseName(name: name, owner: client))
                                } else {
                                    _ = try await mesh.send(ClaimName(name: name, owner: client))
                                }
                                return .returned(true)
                            } catch let error as MeshError
                                where error.status == .alreadyExists || error.status == .notFound
                            {
                                return .returned(false)
                            }
                        }
                    }
                }
            }
        }
    }
}
