import BenchSupport
import Foundation
import LibraryModel
import ServiceMesh

/// Requests that change what the family keeps. Each says what must hold afterwards, see ``ClientBeliefs``.
extension StressClient {
    // MARK: Categories and settings

    func changeCategories(_ operation: StressOperation, _ random: inout SeededChoices) throws {
        switch operation {
        case .addCategory: try addCategory(&random)
        case .editCategory: try editCategory(&random)
        case .reorderCategories:
            // Fails where somebody adds or deletes one meanwhile, which is what it is for.
            let order = random.next()
            try look(ListCategories(), &random) { [self] list in
                var shuffle = SeededChoices(seed: order)
                let ids = list.categories.map(\.id).sorted { _, _ in shuffle.oneIn(2) }
                // Between two steps of the plan: of its own, and without chance.
                connection.follow(ReorderCategories(ids: ids))
            }
        case .deleteCategory: try deleteCategory(&random)
        default:
            try look(
                ChangeSettings(
                    swipeThreshold: Double(random.roll(12)) / 10, autoProcessActions: random.oneIn(4),
                    storageCleanupEnabled: random.oneIn(2)), &random
            ) { _ in }
        }
    }

    private func categoryName(_ random: inout SeededChoices) -> String {
        // Few names, so that some are taken already.
        "Client \(number), pile \(random.roll(40))"
    }

    private func addCategory(_ random: inout SeededChoices) throws {
        guard beliefs.categories.count < 900 / beliefs.clients else {
            return try look(ListCategories(), &random) { _ in }
        }
        let name = categoryName(&random)
        try look(AddCategory(displayName: name), &random) { [self] added in
            guard added.displayName == name else {
                return connection.ledger.fail("category.add \(name) answered \(added.displayName)")
            }
            beliefs.categories[added.id] = .init(names: [name], colors: [added.colorHex])
        }
    }

    private func editCategory(_ random: inout SeededChoices) throws {
        guard let id = random.pick(beliefs.idleCategories()) else {
            return try send(EditCategory(id: -1, displayName: "nobody's"), &random) { _ in }
        }
        let name = random.oneIn(2) ? categoryName(&random) : nil
        let color = name == nil || random.oneIn(2) ? random.pick(CategoryColor.palette) : nil
        let before = beliefs.categories[id]
        beliefs.categories[id]?.isBusy = true
        if let name { beliefs.categories[id]?.names.insert(name) }
        if let color { beliefs.categories[id]?.colors.insert(color) }
        try send(EditCategory(id: id, displayName: name, colorHex: color), &random) { [self] ending in
            switch ending {
            case .refused: beliefs.categories[id] = before
            case .done:
                if let name { beliefs.categories[id]?.names = [name] }
                if let color { beliefs.categories[id]?.colors = [color] }
            case .unknown: break
            }
            beliefs.categories[id]?.isBusy = false
        }
    }

    private func deleteCategory(_ random: inout SeededChoices) throws {
        guard let id = random.pick(beliefs.idleCategories()) else {
            return try send(DeleteCategory(id: -1), &random) { _ in }
        }
        let way = random.roll(3)
        let message = DeleteCategory(
            id: id, deletePhotos: way == 1 ? true : nil, moveTo: way == 2 ? Int64(random.roll(1...4)) : nil)
        beliefs.categories[id]?.isBusy = true
        // Whichever photo is in it goes to the trash with it; which ones, only the daemon knows.
        if way == 1 {
            for uuid in beliefs.photos.keys { beliefs.photos[uuid]?.hasForeignValues = true }
        }
        try send(message, &random) { [self] ending in
            switch ending {
            case .done: beliefs.categories[id] = nil
            case .refused: beliefs.categories[id]?.isBusy = false
            case .unknown:
                beliefs.categories[id]?.mayBeGone = true
                beliefs.categories[id]?.isBusy = false
            }
        }
    }

    // MARK: Photos

    func changePhotos(_ operation: StressOperation, _ random: inout SeededChoices) throws {
        let trashed = operation == .restorePhotos || operation == .purgeTrash
        guard let uuid = random.pick(beliefs.idlePhotos(trashed: trashed)), let own = beliefs.photos[uuid] else {
            return try send(strangers(operation), &random)
        }
        let id = own.photo.id
        beliefs.photos[uuid]?.isBusy = true
        switch operation {
        case .setFavorite:
            let value = random.oneIn(2)
            beliefs.photos[uuid]?.favorites.insert(value)
            try change(SetFavorite(ids: [id], isFavorite: value), uuid, own, &random) { $0.favorites = [value] }
        case .setCaption:
            let value = random.oneIn(5) ? nil : "caption \(random.roll(1000)) by \(number)"
            beliefs.photos[uuid]?.captions.insert(value)
            try change(SetCaption(id: id, caption: value), uuid, own, &random) { $0.captions = [value] }
        case .setNotes:
            let value = random.oneIn(5) ? nil : "notes \(random.roll(1000)) by \(number)"
            beliefs.photos[uuid]?.notes.insert(value)
            let message = value.map { SetPhotoDetail(id: id, notes: $0) } ?? SetPhotoDetail(id: id, clear: [.notes])
            try change(message, uuid, own, &random) { $0.notes = [value] }
        case .movePhotos:
            let target = random.oneIn(2) ? random.pick(beliefs.idleCategories()) : nil
            try change(
                MovePhotos(ids: [id], categoryId: target ?? Int64(random.roll(1...4))), uuid, own, &random
            ) { _ in }
        case .deletePhotos:
            beliefs.photos[uuid]?.hasForeignValues = true
            try change(DeletePhotos(ids: [id]), uuid, own, &random) { $0.isTrashed = true }
        case .forgetPhotos:
            beliefs.photos[uuid]?.mayBeGone = true
            beliefs.forgotten.insert(own.photo.path)
            try change(ForgetPhotos(ids: [id]), uuid, own, &random) { _ in }
        case .restorePhotos:
            try change(RestorePhotos(ids: [id]), uuid, own, &random) { $0.isTrashed = false }
        default:
            beliefs.photos[uuid]?.mayBeGone = true
            try change(PurgeTrash(ids: [id]), uuid, own, &random) { _ in }
        }
    }

    private func change<M: Message>(
        _ message: M, _ uuid: String, _ before: ClientBeliefs.OwnPhoto, _ random: inout SeededChoices,
        _ done: @escaping (inout ClientBeliefs.OwnPhoto) -> Void
    ) throws {
        try send(message, &random) { [self] ending in
            guard var own = beliefs.photos[uuid] else { return }
            switch ending {
            case .done: done(&own)
            case .refused(let fault):
                own.captions = before.captions
                own.favorites = before.favorites
                own.notes = before.notes
                // It is somewhere else than was believed: a swipe, or its category, took it to the trash.
                if fault.data.status == .notFound { own.isTrashed.toggle() }
            case .unknown: break
            }
            own.isBusy = false
            beliefs.photos[uuid] = own
        }
    }

    /// The same about a photo that nobody has.
    private func strangers(_ operation: StressOperation) -> any Message {
        switch operation {
        case .setFavorite: SetFavorite(ids: [-1], isFavorite: true)
        case .setCaption: SetCaption(id: -1, caption: "nobody's")
        case .setNotes: SetPhotoDetail(id: -1, notes: "nobody's")
        case .movePhotos: MovePhotos(ids: [-1], categoryId: 1)
        case .deletePhotos: DeletePhotos(ids: [-1])
        case .forgetPhotos: ForgetPhotos(ids: [-1])
        case .restorePhotos: RestorePhotos(ids: [-1])
        default: PurgeTrash()
        }
    }

    private func send(_ message: any Message, _ random: inout SeededChoices) throws {
        try send(message, &random) { _ in }
    }

    // MARK: Swiping

    func swipe(_ operation: StressOperation, _ random: inout SeededChoices) throws {
        let id = session ?? "00000000-0000-4000-8000-000000000000"
        switch operation {
        case .startSwiping:
            try look(StartSwipeSession(), &random) { [self] started in
                session = started.sessionID
                beliefs.sessions[started.sessionID] = .init()
            }
        case .recordSwipe:
            guard let uuid = random.pick(beliefs.idlePhotos(trashed: false)), let own = beliefs.photos[uuid] else {
                return try look(SearchPhotos(limit: 100), &random) { [self] in beliefs.saw($0.photos) }
            }
            let action = random.oneIn(6) ? SwipeAction.trash : random.oneIn(2) ? .favorite : .keep
            if action == .trash { beliefs.photos[uuid]?.hasForeignValues = true }
            if action == .favorite { beliefs.photos[uuid]?.hasForeignFavorite = true }
            try send(
                RecordSwipe(
                    sessionID: id, photoIdentifier: uuid, contentDigest: own.photo.contentDigest, action: action),
                &random
            ) { [self] ending in
                switch ending {
                case .refused: break
                case .unknown: beliefs.sessions[id]?.mayBeDecided.insert(uuid)
                case .done(let data):
                    guard let decided = try? JSONDecoder().decode(PhotoAction.self, from: data) else { break }
                    beliefs.sessions[id]?.decided[decided.id] = decided.photoIdentifier
                }
            }
        case .undoSwipes:
            let count = random.roll(1...3)
            try send(UndoSwipes(sessionID: id, count: count), &random) { [self] ending in
                switch ending {
                case .done(let data):
                    let undone = (try? JSONDecoder().decode(UndoneSwipes.self, from: data))?.actions ?? []
                    beliefs.sessions[id]?.undone.formUnion(undone.map(\.id))
                case .refused: break
                case .unknown: beliefs.sessions[id]?.mayBeUndone += count
                }
            }
        case .finishSwiping:
            try look(FinishSwipeSession(sessionID: id), &random) { [self] _ in
                beliefs.sessions[id]?.isFinished = true
                if session == id { session = nil }
            }
        case .markProcessed: try look(MarkSwipesProcessed(sessionID: id), &random) { _ in }
        case .deleteProcessed:
            try look(DeleteProcessedSwipes(before: .now(), sessionID: id), &random) { _ in }
        default: try look(ProcessSwipes(sessionID: id), &random) { _ in }
        }
    }

    // MARK: Jobs

    func startJob(_ operation: StressOperation, _ random: inout SeededChoices) throws {
        func start<M: Message>(_ message: M, _ started: @escaping (JobID) -> Void = { _ in }) throws
        where M.Reply == JobStarted {
            try look(message, &random) { [self] reply in
                jobs.append(reply.job)
                started(reply.job)
            }
        }
        let backup =
            random.oneIn(8) ? sources.path("no-backup.zip") : random.pick(backups.suffix(2) + [shared.backup]) ?? ""
        switch operation {
        case .importPhotos:
            let folder = try sources.make(&random)
            let message = ImportPhotos(
                paths: [folder], categoryId: Int64(random.roll(1...4)), originals: random.oneIn(4),
                dryRun: random.oneIn(8))
            try start(message)
        case .createBackup:
            let path = sources.newBackup(keeping: 3)
            let message = CreateBackup(path: path, categoryIds: random.oneIn(3) ? [1, 2] : nil)
            try start(message) { [self] _ in backups.append(path) }
        case .inspectBackup: try look(InspectBackup(path: backup), &random) { _ in }
        case .verifyBackup: try start(VerifyBackup(path: backup))
        case .rotateKeys: try start(RotateKeys())
        default: try start(RestoreBackup(path: backup, mode: .merge, dryRun: random.oneIn(3)))
        }
    }
}
