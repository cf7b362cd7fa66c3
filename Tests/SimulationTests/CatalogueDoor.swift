import LibraryModel
import ServiceMesh
import ServiceMeshTesting
import SmilePile

/// A way to a library: a simulated mesh, a mesh on threads, or a socket.
protocol CatalogueDoor: Sendable {
    func send<M: HandledMessage>(_ message: M, _ deadline: Deadline?, as role: Role) async throws -> M.Reply
    /// The id of a swipe session that clients share, 0 or 1.
    func session(_ number: Int) -> String
}

extension CatalogueDoor {
    /// What a model's request is in messages, and what their answer is in the model.
    /// - Parameter unknown: what became of one that was given up.
    func ask(
        _ input: CatalogueModel.Input, _ deadline: Deadline? = nil,
        givenUp unknown: OperationOutcome<CatalogueModel.Output> = .perhaps
    ) async -> OperationOutcome<CatalogueModel.Output> {
        do {
            return .returned(try await perform(input, deadline))
        } catch {
            return switch MeshError(describing: error).status {
            case .notFound: .returned(.missing)
            case .alreadyExists: .returned(.clash)
            case .failedPrecondition: .returned(.precondition)
            case .invalidArgument: .returned(.invalid)
            case .permissionDenied: .returned(.denied)
            case .cancelled, .deadlineExceeded, .unavailable: unknown
            default: .returned(.text("unexpected: \(error)"))
            }
        }
    }

    func perform(
        _ input: CatalogueModel.Input, _ deadline: Deadline?, as role: Role = .service
    ) async throws -> CatalogueModel.Output {
        func send<M: HandledMessage>(_ message: M) async throws -> M.Reply {
            try await self.send(message, deadline, as: role)
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
            return .text(
                "\(photo.categoryId) \(photo.isFavorite) \(photo.lastDecision?.rawValue ?? "-") \(photo.caption ?? "")")
        case .searchPhotos(let category):
            return .ids(try await send(SearchPhotos(PhotoFilter(categoryId: category))).photos.map(\.id).sorted())
        case .searchReviewed(let review):
            let request =
                switch review {
                case .reviewed: SearchPhotos(PhotoFilter(reviewed: true))
                case .notReviewed: SearchPhotos(PhotoFilter(reviewed: false))
                case .decided(let decision): SearchPhotos(PhotoFilter(decision: Self.action(decision)))
                }
            return .ids(try await send(request).photos.map(\.id).sorted())
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
                sessionID: self.session(session), photoIdentifier: Self.uuid(identity), contentDigest: "digest",
                action: Self.action(decision))
            return .id(try await send(message).id)
        case .undo(let session, let count):
            let message = UndoSwipes(sessionID: self.session(session), count: count)
            return .ids(try await send(message).actions.map(\.id))
        case .undoAll(let session):
            return .count(try await send(UndoSwipes(sessionID: self.session(session), all: true)).count)
        case .finish(let session):
            _ = try await send(FinishSwipeSession(sessionID: self.session(session)))
            return .done
        // Their order is that of their times, which the model does not know.
        case .listPending: return .ids(try await send(ListPendingSwipes()).actions.map(\.id).sorted())
        case .listHistory(let identity):
            return .ids(try await send(ListSwipeHistory(photoIdentifier: Self.uuid(identity))).actions.map(\.id))
        case .markProcessed(let session):
            return .count(try await send(MarkSwipesProcessed(sessionID: self.session(session))).count)
        case .deleteProcessed:
            return .count(try await send(DeleteProcessedSwipes(before: Timestamp(milliseconds: .max))).count)
        case .sealNotes(let id, let notes):
            let message =
                notes.isEmpty ? SetPhotoDetail(id: id, clear: [.notes]) : SetPhotoDetail(id: id, notes: notes)
            return .text(try await send(message).notes ?? "")
        case .readNotes(let id): return .text(try await send(GetPhotoDetail(id: id)).notes ?? "")
        case .process:
            let counts = try await send(ProcessSwipes())
            return .text("\(counts.favorited) \(counts.trashed) \(counts.kept) \(counts.outdated)")
        case .changeSettings(let threshold, let haptics):
            let settings = try await send(ChangeSettings(swipeThreshold: threshold, enableHapticFeedback: haptics))
            return .text("\(settings.swipeThreshold) \(settings.enableHapticFeedback)")
        case .getSettings:
            let settings = try await send(GetSettings())
            return .text("\(settings.swipeThreshold) \(settings.enableHapticFeedback)")
        case .asKid(let input): return try await perform(input, deadline, as: .kid)
        }
    }

    private static func action(_ decision: CatalogueModel.Decision) -> SwipeAction {
        SwipeAction(rawValue: decision.rawValue) ?? .keep
    }

    private static func uuid(_ identity: Int) -> String { "photo-\(identity)" }

    private static func addition(_ picture: Int, _ identity: Int, _ category: Int64) -> AddPhoto {
        AddPhoto(
            SourcedPhoto(
                photo: Photo(
                    id: 0, uuid: uuid(identity), path: "photos/\(identity).jpg", categoryId: category,
                    name: "\(identity)", caption: nil, isFromAssets: false, createdAt: Timestamp(milliseconds: 0),
                    fileSize: 1, width: 1, height: 1, isFavorite: false, takenAt: nil, contentDigest: "digest",
                    mediaType: "image/jpeg"),
                sourceDigest: "picture \(picture)", sourceSize: 1))
    }
}
