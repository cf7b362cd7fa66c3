import LibraryStorage
import ServiceMesh

/// Who looks at photos: somebody who may see all of them, or a child's device, which sees those of some categories.
///
/// Every message that a kid may send asks this, and the categories are read in the transaction that reads the photos: what is chosen
/// for a device holds from the next answer on, and the number of a category that was deleted never means another one. Rejected: to keep
/// the chosen categories in memory, which a restore that exchanges the categories would make mean others.
package enum Viewer: Sendable, Hashable {
    case anybody
    case child(device: String)

    /// The categories to see; nil for all.
    package func scope(in transaction: any CatalogueTransaction) throws -> CategoryScope? {
        switch self {
        case .anybody: nil
        case .child(let device): CategoryScope(try transaction.devices.categories(of: device))
        }
    }

    /// - Throws: `permission_denied` for a child's device.
    package func requireOriginals() throws {
        guard case .child = self else { return }
        throw MeshError(
            .permissionDenied, "A child's device gets no originals. Ask for the photo, or on a parent's device.")
    }
}

/// A request of somebody: what two of them see may differ, though they ask the same.
package struct ViewedRequest<Request: Hashable & Sendable>: Hashable, Sendable {
    package let request: Request
    package let viewer: Viewer

    package init(_ request: Request, _ viewer: Viewer) {
        self.request = request
        self.viewer = viewer
    }
}
