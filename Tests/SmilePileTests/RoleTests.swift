import Foundation
import LibraryModel
import LibraryTestSupport
import ServiceMesh
import SmilePile
import Synchronization
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

    private static func lookers() throws -> Set<String> {
        try documented("What a looker may do", rowsOnly: true).union(kids())
    }

    /// The socket's own, which no mesh answers; the test over the socket has them.
    private static func isBuiltIn(_ name: String) -> Bool { name.hasPrefix("rpc.") }

    @Test func everyMessageIsDecidedAbout() async throws {
        let test = try await TestLibrary("roles")
        let byRole = Dictionary(grouping: test.mesh.descriptions, by: \.role).mapValues { Set($0.map(\.name)) }
        #expect(Set(byRole.keys) == ["nobody", "kid", "looker", "parent"])
        #expect(try byRole["nobody"] == Self.nobodys().filter { !Self.isBuiltIn($0) })
        #expect(try byRole["kid"] == Self.kids().subtracting(Self.nobodys()))
        #expect(try byRole["looker"] == Self.lookers().subtracting(Self.kids()))
        #expect(try byRole["parent"] == Self.documented("What needs a parent", rowsOnly: false))
        await test.library.close()
    }

    /// One by one, by name as the socket asks: whatever the params are, who may not is told so and nothing else.
    @Test(arguments: [Role.nobody, .kid, .looker])
    func whoMayLittleTriesEverything(_ role: Role) async throws {
        let test = try await TestLibrary("roles")
        let mesh = test.mesh
        let allowed =
            switch role {
            case .looker: try Self.lookers()
            case .kid: try Self.kids()
            default: try Self.nobodys()
            }
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

    // MARK: Devices

    private static func pair(
        _ role: DeviceRole, _ categoryIds: [Int64]? = nil, on mesh: Mesh
    ) async throws -> CallContext {
        let code = try await mesh.send(InviteDevice(role: role, categoryIds: categoryIds)).code
        let device = try await mesh.send(PairDevice(code: code, name: "\(role)")).device
        return .root(mesh: mesh, role: role.ceiling, isFromAfar: true, caller: device.id)
    }

    /// A looker's device may all that a looker may, of all photos, and what is a parent's in such a message is not its.
    @Test func aLookersDeviceMarksFavouritesAndTakesOriginals() async throws {
        let test = try await TestLibrary("roles")
        _ = try await test.importSamples(2)
        let mesh = test.mesh
        let looker = try await Self.pair(.looker, on: mesh)
        let photos = try await mesh.send(SearchPhotos(), in: looker).photos
        #expect(photos.count == 2)
        let id = photos[0].id
        #expect(try await mesh.send(SetFavorite(ids: [id], isFavorite: true), in: looker).count == 1)
        #expect(try await mesh.send(OpenPhoto(id: id, .original), in: looker).content != nil)
        let sidecar = try #require(mesh.endpoint(GetPhotoSidecar.method))
        #expect(await Self.error(of: sidecar, #"{"id":\#(id)}"#, .looker, mesh) == nil)
        for params in [#"{"id":\#(id),"withDetails":true}"#] {
            let error = await Self.error(of: sidecar, params, .looker, mesh)
            #expect(error?.status == .permissionDenied && error?.neededRole == .parent)
            #expect(await Self.error(of: sidecar, params, .parent, mesh) == nil)
        }
        await test.library.close()
    }

    private struct Asked {
        let params: String
        var status: MeshStatus?
        /// What its answer has to say.
        var says: String?
    }

    /// Each message that a kid may send, asked by a child's device about what it sees, about what it does not see, and about all: no
    /// answer and no refusal says a word of another category. A message that is new has to be thought of here.
    @Test func aChildsDeviceSeesNothingOfOtherCategories() async throws {
        let test = try await TestLibrary("roles")
        let mesh = test.mesh
        _ = try await test.importSamples(4)
        let seen = try #require(try await mesh.send(ListCategories()).categories.first)
        let secret = try await mesh.send(AddCategory(displayName: "Zugspitze"))
        let all = try await test.allPhotos()
        _ = try await mesh.send(MovePhotos(ids: [all[0].id], categoryId: secret.id))
        _ = try await mesh.send(SetCaption(id: all[0].id, caption: "Gipfelkreuz"))
        let child = try await Self.pair(.child, [seen.id], on: mesh)
        let (hidden, shown) = (try await mesh.send(GetPhoto(id: all[0].id)), all[1])
        let asked = Self.questions(hidden, shown, seen: seen, secret: secret)
        #expect(Set(asked.keys) == Set(mesh.descriptions.filter { $0.role == "kid" }.map(\.name)))
        let marks = [hidden.uuid, hidden.path, hidden.contentDigest, "Gipfel", "Zugspitze", #""id":\#(secret.id),"#]
        for (method, questions) in asked.sorted(by: { $0.key < $1.key }) {
            let endpoint = try #require(mesh.endpoint(method))
            for question in questions {
                let answer = await Self.answer(of: endpoint, question.params, child)
                #expect(answer.status == question.status, "\(method) \(question.params): \(answer.text)")
                if let says = question.says {
                    #expect(answer.text.contains(says), "\(method) \(question.params): \(answer.text)")
                }
                for mark in marks where !question.params.contains(mark) {
                    #expect(!answer.text.contains(mark), "\(method) \(question.params): \(answer.text)")
                }
            }
        }
        // The same questions of the kids mode's kid, who sees all, would have been answered.
        let kid = CallContext.root(mesh: mesh, role: .kid)
        #expect(try await mesh.send(GetPhoto(id: hidden.id), in: kid) == hidden)
        #expect(try await mesh.send(OpenPhoto(id: hidden.id, .original), in: kid).content != nil)
        await test.library.close()
    }

    private static func questions(
        _ hidden: Photo, _ shown: Photo, seen: LibraryModel.Category, secret: LibraryModel.Category
    ) -> [String: [Asked]] {
        func ofBoth(_ more: String = "", says: String? = nil) -> [Asked] {
            [
                Asked(params: #"{"uuid":"\#(hidden.uuid)"\#(more)}"#, status: .notFound),
                Asked(params: #"{"id":\#(hidden.id)\#(more)}"#, status: .notFound),
                Asked(params: #"{"id":\#(shown.id)\#(more)}"#, says: says),
            ]
        }
        func filtered(_ three: String, _ none: String) -> [Asked] {
            [
                Asked(params: "{}", says: three), Asked(params: #"{"categoryId":\#(seen.id)}"#, says: three),
                Asked(params: #"{"categoryId":\#(secret.id)}"#, says: none),
                Asked(params: #"{"text":"gipfel"}"#, says: none), Asked(params: #"{"text":"zugspitze"}"#, says: none),
                Asked(params: #"{"text":"\#(hidden.path)"}"#, says: none),
                Asked(params: #"{"favoritesOnly":true}"#, says: none),
            ]
        }
        let (none, null) = (#""photos":[]"#, #"null"#)
        return [
            "category.count": [Asked(params: "{}", says: #""count":1"#)],
            "category.get": [
                Asked(params: #"{"id":\#(secret.id)}"#, status: .notFound),
                Asked(params: #"{"displayName":"Zugspitze"}"#, status: .notFound),
                Asked(params: #"{"displayName":"nothing"}"#, status: .notFound, says: seen.displayName),
                Asked(params: #"{"id":\#(seen.id)}"#, says: seen.displayName),
            ],
            "category.list": [Asked(params: "{}", says: seen.displayName), Asked(params: #"{"text":"zug"}"#)],
            "category.observe": [Asked(params: "{}", says: seen.displayName)],
            "category.observeOne": [
                Asked(params: #"{"id":\#(secret.id)}"#, says: null),
                Asked(params: #"{"displayName":"Zugspitze"}"#, says: null),
                Asked(params: #"{"id":\#(seen.id)}"#, says: seen.displayName),
            ],
            "mesh.health": [Asked(params: "{}")],
            "mode.get": [Asked(params: "{}", says: "parent")],
            "photo.cameras": [Asked(params: "{}", says: #""photoCount":3"#)],
            "photo.count": filtered(#""count":3"#, #""count":0"#),
            "photo.get": ofBoth(says: shown.uuid) + [
                Asked(params: #"{"path":"\#(hidden.path)"}"#, status: .notFound)
            ],
            "photo.observe": filtered(#""total":3"#, #""total":0"#),
            "photo.observeOne": [
                Asked(params: #"{"id":\#(hidden.id)}"#, says: null),
                Asked(params: #"{"uuid":"\#(hidden.uuid)"}"#, says: null),
                Asked(params: #"{"id":\#(shown.id)}"#, says: shown.uuid),
            ],
            "photo.open": ["thumbnail", "preview", "photo"].flatMap {
                ofBoth(#","file":"\#($0)""#, says: shown.uuid)
            } + [
                Asked(params: #"{"id":\#(hidden.id),"file":"original"}"#, status: .notFound),
                Asked(params: #"{"id":\#(hidden.id),"file":"film"}"#, status: .notFound),
                Asked(params: #"{"id":\#(shown.id),"file":"original"}"#, status: .permissionDenied),
            ],
            "photo.pixels": ofBoth(#","width":9,"height":9"#),
            "photo.search": filtered(shown.uuid, none),
            "photo.select": filtered("\(shown.id)", #""ids":[]"#),
            "photo.sheet": [
                Asked(params: "{}", says: #""photos":3"#),
                Asked(params: #"{"categoryId":\#(secret.id)}"#, status: .notFound),
                Asked(params: #"{"text":"gipfel"}"#, says: #""photos":0"#),
            ],
            "photo.thumbnail": ofBoth(),
            "photo.timeline": filtered(#""count":3"#, #""count":0"#),
            "pin.lock": [Asked(params: "{}")],
            "pin.status": [Asked(params: "{}", says: "isSet")],
            "pin.unlock": [Asked(params: #"{"pin":"1234"}"#, status: .failedPrecondition, says: "child")],
        ]
    }

    /// The reply, the first change, or the refusal.
    private static func answer(
        of endpoint: any Endpoint, _ params: String, _ context: CallContext
    ) async -> (status: MeshStatus?, text: String) {
        let update = Mutex("")
        do {
            let reply = try await endpoint.call(params: Data(params.utf8), context: context) { change in
                let text = String(decoding: try change.encoded().value, as: UTF8.self)
                update.withLock { $0 = text }
                throw CancellationError()
            }
            return (nil, String(decoding: reply, as: UTF8.self))
        } catch {
            let seen = update.withLock { $0 }
            if !seen.isEmpty { return (nil, seen) }
            let error = MeshError(describing: error)
            return (error.status, error.message)
        }
    }
}
