import LibraryModel
import ServiceMesh
import SmilePile

/// Whoever answers a library's messages: the mesh in this process, or a daemon behind its socket.
package protocol LibraryAnswering {
    func ask<M: HandledMessage>(_ message: M) async throws -> M.Reply
}

package struct MeshAnswering: LibraryAnswering {
    let mesh: Mesh

    package init(mesh: Mesh) {
        self.mesh = mesh
    }
    package func ask<M: HandledMessage>(_ message: M) async throws -> M.Reply { try await mesh.send(message) }
}

/// Blocks the thread that asks: for a lane that has one of its own.
package struct SocketAnswering: LibraryAnswering {
    let connection: AccountedConnection

    package init(connection: AccountedConnection) {
        self.connection = connection
    }
    package func ask<M: HandledMessage>(_ message: M) async throws -> M.Reply { try connection.ask(message) }
}

/// Everything that a catalogue lists.
package struct LibraryContents: Sendable {
    package private(set) var photos: [Photo] = []
    package private(set) var trash: [TrashedPhoto] = []
    /// In their order.
    package let categories: [Category]
    package let sessions: [SwipeSession]
    /// Whether `sessions` has all there are.
    package let hasAllSessions: Bool
    package let settings: Settings
    /// The sealed notes of photos in the library, by their uuids.
    package private(set) var notes: [String: String] = [:]
    /// Stands for notes whose key is elsewhere.
    static let unreadable = "sealed"

    package init(_ library: some LibraryAnswering) async throws {
        var next: String?
        repeat {
            let page = try await library.ask(SearchPhotos(limit: 1000, after: next))
            photos += page.photos
            next = page.next
        } while next != nil
        repeat {
            let page = try await library.ask(ListTrash(limit: 1000, after: next))
            trash += page.photos
            next = page.next
        } while next != nil
        categories = try await library.ask(ListCategories()).categories
        sessions = try await library.ask(ListSwipeSessions(limit: 1000)).sessions
        hasAllSessions = sessions.count < 1000
        settings = try await library.ask(GetSettings())
        for photo in photos {
            do {
                notes[photo.uuid] = try await library.ask(GetPhotoDetail(id: photo.id)).notes
            } catch let error as MeshError where error.status == .failedPrecondition {
                notes[photo.uuid] = Self.unreadable
            }
        }
    }

    /// Photos and those in the trash.
    package var rows: [Photo] { photos + trash.map(\.photo) }
}
