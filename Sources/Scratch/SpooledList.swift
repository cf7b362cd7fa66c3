import Files
import ServiceMesh

/// A list that does not have to fit into memory: its elements are packed, and lie in a ``ScratchFile`` once they are many.
///
/// It has half a byte in memory for each element, and what one reader needs to read, some hundred KiB. Any number of threads may
/// read it at once. Small lists have no file, and neither has any where the disk is full, or takes no files: somebody may want a backup
/// just because of that. What is read may fail with the disk, so that it is no `Collection`.
package struct SpooledList<Element: Codable & Sendable>: Sendable {
    /// Elements of which one place is known; those behind the first of them are walked past.
    fileprivate static var block: Int { 16 }
    /// Bytes that are kept in memory, and bytes that are written and read at once.
    fileprivate static var portion: Int { 256 << 10 }

    package let count: Int
    /// Where every sixteenth element begins, and where the last one ends.
    fileprivate let places: [Int64]
    fileprivate let content: Content

    fileprivate enum Content: Sendable {
        case memory([UInt8])
        case file(ScratchFile)
    }

    package var isEmpty: Bool { count == 0 }
    package var indices: Range<Int> { 0..<count }

    /// One at a place.
    package func element(at index: Int) throws -> Element {
        precondition(indices.contains(index), "there is no such element")
        let block = index / Self.block
        return try withBytes(places[block]..<places[block + 1]) { bytes in
            let unpacker = Unpacker(bytes)
            for _ in block * Self.block..<index { try unpacker.skip(Int(unpacker.unsigned())) }
            _ = try unpacker.unsigned()
            return try Element(from: unpacker)
        }
    }

    /// Some that stand one behind the other.
    package func elements(_ range: Range<Int>) throws -> [Element] {
        var elements: [Element] = []
        elements.reserveCapacity(range.count)
        try forEach(from: range.lowerBound / Self.block, to: (range.upperBound + Self.block - 1) / Self.block) {
            if range.contains($0) { elements.append($1) }
        }
        return elements
    }

    /// Each in order, with its place.
    package func forEach(_ body: (Int, Element) throws -> Void) throws {
        try forEach(from: 0, to: places.count - 1, body)
    }

    private func forEach(from start: Int, to last: Int, _ body: (Int, Element) throws -> Void) throws {
        var first = start
        while first < last {
            var end = first + 1
            while end < last, places[end + 1] - places[first] <= Self.portion { end += 1 }
            let elements = first * Self.block..<min(end * Self.block, count)
            try withBytes(places[first]..<places[end]) { bytes in
                let unpacker = Unpacker(bytes)
                for index in elements {
                    _ = try unpacker.unsigned()
                    try body(index, Element(from: unpacker))
                }
            }
            first = end
        }
    }

    package func forEach(_ body: (Element) throws -> Void) throws { try forEach { _, element in try body(element) } }

    /// Some at a time, in order; as many as `size`, and at the end what is left.
    package func forEachPortion(of size: Int, _ body: ([Element]) throws -> Void) throws {
        for portion in portions(of: size) { try body(elements(portion)) }
    }

    /// The places of portions, in order.
    package func portions(of size: Int) -> [Range<Int>] {
        stride(from: 0, to: count, by: size).map { $0..<min($0 + size, count) }
    }

    /// In memory: for what is little, or for few elements.
    package func compactMap<Value>(_ body: (Element) throws -> Value?) throws -> [Value] {
        var values: [Value] = []
        try forEach { element in
            if let value = try body(element) { values.append(value) }
        }
        return values
    }

    package func contains(where isMeant: (Element) throws -> Bool) throws -> Bool {
        do {
            try forEach { (element: Element) in
                if try isMeant(element) { throw Found() }
            }
            return false
        } catch is Found {
            return true
        }
    }

    /// A list of what is made of each element.
    package func spooled<Value>(
        in scratch: Scratch, _ body: (Element) throws -> Value?
    ) throws -> SpooledList<Value> {
        var spooler = SpooledList<Value>.Spooler(in: scratch)
        try forEach { element in
            if let value = try body(element) { try spooler.append(value) }
        }
        return try spooler.finish()
    }

    private func withBytes<Value>(
        _ range: Range<Int64>, _ body: (UnsafeRawBufferPointer) throws -> Value
    ) throws -> Value {
        switch content {
        case .memory(let bytes):
            return try bytes.withUnsafeBytes {
                try body(UnsafeRawBufferPointer(rebasing: $0[Int(range.lowerBound)..<Int(range.upperBound)]))
            }
        case .file(let file):
            let size = Int(range.upperBound - range.lowerBound)
            return try withUnsafeTemporaryAllocation(byteCount: size, alignment: 1) { buffer in
                try file.read(into: buffer, at: range.lowerBound)
                return try body(UnsafeRawBufferPointer(buffer))
            }
        }
    }
}

/// Ends a walk through a list.
private struct Found: Error {}

/// Where lists lie that do not fit into memory.
package struct Scratch: Sendable {
    /// Nil for what stays in memory however long it gets.
    let folder: String?

    /// - Parameter folder: on a disk that has room for some hundred bytes for each element; not one in memory.
    package init(in folder: String) { self.folder = folder }
    private init() { folder = nil }

    /// For lists that are short because of where they come from.
    package static let memory = Scratch()

    /// - Returns: nil for what stays in memory.
    package func makeFile() throws -> ScratchFile? { try folder.map { try ScratchFile(in: $0) } }
}

extension SpooledList {
    /// Makes a list, element by element.
    package struct Spooler {
        /// Nil where all of it stays in memory.
        private var folder: String?
        private let packer = Packer()
        private let record = Packer()
        private var places: [Int64] = []
        private var written: Int64 = 0
        private var file: ScratchFile?
        package private(set) var count = 0

        package init(in scratch: Scratch) { folder = scratch.folder }

        /// - Throws: `FileSystem.Failure` where the disk does not give back what was written.
        package mutating func append(_ element: Element) throws {
            if count % SpooledList.block == 0 { places.append(written + Int64(packer.bytes.count)) }
            record.removeAll()
            try element.encode(to: record)
            packer.put(unsigned: UInt64(record.bytes.count))
            packer.put(record.bytes)
            count += 1
            if packer.bytes.count >= SpooledList.portion, let folder { try flush(to: folder) }
        }

        private mutating func flush(to folder: String) throws {
            do {
                let file = try file ?? ScratchFile(in: folder)
                try packer.bytes.withUnsafeBytes { try file.write($0, at: written) }
                self.file = file
                written += Int64(packer.bytes.count)
                packer.removeAll()
            } catch is FileSystem.Failure {
                try packer.prepend(file?.bytes(Int(written)) ?? [])
                (file, written, self.folder) = (nil, 0, nil)
            }
        }

        package mutating func finish() throws -> SpooledList {
            if let folder, file != nil { try flush(to: folder) }
            return SpooledList(
                count: count, places: places + [written + Int64(packer.bytes.count)],
                content: file.map { .file($0) } ?? .memory(packer.bytes))
        }
    }

    /// A short list, in memory.
    package init(_ elements: some Sequence<Element>) {
        var spooler = Spooler(in: .memory)
        do {
            for element in elements { try spooler.append(element) }
            self = try spooler.finish()
        } catch {
            preconditionFailure("an element cannot be packed: \(error)")
        }
    }
}

extension SpooledList: ExpressibleByArrayLiteral {
    package init(arrayLiteral elements: Element...) { self.init(elements) }
}
