import LibraryModel
import ServiceMesh
import ServiceMeshTesting

@testable import LibraryServices

/// Asks the library what a model can be asked, and records both.
struct CatalogueClient: Sendable {
    typealias Input = CatalogueModel.Input
    typealias Output = CatalogueModel.Output

    let number: Int
    let library: SimulatedLibrary
    let simulation: Simulation
    let history: History<Input, Output>

    /// `count` requests of the seed's choice, some cancelled, some with too little time.
    func act(_ count: Int) async {
        for _ in 0..<count {
            let input = choose()
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

    func ask(_ input: Input, _ deadline: Deadline? = nil) async {
        await history.record(input, by: number) {
            do {
                return .returned(try await perform(input, deadline))
            } catch let error as MeshError {
                return switch error.status {
                case .notFound: .returned(.missing)
                case .alreadyExists: .returned(.clash)
                case .failedPrecondition: .returned(.precondition)
                case .invalidArgument: .returned(.invalid)
                case .cancelled, .deadlineExceeded, .unavailable: .perhaps
                default: .returned(.text("unexpected: \(error)"))
                }
            }
        }
    }

    private func choose() -> Input {
        // Few of everything, so that requests meet; some numbers that nothing has.
        func category() -> Int64 { Int64(1 + simulation.choose(6)) }
        func photo() -> Int64 { Int64(1 + simulation.choose(5)) }
        func photos() -> [Int64] { Array(Set([photo(), photo()])).sorted() }
        func name() -> String { simulation.pick(["Zoo", "zoo", "Sea", "Family", "cars"]) }
        func identity() -> Int { simulation.choose(library.identities + 1) }
        switch simulation.choose(26) {
        case 0: return .addCategory(name())
        case 1: return .renameCategory(category(), name())
        case 2: return .deleteCategory(category(), trashesPhotos: simulation.oneIn(2))
        case 3: return .mergeCategory(category(), into: category())
        case 4:
            return .reorderCategories(simulation.pick([[4, 3, 2, 1], [2, 1, 3, 4], [5, 1, 2, 3, 4], [1, 2, 3]]))
        case 5: return .listCategories
        case 6...9:
            return .addPhoto(picture: simulation.choose(4), identity: library.newIdentity(), category: category())
        case 10: return .getPhoto(photo())
        case 11: return .searchPhotos(category: category())
        case 12: return .setFavorite(photos(), simulation.oneIn(2))
        case 13: return .movePhotos(photos(), to: category())
        case 14: return .setCaption(photo(), simulation.pick(["", "at the sea", "Ada"]))
        case 15, 16: return .deletePhotos(photos())
        case 17: return .restorePhotos(photos())
        case 18: return .purgePhotos([photo()])
        case 19: return .listTrash
        case 20, 21:
            return .swipe(
                session: simulation.choose(2), identity: identity(), simulation.pick([.favorite, .trash, .keep]))
        case 22: return .undo(session: simulation.choose(2), count: 1 + simulation.choose(2))
        case 23: return simulation.oneIn(4) ? .finish(session: simulation.choose(2)) : .listPending
        case 24:
            return .changeSettings(
                threshold: simulation.pick([nil, 0.25, 0.5]), haptics: simulation.pick([nil, true, false]))
        default: return .getSettings
        }
    }

    private func perform(_ input: Input, _ deadline: Deadline?) async throws -> Output {
        func send<M: HandledMessage>(_ message: M) async throws -> M.Reply {
            try await library.send(message, deadline)
        }
        switch input {
        case .addCategory(let name): return .id(try await send(AddCategory(displayName: name)).id)
        case .renameCategory(let id, let name):
            _ = try await send(EditCategory(id: id, displayName: name))
            return .done
        case .deleteCategory(let id, let trashes):
            return .count(try await send(DeleteCategory(id: id, deletePhotos: trashes)).photosTrashed)
        case .mergeCategory(let id, let target):
            return .count(try await send(DeleteCategory(id: id, moveTo: target)).photosMoved)
        case .reorderCategories(let ids):
            _ = try await send(ReorderCategories(ids: ids))
            return .done
        case .listCategories:
            let categories = try await send(ListCategories()).categories
            return .text(categories.map { "\($0.id) \($0.displayName) \($0.photoCount)" }.joined(separator: ", "))
        case .addPhoto(let picture, let identity, let category):
            return .id(try await send(Self.addition(picture, identity, category)).id)
        case .getPhoto(let id):
            let photo = try await send(GetPhoto(id: id))
            return .text("\(photo.categoryId) \(photo.isFavorite) \(photo.caption ?? "")")
        case .searchPhotos(let category):
            return .ids(try await send(SearchPhotos(categoryId: category)).photos.map(\.id).sorted())
        case .setFavorite(let ids, let isFavorite):
            return .count(try await send(SetFavorite(ids: ids, isFavorite: isFavorite)).count)
        case .movePhotos(let ids, let target):
            return .count(try await send(MovePhotos(ids: ids, categoryId: target)).count)
        case .setCaption(let id, let caption):
            _ = try await send(SetCaption(id: id, caption: caption))
            return .done
        case .deletePhotos(let ids): return .count(try await send(DeletePhotos(ids: ids)).count)
        case .restorePhotos(let ids): return .count(try await send(RestorePhotos(ids: ids)).count)
        case .purgePhotos(let ids): return .count(try await send(PurgeTrash(ids: ids)).count)
        case .listTrash: return .ids(try await send(ListTrash()).photos.map(\.photo.id).sorted())
        case .swipe(let session, let identity, let decision):
            let message = RecordSwipe(
                sessionID: library.session(session), photoIdentifier: Self.uuid(identity), contentDigest: "digest",
                action: SwipeAction(rawValue: decision.rawValue) ?? .keep)
            return .id(try await send(message).id)
        case .undo(let session, let count):
            let message = UndoSwipes(sessionID: library.session(session), count: count)
            return .ids(try await send(message).actions.map(\.id))
        case .finish(let session):
            _ = try await send(FinishSwipeSession(sessionID: library.session(session)))
            return .done
        case .listPending: return .ids(try await send(ListPendingSwipes()).actions.map(\.id))
        case .process:
            let counts = try await send(ProcessSwipes())
            return .text("\(counts.favorited) \(counts.trashed) \(counts.kept) \(counts.outdated)")
        case .changeSettings(let threshold, let haptics):
            let settings = try await send(ChangeSettings(swipeThreshold: threshold, enableHapticFeedback: haptics))
            return .text("\(settings.swipeThreshold) \(settings.enableHapticFeedback)")
        case .getSettings:
            let settings = try await send(GetSettings())
            return .text("\(settings.swipeThreshold) \(settings.enableHapticFeedback)")
        }
    }

    private static func uuid(_ identity: Int) -> String { "photo-\(identity)" }

    private static func addition(_ picture: Int, _ identity: Int, _ category: Int64) -> AddPhoto {
        AddPhoto(
            photo: Photo(
                id: 0, uuid: uuid(identity), path: "photos/\(identity).jpg", categoryId: category, name: "\(identity)",
                caption: nil, isFromAssets: false, createdAt: Timestamp(milliseconds: 0), fileSize: 1, width: 1,
                height: 1, isFavorite: false, takenAt: nil, contentDigest: "digest", mediaType: "image/jpeg"),
            sourceDigest: "picture \(picture)", sourceSize: 1)
    }
}
