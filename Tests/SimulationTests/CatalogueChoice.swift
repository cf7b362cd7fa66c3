/// Which request comes next. Few of everything, so that requests meet, and some numbers that nothing has.
struct CatalogueChoice: Sendable {
    let choose: @Sendable (Int) -> Int
    let newIdentity: @Sendable () -> Int
    /// The kinds of request that are made; all where there are none.
    var kinds: [Int] = []
    static let allKinds = 36

    /// Kinds that matter to each other. A run makes those of one or two groups (swarm testing): with all of them in every
    /// run, two that race are seldom beside each other, and planted races were missed.
    static let groups = [
        [0, 1, 2, 3, 4, 5], [2, 3, 5, 11, 13], [10, 11, 12, 13, 14], [2, 15, 16, 17, 18, 19], [20, 21, 22, 23],
        [15, 20, 21, 22, 23, 25], [24, 35], [10, 20, 21, 22, 26, 27, 28, 29], [15, 17, 20, 27, 28, 29, 30],
        [15, 17, 18, 31, 32, 33], [10, 15, 20, 28, 31, 32, 34],
    ]

    func request() -> CatalogueModel.Input { request(of: kinds.isEmpty ? choose(Self.allKinds) : pick(kinds)) }

    private func request(of kind: Int) -> CatalogueModel.Input {
        func category() -> Int64 { Int64(1 + choose(6)) }
        func photo() -> Int64 { Int64(1 + choose(5)) }
        func photos() -> [Int64] { Array(Set([photo(), photo()])).sorted() }
        func name() -> String { pick(["Zoo", "zoo", "Sea", "Family", "cars"]) }
        func identity() -> Int { 1 + choose(3) }
        switch kind {
        case 0: return .addCategory(name())
        case 1: return .renameCategory(category(), name())
        case 2: return .deleteCategory(category(), trashesPhotos: oneIn(2))
        case 3: return .mergeCategory(category(), into: category())
        case 4:
            return .reorderCategories(pick([[4, 3, 2, 1], [2, 1, 3, 4], [5, 1, 2, 3, 4], [1, 2, 3]]))
        case 5: return .listCategories
        case 6...9:
            return .addPhoto(picture: choose(4), identity: newIdentity(), category: category())
        case 10: return .getPhoto(photo())
        case 11: return .searchPhotos(category: category())
        case 12: return .setFavorite(photos(), oneIn(2))
        case 13: return .movePhotos(photos(), to: category())
        case 14: return .setCaption(photo(), pick(["", "at the sea", "Ada"]))
        case 15, 16: return .deletePhotos(photos())
        case 17: return .restorePhotos(photos())
        case 18: return .purgePhotos([photo()])
        case 19: return .listTrash
        case 20, 21:
            return .swipe(
                session: choose(2), identity: identity(), pick([.favorite, .trash, .keep]))
        case 22: return .undo(session: choose(2), count: 1 + choose(2))
        case 23: return .listPending
        case 25: return .finish(session: choose(2))
        case 24:
            return .changeSettings(
                threshold: pick([nil, 0.25, 0.5]), haptics: pick([nil, true, false]))
        case 26: return .undoAll(session: choose(2))
        case 27: return .searchReviewed(pick([.reviewed, .notReviewed]))
        case 28: return .searchReviewed(.decided(pick([.favorite, .trash, .keep])))
        case 29: return .listHistory(identity: identity())
        case 30: return .markProcessed(session: choose(2))
        case 31: return .sealNotes(photo(), pick(["", "Asthma", "first tooth"]))
        case 32, 33: return .readNotes(photo())
        // What a child may ask, and as much that it may not.
        case 34: return .asKid(request(of: pick([5, 10, 11, 27, 12, 15, 20, 31, 32])))
        default: return .getSettings
        }
    }

    private func oneIn(_ count: Int) -> Bool { choose(count) == 0 }
    private func pick<T>(_ values: [T]) -> T { values[choose(values.count)] }
}
