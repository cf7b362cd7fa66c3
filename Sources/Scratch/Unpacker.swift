import Foundation
import ServiceMesh

/// Reads what a ``Packer`` has written.
final class Unpacker: Decoder {
    private let bytes: UnsafeRawBufferPointer
    private(set) var position = 0
    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    /// - Parameter bytes: not touched by anybody while this is used.
    init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    /// What was written reads back, unless the disk has made something else of it.
    static let damaged = MeshError(
        .dataLoss, "A scratch file does not have what was written into it. Check the library's disk, then try again.")

    func skip(_ count: Int) throws {
        guard (0...bytes.count - position).contains(count) else { throw Self.damaged }
        position += count
    }

    func byte() throws -> UInt8 {
        guard position < bytes.count else { throw Self.damaged }
        defer { position += 1 }
        return bytes[position]
    }

    func unsigned() throws -> UInt64 {
        var (value, shift): (UInt64, UInt64) = (0, 0)
        while true {
            let next = try byte()
            guard shift < 64 else { throw Self.damaged }
            value |= UInt64(next & 0x7F) << shift
            if next < 0x80 { return value }
            shift += 7
        }
    }

    func signed() throws -> Int64 {
        let value = try unsigned()
        return Int64(bitPattern: value >> 1) ^ -Int64(bitPattern: value & 1)
    }

    func integer<T: FixedWidthInteger>(_ type: T.Type) throws -> T {
        guard let value = T.isSigned ? try T(exactly: signed()) : try T(exactly: unsigned()) else { throw Self.damaged }
        return value
    }

    func truth() throws -> Bool { try byte() != 0 }

    func text() throws -> String {
        let count = try unsigned()
        guard count <= UInt64(bytes.count - position) else { throw Self.damaged }
        defer { position += Int(count) }
        return String(decoding: bytes[position..<position + Int(count)], as: UTF8.self)
    }

    func count() throws -> Int {
        var count: UInt32 = 0
        for byte in 0..<4 { count |= UInt32(try self.byte()) << (8 * UInt32(byte)) }
        return Int(count)
    }

    func data() throws -> Data {
        let count = try unsigned()
        guard count <= UInt64(bytes.count - position) else { throw Self.damaged }
        defer { position += Int(count) }
        return Data(bytes[position..<position + Int(count)])
    }

    func value<T: Decodable>(_ type: T.Type) throws -> T {
        if T.self == Data.self, let data = try data() as? T { return data }
        if let direct = type as? any PackedAsInteger.Type, let value = direct.init(packedInteger: try signed()) as? T {
            return value
        }
        return try T(from: self)
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedDecodingContainer<Key> {
        KeyedDecodingContainer(UnpackedMembers(unpacker: self))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer { try UnpackedElements(self) }
    func singleValueContainer() -> any SingleValueDecodingContainer { UnpackedValue(unpacker: self) }
}

private struct UnpackedMembers<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let unpacker: Unpacker
    var codingPath: [any CodingKey] { [] }
    var allKeys: [Key] { preconditionFailure("keys are not packed") }

    func contains(_ key: Key) -> Bool { preconditionFailure("keys are not packed") }
    func decodeNil(forKey key: Key) throws -> Bool { try !unpacker.truth() }
    func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { try unpacker.truth() }
    func decode(_ type: String.Type, forKey key: Key) throws -> String { try unpacker.text() }
    func decode(_ type: Int.Type, forKey key: Key) throws -> Int { try unpacker.integer(type) }
    func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 { try unpacker.signed() }
    func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T { try unpacker.value(type) }

    func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? { try present { try unpacker.truth() } }
    func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? { try present { try unpacker.text() } }
    func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? {
        try present { try unpacker.integer(type) }
    }
    func decodeIfPresent(_ type: Int64.Type, forKey key: Key) throws -> Int64? { try present { try unpacker.signed() } }
    func decodeIfPresent<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T? {
        try present { try unpacker.value(type) }
    }

    // Of these there would be others, which ask for the key.
    func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? {
        try present { try unpacker.value(type) }
    }
    func decodeIfPresent(_ type: Float.Type, forKey key: Key) throws -> Float? {
        try present { try unpacker.value(type) }
    }
    func decodeIfPresent(_ type: Int8.Type, forKey key: Key) throws -> Int8? {
        try present { try unpacker.value(type) }
    }
    func decodeIfPresent(_ type: Int16.Type, forKey key: Key) throws -> Int16? {
        try present { try unpacker.value(type) }
    }
    func decodeIfPresent(_ type: Int32.Type, forKey key: Key) throws -> Int32? {
        try present { try unpacker.value(type) }
    }
    func decodeIfPresent(_ type: UInt.Type, forKey key: Key) throws -> UInt? {
        try present { try unpacker.value(type) }
    }
    func decodeIfPresent(_ type: UInt8.Type, forKey key: Key) throws -> UInt8? {
        try present { try unpacker.value(type) }
    }
    func decodeIfPresent(_ type: UInt16.Type, forKey key: Key) throws -> UInt16? {
        try present { try unpacker.value(type) }
    }
    func decodeIfPresent(_ type: UInt32.Type, forKey key: Key) throws -> UInt32? {
        try present { try unpacker.value(type) }
    }
    func decodeIfPresent(_ type: UInt64.Type, forKey key: Key) throws -> UInt64? {
        try present { try unpacker.value(type) }
    }

    private func present<T>(_ value: () throws -> T) throws -> T? { try unpacker.truth() ? value() : nil }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) -> KeyedDecodingContainer<Nested> { unpacker.container(keyedBy: type) }
    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try UnpackedElements(unpacker)
    }
    func superDecoder() -> any Decoder { unpacker }
    func superDecoder(forKey key: Key) -> any Decoder { unpacker }
}

private struct UnpackedElements: UnkeyedDecodingContainer {
    private let unpacker: Unpacker
    let count: Int?
    private(set) var currentIndex = 0
    var codingPath: [any CodingKey] { [] }
    var isAtEnd: Bool { currentIndex == count }

    init(_ unpacker: Unpacker) throws {
        self.unpacker = unpacker
        count = try unpacker.count()
    }

    private mutating func another() throws {
        guard !isAtEnd else { throw Unpacker.damaged }
        currentIndex += 1
    }

    mutating func decodeNil() throws -> Bool { false }
    mutating func decode<T: Decodable>(_ type: T.Type) throws -> T {
        try another()
        return try unpacker.value(type)
    }

    mutating func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type
    ) throws -> KeyedDecodingContainer<Nested> {
        try another()
        return unpacker.container(keyedBy: type)
    }
    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        try another()
        return try UnpackedElements(unpacker)
    }
    mutating func superDecoder() -> any Decoder { unpacker }
}

private struct UnpackedValue: SingleValueDecodingContainer {
    let unpacker: Unpacker
    var codingPath: [any CodingKey] { [] }

    func decodeNil() -> Bool { false }
    func decode(_ type: Bool.Type) throws -> Bool { try unpacker.truth() }
    func decode(_ type: String.Type) throws -> String { try unpacker.text() }
    func decode(_ type: Double.Type) throws -> Double { Double(bitPattern: try unpacker.unsigned()) }
    func decode(_ type: Float.Type) throws -> Float { Float(bitPattern: try unpacker.integer(UInt32.self)) }
    func decode(_ type: Int.Type) throws -> Int { try unpacker.integer(type) }
    func decode(_ type: Int8.Type) throws -> Int8 { try unpacker.integer(type) }
    func decode(_ type: Int16.Type) throws -> Int16 { try unpacker.integer(type) }
    func decode(_ type: Int32.Type) throws -> Int32 { try unpacker.integer(type) }
    func decode(_ type: Int64.Type) throws -> Int64 { try unpacker.signed() }
    func decode(_ type: UInt.Type) throws -> UInt { try unpacker.integer(type) }
    func decode(_ type: UInt8.Type) throws -> UInt8 { try unpacker.byte() }
    func decode(_ type: UInt16.Type) throws -> UInt16 { try unpacker.integer(type) }
    func decode(_ type: UInt32.Type) throws -> UInt32 { try unpacker.integer(type) }
    func decode(_ type: UInt64.Type) throws -> UInt64 { try unpacker.unsigned() }
    func decode<T: Decodable>(_ type: T.Type) throws -> T { try unpacker.value(type) }
}
