import Foundation

/// A type whose JSON form does not follow from its stored properties and says itself what it looks like.
public protocol SchemaDescribed: Codable {
    static var jsonSchema: JSONValue { get }
    /// Any valid value; the probe goes on with it.
    static var schemaExample: Self { get }
}

/// The JSON Schema of a `Decodable` type, read off its own `init(from:)`: a decoder that answers every question
/// with an example and writes down what was asked. So there is no second description of a message that could
/// disagree with the first.
enum SchemaProbe {
    static func schema<T: Decodable>(of type: T.Type) -> JSONValue {
        (try? probe(type))?.schema ?? [:]
    }

    fileprivate struct Unprobeable: Error {}

    /// - Throws: whatever the type's own `init(from:)` throws at the examples; its schema is then left open.
    fileprivate static func probe<T: Decodable>(_ type: T.Type) throws -> (schema: JSONValue, value: T) {
        if let described = type as? any SchemaDescribed.Type {
            return (described.jsonSchema, try cast(described.schemaExample))
        }
        if let fixed = try fixedType(type) { return fixed }
        if let cases = type as? any (CaseIterable & RawRepresentable).Type {
            return try enumeration(cases)
        }
        let recorder = Recorder()
        let value = try T(from: ProbeDecoder(recorder: recorder))
        return (recorder.schema, value)
    }

    private static func fixedType<T>(_ type: T.Type) throws -> (schema: JSONValue, value: T)? {
        switch type {
        case is Bool.Type: (["type": "boolean"], try cast(false))
        case is String.Type: (["type": "string"], try cast(""))
        case is Double.Type: (["type": "number"], try cast(Double(0)))
        case is Float.Type: (["type": "number"], try cast(Float(0)))
        case is Int.Type: (["type": "integer"], try cast(0))
        case is Int64.Type: (["type": "integer"], try cast(Int64(0)))
        case is Int32.Type: (range(of: Int32.self), try cast(Int32(0)))
        case is UInt64.Type: (["type": "integer", "minimum": 0], try cast(UInt64(0)))
        case is UInt32.Type: (range(of: UInt32.self), try cast(UInt32(0)))
        case is UUID.Type: (["type": "string", "format": "uuid"], try cast(UUID()))
        case is JSONValue.Type: ([:], try cast(JSONValue.null))
        default: nil
        }
    }

    private static func range<N: FixedWidthInteger>(of type: N.Type) -> JSONValue {
        ["type": "integer", "minimum": .integer(Int64(N.min)), "maximum": .integer(Int64(N.max))]
    }

    private static func enumeration<T, E: CaseIterable & RawRepresentable>(
        _ type: E.Type
    ) throws -> (schema: JSONValue, value: T) {
        guard let first = E.allCases.first else { throw Unprobeable() }
        let values = E.allCases.compactMap { element -> JSONValue? in
            switch element.rawValue {
            case let raw as String: .string(raw)
            case let raw as Int: .integer(Int64(raw))
            default: nil
            }
        }
        return (["enum": .array(values)], try cast(first))
    }

    fileprivate static func cast<From, T>(_ value: From) throws -> T {
        guard let value = value as? T else { throw Unprobeable() }
        return value
    }
}

/// What one level of the type turned out to be.
private final class Recorder {
    var properties: [String: JSONValue] = [:]
    var required: [String] = []
    var isObject = false
    var whole: JSONValue?

    var schema: JSONValue {
        if let whole, !isObject { return whole }
        var members: [String: JSONValue] = ["type": "object", "properties": .object(properties)]
        if !required.isEmpty { members["required"] = .array(required.sorted().map { .string($0) }) }
        members["additionalProperties"] = false
        return .object(members)
    }
}

private struct ProbeDecoder: Decoder {
    let recorder: Recorder
    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedDecodingContainer<Key> {
        recorder.isObject = true
        return KeyedDecodingContainer(Keyed<Key>(recorder: recorder))
    }

    func unkeyedContainer() -> any UnkeyedDecodingContainer { Unkeyed(recorder: recorder) }

    func singleValueContainer() -> any SingleValueDecodingContainer { Single(recorder: recorder) }

    struct Keyed<Key: CodingKey>: KeyedDecodingContainerProtocol {
        let recorder: Recorder
        var codingPath: [any CodingKey] { [] }
        /// A dictionary asks for its keys: it has none in the example, and says so by an open object.
        var allKeys: [Key] {
            recorder.isObject = false
            recorder.whole = ["type": "object"]
            return []
        }

        func contains(_ key: Key) -> Bool { true }
        func decodeNil(forKey key: Key) -> Bool { false }

        func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
            let found = try SchemaProbe.probe(type)
            recorder.properties[key.stringValue] = found.schema
            recorder.required.append(key.stringValue)
            return found.value
        }

        func decodeIfPresent<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T? {
            let found = try SchemaProbe.probe(type)
            recorder.properties[key.stringValue] = found.schema
            return found.value
        }

        func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? { try optional(type, key) }
        func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? { try optional(type, key) }
        func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? { try optional(type, key) }
        func decodeIfPresent(_ type: Float.Type, forKey key: Key) throws -> Float? { try optional(type, key) }
        func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? { try optional(type, key) }
        func decodeIfPresent(_ type: Int32.Type, forKey key: Key) throws -> Int32? { try optional(type, key) }
        func decodeIfPresent(_ type: Int64.Type, forKey key: Key) throws -> Int64? { try optional(type, key) }
        func decodeIfPresent(_ type: UInt32.Type, forKey key: Key) throws -> UInt32? { try optional(type, key) }
        func decodeIfPresent(_ type: UInt64.Type, forKey key: Key) throws -> UInt64? { try optional(type, key) }

        private func optional<T: Decodable>(_ type: T.Type, _ key: Key) throws -> T? {
            let found = try SchemaProbe.probe(type)
            recorder.properties[key.stringValue] = found.schema
            return found.value
        }

        func nestedContainer<Nested: CodingKey>(
            keyedBy type: Nested.Type, forKey key: Key
        ) throws -> KeyedDecodingContainer<Nested> { throw SchemaProbe.Unprobeable() }
        func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
            throw SchemaProbe.Unprobeable()
        }
        func superDecoder() throws -> any Decoder { throw SchemaProbe.Unprobeable() }
        func superDecoder(forKey key: Key) throws -> any Decoder { throw SchemaProbe.Unprobeable() }
    }

    struct Unkeyed: UnkeyedDecodingContainer {
        let recorder: Recorder
        var codingPath: [any CodingKey] { [] }
        var count: Int? { 1 }
        var currentIndex = 0
        var isAtEnd: Bool { currentIndex > 0 }

        init(recorder: Recorder) {
            self.recorder = recorder
            recorder.whole = ["type": "array"]
        }

        mutating func decodeNil() -> Bool { false }

        mutating func decode<T: Decodable>(_ type: T.Type) throws -> T {
            currentIndex += 1
            let found = try SchemaProbe.probe(type)
            recorder.whole = ["type": "array", "items": found.schema]
            return found.value
        }

        mutating func nestedContainer<Nested: CodingKey>(
            keyedBy type: Nested.Type
        ) throws -> KeyedDecodingContainer<Nested> { throw SchemaProbe.Unprobeable() }
        mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
            throw SchemaProbe.Unprobeable()
        }
        mutating func superDecoder() throws -> any Decoder { throw SchemaProbe.Unprobeable() }
    }

    struct Single: SingleValueDecodingContainer {
        let recorder: Recorder
        var codingPath: [any CodingKey] { [] }

        func decodeNil() -> Bool { false }

        func decode<T: Decodable>(_ type: T.Type) throws -> T {
            let found = try SchemaProbe.probe(type)
            recorder.whole = found.schema
            return found.value
        }
    }
}
