import ServiceMeshTesting

/// The catalogue's rules (Rules.md of LibraryModel) one request at a time, written down a second time and without SQL.
///
/// The catalogue gives out ids in order and gives back those of refused requests, so the model knows them too.
struct CatalogueModel: SequentialModel {
    indirect enum Input: Sendable {
        case addCategory(String)
        case renameCategory(Int64, String)
        case deleteCategory(Int64, trashesPhotos: Bool)
        case mergeCategory(Int64, into: Int64)
        case reorderCategories([Int64])
        case listCategories
        /// Of a picture, of which the library takes one copy, under an identity that is new each time.
        case addPhoto(picture: Int, identity: Int, category: Int64)
        case getPhoto(Int64)
        case searchPhotos(category: Int64)
        case searchReviewed(Review)
        case setFavorite([Int64], Bool)
        case movePhotos([Int64], to: Int64)
        case setCaption(Int64, String)
        case deletePhotos([Int64])
        case restorePhotos([Int64])
        case purgePhotos([Int64])
        case listTrash
        case swipe(session: Int, identity: Int, Decision)
        case undo(session: Int, count: Int)
        case undoAll(session: Int)
        case finish(session: Int)
        case listPending
        case listHistory(identity: Int)
        case process
        case markProcessed(session: Int)
        /// Takes more than one transaction, so only where nobody else asks.
        case deleteProcessed
        case sealNotes(Int64, String)
        case readNotes(Int64)
        case changeSettings(threshold: Double?, haptics: Bool?)
        case getSettings
        /// The same from a connection with the kid role.
        case asKid(Input)
    }

    enum Output: Sendable, Equatable {
        case done
        case id(Int64)
        case ids([Int64])
        case count(Int)
        case text(String)
        // Refusals that say something about the state
        case missing, clash, precondition, invalid, denied
    }

    enum Decision: String, Sendable { case favorite, trash, keep }

    enum Review: Sendable {
        case reviewed, notReviewed
        case decided(Decision)
    }

    struct Category: Hashable, Sendable {
        let id: Int64
        var name: String
        var position: Int
    }

    struct Photo: Hashable, Sendable {
        let id: Int64
        let picture: Int
        let identity: Int
        var category: Int64
        var isFavorite = false
        var caption = ""
        var notes = ""
        var lastDecision: Decision?
        /// While it is in the trash.
        var categoryName = ""
        var categoryPosition = 0
    }

    struct Swipe: Hashable, Sendable {
        let id: Int64
        let session: Int
        let identity: Int
        let decision: Decision
        var isProcessed = false
    }

    struct State: Hashable, Sendable {
        var categories: [Category]
        var photos: [Photo] = []
        var trash: [Photo] = []
        var swipes: [Swipe] = []
        /// The latest about each photo of those that were deleted.
        var forgotten: [Int: Swipe] = [:]
        var isFinished = [false, false]
        var threshold = 0.3
        var haptics = true
        var lastCategory: Int64 = 4
        var lastPhoto: Int64 = 0
        var lastSwipe: Int64 = 0
    }

    let initial = State(
        categories: ["Family", "Cars", "Games", "Sports"].enumerated().map {
            Category(id: Int64($0.offset + 1), name: $0.element, position: $0.offset)
        })

    func apply(_ input: Input, answering output: Output?, to state: State) -> State? {
        var changed = state
        let expected: Output
        do {
            expected = try changed.perform(input)
        } catch {
            changed = state
            expected = error.output
        }
        return output == nil || output == expected ? changed : nil
    }
}

/// A request that changes nothing and says why.
struct Refusal: Error {
    let output: CatalogueModel.Output
    init(_ output: CatalogueModel.Output) { self.output = output }
}

extension CatalogueModel.State {
    typealias Model = CatalogueModel

    mutating func perform(_ input: Model.Input) throws(Refusal) -> Model.Output {
        switch input {
        case .addCategory(let name): return .id(try addCategory(name))
        case .renameCategory(let id, let name):
            let index = try category(id)
            if categories.contains(where: { $0.name.lowercased() == name.lowercased() && $0.id != id }) {
                throw Refusal(.clash)
            }
            categories[index].name = name
            return .done
        case .deleteCategory(let id, let trashesPhotos): return try deleteCategory(id, trashesPhotos: trashesPhotos)
        case .mergeCategory(let id, let target): return try mergeCategory(id, into: target)
        case .reorderCategories(let ids):
            guard ids.sorted() == categories.map(\.id).sorted() else { throw Refusal(.invalid) }
            categories.sort { (ids.firstIndex(of: $0.id) ?? 0) < (ids.firstIndex(of: $1.id) ?? 0) }
            for index in categories.indices { categories[index].position = index }
            return .done
        case .listCategories:
            let lines = categories.map { category in
                "\(category.id) \(category.name) \(photos.count { $0.category == category.id })"
            }
            return .text(lines.joined(separator: ", "))
        case .addPhoto(let picture, let identity, let category):
            if photos.contains(where: { $0.picture == picture }) { throw Refusal(.clash) }
            _ = try self.category(category)
            lastPhoto += 1
            photos.append(Model.Photo(id: lastPhoto, picture: picture, identity: identity, category: category))
            return .id(lastPhoto)
        case .getPhoto(let id):
            let photo = photos[try self.photo(id)]
            return .text(
                "\(photo.category) \(photo.isFavorite) \(photo.lastDecision?.rawValue ?? "-") \(photo.caption)")
        case .searchPhotos(let category): return .ids(photos.filter { $0.category == category }.map(\.id).sorted())
        case .searchReviewed(let review):
            let found = photos.filter { photo in
                switch review {
                case .reviewed: photo.lastDecision != nil
                case .notReviewed: photo.lastDecision == nil
                case .decided(let decision): photo.lastDecision == decision
                }
            }
            return .ids(found.map(\.id).sorted())
        case .setFavorite(let ids, let isFavorite):
            return try changeEach(ids) { photo in
                defer { photo.isFavorite = isFavorite }
                return photo.isFavorite != isFavorite
            }
        case .movePhotos(let ids, let target): return try move(ids, to: target)
        case .setCaption(let id, let caption):
            photos[try photo(id)].caption = caption
            return .done
        case .deletePhotos(let ids):
            for id in ids { try trashPhoto(at: photo(id)) }
            return .count(ids.count)
        case .restorePhotos(let ids):
            var count = 0
            for id in ids where try restore(id) { count += 1 }
            return .count(count)
        case .purgePhotos(let ids):
            for id in ids { trash.remove(at: try trashed(id)) }
            return .count(ids.count)
        case .listTrash: return .ids(trash.map(\.id).sorted())
        case .swipe(let session, let identity, let decision):
            guard !isFinished[session] else { throw Refusal(.precondition) }
            guard let photo = photos.firstIndex(where: { $0.identity == identity }) else { throw Refusal(.missing) }
            photos[photo].lastDecision = decision
            lastSwipe += 1
            swipes.append(Model.Swipe(id: lastSwipe, session: session, identity: identity, decision: decision))
            return .id(lastSwipe)
        case .undo(let session, let count): return .ids(undo(session, count))
        case .undoAll(let session): return .count(undo(session, .max).count)
        case .finish(let session):
            isFinished[session] = true
            return .done
        case .listPending: return .ids(swipes.filter { !$0.isProcessed }.map(\.id))
        case .listHistory(let identity): return .ids(swipes.filter { $0.identity == identity }.map(\.id).reversed())
        case .process: return process()
        case .markProcessed(let session):
            let waiting = swipes.indices.filter { swipes[$0].session == session && !swipes[$0].isProcessed }
            for index in waiting { swipes[index].isProcessed = true }
            return .count(waiting.count)
        case .deleteProcessed:
            let old = swipes.filter(\.isProcessed)
            for swipe in old where swipe.id > forgotten[swipe.identity]?.id ?? 0 { forgotten[swipe.identity] = swipe }
            swipes.removeAll { old.contains($0) }
            return .count(old.count)
        case .sealNotes(let id, let notes):
            photos[try photo(id)].notes = notes
            return .text(notes)
        case .readNotes(let id): return .text(photos[try photo(id)].notes)
        case .changeSettings(let threshold, let haptics):
            self.threshold = threshold ?? self.threshold
            self.haptics = haptics ?? self.haptics
            return .text("\(self.threshold) \(self.haptics)")
        case .getSettings: return .text("\(threshold) \(haptics)")
        case .asKid(let input):
            switch input {
            case .listCategories, .getPhoto, .searchPhotos, .searchReviewed: return try perform(input)
            default: throw Refusal(.denied)
            }
        }
    }

    /// What counts about a photo, be it processed, or deleted because it is old.
    private func last(_ identity: Int) -> Model.Swipe? {
        let there = swipes.last { $0.identity == identity }
        return [there, forgotten[identity]].compactMap(\.self).max { $0.id < $1.id }
    }

    /// Photos say what was decided before, in the trash too.
    private mutating func undo(_ session: Int, _ count: Int) -> [Int64] {
        let undone = swipes.filter { $0.session == session && !$0.isProcessed }.suffix(count)
        swipes.removeAll { swipe in undone.contains { $0.id == swipe.id } }
        for identity in Set(undone.map(\.identity)) {
            let last = last(identity)?.decision
            for index in photos.indices where photos[index].identity == identity { photos[index].lastDecision = last }
            for index in trash.indices where trash[index].identity == identity { trash[index].lastDecision = last }
        }
        return undone.map(\.id).reversed()
    }

    private func category(_ id: Int64) throws(Refusal) -> Int {
        guard let index = categories.firstIndex(where: { $0.id == id }) else { throw Refusal(.missing) }
        return index
    }

    private func photo(_ id: Int64) throws(Refusal) -> Int {
        guard let index = photos.firstIndex(where: { $0.id == id }) else { throw Refusal(.missing) }
        return index
    }

    private func trashed(_ id: Int64) throws(Refusal) -> Int {
        guard let index = trash.firstIndex(where: { $0.id == id }) else { throw Refusal(.missing) }
        return index
    }

    /// - Parameter position: nil for the end.
    private mutating func addCategory(_ name: String, at position: Int? = nil) throws(Refusal) -> Int64 {
        if categories.contains(where: { $0.name.lowercased() == name.lowercased() }) { throw Refusal(.clash) }
        lastCategory += 1
        if let position, categories.contains(where: { $0.position == position }) {
            for index in categories.indices where categories[index].position >= position {
                categories[index].position += 1
            }
        }
        let end = (categories.map(\.position).max() ?? -1) + 1
        categories.append(Model.Category(id: lastCategory, name: name, position: position ?? end))
        categories.sort { ($0.position, $0.id) < ($1.position, $1.id) }
        return lastCategory
    }

    private mutating func deleteCategory(_ id: Int64, trashesPhotos: Bool) throws(Refusal) -> Model.Output {
        let index = try category(id)
        let itsPhotos = photos.filter { $0.category == id }
        guard categories.count > 1, trashesPhotos || itsPhotos.isEmpty else { throw Refusal(.precondition) }
        for photo in itsPhotos { try trashPhoto(at: self.photo(photo.id)) }
        categories.remove(at: index)
        return .count(itsPhotos.count)
    }

    private mutating func mergeCategory(_ id: Int64, into target: Int64) throws(Refusal) -> Model.Output {
        if id == target { throw Refusal(.invalid) }
        let index = try category(id)
        guard categories.count > 1 else { throw Refusal(.precondition) }
        // Also where there is nothing to move.
        _ = try category(target)
        let itsPhotos = photos.indices.filter { photos[$0].category == id }
        for photo in itsPhotos { photos[photo].category = target }
        categories.remove(at: index)
        return .count(itsPhotos.count)
    }

    private mutating func changeEach(
        _ ids: [Int64], _ change: (inout Model.Photo) -> Bool
    ) throws(Refusal) -> Model.Output {
        var count = 0
        for id in ids where change(&photos[try photo(id)]) { count += 1 }
        return .count(count)
    }

    private mutating func move(_ ids: [Int64], to target: Int64) throws(Refusal) -> Model.Output {
        _ = try category(target)
        return try changeEach(ids) { photo in
            defer { photo.category = target }
            return photo.category != target
        }
    }

    private mutating func trashPhoto(at index: Int) throws(Refusal) {
        var photo = photos.remove(at: index)
        let category = categories[try category(photo.category)]
        (photo.categoryName, photo.categoryPosition) = (category.name, category.position)
        trash.append(photo)
    }

    /// - Returns: whether it is in the library now; a picture that is there already stays where it is.
    private mutating func restore(_ id: Int64) throws(Refusal) -> Bool {
        let index = try trashed(id)
        var photo = trash[index]
        if photos.contains(where: { $0.picture == photo.picture }) { return false }
        if !categories.contains(where: { $0.id == photo.category }) {
            let named = categories.first { $0.name.lowercased() == photo.categoryName.lowercased() }
            if let named {
                photo.category = named.id
            } else {
                photo.category = try addCategory(photo.categoryName, at: photo.categoryPosition)
            }
        }
        (photo.categoryName, photo.categoryPosition) = ("", 0)
        trash.remove(at: index)
        photos.append(photo)
        return true
    }

    /// Each photo's latest decision alone has an effect.
    private mutating func process() -> Model.Output {
        var counts = (favorited: 0, trashed: 0, kept: 0, outdated: 0)
        let waiting = swipes.filter { !$0.isProcessed }
        for index in swipes.indices { swipes[index].isProcessed = true }
        for swipe in waiting {
            guard last(swipe.identity)?.id == swipe.id else { continue }
            guard let photo = photos.firstIndex(where: { $0.identity == swipe.identity }) else {
                counts.outdated += 1
                continue
            }
            switch swipe.decision {
            case .favorite:
                photos[photo].isFavorite = true
                counts.favorited += 1
            case .trash:
                try? trashPhoto(at: photo)
                counts.trashed += 1
            case .keep: counts.kept += 1
            }
        }
        return .text("\(counts.favorited) \(counts.trashed) \(counts.kept) \(counts.outdated)")
    }
}
