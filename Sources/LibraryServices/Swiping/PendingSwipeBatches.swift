import LibraryModel
import ServiceMesh

/// The decisions that are not applied yet, the oldest first, batch by batch: for a program that carries them out itself.
///
/// ```swift
/// for try await batch in PendingSwipeBatches(of: library.mesh) {
///     …
///     _ = try await library.mesh.send(MarkSwipesProcessed(ids: batch.map(\.id)))
/// }
/// ```
///
/// A batch is asked for when the one before has been dealt with, so one is in memory at a time. It begins behind the last
/// decision of that, whatever became of it: none comes twice, and those made meanwhile come too. The sequence ends when
/// none waits. To be told of later ones: `ObservePendingSwipes`.
public struct PendingSwipeBatches: AsyncSequence, Sendable {
    public typealias Element = [PhotoAction]

    private let mesh: Mesh
    private let sessionID: String?
    private let size: Int

    /// - Parameters:
    ///   - mesh: a library's.
    ///   - sessionID: of one session only; all unless told.
    ///   - size: of a batch, 1…1000.
    public init(of mesh: Mesh, sessionID: String? = nil, size: Int = 100) {
        self.mesh = mesh
        self.sessionID = sessionID
        self.size = size
    }

    public func makeAsyncIterator() -> Iterator { Iterator(mesh: mesh, sessionID: sessionID, size: size) }

    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let mesh: Mesh
        fileprivate let sessionID: String?
        fileprivate let size: Int
        private var last: Int64?

        fileprivate init(mesh: Mesh, sessionID: String?, size: Int) {
            self.mesh = mesh
            self.sessionID = sessionID
            self.size = size
        }

        /// - Throws: what `ListPendingSwipes` is refused for.
        public mutating func next() async throws -> [PhotoAction]? {
            let request = ListPendingSwipes(sessionID: sessionID, limit: size, after: last)
            let actions = try await mesh.send(request).actions
            guard let end = actions.last else { return nil }
            last = end.id
            return actions
        }
    }
}
