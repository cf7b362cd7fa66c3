/// Which request comes next. Few of everything, so that requests meet, and some numbers that nothing has.
struct CatalogueChoice: Sendable {
    let choose: @Sendable (Int) -> Int
    let newIdentity: @Sendable () -> Int
    /// The kinds of request that are made; all where there are none.
    ///
    /// Few kinds in each run and others in the next one (swarm testing): with all of them in every run, two that
    /// matter to each other are seldom beside each other.
    var kinds: [Int] = []
    static let allKinds = 27

    func request() -> CatalogueModel.Input {
        func category() -> Int64 { Int64(1 + choose(6)) }
        func photo() -> Int64 { Int64(1 + choose(5)) }
        func photos() -> [Int64] { Array(Set([photo(), photo()])).sorted() }
        func name() -> String { pick(["Zoo", "zoo", "Sea", "Family", "cars"]) }
        func identity() -> Int { 1 + choose(8) }
        switch kinds.isEmpty ? choose(Self.allKinds) : pick(kinds) {
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
        default: return .getSettings
        }
    }

    private func oneIn(_ count: Int) -> Bool { choose(count) == 0 }
    private func pick<T>(_ values: [T]) -> T { values[choose(values.count)] }
}
