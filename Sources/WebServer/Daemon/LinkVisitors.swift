import Executors
import Foundation
import ServiceMesh
import Synchronization

/// The connections on which visitors of links are, as far as they have to end with their link.
///
/// Each request is answered by the daemon anew, so a link that is revoked is over with the next one. What is on its way then, a film or
/// an original over a slow line, ends here: the daemon tells which links are left, and the connections of those that are gone are cut.
final class LinkVisitors: Sendable {
    /// How long the daemon is left alone after it could not be asked.
    private static let patience = Duration.seconds(1)
    /// Links that have ended while this program ran; past it they are forgotten, and the daemon alone refuses.
    private static let mostEnded = 4_096

    private struct State {
        /// Nil until the daemon has told.
        var open: Set<String>?
        var ended: Set<String> = []
        var watch: Task<Void, Never>?
        var isStopped = false
    }

    private let shared: SharedConnection
    private let table: ConnectionTable
    private let state = Mutex(State())

    init(shared: SharedConnection, table: ConnectionTable) {
        self.shared = shared
        self.table = table
    }

    /// Notes that what is answered on a connection is a link's.
    /// - Throws: ``Refusal`` where the link has ended since the daemon answered.
    func note(_ link: String, on connection: UInt64) throws(Refusal) {
        // Noted first: a link that ends after the look is found in the table.
        table.note(connection, token: Self.key(link))
        if state.withLock({ $0.ended.contains(link) }) { throw Self.ended }
    }

    /// No device's token has a colon.
    private static func key(_ link: String) -> String { "link:" + link }

    private static let ended = Refusal(
        410,
        MeshError(
            .failedPrecondition, "This link was ended by the family. Ask for a new one.",
            details: ["link": "revoked"]))

    // MARK: Links that end

    /// Follows the daemon's links until ``stop()``.
    func start() {
        state.withLock { state in
            guard state.watch == nil, !state.isStopped else { return }
            state.watch = Task { [weak self] in
                while !Task.isCancelled, let self {
                    await follow()
                    // A timer by nature: between two tries to reach a daemon that is away. Cancelled, the loop ends.
                    try? await Task.sleep(for: Self.patience)
                }
            }
        }
    }

    private func follow() async {
        do {
            _ = try await shared.open().observe(method: "link.observe", params: Data()) { [weak self] update in
                guard let told = try? JSONDecoder().decode(Told.self, from: update.value) else { return }
                self?.keep(Set(told.ids))
            }
        } catch {
            // The daemon is away, or is about to be; it answers no visitor meanwhile either.
        }
    }

    private struct Told: Decodable {
        let ids: [String]
    }

    private func keep(_ open: Set<String>) {
        let gone = state.withLock { state in
            let gone = state.open?.subtracting(open) ?? []
            state.open = open
            if state.ended.count + gone.count > Self.mostEnded { state.ended = [] }
            state.ended.formUnion(gone)
            return gone
        }
        for link in gone { table.cut(token: Self.key(link)) }
    }

    func stop() {
        let watch = state.withLock { state in
            state.isStopped = true
            return state.watch
        }
        watch?.cancel()
    }
}
