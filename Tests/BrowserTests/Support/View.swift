import Browser
import Testing

/// A screen, or what opens above one, to be looked at.
struct View: Sendable {
    /// Where a hand goes to get there.
    enum Control: Sendable {
        /// A control whose name is one of the page's sentences, by its key: the name itself is another one in each language.
        /// Its `name` is as ``Browser/Page`` has it; `within` says which one where several are called the same.
        case saying(_ key: String, name: String? = nil, within: String = ":root")
        /// An expression of JavaScript: what is known by what it is, and has no sentence of its own.
        case element(String)
    }

    let name: String
    /// The fragment of its address, in a house.
    let place: @Sendable (House) async throws -> String
    let isReady: String
    /// Pressed one after the other, once the screen is ready.
    var pressed: [Control] = []
    var isThen = "true"
    /// Whether it is shown to a browser that is not paired.
    var isForStrangers = false

    init(_ name: String, at place: String, isReady: String, pressed: Control..., then isThen: String = "true") {
        self.init(name, isReady: isReady, pressed: pressed, then: isThen) { _ in place }
    }

    init(
        _ name: String, isReady: String, pressed: [Control] = [], then isThen: String = "true",
        place: @escaping @Sendable (House) async throws -> String
    ) {
        (self.name, self.place, self.isReady, self.pressed, self.isThen) = (name, place, isReady, pressed, isThen)
    }

    /// What opens above this one.
    func opening(_ name: String, _ pressed: Control..., then isThen: String) -> View {
        View(name, isReady: isReady, pressed: pressed, then: isThen, place: place)
    }

    /// The same view as a browser sees it that is not paired.
    var forStrangers: View {
        var view = self
        view.isForStrangers = true
        return view
    }

    static let dialog = "document.querySelector('dialog[open]')"
}

/// A view in a look: what one test looks at, so that a failure names both.
struct Sight: Sendable, CustomTestStringConvertible {
    let view: View
    let look: Look

    var testDescription: String { "\(view.name), \(look)" }

    /// All views in all looks, in the order in which they cost least: a view is loaded once for all looks that one tab can
    /// take one after the other, and one tab is open at a time.
    static func all(_ views: [View], in looks: [Look]) -> [Sight] {
        var kinds: [[Look]] = []
        for look in looks {
            if let kind = kinds.firstIndex(where: { $0[0].canBecome(look) }) {
                kinds[kind].append(look)
            } else {
                kinds.append([look])
            }
        }
        return kinds.flatMap { looks in views.flatMap { view in looks.map { Sight(view: view, look: $0) } } }
    }
}

extension Look {
    /// Whether a page changes from one to the other while it is open: a window gets wider, a room dark. A page speaks one
    /// language from its load on, and fingers do not become a mouse.
    func canBecome(_ other: Look) -> Bool { language == other.language && isTouched == other.isTouched }
}
