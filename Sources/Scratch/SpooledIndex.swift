/// Finds the element of a list by a text that it holds: of ten million in 80 MB, whatever their texts are.
///
/// It knows where an element is, and seven bits of its text's hash; the text itself is read from the list, so that two that only
/// look alike to the hash are never taken for one. Texts are the same where Swift says so: also if they are composed otherwise.
package struct SpooledIndex<Element: Codable & Sendable>: Sendable {
    package let list: SpooledList<Element>
    /// The place of the first element whose text an earlier one has already; nil where each has one of its own.
    package private(set) var firstRepeated: Int?
    private let text: @Sendable (Element) -> String?
    /// Of a power of two. One that is taken has a place and one, in the lower 25 bits, and seven bits of the hash above.
    private var slots: [UInt32]

    private static var places: UInt32 { (1 << 25) - 1 }

    /// - Parameters:
    ///   - list: of fewer than 33 million.
    ///   - text: by which an element is found; nil of those that are not to be found. Of those that have the same, the first one is.
    package init(_ list: SpooledList<Element>, by text: @escaping @Sendable (Element) -> String?) throws {
        precondition(list.count < Int(Self.places), "an index has 25 bits for a place")
        self.list = list
        self.text = text
        var size = 16
        while size < list.count * 2 { size *= 2 }
        slots = Array(repeating: 0, count: size)
        try list.forEach { index, element in
            guard let text = text(element) else { return }
            let (slot, found) = try slot(of: text)
            if found == nil {
                slots[slot] = tag(of: text.hashValue) | UInt32(index + 1)
            } else if firstRepeated == nil {
                firstRepeated = index
            }
        }
    }

    /// The place of the first element that has a text.
    package func place(of text: String) throws -> Int? { try slot(of: text).found?.place }

    /// The place of the first element that has the same text as another one.
    package func place(of element: Element) throws -> Int? { try text(element).flatMap { try place(of: $0) } }

    /// The first element that has a text, and its place.
    package func find(_ text: String) throws -> (place: Int, element: Element)? { try slot(of: text).found }

    package subscript(text: String) -> Element? { get throws { try find(text)?.element } }

    private func tag(of hash: Int) -> UInt32 {
        UInt32(truncatingIfNeeded: UInt(bitPattern: hash) >> (UInt.bitWidth - 7)) << 25
    }

    private func slot(of wanted: String) throws -> (slot: Int, found: (place: Int, element: Element)?) {
        let hash = wanted.hashValue
        let tag = tag(of: hash)
        var slot = hash & (slots.count - 1)
        while slots[slot] != 0 {
            if slots[slot] & ~Self.places == tag {
                let place = Int(slots[slot] & Self.places) - 1
                let element = try list.element(at: place)
                if text(element) == wanted { return (slot, (place, element)) }
            }
            slot = (slot + 1) & (slots.count - 1)
        }
        return (slot, nil)
    }
}
