import Foundation

/// A form with a file in it, as `multipart/form-data` (RFC 7578), read whole. Strict: what two readers could take for two
/// things is refused.
struct MultipartForm {
    struct Part {
        let name: String
        let isFile: Bool
        let body: Range<Int>
    }

    static let mostParts = 8
    static let headBytes = 4 << 10

    let bytes: Data
    let parts: [Part]

    /// - Parameter type: the header Content-Type.
    /// - Throws: ``Refusal``: 415 where it is no form, 400 where it cannot be read.
    init(_ bytes: Data, type: String?) throws(Refusal) {
        guard let boundary = Self.boundary(type ?? "") else {
            throw Refusal(
                415, .invalidArgument,
                "The body is a form: send the header Content-Type: multipart/form-data; boundary=…")
        }
        self.bytes = bytes
        parts = try Self.parts(bytes, Array("--".utf8) + boundary)
    }

    /// The text of a field; nil where there is none.
    func text(_ name: String) throws(Refusal) -> String? {
        guard let part = parts.first(where: { $0.name == name && !$0.isFile }) else { return nil }
        guard part.body.count <= Self.headBytes, let text = String(validating: bytes[part.body], as: UTF8.self) else {
            throw Self.broken("The field \(name) is no text.")
        }
        return text
    }

    private static func broken(_ sentence: String) -> Refusal {
        Refusal(400, .invalidArgument, "The form cannot be read. \(sentence)")
    }

    // MARK: Reading

    /// 1 to 70 characters (RFC 2046, 5.1.1), quoted or not.
    private static func boundary(_ type: String) -> [UInt8]? {
        let parts = type.split(separator: ";", omittingEmptySubsequences: false).map {
            $0.trimmingCharacters(in: .whitespaces)
        }
        guard parts.first?.lowercased() == "multipart/form-data" else { return nil }
        let values = parts.dropFirst().filter { $0.lowercased().hasPrefix("boundary=") }.map { $0.dropFirst(9) }
        guard values.count == 1, var value = values.first else { return nil }
        if value.count >= 2, value.hasPrefix("\""), value.hasSuffix("\"") { value = value.dropFirst().dropLast() }
        let isPlain = value.utf8.allSatisfy { byte in
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
            default: "'()+_,-./:=?".utf8.contains(byte)
            }
        }
        return (1...70).contains(value.utf8.count) && isPlain ? Array(value.utf8) : nil
    }

    private static func parts(_ bytes: Data, _ delimiter: [UInt8]) throws(Refusal) -> [Part] {
        let (line, end) = (Data("\r\n".utf8), Data("\r\n\r\n".utf8))
        let next = line + delimiter
        // What may stand before the first delimiter is for readers of mail, and nothing here.
        guard bytes.starts(with: delimiter) else { throw broken("It does not begin with its boundary.") }
        var position = delimiter.count
        var parts: [Part] = []
        while true {
            if bytes[position...].starts(with: Data("--".utf8)) { return parts }
            guard bytes[position...].starts(with: line), parts.count < mostParts else {
                throw broken("It has more than \(mostParts) parts, or no end.")
            }
            let head = position..<min(bytes.count, position + headBytes)
            guard let gap = bytes.range(of: end, in: head),
                let stop = bytes.range(of: next, in: gap.upperBound..<bytes.count)
            else { throw broken("A part has no end.") }
            parts.append(try part(bytes[position..<gap.lowerBound], gap.upperBound..<stop.lowerBound))
            position = stop.upperBound
        }
    }

    /// - Parameter head: the part's headers, each behind a line's end.
    private static func part(_ head: Data, _ body: Range<Int>) throws(Refusal) -> Part {
        guard let text = String(validating: head, as: UTF8.self) else { throw broken("A part's headers are no text.") }
        let lines = text.split(separator: "\r\n").map(String.init)
        let dispositions = lines.filter { $0.lowercased().hasPrefix("content-disposition:") }
        guard dispositions.count == 1, let parameters = parameters(dispositions[0]), let name = parameters["name"],
            !name.isEmpty
        else { throw broken("A part has no name.") }
        // What would have to be decoded first is not what it seems.
        guard !lines.contains(where: { $0.lowercased().hasPrefix("content-transfer-encoding:") }) else {
            throw broken("A part is encoded.")
        }
        return Part(name: name, isFile: parameters["filename"] != nil || parameters["filename*"] != nil, body: body)
    }

    /// Of `Content-Disposition: form-data; name="photo"; filename="a.jpg"`; nil where it is none.
    private static func parameters(_ line: String) -> [String: String]? {
        var rest = Substring(line).dropFirst("content-disposition:".count).drop { $0 == " " }
        guard rest.lowercased().hasPrefix("form-data") else { return nil }
        rest = rest.dropFirst("form-data".count)
        var found: [String: String] = [:]
        while true {
            rest = rest.drop { $0 == " " || $0 == "\t" }
            if rest.isEmpty { return found }
            guard rest.first == ";" else { return nil }
            rest = rest.dropFirst().drop { $0 == " " || $0 == "\t" }
            guard let sign = rest.firstIndex(of: "=") else { return nil }
            let name = rest[..<sign].lowercased()
            rest = rest[rest.index(after: sign)...]
            var value = ""
            if rest.first == "\"" {
                // Browsers write a quotation mark as %22; a backslash before it is what others do.
                var isEscaped = false
                var isClosed = false
                rest = rest.dropFirst()
                while let character = rest.popFirst() {
                    if isEscaped {
                        value.append(character)
                        isEscaped = false
                    } else if character == "\\" {
                        isEscaped = true
                    } else if character == "\"" {
                        isClosed = true
                        break
                    } else {
                        value.append(character)
                    }
                }
                guard isClosed else { return nil }
            } else {
                value = String(rest.prefix { $0 != ";" && $0 != " " })
                rest = rest.dropFirst(value.count)
            }
            guard found[name] == nil else { return nil }
            found[name] = value
        }
    }
}
