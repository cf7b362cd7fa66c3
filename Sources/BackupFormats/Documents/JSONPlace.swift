import Foundation

/// A place in JSON that goes on from value to value. Nothing is decoded or copied: what is inside of a value is walked past, and
/// is for whoever decodes it to refuse: ``ElementReader``, and Foundation behind it.
///
/// Two more readers of JSON build nothing, and each does other work. ControlSocket's `JSONSyntax` proves a request before any
/// decoder sees it, and bounds its depth. Sidecars' `JSONScanner` has no decoder behind it: it takes a few values out of a
/// stranger's file, and says what is wrong with that and where.
struct JSONPlace {
    private let bytes: UnsafeRawBufferPointer
    package private(set) var position = 0

    init(in bytes: UnsafeRawBufferPointer, from start: Int = 0) { (self.bytes, position) = (bytes, start) }

    mutating func skipSpace() {
        while position < bytes.count, [0x20, 0x0A, 0x0D, 0x09].contains(bytes[position]) { position += 1 }
    }

    /// Whether this is what comes next; then it is behind.
    mutating func takes(_ character: Unicode.Scalar) -> Bool {
        skipSpace()
        guard position < bytes.count, bytes[position] == UInt8(ascii: character) else { return false }
        position += 1
        return true
    }

    var isAtEnd: Bool {
        mutating get {
            skipSpace()
            return position == bytes.count
        }
    }

    /// A member's key, and its colon.
    mutating func key() throws -> String {
        skipSpace()
        let start = position
        try skipText()
        let text = bytes[start..<position]
        let key =
            text.contains(UInt8(ascii: "\\"))
            ? try JSONDecoder().decode(String.self, from: Data(text))
            : String(decoding: text.dropFirst().dropLast(), as: UTF8.self)
        guard takes(":") else { throw fault("a colon is missing") }
        return key
    }

    private mutating func skipText() throws {
        guard position < bytes.count, bytes[position] == UInt8(ascii: "\"") else { throw fault("a text is missing") }
        position += 1
        while position < bytes.count {
            switch bytes[position] {
            case UInt8(ascii: "\""):
                position += 1
                return
            case UInt8(ascii: "\\"): position += 2
            default: position += 1
            }
        }
        throw fault("a text has no end")
    }

    /// However deep it is: its brackets are counted.
    mutating func skipValue() throws {
        skipSpace()
        let start = position
        var depth = 0
        while position < bytes.count {
            switch bytes[position] {
            case UInt8(ascii: "\""): try skipText()
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                depth += 1
                position += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"), UInt8(ascii: ","):
                if depth == 0 {
                    // The end of what the value stands in.
                    guard position > start else { throw fault("a value is missing") }
                    return
                }
                if bytes[position] != UInt8(ascii: ",") { depth -= 1 }
                position += 1
            default: position += 1
            }
        }
        throw fault("it ends in the middle")
    }

    /// - Returns: an error that says where this place is.
    func fault(_ what: String) -> DecodingError { .shape("\(what), at byte \(min(position, bytes.count))") }
}

/// What is wrong with a document before any of its values is looked at.
struct JSONShapeFault: Error {
    let description: String
}

extension DecodingError {
    static func shape(_ what: String) -> DecodingError {
        .dataCorrupted(
            .init(codingPath: [], debugDescription: what, underlyingError: JSONShapeFault(description: what)))
    }
}
