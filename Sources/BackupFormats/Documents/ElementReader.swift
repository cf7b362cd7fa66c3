import Foundation

/// Reads the elements of a document's long lists as ``ElementWriter`` writes them, a fourth as long as Foundation takes.
///
/// It takes only what it has understood to the last byte: an element with blanks, with a key that is not asked for or that is there
/// twice, a number with a fraction, and everything that is wrong, is left to Foundation, which reads it or says what is the matter.
final class ElementReader: Decoder {
    /// Thrown where something else stands there than was asked for.
    private struct Mismatch: Error {}

    /// A value that is being read.
    private struct Frame {
        let start: Int
        /// Where its members begin among all.
        let members: Int
        /// Behind the value; nil while that is not known.
        var end: Int?
        /// Whether it has to be read up to its end by then.
        var isWalked = false
    }

    private struct Member {
        /// Between its quotation marks.
        let key: Range<Int>
        let value: Range<Int>
        var isTaken = false
    }

    /// Members of one object. None of ours has half as many.
    private static let most = 64

    private let bytes: UnsafeRawBufferPointer
    private var position = 0
    private var frames: [Frame] = []
    private var members: [Member] = []
    /// Whether something is left to Foundation, even where the type that asked for it could do without.
    private var isUnsupported = false

    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    private init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    /// - Parameter bytes: elements with the commas between them.
    /// - Returns: nil where they are left to Foundation.
    static func elements<Element: Decodable>(_ type: Element.Type, _ bytes: Data) -> [Element]? {
        bytes.withUnsafeBytes { bytes in
            let reader = ElementReader(bytes)
            var elements: [Element] = []
            while true {
                guard let element = try? reader.value(type), !reader.isUnsupported else { return nil }
                elements.append(element)
                if reader.position == bytes.count { return elements }
                guard (try? reader.take(",")) != nil else { return nil }
            }
        }
    }

    fileprivate func value<T: Decodable>(_ type: T.Type) throws -> T {
        if T.self == String.self, let text = try text() as? T { return text }
        if T.self == Data.self {
            guard let data = try Data(base64Encoded: text()) as? T else { throw unsupported() }
            return data
        }
        guard T.self != Date.self, T.self != URL.self, T.self != Decimal.self else { throw unsupported() }
        frames.append(Frame(start: position, members: members.count))
        let value = try T(from: self)
        let frame = frames.removeLast()
        guard let end = frame.end, members[frame.members...].allSatisfy(\.isTaken),
            !frame.isWalked || position == end
        else { throw unsupported() }
        members.removeSubrange(frame.members...)
        position = end
        return value
    }

    fileprivate func unsupported() -> some Error {
        isUnsupported = true
        return Mismatch()
    }

    // MARK: Values

    private func take(_ character: Unicode.Scalar) throws {
        guard position < bytes.count, bytes[position] == UInt8(ascii: character) else { throw Mismatch() }
        position += 1
    }

    fileprivate func takes(_ text: StaticString) -> Bool {
        let count = text.utf8CodeUnitCount
        guard count <= bytes.count - position, let first = bytes.baseAddress,
            memcmp(first + position, text.utf8Start, count) == 0
        else { return false }
        position += count
        return true
    }

    fileprivate func truth() throws -> Bool {
        if takes("true") { return true }
        guard takes("false") else { throw Mismatch() }
        return false
    }

    fileprivate func integer<T: FixedWidthInteger>(_ type: T.Type) throws -> T {
        let isNegative = takes("-")
        var (value, first): (UInt64, Int) = (0, position)
        while position < bytes.count, (0x30...0x39).contains(bytes[position]) {
            let (tens, isTooLarge) = value.multipliedReportingOverflow(by: 10)
            let (sum, isLarger) = tens.addingReportingOverflow(UInt64(bytes[position] - 0x30))
            guard !isTooLarge, !isLarger else { throw unsupported() }
            (value, position) = (sum, position + 1)
        }
        first = position - first
        guard first > 0 else { throw Mismatch() }
        guard first == 1 || bytes[position - first] != 0x30, value < 1 << 63,
            let exact = T(exactly: isNegative ? -Int64(value) : Int64(value))
        else { throw unsupported() }
        return exact
    }

    fileprivate func text() throws -> String {
        let between = try skipText()
        let utf8 = bytes[between]
        guard utf8.contains(0x5C) else {
            guard let text = String(validating: utf8, as: UTF8.self) else { throw unsupported() }
            return text
        }
        var plain: [UInt8] = []
        var isEscaped = false
        for byte in utf8 {
            guard isEscaped || byte == 0x5C else {
                plain.append(byte)
                continue
            }
            if isEscaped { plain.append(try meant(by: byte)) }
            isEscaped.toggle()
        }
        guard let text = String(validating: plain, as: UTF8.self) else { throw unsupported() }
        return text
    }

    private func meant(by escaped: UInt8) throws -> UInt8 {
        switch escaped {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): escaped
        case UInt8(ascii: "b"): 0x08
        case UInt8(ascii: "t"): 0x09
        case UInt8(ascii: "n"): 0x0A
        case UInt8(ascii: "f"): 0x0C
        case UInt8(ascii: "r"): 0x0D
        default: throw unsupported()
        }
    }

    /// - Returns: what stands between its quotation marks.
    private func skipText() throws -> Range<Int> {
        try take("\"")
        let start = position
        while position < bytes.count {
            switch bytes[position] {
            case UInt8(ascii: "\""):
                position += 1
                return start..<position - 1
            case UInt8(ascii: "\\"): position += 2
            case 0..<0x20: throw unsupported()
            default: position += 1
            }
        }
        throw unsupported()
    }

    /// Up to where a value ends; what is in it is for who reads it to refuse.
    private func skipValue() throws {
        var depth = 0
        while position < bytes.count {
            switch bytes[position] {
            case UInt8(ascii: "\""): _ = try skipText()
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                depth += 1
                position += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                if depth == 0 { return }
                depth -= 1
                position += 1
            case UInt8(ascii: ","):
                if depth == 0 { return }
                position += 1
            default: position += 1
            }
        }
    }

    // MARK: Containers

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        guard let last = frames.indices.last else { throw unsupported() }
        if frames[last].end == nil { frames[last].end = try findMembers() }
        return KeyedDecodingContainer(Members(reader: self, own: frames[last].members..<members.count))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        guard let last = frames.indices.last, frames[last].end == nil else { throw unsupported() }
        let start = position
        try skipValue()
        (frames[last].end, frames[last].isWalked, position) = (position, true, start)
        try take("[")
        let isEmpty = takes("]")
        return Elements(reader: self, isAtEnd: isEmpty)
    }

    func singleValueContainer() throws -> any SingleValueDecodingContainer {
        guard let last = frames.indices.last, frames[last].end == nil else { throw unsupported() }
        let start = position
        try skipValue()
        let all = start..<position
        (frames[last].end, frames[last].isWalked, position) = (all.upperBound, true, start)
        return Value(reader: self, all: all)
    }

    /// - Returns: where the object ends.
    private func findMembers() throws -> Int {
        try take("{")
        if takes("}") { return position }
        let first = members.count
        while true {
            let key = try skipText()
            try take(":")
            let start = position
            try skipValue()
            guard position > start, members.count - first < Self.most else { throw unsupported() }
            members.append(Member(key: key, value: start..<position))
            if takes("}") { return position }
            try take(",")
        }
    }

    /// Reads what stands at a place, all of it.
    fileprivate func read<T>(_ all: Range<Int>, _ body: () throws -> T) throws -> T {
        position = all.lowerBound
        let value = try body()
        guard position == all.upperBound else { throw unsupported() }
        return value
    }

    fileprivate func place(of key: some CodingKey, among own: Range<Int>) -> Int? {
        var name = key.stringValue
        return name.withUTF8 { name in
            own.first { place in
                let key = members[place].key
                guard key.count == name.count, let bytes = bytes.baseAddress, let name = name.baseAddress else {
                    return false
                }
                return memcmp(bytes + key.lowerBound, name, key.count) == 0
            }
        }
    }

    fileprivate func take(_ place: Int) -> Range<Int> {
        members[place].isTaken = true
        return members[place].value
    }

    fileprivate func isNull(_ place: Int) -> Bool {
        position = members[place].value.lowerBound
        guard members[place].value.count == 4, takes("null") else { return false }
        members[place].isTaken = true
        return true
    }

    private struct Members<Key: CodingKey>: KeyedDecodingContainerProtocol {
        let reader: ElementReader
        let own: Range<Int>
        var codingPath: [any CodingKey] { [] }
        var allKeys: [Key] { [] }

        func contains(_ key: Key) -> Bool { reader.place(of: key, among: own) != nil }
        func decodeNil(forKey key: Key) throws -> Bool { try reader.isNull(place(of: key)) }
        func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { try read(key) { try reader.truth() } }
        func decode(_ type: String.Type, forKey key: Key) throws -> String { try read(key) { try reader.text() } }
        func decode(_ type: Int.Type, forKey key: Key) throws -> Int { try read(key) { try reader.integer(type) } }
        func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 { try read(key) { try reader.integer(type) } }
        func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
            try read(key) { try reader.value(type) }
        }
        func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? {
            try readIfPresent(key) { try reader.text() }
        }
        func decodeIfPresent<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T? {
            try readIfPresent(key) { try reader.value(type) }
        }

        private func place(of key: Key) throws -> Int {
            guard let place = reader.place(of: key, among: own) else { throw reader.unsupported() }
            return place
        }

        private func read<T>(_ key: Key, _ body: () throws -> T) throws -> T {
            try reader.read(reader.take(place(of: key)), body)
        }

        private func readIfPresent<T>(_ key: Key, _ body: () throws -> T) throws -> T? {
            guard let place = reader.place(of: key, among: own), !reader.isNull(place) else { return nil }
            return try reader.read(reader.take(place), body)
        }

        func nestedContainer<Nested: CodingKey>(
            keyedBy type: Nested.Type, forKey key: Key
        ) throws -> KeyedDecodingContainer<Nested> { throw reader.unsupported() }
        func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
            throw reader.unsupported()
        }
        func superDecoder() throws -> any Decoder { throw reader.unsupported() }
        func superDecoder(forKey key: Key) throws -> any Decoder { throw reader.unsupported() }
    }

    private struct Elements: UnkeyedDecodingContainer {
        let reader: ElementReader
        var isAtEnd: Bool
        private(set) var currentIndex = 0
        let count: Int? = nil
        var codingPath: [any CodingKey] { [] }

        init(reader: ElementReader, isAtEnd: Bool) { (self.reader, self.isAtEnd) = (reader, isAtEnd) }

        mutating func decodeNil() throws -> Bool { throw reader.unsupported() }
        mutating func decode<T: Decodable>(_ type: T.Type) throws -> T {
            guard !isAtEnd else { throw reader.unsupported() }
            let value = try reader.value(type)
            currentIndex += 1
            isAtEnd = reader.takes("]")
            if !isAtEnd { try reader.take(",") }
            return value
        }
        mutating func nestedContainer<Nested: CodingKey>(
            keyedBy type: Nested.Type
        ) throws -> KeyedDecodingContainer<Nested> { throw reader.unsupported() }
        mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer { throw reader.unsupported() }
        mutating func superDecoder() throws -> any Decoder { throw reader.unsupported() }
    }

    private struct Value: SingleValueDecodingContainer {
        let reader: ElementReader
        let all: Range<Int>
        var codingPath: [any CodingKey] { [] }

        func decodeNil() -> Bool { (try? reader.read(all) { reader.takes("null") }) ?? false }
        func decode(_ type: Bool.Type) throws -> Bool { try reader.read(all) { try reader.truth() } }
        func decode(_ type: String.Type) throws -> String { try reader.read(all) { try reader.text() } }
        func decode(_ type: Double.Type) throws -> Double { throw reader.unsupported() }
        func decode(_ type: Float.Type) throws -> Float { throw reader.unsupported() }
        func decode(_ type: Int.Type) throws -> Int { try integer(type) }
        func decode(_ type: Int8.Type) throws -> Int8 { try integer(type) }
        func decode(_ type: Int16.Type) throws -> Int16 { try integer(type) }
        func decode(_ type: Int32.Type) throws -> Int32 { try integer(type) }
        func decode(_ type: Int64.Type) throws -> Int64 { try integer(type) }
        func decode(_ type: UInt.Type) throws -> UInt { try integer(type) }
        func decode(_ type: UInt8.Type) throws -> UInt8 { try integer(type) }
        func decode(_ type: UInt16.Type) throws -> UInt16 { try integer(type) }
        func decode(_ type: UInt32.Type) throws -> UInt32 { try integer(type) }
        func decode(_ type: UInt64.Type) throws -> UInt64 { try integer(type) }
        func decode<T: Decodable>(_ type: T.Type) throws -> T { try reader.read(all) { try reader.value(type) } }

        private func integer<T: FixedWidthInteger>(_ type: T.Type) throws -> T {
            try reader.read(all) { try reader.integer(type) }
        }
    }
}
