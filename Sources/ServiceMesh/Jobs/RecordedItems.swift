/// Items that have a line in a job's receipt, told apart by their bytes: to Swift's strings an accent is the same whether it stands for
/// itself or behind its letter, and to Linux these are two files.
public struct RecordedItems: Sendable, Equatable, Sequence, ExpressibleByArrayLiteral {
    private struct Item: Hashable, Sendable {
        let text: String

        static func == (one: Item, other: Item) -> Bool { one.text.utf8.elementsEqual(other.text.utf8) }

        func hash(into hasher: inout Hasher) {
            var text = text
            text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        }
    }

    private var items: Set<Item> = []

    public init(_ items: some Sequence<String>) { for item in items { insert(item) } }

    public init(arrayLiteral items: String...) { self.init(items) }

    public var isEmpty: Bool { items.isEmpty }
    public var count: Int { items.count }

    public func contains(_ item: String) -> Bool { items.contains(Item(text: item)) }

    public mutating func insert(_ item: String) { items.insert(Item(text: item)) }

    /// In no order.
    public func makeIterator() -> AnyIterator<String> {
        var iterator = items.makeIterator()
        return AnyIterator { iterator.next()?.text }
    }
}
