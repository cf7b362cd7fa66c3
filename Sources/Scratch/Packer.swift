import Foundation

/// A value that is packed as one number, and not by its own coding, which may be made for people to read and try several forms.
package protocol PackedAsInteger {
    var packedInteger: Int64 { get }
    init(packedInteger: Int64)
}

/// Writes values as bytes, one behind the other and without their keys: what reads them asks for the same ones in the same
/// order, as every synthesized coding does.
///
/// Rejected: JSON, which takes ten times as long and twice the room; and a list of fields written by hand for each type, which
/// loses a field that somebody adds to the type and forgets there.
///
/// Dictionaries, elements that are optional, and codings that ask whether a key is there, or try one form after the other, are not
/// for this.
final class Packer: Encoder {
    private(set) var bytes: [UInt8] = []
    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func removeAll() { bytes.removeAll(keepingCapacity: true) }

    func put(_ byte: UInt8) { bytes.append(byte) }
    func put(_ record: [UInt8]) { bytes.append(contentsOf: record) }
    func prepend(_ first: [UInt8]) { bytes = first + bytes }

    /// Seven bits at a time, the lowest first.
    func put(unsigned value: UInt64) {
        var rest = value
        while rest > 0x7F {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(rest))
    }

    /// Small numbers are short, whatever their sign.
    func put(signed value: Int64) { put(unsigned: UInt64(bitPattern: (value << 1) ^ (value >> 63))) }

    func put(_ text: String) {
        var text = text
        text.withUTF8 { utf8 in
            put(unsigned: UInt64(utf8.count))
            bytes.append(contentsOf: utf8)
        }
    }

    func put<T: Encodable>(value: T) throws {
        // Byte by byte, as it is coded, it takes fifty times as long.
        if T.self == Data.self, let data = value as? Data {
            put(unsigned: UInt64(data.count))
            bytes.append(contentsOf: data)
            return
        }
        switch value {
        case let value as any PackedAsInteger: put(signed: value.packedInteger)
        default: try value.encode(to: self)
        }
    }

    func put(count: UInt32, at place: Int) {
        for byte in 0..<4 { bytes[place + byte] = UInt8(truncatingIfNeeded: count >> (8 * UInt32(byte))) }
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        KeyedEncodingContainer(PackedMembers(packer: self))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer { PackedElements(self) }
    func singleValueContainer() -> any SingleValueEncodingContainer { PackedValue(packer: self) }
}

/// Members: an optional one has a byte before it that says whether it is there.
private struct PackedMembers<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let packer: Packer
    var codingPath: [any CodingKey] { [] }

    mutating func encodeNil(forKey key: Key) { packer.put(0) }
    mutating func encode(_ value: Bool, forKey key: Key) { packer.put(value ? 1 : 0) }
    mutating func encode(_ value: String, forKey key: Key) { packer.put(value) }
    mutating func encode(_ value: Int, forKey key: Key) { packer.put(signed: Int64(value)) }
    mutating func encode(_ value: Int64, forKey key: Key) { packer.put(signed: value) }
    mutating func encode<T: Encodable>(_ value: T, forKey key: Key) throws { try packer.put(value: value) }

    mutating func encodeIfPresent(_ value: Bool?, forKey key: Key) { put(value) { packer.put($0 ? 1 : 0) } }
    mutating func encodeIfPresent(_ value: String?, forKey key: Key) { put(value) { packer.put($0) } }
    mutating func encodeIfPresent(_ value: Int?, forKey key: Key) { put(value) { packer.put(signed: Int64($0)) } }
    mutating func encodeIfPresent(_ value: Int64?, forKey key: Key) { put(value) { packer.put(signed: $0) } }
    mutating func encodeIfPresent<T: Encodable>(_ value: T?, forKey key: Key) throws {
        try put(value) { try packer.put(value: $0) }
    }

    // Of these there would be others, which leave out what is not there.
    mutating func encodeIfPresent(_ value: Double?, forKey key: Key) throws {
        try put(value) { try packer.put(value: $0) }
    }
    mutating func encodeIfPresent(_ value: Float?, forKey key: Key) throws {
        try put(value) { try packer.put(value: $0) }
    }
    mutating func encodeIfPresent(_ value: Int8?, forKey key: Key) throws {
        try put(value) { try packer.put(value: $0) }
    }
    mutating func encodeIfPresent(_ value: Int16?, forKey key: Key) throws {
        try put(value) { try packer.put(value: $0) }
    }
    mutating func encodeIfPresent(_ value: Int32?, forKey key: Key) throws {
        try put(value) { try packer.put(value: $0) }
    }
    mutating func encodeIfPresent(_ value: UInt?, forKey key: Key) throws {
        try put(value) { try packer.put(value: $0) }
    }
    mutating func encodeIfPresent(_ value: UInt8?, forKey key: Key) throws {
        try put(value) { try packer.put(value: $0) }
    }
    mutating func encodeIfPresent(_ value: UInt16?, forKey key: Key) throws {
        try put(value) { try packer.put(value: $0) }
    }
    mutating func encodeIfPresent(_ value: UInt32?, forKey key: Key) throws {
        try put(value) { try packer.put(value: $0) }
    }
    mutating func encodeIfPresent(_ value: UInt64?, forKey key: Key) throws {
        try put(value) { try packer.put(value: $0) }
    }

    private func put<T>(_ value: T?, _ body: (T) throws -> Void) rethrows {
        packer.put(value == nil ? 0 : 1)
        if let value { try body(value) }
    }

    mutating func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) -> KeyedEncodingContainer<Nested> { packer.container(keyedBy: type) }
    mutating func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer { PackedElements(packer) }
    mutating func superEncoder() -> any Encoder { packer }
    mutating func superEncoder(forKey key: Key) -> any Encoder { packer }
}

/// Elements, behind their number.
private struct PackedElements: UnkeyedEncodingContainer {
    private let packer: Packer
    private let place: Int
    private(set) var count = 0
    var codingPath: [any CodingKey] { [] }

    init(_ packer: Packer) {
        self.packer = packer
        place = packer.bytes.count
        for _ in 0..<4 { packer.put(0) }
    }

    private mutating func another() {
        count += 1
        packer.put(count: UInt32(count), at: place)
    }

    mutating func encodeNil() throws { preconditionFailure("optional elements are not packed") }
    mutating func encode<T: Encodable>(_ value: T) throws {
        another()
        try packer.put(value: value)
    }

    mutating func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) -> KeyedEncodingContainer<Nested> {
        another()
        return packer.container(keyedBy: type)
    }
    mutating func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
        another()
        return PackedElements(packer)
    }
    mutating func superEncoder() -> any Encoder { packer }
}

/// What a type without members is, and every number, text and truth value in the end.
private struct PackedValue: SingleValueEncodingContainer {
    let packer: Packer
    var codingPath: [any CodingKey] { [] }

    mutating func encodeNil() throws { preconditionFailure("optional elements are not packed") }
    mutating func encode(_ value: Bool) { packer.put(value ? 1 : 0) }
    mutating func encode(_ value: String) { packer.put(value) }
    mutating func encode(_ value: Double) { packer.put(unsigned: value.bitPattern) }
    mutating func encode(_ value: Float) { packer.put(unsigned: UInt64(value.bitPattern)) }
    mutating func encode(_ value: Int) { packer.put(signed: Int64(value)) }
    mutating func encode(_ value: Int8) { packer.put(signed: Int64(value)) }
    mutating func encode(_ value: Int16) { packer.put(signed: Int64(value)) }
    mutating func encode(_ value: Int32) { packer.put(signed: Int64(value)) }
    mutating func encode(_ value: Int64) { packer.put(signed: value) }
    mutating func encode(_ value: UInt) { packer.put(unsigned: UInt64(value)) }
    mutating func encode(_ value: UInt8) { packer.put(value) }
    mutating func encode(_ value: UInt16) { packer.put(unsigned: UInt64(value)) }
    mutating func encode(_ value: UInt32) { packer.put(unsigned: UInt64(value)) }
    mutating func encode(_ value: UInt64) { packer.put(unsigned: value) }
    mutating func encode<T: Encodable>(_ value: T) throws { try packer.put(value: value) }
}
