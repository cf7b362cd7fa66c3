import Foundation
import LibraryModel
import LibraryTestSupport
import ServiceMesh
import SmilePile
import TestSupport
import Testing

/// The least role of every message: a new one has to be decided about, in Roles.md.
@Suite(.timeLimit(.minutes(3))) struct RoleTests {
    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()

    /// The names between backquotes of one section.
    private static func documented(_ section: String, rowsOnly: Bool) throws -> Set<String> {
        let text = try String(
            contentsOf: root.appendingPathComponent("Sources/LibraryModel/LibraryModel.docc/Roles.md"),
            encoding: .utf8)
        let start = try #require(text.range(of: "## \(section)\n"))
        let body = text[start.upperBound...]
        let lines = (body.range(of: "\n## ").map { body[..<$0.lowerBound] } ?? body).split(separator: "\n")
        return Set(
            lines.filter { !rowsOnly || $0.hasPrefix("| `") }.flatMap { line in
                line.split(separator: "`", omittingEmptySubsequences: false).enumerated()
                    .filter { $0.offset % 2 == 1 }.map { String($0.element) }
            })
    }

    private static func nobodys() throws -> Set<String> {
        try documented("What a connection of nobody may do", rowsOnly: true)
    }

    private static func kids() throws -> Set<String> {
        try documented("What a kid may do", rowsOnly: true).union(nobodys())
    }

    /// The socket's own, which no mesh answers; the test over the socket has them.
    private static func isBuiltIn(_ name: String) -> Bool { name.hasPrefix("rpc.") }

    @Test func everyMessageIsDecidedAbout() async throws {
        let test = try await TestLibrary("roles")
        let byRole = Dictionary(grouping: test.mesh.descriptions, by: \.role).mapValues { Set($0.map(\.name)) }
        #expect(Set(byRole.keys) == ["nobody", "kid", "parent"])
        #expect(try byRole["nobody"] == Self.nobodys().filter { !Self.isBuiltIn($0) })
        #expect(try byRole["kid"] == Self.kids().subtracting(Self.nobodys()))
        #expect(try byRole["parent"] == Self.documented("What needs a parent", rowsOnly: false))
        await test.library.close()
    }

    /// One by one, by name as the socket asks: whatever the params are, who may not is told so and nothing else.
    @Test(arguments: [Role.nobody, .kid])
    func whoMayLittleTriesEverything(_ role: Role) async throws {
        let test = try await TestLibrary("roles")
        let mesh = test.mesh
        let allowed = try role == .kid ? Self.kids() : Self.nobodys()
        for description in mesh.descriptions {
            let endpoint = try #require(mesh.endpoint(description.name))
            for params in ["{}", #"{"id":1}"#, #"{"nobody":"knows"}"#, "["] {
                let error = await Self.error(of: endpoint, params, role, mesh)
                let isRefused = error?.status == .permissionDenied
                #expect(isRefused == !allowed.contains(description.name), "\(description.name) \(params)")
                if isRefused { #expect(error?.neededRole.map { $0 > role } == true) }
            }
        }
        // Nothing of it has done anything.
        #expect(try await mesh.send(ListJobs()).jobs.isEmpty)
        #expect(try await mesh.send(ListCategories()).categories.count == 4)
        await test.library.close()
    }

    private static func error(
        of endpoint: any Endpoint, _ params: String, _ role: Role, _ mesh: Mesh
    ) async -> MeshError? {
        let context = CallContext.root(mesh: mesh, role: role)
        do {
            // An observation goes on for ever where it may begin; its first value is enough.
            _ = try await endpoint.call(params: Data(params.utf8), context: context) { _ in throw CancellationError() }
            return nil
        } catch is InvalidParams {
            return MeshError(.invalidArgument, "params")
        } catch {
            return MeshError(describing: error)
        }
    }

    /// What lies in the trash is in no answer that a kid gets, nor is what was sealed.
    @Test func theTrashIsNotAmongAKidsPhotos() async throws {
        let test = try await TestLibrary("roles")
        _ = try await test.importSamples(3)
        let photos = try await test.allPhotos()
        let gone = try #require(photos.first)
        _ = try await test.mesh.send(DeletePhotos(ids: [gone.id]))
        let kid = CallContext.root(mesh: test.mesh, role: .kid)
        #expect(try await test.mesh.send(SearchPhotos(), in: kid).photos.count == 2)
        #expect(try await test.mesh.send(CountPhotos(), in: kid).count == 2)
        let counts = try await test.mesh.send(ListCategories(), in: kid).categories.map(\.photoCount)
        #expect(counts.reduce(0, +) == 2)
        for error in [
            await status { _ = try await test.mesh.send(GetPhoto(id: gone.id), in: kid) },
            await status { _ = try await test.mesh.send(GetPhoto(uuid: gone.uuid), in: kid) },
            await status { _ = try await test.mesh.send(GetPhoto(path: gone.path), in: kid) },
            await status { _ = try await test.mesh.send(GetThumbnail(id: gone.id), in: kid) },
        ] { #expect(error == .notFound) }
        let seen = Watched.follow(ObservePhoto(id: gone.id), on: test.mesh)
        await seen.becomes(ObservedPhoto(photo: nil))
        // A path in the answer is the library's own and relative.
        let photo = try await test.mesh.send(GetPhoto(id: photos[1].id), in: kid)
        #expect(!photo.path.hasPrefix("/") && photo.originalPath?.hasPrefix("/") != true)
        await test.library.close()
    }
}
