import Executors

/// Makes a value of each element on all processors, and gives them to `take` in the order of the elements, as it is done for
/// arrays. Blocks.
/// - Throws: the error of the first element that fails, or of reading the list, when all before it were taken.
package func concurrently<Element, Value: Sendable>(
    _ list: SpooledList<Element>, make: @Sendable (Element) throws -> Value, take: (Value) throws -> Void
) throws {
    let portion = 64
    try concurrently((list.count + portion - 1) / portion) { number in
        try list.elements(number * portion..<min((number + 1) * portion, list.count)).map { element in
            Result { try make(element) }
        }
    } take: { results in
        for result in results { try take(result.get()) }
    }
}

extension SpooledList {
    /// Each in order, with its place, as ``forEach(_:)`` gives them, while other processors read those that come next: where what is done
    /// with an element takes about as long as to read it. Blocks.
    package func forEachReadAhead(_ body: (Int, Element) throws -> Void) throws {
        var place = 0
        try concurrently(self) {
            $0
        } take: { element in
            try body(place, element)
            place += 1
        }
    }
}
