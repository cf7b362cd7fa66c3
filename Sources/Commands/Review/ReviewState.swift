import CommandLineInterface
import LibraryModel

/// Where a review is: its photos, what was decided, and what is shown now. Values only; what happens to them at the daemon is
/// ``Review``'s.
struct ReviewState: Equatable, Sendable {
    struct Decision: Equatable, Sendable {
        /// Of the photo, among ``photos``.
        let index: Int
        let action: SwipeAction
        let session: String
    }

    /// The photos so far; more come while it goes on.
    var photos: [Photo]
    /// What to pass for the next page of them; nil where these are all.
    var next: String?
    /// How many there were when it began.
    let total: Int
    private(set) var index = 0
    private(set) var decisions: [Decision] = []
    /// What the person should know of the step before.
    var message = ""

    init(photos: [Photo], next: String?, total: Int) {
        self.photos = photos
        self.next = next
        // Photos may have come between the two questions.
        self.total = max(total, photos.count)
    }

    /// Nil when all have been shown.
    var current: Photo? { photos.indices.contains(index) ? photos[index] : nil }
    var following: Photo? { photos.indices.contains(index + 1) ? photos[index + 1] : nil }

    mutating func decided(_ action: SwipeAction, session: String) {
        decisions.append(Decision(index: index, action: action, session: session))
        index += 1
    }

    /// Goes on without a decision.
    mutating func skip() { index += 1 }

    /// Back to the photo of the latest decision, which is none any more.
    mutating func undone() {
        guard let last = decisions.popLast() else { return }
        index = last.index
    }

    mutating func replaceCurrent(with photo: Photo) { photos[index] = photo }

    func count(_ action: SwipeAction) -> Int { decisions.count { $0.action == action } }

    /// The sessions of its decisions, in their order: one, unless somebody else has finished it meanwhile.
    var sessions: [String] {
        decisions.reduce(into: []) { if !$0.contains($1.session) { $0.append($1.session) } }
    }

    /// `3 favourites, 1 to the trash, 12 kept`.
    var sum: String {
        "\(Figures.count(count(.favorite), "favourite")), \(count(.trash)) to the trash, \(count(.keep)) kept"
    }

    var progress: String { "\(min(index + 1, max(total, 1))) of \(max(total, index + (current == nil ? 0 : 1)))" }
}
