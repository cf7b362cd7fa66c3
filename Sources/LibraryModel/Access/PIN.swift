import Foundation
import ServiceMesh

/// A PIN as somebody gave it. It prints as `PIN`: nothing that shows values, a log among it, can show this one.
public struct PIN: Sendable, Codable {
    /// Characters, after Unicode's composition (NFC).
    public static let length = 4...64
    /// Of UTF-8 before anything is looked at: 64 characters of any script have fewer.
    private static let mostBytes = 1024

    private let typed: String

    public init(_ typed: String) { self.typed = typed }

    public init(from decoder: any Decoder) throws { typed = try decoder.singleValueContainer().decode(String.self) }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(typed)
    }

    /// What is hashed: the same for every way of typing the same characters. Nil where it cannot be a PIN.
    public var canonical: [UInt8]? {
        guard typed.utf8.count <= Self.mostBytes else { return nil }
        let composed = typed.precomposedStringWithCanonicalMapping
        guard Self.length.contains(composed.count), composed.utf8.count <= Self.mostBytes,
            composed.trimmingWhitespace == composed,
            !composed.unicodeScalars.contains(where: { Self.isUntypeable($0.properties.generalCategory) })
        else { return nil }
        return Array(composed.utf8)
    }

    /// - Returns: ``canonical``.
    /// - Throws: `invalid_argument`, with what a PIN is.
    public func validated() throws -> [UInt8] {
        guard let canonical else {
            throw MeshError(
                .invalidArgument,
                "A PIN has \(Self.length.lowerBound) to \(Self.length.upperBound) characters, with no control characters, "
                    + "and no spaces at either end. Choose another one.")
        }
        return canonical
    }

    private static func isUntypeable(_ category: Unicode.GeneralCategory) -> Bool {
        switch category {
        case .control, .lineSeparator, .paragraphSeparator: true
        default: false
        }
    }
}

extension PIN: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "PIN" }
    public var debugDescription: String { "PIN" }
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension PIN: SchemaDescribed {
    public static let jsonSchema: JSONValue = [
        "type": "string", "minLength": .integer(Int64(length.lowerBound)),
        "maxLength": .integer(Int64(length.upperBound)),
    ]
    public static let schemaExample = PIN("0000")
}
