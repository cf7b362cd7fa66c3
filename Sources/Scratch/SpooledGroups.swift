/// Finds all elements of a list that have the same text: an index, and four bytes for each element where any two have the same.
package struct SpooledGroups<Element: Codable & Sendable>: Sendable {
    package let index: SpooledIndex<Element>
    package var list: SpooledList<Element> { index.list }
    /// Behind each element, the place of the next one that has its text; -1 behind the last. Empty where no two have the same.
    private var following: [Int32] = []

    private static var portion: Int { 512 }

    /// - Parameters: as an index has them.
    package init(_ list: SpooledList<Element>, by text: @escaping @Sendable (Element) -> String?) throws {
        index = try SpooledIndex(list, by: text)
        guard index.firstRepeated != nil else { return }
        following = Array(repeating: -1, count: list.count)
        // From the end: each comes between the first one and the one that came before.
        for portion in list.portions(of: Self.portion).reversed() {
            for (place, element) in zip(portion, try list.elements(portion)).reversed() {
                guard let first = try index.place(of: element), first != place else { continue }
                (following[place], following[first]) = (following[first], Int32(place))
            }
        }
    }

    /// All that have a text, in the order of the list.
    package func all(of text: String) throws -> [Element] {
        guard let (first, element) = try index.find(text) else { return [] }
        var elements = [element]
        var place = next(first)
        while let found = place {
            elements.append(try list.element(at: found))
            place = next(found)
        }
        return elements
    }

    private func next(_ place: Int) -> Int? {
        following.isEmpty || following[place] < 0 ? nil : Int(following[place])
    }

    /// The place of the first element of a text that is free. Those before it are in no group any more, except the very first one.
    /// - Parameter isFree: what it once says no to, is never free again.
    package mutating func takeFirst(of text: String, where isFree: (Int) -> Bool) throws -> Int? {
        guard let first = try index.place(of: text) else { return nil }
        if isFree(first) { return first }
        while let place = next(first) {
            following[first] = following[place]
            if isFree(place) { return place }
        }
        return nil
    }
}
