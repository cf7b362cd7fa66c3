import Foundation
import ServiceMesh

/// What names a request on its connection: a string or an integer of any length, as the JSON that is sent back.
///
/// Two ids are equal when they are the same number as written, or the same text whatever its escapes.
struct RequestID: Hashable, Sendable {
    /// Bytes of an id as written; past it the request is refused, because 64 of them are kept and echoed.
    static let maximumBytes = 1024

    let token: [UInt8]

    init(integer: UInt64) { token = Array(String(integer).utf8) }

    /// Nil for anything but a string or an integer without fraction and exponent.
    init?(_ range: Range<Int>, in text: Span<UInt8>) {
        guard range.count <= Self.maximumBytes else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(range.count)
        for index in range { bytes.append(text[index]) }
        switch text[range.lowerBound] {
        case UInt8(ascii: "\""):
            guard bytes.contains(UInt8(ascii: "\\")) else { break }
            bytes = JSONSyntax.quoted(
                JSONSyntax.text(of: (range.lowerBound + 1)..<(range.upperBound - 1), in: text))
        case UInt8(ascii: "-"), 0x30...0x39:
            guard bytes.allSatisfy({ $0 == UInt8(ascii: "-") || (0x30...0x39).contains($0) }) else { return nil }
        default: return nil
        }
        token = bytes
    }
}

/// One line from a client, taken apart: its top-level members, checked; params still as JSON.
///
/// Strict: a top-level member that is not known is refused, because a misspelt `deadlineMs` would otherwise run
/// without a deadline; a member that comes twice is refused, there and at any depth of the params, because two readers
/// could take different ones.
struct RequestLine {
    /// Nil for a notification.
    let id: RequestID?
    let method: String
    /// A JSON object; empty where the request has none.
    let params: Data
    let deadlineMilliseconds: Int64?
    /// Whether the client takes open files beside the reply.
    let wantsDescriptors: Bool

    private struct Slices {
        var version: Range<Int>?
        var id: Range<Int>?
        var method: Range<Int>?
        var params: Range<Int>?
        var deadline: Range<Int>?
        var descriptors: Range<Int>?
        var duplicate: String?
        var stranger: String?

        mutating func take(_ name: [UInt8], _ value: Range<Int>) {
            func set(_ slice: inout Range<Int>?) {
                if slice != nil { duplicate = String(decoding: name, as: UTF8.self) }
                slice = value
            }
            switch name {
            case Self.versionName: set(&version)
            case Self.idName: set(&id)
            case Self.methodName: set(&method)
            case Self.paramsName: set(&params)
            case Self.deadlineName: set(&deadline)
            case Self.descriptorsName: set(&descriptors)
            default: stranger = String(decoding: name.prefix(80), as: UTF8.self)
            }
        }

        private static let versionName = Array("jsonrpc".utf8)
        private static let idName = Array("id".utf8)
        private static let methodName = Array("method".utf8)
        private static let paramsName = Array("params".utf8)
        private static let deadlineName = Array("deadlineMs".utf8)
        private static let descriptorsName = Array("descriptors".utf8)
    }

    /// - Throws: ``RequestFault`` with the request's id wherever that could be read.
    init(_ line: Span<UInt8>) throws(RequestFault) {
        var start = 0
        JSONSyntax.skipSpace(line, &start)
        if start < line.count, line[start] != UInt8(ascii: "{") { throw Self.notAnObject(line, start) }
        var slices = Slices()
        do {
            try JSONSyntax.members(of: line) { name, value in
                slices.take(JSONSyntax.text(of: name, in: line), value)
            }
        } catch {
            throw RequestFault(.parse, "The line is not JSON: \(error.reason), at byte \(error.offset).")
        }
        let known = slices.id.flatMap { RequestID($0, in: line) }
        func invalid(_ message: String, _ id: RequestID?) -> RequestFault {
            RequestFault(.invalidRequest, message, id: id)
        }
        if let duplicate = slices.duplicate {
            // Of two ids, neither is the one to answer.
            throw invalid("The member '\(duplicate)' comes twice. Give each once.", duplicate == "id" ? nil : known)
        }
        if slices.id != nil, known == nil {
            throw invalid("An id is a string or an integer, at most \(RequestID.maximumBytes) bytes long.", nil)
        }
        if let stranger = slices.stranger {
            throw invalid(
                "There is no member '\(stranger)'; a request has jsonrpc, id, method, params, deadlineMs and "
                    + "descriptors.", known)
        }
        guard let version = slices.version, Self.isVersion2(version, line) else {
            throw invalid("A request says \"jsonrpc\":\"2.0\".", known)
        }
        guard let name = slices.method, line[name.lowerBound] == UInt8(ascii: "\"") else {
            throw invalid("A request names its method, as a string.", known)
        }
        id = known
        method = String(
            decoding: JSONSyntax.text(of: (name.lowerBound + 1)..<(name.upperBound - 1), in: line), as: UTF8.self)
        params = try Self.params(slices.params, line, known)
        wantsDescriptors =
            try slices.descriptors.map { range throws(RequestFault) in
                // Of the values of JSON, these two alone begin so.
                switch line[range.lowerBound] {
                case UInt8(ascii: "t"): return true
                case UInt8(ascii: "f"): return false
                default: throw invalid("descriptors is true or false.", known)
                }
            } ?? false
        deadlineMilliseconds = try slices.deadline.map { range throws(RequestFault) in
            var digits = ""
            for index in range.prefix(24) { digits.unicodeScalars.append(Unicode.Scalar(line[index])) }
            guard range.count <= 20, let milliseconds = Int64(digits) else {
                throw invalid("deadlineMs is an integer of milliseconds.", known)
            }
            return milliseconds
        }
    }

    private static func isVersion2(_ range: Range<Int>, _ line: Span<UInt8>) -> Bool {
        range.count == 5 && line[range.lowerBound] == UInt8(ascii: "\"") && line[range.lowerBound + 1] == 0x32
            && line[range.lowerBound + 2] == UInt8(ascii: ".") && line[range.lowerBound + 3] == 0x30
    }

    private static func params(
        _ range: Range<Int>?, _ line: Span<UInt8>, _ id: RequestID?
    ) throws(RequestFault) -> Data {
        guard let range else { return Data() }
        switch line[range.lowerBound] {
        case UInt8(ascii: "{"):
            if let name = JSONSyntax.repeatedName(in: line.extracting(range)) {
                let shown = String(name.prefix(80))
                throw RequestFault(
                    .invalidParams, "The parameter '\(shown)' comes twice in one object. Give each name once.", id: id,
                    details: ["repeatedName": .string(shown)])
            }
            return line.extracting(range).withUnsafeBufferPointer { Data(buffer: $0) }
        case UInt8(ascii: "["):
            throw RequestFault(.invalidParams, "Params go by name: {\"name\":value}, not as a list.", id: id)
        default:
            throw RequestFault(.invalidRequest, "Params are an object; leave them out where there are none.", id: id)
        }
    }

    /// Valid JSON of another kind is an invalid request; anything else is not JSON.
    private static func notAnObject(_ line: Span<UInt8>, _ start: Int) -> RequestFault {
        var at = start
        do {
            try JSONSyntax.skipValue(line, &at, depth: 0)
            JSONSyntax.skipSpace(line, &at)
            guard at == line.count else {
                return RequestFault(.parse, "The line is not JSON: there is more after the value, at byte \(at).")
            }
        } catch {
            return RequestFault(.parse, "The line is not JSON: \(error.reason), at byte \(error.offset).")
        }
        return line[start] == UInt8(ascii: "[")
            ? RequestFault(.invalidRequest, "Batches are not taken: send one request a line; they run side by side.")
            : RequestFault(.invalidRequest, "A request is a JSON object.")
    }
}
