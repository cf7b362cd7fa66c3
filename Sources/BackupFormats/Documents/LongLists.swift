import Executors
import Foundation
import Scratch
import ServiceMesh
import ZipArchive

/// The long lists of a JSON object, some elements at a time: a backup's documents name every photo and every file.
///
/// Foundation's coders hold a document as a tree, some kilobytes for each photo, and as much for whatever a hostile one
/// repeats. So the object is coded with these lists empty, and their elements in portions that stand in the same bytes. What a
/// document makes of memory is bounded by the limits of its lists, and not by its size. Portions are coded on all processors at
/// once, which blocks: for threads of a `BlockingPool`.
struct LongLists {
    /// Elements that are coded at once, and bytes after which no more are taken.
    private static let portion = (elements: 256, bytes: 256 << 10)
    /// Bytes of what is decoded in one piece: one portion, or all that is not in lists. The longest single value of ours is a
    /// sealed text of 1 MiB, in Base64.
    private static let maximumPiece = 4 << 20
    /// Bytes of a value beside the lists. Nothing of ours is as long: it is left out, as everything is that nobody asks for.
    private static let maximumMember = 1 << 20
    private static let maximumMembers = 1000

    private let bytes: DocumentBytes
    /// Elements with the commas between them, by the key of their list.
    private var portions: [String: [Range<Int>]] = [:]
    /// What stands in the object in the place of what, in order.
    private var replaced: [(range: Range<Int>, by: String)] = []

    // MARK: Reading

    /// - Parameters:
    ///   - bytes: an object in UTF-8.
    ///   - lists: the most elements of each list, by its key.
    ///   - single: those of them whose elements have long lists themselves (``decodeObjects(_:_:_:)``).
    /// - Throws: an error of decoding; `data_loss` for more elements.
    init(_ bytes: DocumentBytes, _ lists: [String: Int], single: Set<String> = []) throws {
        self.bytes = bytes
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        (portions, replaced) = try bytes.walk { buffer, passed in
            let start = buffer.starts(with: mark) ? mark.count : 0
            var place = JSONPlace(in: buffer, from: start)
            var found = LongLists(bytes)
            if start > 0 { found.replaced.append((0..<start, "")) }
            try found.findLists(&place, lists, single, passed)
            return (found.portions, found.replaced)
        }
    }

    private init(_ bytes: DocumentBytes) { self.bytes = bytes }

    init(_ bytes: Data, _ lists: [String: Int], single: Set<String> = []) throws {
        try self.init(DocumentBytes(bytes), lists, single: single)
    }

    /// What the object says beside its lists, which are empty.
    func decodeRest<T: Decodable>(_ type: T.Type) throws -> T {
        var (rest, kept) = (Data(), 0)
        for (range, replacement) in replaced {
            rest.append(try some(kept..<range.lowerBound, beside: rest))
            rest.append(contentsOf: replacement.utf8)
            kept = range.upperBound
        }
        rest.append(try some(kept..<bytes.count, beside: rest))
        return try JSONDecoder().decode(type, from: rest)
    }

    /// What is not in lists.
    private func some(_ range: Range<Int>, beside rest: Data) throws -> Data {
        guard rest.count + range.count <= Self.maximumPiece else {
            throw DecodingError.shape("it says too much beside its lists")
        }
        return try bytes.bytes(range)
    }

    /// The elements of a list, each as `value` makes it; none where the object does not have it.
    func decode<Element: Decodable & Sendable, Value: Sendable>(
        _ key: String, _ value: @Sendable (Element) throws -> Value
    ) throws -> [Value] {
        var values: [Value] = []
        try decode(key, value) { values.append($0) }
        return values
    }

    /// The elements of a list that may not fit into memory.
    func spool<Element: Decodable & Sendable, Value: Codable & Sendable>(
        _ key: String, in scratch: Scratch, _ value: @Sendable (Element) throws -> Value
    ) throws -> SpooledList<Value> {
        var values = SpooledList<Value>.Spooler(in: scratch)
        try decode(key, value) { try values.append($0) }
        return try values.finish()
    }

    private func decode<Element: Decodable & Sendable, Value: Sendable>(
        _ key: String, _ value: @Sendable (Element) throws -> Value, take: (Value) throws -> Void
    ) throws {
        let portions = portions[key] ?? []
        var count = 0
        do {
            try concurrently(portions.count) { [bytes] number in
                let portion = portions[number]
                guard portion.count <= Self.maximumPiece else { throw TooLong() }
                let elements = try bytes.bytes(portion)
                if let read = ElementReader.elements(Element.self, elements) { return try read.map(value) }
                let list = Data("[".utf8) + elements + Data("]".utf8)
                return try JSONDecoder().decode([Element].self, from: list).map(value)
            } take: {
                for value in $0 { try take(value) }
                count += $0.count
            }
        } catch is TooLong {
            throw DecodingError.shape("'\(key)[\(count)]' is too long")
        } catch let error as DecodingError {
            throw error.placed(in: key, after: count)
        }
    }

    /// Of a portion, of which only the list knows where it stands.
    private struct TooLong: Error {}

    /// The elements of a list that was announced as one of objects with long lists.
    /// - Parameter lists: theirs.
    func decodeObjects<Value>(
        _ key: String, _ lists: [String: Int], _ value: (LongLists) throws -> Value
    ) throws -> [Value] {
        var values: [Value] = []
        for portion in portions[key] ?? [] {
            do {
                values.append(try value(LongLists(bytes.bytes(portion), lists)))
            } catch let error as DecodingError {
                throw error.placed(in: key, at: values.count)
            }
        }
        return values
    }

    private mutating func findLists(
        _ place: inout JSONPlace, _ lists: [String: Int], _ single: Set<String>, _ passed: (Int) -> Void
    ) throws {
        var keys: Set<String> = []
        guard place.takes("{") else { throw place.fault("there is no object") }
        var isLast = place.takes("}")
        while !isLast {
            let key = try place.key()
            guard keys.insert(key).inserted else { throw DecodingError.shape("it has '\(key.prefix(100))' twice") }
            guard keys.count <= Self.maximumMembers else { throw DecodingError.shape("it has too many members") }
            if let most = lists[key], place.takes("[") {
                let start = place.position
                portions[key] = try Self.portions(
                    &place, key, most, size: single.contains(key) ? 1 : Self.portion.elements, passed)
                replaced.append((start..<place.position - 1, ""))
            } else {
                place.skipSpace()
                let start = place.position
                try place.skipValue()
                if place.position - start > Self.maximumMember { replaced.append((start..<place.position, "null")) }
            }
            isLast = place.takes("}")
            guard isLast || place.takes(",") else { throw place.fault("a comma is missing") }
        }
        guard place.isAtEnd else { throw place.fault("something follows the object") }
    }

    /// Walks to the end of a list, from behind its first bracket.
    private static func portions(
        _ place: inout JSONPlace, _ key: String, _ most: Int, size: Int, _ passed: (Int) -> Void
    ) throws -> [Range<Int>] {
        var (portions, start, elements, count) = ([Range<Int>](), place.position, 0, 0)
        if place.takes("]") { return [] }
        while true {
            try place.skipValue()
            (elements, count) = (elements + 1, count + 1)
            guard count <= most else {
                throw MeshError(refusingBackup: "it has more than \(most) \(key).")
            }
            let end = place.position
            let isLast = place.takes("]")
            if isLast || elements == size || end - start >= portion.bytes {
                portions.append(start..<end)
                elements = 0
                passed(end)
            }
            if isLast { return portions }
            guard place.takes(",") else { throw place.fault("a comma is missing") }
            if elements == 0 { start = place.position }
        }
    }

    // MARK: Writing

    /// A list that is to be written.
    struct List {
        fileprivate let key: String
        fileprivate let append: (DocumentOutput) throws -> Void

        /// - Parameter element: what is written for one of `values`.
        init<Value: Sendable>(
            _ key: String, _ values: [Value],
            _ element: @escaping @Sendable (Value) -> some Encodable & SendableMetatype
        ) {
            self.key = key
            append = { output in
                let starts = Array(stride(from: 0, to: values.count, by: portion.elements))
                var isFirst = true
                try concurrently(starts.count) { number in
                    let portion = values[starts[number]...].prefix(portion.elements)
                    return try ElementWriter.elements(portion.map(element))
                } take: { encoded in
                    try output.append(isFirst ? encoded : Data(",".utf8) + encoded)
                    isFirst = false
                }
            }
        }

        /// - Parameters:
        ///   - first: what stands before `values`, of the same list.
        ///   - element: what is written for one of them.
        init<Value>(
            _ key: String, _ values: SpooledList<Value>, after first: [Value] = [],
            _ element: @escaping @Sendable (Value) -> some Encodable & SendableMetatype
        ) {
            self.key = key
            append = { output in
                let starts = Array(stride(from: 0, to: values.count, by: portion.elements))
                var isFirst = first.isEmpty
                if !isFirst { try output.append(ElementWriter.elements(first.map(element))) }
                try concurrently(starts.count) { number in
                    let portion = starts[number]..<min(starts[number] + portion.elements, values.count)
                    return try ElementWriter.elements(values.elements(portion).map(element))
                } take: { encoded in
                    try output.append(isFirst ? encoded : Data(",".utf8) + encoded)
                    isFirst = false
                }
            }
        }

        /// - Parameter encoded: its elements, written already.
        init(_ key: String, encoded: some Sequence<Data>) {
            self.key = key
            append = { output in
                for (index, element) in encoded.enumerated() {
                    try output.append(index == 0 ? element : Data(",".utf8) + element)
                }
            }
        }
    }

    /// - Parameters:
    ///   - rest: an object in which these lists are empty, or are not.
    ///   - scratch: where it is written, if it is long.
    static func encode(
        _ rest: some Encodable, _ lists: [List], in scratch: Scratch
    ) throws -> (bytes: DocumentBytes, digest: ContentDigest) {
        let output = DocumentOutput(in: scratch)
        let object = try ElementWriter.encoder().encode(rest)
        // Within a text a quotation mark is escaped, so that these are nothing but a key and its value.
        let places = lists.compactMap { list in object.range(of: Data("\"\(list.key)\":[]".utf8)).map { ($0, list) } }
        var written = object.startIndex
        for (place, list) in places.sorted(by: { $0.0.lowerBound < $1.0.lowerBound }) {
            let end = place.upperBound - 1
            try output.append(object[written..<end])
            try list.append(output)
            written = end
        }
        try output.append(object[written...])
        return try output.finish()
    }
}

extension DecodingError {
    /// The same where the element at a place of a portion is the one behind so many others.
    fileprivate func placed(in key: String, after count: Int) -> DecodingError {
        moved { path in
            guard let index = path.first?.intValue else { return [] }
            return [Key(stringValue: key), Key(intValue: count + index)] + path.dropFirst()
        }
    }

    fileprivate func placed(in key: String, at index: Int) -> DecodingError {
        moved { [Key(stringValue: key), Key(intValue: index)] + $0 }
    }

    private func moved(_ path: ([any CodingKey]) -> [any CodingKey]) -> DecodingError {
        func moved(_ context: Context) -> Context {
            Context(
                codingPath: path(context.codingPath), debugDescription: context.debugDescription,
                underlyingError: context.underlyingError)
        }
        return switch self {
        case .typeMismatch(let type, let context): .typeMismatch(type, moved(context))
        case .valueNotFound(let type, let context): .valueNotFound(type, moved(context))
        case .keyNotFound(let key, let context): .keyNotFound(key, moved(context))
        case .dataCorrupted(let context): .dataCorrupted(moved(context))
        @unknown default: self
        }
    }

    private struct Key: CodingKey {
        let stringValue: String
        let intValue: Int?

        init(stringValue: String) { (self.stringValue, intValue) = (stringValue, nil) }
        init(intValue: Int) { (stringValue, self.intValue) = ("\(intValue)", intValue) }
    }
}
