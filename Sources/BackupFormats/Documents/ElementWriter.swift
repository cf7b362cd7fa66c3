import Foundation

/// Writes the elements of a document's long lists as `JSONEncoder` writes them with sorted keys and plain slashes, byte for byte, and
/// straight into the bytes of the list.
///
/// A backup's documents name every photo three times, and Foundation makes a tree of each: 100,000 photos took two seconds and a half,
/// and take half a second. What only one of the two would write, as fractions, is left to Foundation.
final class ElementWriter: Encoder {
    /// Thrown at what is left to Foundation.
    private struct Unsupported: Error {}

    /// A value that is being written.
    private struct Frame {
        enum Kind { case nothing, value, array, object }

        /// Of the value, in the bytes.
        let start: Int
        /// Where its members begin among all.
        let members: Int
        var kind = Kind.nothing
        /// Elements that were written.
        var count = 0
    }

    /// A member of an object: its value stands in the bytes already, its key does not.
    private struct Member {
        let key: String
        let start: Int
    }

    private var bytes: [UInt8] = []
    private var frames: [Frame] = []
    private var members: [Member] = []
    private var isUnsupported = false
    /// The keys of the last object, in the order in which they were written, and their order in the document: those of one type
    /// are nearly always the same.
    private var order: (keys: [String], sorted: [Int]) = ([], [])
    private var spare: [UInt8] = []

    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    /// - Returns: the elements with the commas between them, as they stand between the brackets of their list.
    static func elements<Element: Encodable>(_ elements: [Element]) throws -> Data {
        let writer = ElementWriter()
        do {
            for (number, element) in elements.enumerated() {
                if number > 0 { writer.bytes.append(UInt8(ascii: ",")) }
                try writer.put(element)
            }
            if !writer.isUnsupported { return Data(writer.bytes) }
        } catch is Unsupported {}
        return try encoder().encode(elements).dropFirst().dropLast()
    }

    /// Of one thread. What these documents are otherwise written by.
    static func encoder() -> JSONEncoder {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return encoder
    }

    fileprivate func put<T: Encodable>(_ value: T) throws {
        if T.self == String.self, let text = value as? String { return put(text: text) }
        if T.self == Data.self, let data = value as? Data { return put(text: data.base64EncodedString()) }
        // These have forms of their own.
        guard T.self != Date.self, T.self != URL.self, T.self != Decimal.self else { throw Unsupported() }
        frames.append(Frame(start: bytes.count, members: members.count))
        try value.encode(to: self)
        try close(frames.removeLast())
    }

    private func close(_ frame: Frame) throws {
        switch frame.kind {
        case .nothing: throw Unsupported()
        case .value: break
        case .array: bytes.append(UInt8(ascii: "]"))
        case .object:
            let own = frame.members..<members.count
            let sorted = sorted(own)
            spare.removeAll(keepingCapacity: true)
            for (number, place) in sorted.enumerated() {
                let member = own.lowerBound + place
                let end = member + 1 < own.upperBound ? members[member + 1].start : bytes.count
                spare.append(UInt8(ascii: number == 0 ? "{" : ","))
                Self.append(members[member].key, to: &spare)
                spare.append(UInt8(ascii: ":"))
                spare.append(contentsOf: bytes[members[member].start..<end])
            }
            if sorted.isEmpty { spare.append(UInt8(ascii: "{")) }
            spare.append(UInt8(ascii: "}"))
            members.removeSubrange(own)
            bytes.removeSubrange(frame.start...)
            bytes.append(contentsOf: spare)
        }
    }

    /// Places of members by the order of their keys.
    private func sorted(_ own: Range<Int>) -> [Int] {
        let keys = members[own]
        if !keys.elementsEqual(order.keys, by: { $0.key == $1 }) {
            order.keys = keys.map(\.key)
            order.sorted = order.keys.indices.sorted { order.keys[$0] < order.keys[$1] }
        }
        return order.sorted
    }

    // MARK: Values

    fileprivate func put(text: String) { Self.append(text, to: &bytes) }
    fileprivate func put(truth: Bool) { bytes.append(contentsOf: (truth ? "true" : "false").utf8) }
    fileprivate func put(number: some FixedWidthInteger) { bytes.append(contentsOf: String(number).utf8) }
    fileprivate func putNull() { bytes.append(contentsOf: "null".utf8) }

    private static func append(_ text: String, to bytes: inout [UInt8]) {
        var text = text
        bytes.append(UInt8(ascii: "\""))
        text.withUTF8 { utf8 in
            var written = 0
            for (place, byte) in utf8.enumerated() where byte < 0x20 || byte == 0x22 || byte == 0x5C {
                bytes.append(contentsOf: utf8[written..<place])
                bytes.append(contentsOf: escaped(byte).utf8)
                written = place + 1
            }
            bytes.append(contentsOf: utf8[written...])
        }
        bytes.append(UInt8(ascii: "\""))
    }

    private static func escaped(_ byte: UInt8) -> String {
        switch byte {
        case 0x08: "\\b"
        case 0x09: "\\t"
        case 0x0A: "\\n"
        case 0x0C: "\\f"
        case 0x0D: "\\r"
        case 0x22: "\\\""
        case 0x5C: "\\\\"
        default: (byte < 0x10 ? "\\u000" : "\\u00") + String(byte, radix: 16)
        }
    }

    // MARK: Containers

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        begin(.object)
        return KeyedEncodingContainer(Members(writer: self))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        if begin(.array) { bytes.append(UInt8(ascii: "[")) }
        return Elements(writer: self)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer {
        begin(.value)
        return Value(writer: self)
    }

    /// - Returns: whether it is the first container of the value.
    @discardableResult
    private func begin(_ kind: Frame.Kind) -> Bool {
        guard let last = frames.indices.last, frames[last].kind == .nothing || frames[last].kind == kind else {
            isUnsupported = true
            return false
        }
        let isFirst = frames[last].kind == .nothing
        frames[last].kind = kind
        return isFirst
    }

    fileprivate func begin(_ key: some CodingKey) { members.append(Member(key: key.stringValue, start: bytes.count)) }

    fileprivate func beginElement() {
        guard let last = frames.indices.last else { return }
        if frames[last].count > 0 { bytes.append(UInt8(ascii: ",")) }
        frames[last].count += 1
    }

    fileprivate var count: Int { frames.last?.count ?? 0 }

    /// Of values that have several encoders; no document of ours does.
    fileprivate func unsupported() -> Self {
        isUnsupported = true
        return self
    }

    private struct Members<Key: CodingKey>: KeyedEncodingContainerProtocol {
        let writer: ElementWriter
        var codingPath: [any CodingKey] { [] }

        func encodeNil(forKey key: Key) { after(key).putNull() }
        func encode(_ value: Bool, forKey key: Key) { after(key).put(truth: value) }
        func encode(_ value: String, forKey key: Key) { after(key).put(text: value) }
        func encode(_ value: Int, forKey key: Key) { after(key).put(number: value) }
        func encode(_ value: Int64, forKey key: Key) { after(key).put(number: value) }
        func encode<T: Encodable>(_ value: T, forKey key: Key) throws { try after(key).put(value) }

        private func after(_ key: Key) -> ElementWriter {
            writer.begin(key)
            return writer
        }

        func nestedContainer<Nested: CodingKey>(
            keyedBy type: Nested.Type, forKey key: Key
        ) -> KeyedEncodingContainer<Nested> { writer.unsupported().container(keyedBy: type) }
        func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
            writer.unsupported().unkeyedContainer()
        }
        func superEncoder() -> any Encoder { writer.unsupported() }
        func superEncoder(forKey key: Key) -> any Encoder { writer.unsupported() }
    }

    private struct Elements: UnkeyedEncodingContainer {
        let writer: ElementWriter
        var codingPath: [any CodingKey] { [] }
        var count: Int { writer.count }

        func encodeNil() {
            writer.beginElement()
            writer.putNull()
        }
        func encode<T: Encodable>(_ value: T) throws {
            writer.beginElement()
            try writer.put(value)
        }
        func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) -> KeyedEncodingContainer<Nested> {
            writer.unsupported().container(keyedBy: type)
        }
        func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { writer.unsupported().unkeyedContainer() }
        func superEncoder() -> any Encoder { writer.unsupported() }
    }

    private struct Value: SingleValueEncodingContainer {
        let writer: ElementWriter
        var codingPath: [any CodingKey] { [] }

        func encodeNil() { writer.putNull() }
        func encode(_ value: Bool) { writer.put(truth: value) }
        func encode(_ value: String) { writer.put(text: value) }
        func encode(_ value: Double) throws { throw Unsupported() }
        func encode(_ value: Float) throws { throw Unsupported() }
        func encode(_ value: Int) { writer.put(number: value) }
        func encode(_ value: Int8) { writer.put(number: value) }
        func encode(_ value: Int16) { writer.put(number: value) }
        func encode(_ value: Int32) { writer.put(number: value) }
        func encode(_ value: Int64) { writer.put(number: value) }
        func encode(_ value: UInt) { writer.put(number: value) }
        func encode(_ value: UInt8) { writer.put(number: value) }
        func encode(_ value: UInt16) { writer.put(number: value) }
        func encode(_ value: UInt32) { writer.put(number: value) }
        func encode(_ value: UInt64) { writer.put(number: value) }
        func encode<T: Encodable>(_ value: T) throws { try writer.put(value) }
    }
}
