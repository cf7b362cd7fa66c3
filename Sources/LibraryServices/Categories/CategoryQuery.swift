import LibraryModel
import LibraryStorage
import ServiceMesh
import TextFolding

/// Which categories a list shows, and in what order. All of them are read for it: they are 1,000 at most, and databases
/// fold and sort letters each in their own way, SQLite none but ASCII.
struct CategoryQuery: Sendable {
    private let text: String?
    private let order: CategoryOrder

    /// - Throws: `invalid_argument`.
    init(text: String?, order: CategoryOrder?) throws {
        self.text = try SearchText(text)?.folded
        self.order = order ?? .position
    }

    /// - Parameter categories: all, by position.
    func select(from categories: [Category]) -> [Category] {
        // By bytes: as characters, a letter and the mark after it would be one, which a search for the letter misses.
        let found = categories.filter { text == nil || $0.displayName.searchFolded.utf8.contains((text ?? "").utf8) }
        switch order {
        case .position: return found
        case .displayName:
            return found.map { (key: $0.displayName.searchFolded, category: $0) }
                .sorted {
                    ($0.key, $0.category.displayName, $0.category.id) < (
                        $1.key, $1.category.displayName, $1.category.id
                    )
                }
                .map(\.category)
        case .createdAt: return found.sorted { ($0.createdAt, $0.id) < ($1.createdAt, $1.id) }
        }
    }
}
