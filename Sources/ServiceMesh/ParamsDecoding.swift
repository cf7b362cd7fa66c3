import Foundation

/// Params to message, strict: a property that the message does not have is a mistake of the caller's that
/// should not pass silently (`{"favorite": true}` where `isFavorite` was meant).
enum ParamsDecoding {
    private struct Key: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }
        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    private struct Strict<M: Decodable>: Decodable {
        let message: M
        let names: [String]

        init(from decoder: any Decoder) throws {
            names = try decoder.container(keyedBy: Key.self).allKeys.map(\.stringValue)
            message = try M(from: decoder)
        }
    }

    static func names<M: Message>(of type: M.Type) -> Set<String> {
        guard case .object(let properties)? = SchemaProbe.schema(of: type)["properties"] else { return [] }
        return Set(properties.keys)
    }

    static func decode<M: Message>(_ type: M.Type, from params: Data, allowing names: Set<String>) throws -> M {
        let decoded: Strict<M>
        do {
            decoded = try JSONDecoder().decode(Strict<M>.self, from: params.isEmpty ? Data("{}".utf8) : params)
        } catch let error as DecodingError {
            throw InvalidParams(
                description: ParamsFault(error, in: params, method: M.method, schema: SchemaProbe.schema(of: type))
                    .description)
        }
        if let stranger = decoded.names.first(where: { !names.contains($0) }) {
            throw InvalidParams(description: ParamsFault.stranger(stranger, method: M.method, names: names))
        }
        return decoded.message
    }
}

/// What is wrong with params, in words: the field, what was given, and what may be. What Swift says of it reaches nobody.
struct ParamsFault: CustomStringConvertible {
    /// Characters of a value that are shown.
    private static let shownLength = 60

    let description: String

    /// - Parameters:
    ///   - params: as they came.
    ///   - schema: of the message.
    init(_ error: DecodingError, in params: Data, method: String, schema: JSONValue) {
        let given = try? JSONDecoder().decode(JSONValue.self, from: params)
        let names = Self.names(schema)
        // A client that calls a field by another name first misses the one, and then has one too many: the name explains both.
        if case .object(let members)? = given,
            let stranger = members.keys.sorted().first(where: { !names.contains($0) })
        {
            description = Self.stranger(stranger, method: method, names: names)
            return
        }
        var path: [any CodingKey] = []
        switch error {
        case .keyNotFound(let key, let context):
            let place = (context.codingPath + [key]).fieldPath
            let wanted = Self.words(for: Self.schema(schema, at: context.codingPath + [key]))
            let others = context.codingPath.isEmpty ? " It takes \(Self.list(names))." : ""
            description = "\(method) needs the parameter '\(place)'\(wanted.map { ", \($0)" } ?? "").\(others)"
            return
        case .valueNotFound(_, let context): path = context.codingPath
        case .typeMismatch(_, let context): path = context.codingPath
        case .dataCorrupted(let context): path = context.codingPath
        @unknown default: break
        }
        guard let given else {
            description = "\(method): the params are not valid JSON, or have a number that is too large."
            return
        }
        // Of a number that does not fit, Foundation does not say where it stands.
        if path.isEmpty, let misfit = Self.misfit(given, schema) { path = misfit }
        guard !path.isEmpty else {
            description = "\(method) takes its params by name, as an object with \(Self.list(names))."
            return
        }
        let wanted = Self.schema(schema, at: path)
        let value = Self.value(given, at: path).map { Self.shown($0, where: wanted) } ?? "something else"
        let words = Self.words(for: wanted) ?? "something else"
        description = "\(method): the parameter '\(path.fieldPath)' is \(value); it must be \(words)."
    }

    static func stranger(_ name: String, method: String, names: Set<String>) -> String {
        "\(method) has no parameter '\(name.prefix(80))'. It takes \(list(names))."
    }

    private static func names(_ schema: JSONValue) -> Set<String> {
        guard case .object(let properties)? = schema["properties"] else { return [] }
        return Set(properties.keys)
    }

    private static func list(_ names: Set<String>) -> String {
        names.isEmpty ? "none" : names.sorted().joined(separator: ", ")
    }

    // MARK: Along the path

    private static func schema(_ schema: JSONValue, at path: [any CodingKey]) -> JSONValue? {
        path.reduce(schema as JSONValue?) { place, key in
            key.intValue == nil ? place?["properties"]?[key.stringValue] : place?["items"]
        }
    }

    private static func value(_ value: JSONValue, at path: [any CodingKey]) -> JSONValue? {
        path.reduce(value as JSONValue?) { place, key in
            guard let index = key.intValue else { return place?[key.stringValue] }
            guard let elements = place?.arrayValue, elements.indices.contains(index) else { return nil }
            return elements[index]
        }
    }

    /// Where a number stands that is not whole, or out of its range; nil where all fit.
    private static func misfit(_ value: JSONValue, _ schema: JSONValue?) -> [any CodingKey]? {
        switch value {
        case .object(let members):
            for (name, member) in members.sorted(by: { $0.key < $1.key }) {
                if let rest = misfit(member, schema?["properties"]?[name]) { return [Place(name)] + rest }
            }
            return nil
        case .array(let elements):
            for (index, element) in elements.enumerated() {
                if let rest = misfit(element, schema?["items"]) { return [Place(index)] + rest }
            }
            return nil
        case .number: return schema?["type"] == "integer" ? [] : nil
        case .integer(let number):
            let isLess = (schema?["minimum"]?.integerValue).map { number < $0 } ?? false
            let isMore = (schema?["maximum"]?.integerValue).map { number > $0 } ?? false
            return isLess || isMore ? [] : nil
        default: return nil
        }
    }

    private struct Place: CodingKey {
        let stringValue: String
        let intValue: Int?

        init(_ name: String) { (stringValue, intValue) = (name, nil) }
        init(_ index: Int) { (stringValue, intValue) = ("\(index)", index) }
        init?(stringValue: String) { self.init(stringValue) }
        init?(intValue: Int) { self.init(intValue) }
    }

    // MARK: Words

    /// What a value may be.
    private static func words(for schema: JSONValue?) -> String? {
        guard let schema else { return nil }
        if let words = schema["description"]?.stringValue { return words }
        if let values = schema["enum"]?.arrayValue {
            let words = values.map { $0.stringValue ?? text($0) }
            return words.count == 1 ? words[0] : "one of \(words.joined(separator: ", "))"
        }
        switch (schema["type"]?.stringValue, schema["format"]?.stringValue) {
        case ("string", "uuid"): return "a UUID"
        case ("string", _): return "a text"
        case ("integer", _):
            switch (schema["minimum"]?.integerValue, schema["maximum"]?.integerValue) {
            case (let least?, let most?): return "a whole number from \(least) to \(most)"
            case (let least?, nil): return "a whole number, \(least) or more"
            default: return "a whole number that fits into 64 bits"
            }
        case ("number", _): return "a number"
        case ("boolean", _): return "true or false"
        case ("array", _): return "a list\(words(for: schema["items"]).map { ", each of it \($0)" } ?? "")"
        case ("object", _):
            let names = names(schema)
            return names.isEmpty ? "an object" : "an object with \(list(names))"
        default: return nil
        }
    }

    /// What was given. Where a text is wanted, its kind alone: a PIN that was given as a number is in no reply and in no log.
    private static func shown(_ value: JSONValue, where schema: JSONValue?) -> String {
        let isFreeText = schema?["type"]?.stringValue == "string" && schema?["format"] == nil && schema?["enum"] == nil
        switch value {
        case .null: return "null"
        case .array: return "a list"
        case .object: return "an object"
        case .bool, .integer, .number, .string:
            guard isFreeText || schema == nil else { return text(value) }
            switch value {
            case .bool: return "true or false"
            case .integer, .number: return "a number"
            default: return "a text"
            }
        }
    }

    private static func text(_ value: JSONValue) -> String {
        let text = (try? JSON.encode(value)).map { String(decoding: $0, as: UTF8.self) } ?? "something else"
        return text.count > shownLength ? text.prefix(shownLength) + "…" : text
    }
}

extension [any CodingKey] {
    /// As people write a place in JSON: `photos[3].id`.
    package var fieldPath: String {
        reduce(into: "") { text, key in
            if let index = key.intValue {
                text += "[\(index)]"
            } else {
                text += (text.isEmpty ? "" : ".") + key.stringValue.prefix(100)
            }
        }
    }
}
