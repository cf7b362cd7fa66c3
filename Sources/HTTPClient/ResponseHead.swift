import CCurl
import Foundation

/// Status and headers of an answer. Stricter than libcurl, which takes what it can make sense of: two readers that
/// understand an answer differently are how one of them is deceived.
struct ResponseHead {
    enum Length: Equatable {
        case known(Int64)
        /// It comes in chunks, and the last one says so.
        case chunked
        /// Nothing but the end of the connection ends it.
        case untilTheEnd
    }

    let status: Int
    private(set) var headers: [HTTPResponse.Header] = []

    init(status: Int) { self.status = status }

    var isSuccess: Bool { (200...299).contains(status) }

    subscript(name: String) -> String? { headers.first { $0.name == name }?.value }

    private func values(of name: String) -> [String] { headers.filter { $0.name == name }.map(\.value) }

    /// `HTTP/1.1 200 OK`, of which the words are nobody's concern.
    static func status(of line: Slice<UnsafeRawBufferPointer>) throws(HTTPClientError) -> Int {
        let begin = Array(line.prefix(12))
        guard begin.starts(with: "HTTP/1.0 ".utf8) || begin.starts(with: "HTTP/1.1 ".utf8),
            let status = number(begin.dropFirst(9)), begin.count == 12, (100...599).contains(status), status != 101,
            line.dropFirst(12).first ?? UInt8(ascii: " ") == UInt8(ascii: " ")
        else { throw .badAnswer(.notHTTP) }
        return Int(status)
    }

    mutating func add(_ line: Slice<UnsafeRawBufferPointer>) throws(HTTPClientError) {
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")), colon > line.startIndex, !line.contains(0),
            line[..<colon].allSatisfy({ (0x21...0x7E).contains($0) })
        else { throw .badAnswer(.badHeaders) }
        let value = String(decoding: line[(colon + 1)...], as: UTF8.self)
        headers.append(
            HTTPResponse.Header(
                name: String(decoding: line[..<colon], as: UTF8.self).lowercased(),
                value: value.trimmingCharacters(in: CharacterSet(charactersIn: " \t"))))
    }

    /// - Throws: where two headers contradict each other, or the body is written in a way that was not asked for.
    func length() throws(HTTPClientError) -> Length {
        let codings = values(of: "transfer-encoding")
        guard codings.allSatisfy({ $0.lowercased() == "chunked" }) else { throw .badAnswer(.encoded) }
        let lengths = Set(values(of: "content-length"))
        guard lengths.count <= 1 else { throw .badAnswer(.badHeaders) }
        if status == 204 || status == 304 { return .known(0) }
        if !codings.isEmpty { return .chunked }
        guard let text = lengths.first else { return .untilTheEnd }
        guard let count = Self.number(text.utf8) else { throw .badAnswer(.badHeaders) }
        return .known(count)
    }

    /// Bytes of a part that begins at `offset` and goes on to the end, as `Content-Range: bytes 5-9/10` says.
    func part(from offset: Int64) throws(HTTPClientError) -> Int64 {
        let ranges = values(of: "content-range")
        guard ranges.count == 1, let range = ranges.first, range.lowercased().hasPrefix("bytes ") else {
            throw .badAnswer(.wrongPart)
        }
        let halves = range.dropFirst(6).split(separator: "/", omittingEmptySubsequences: false)
        guard halves.count == 2 else { throw .badAnswer(.wrongPart) }
        let ends = halves[0].split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2, Self.number(ends[0].utf8) == offset, let last = Self.number(ends[1].utf8),
            last >= offset,
            halves[1] == "*" || Self.number(halves[1].utf8) == last + 1
        else { throw .badAnswer(.wrongPart) }
        return last - offset + 1
    }

    /// Milliseconds since 1970.
    var date: Int64? {
        guard let text = self["date"] else { return nil }
        let seconds = curl_getdate(text, nil)
        // To the last second that a date of the format can name; libcurl takes years of ten digits.
        return (0...253_402_300_799).contains(seconds) ? Int64(seconds) * 1_000 : nil
    }

    /// Digits alone, so few that they cannot be too many.
    private static func number(_ digits: some Collection<UInt8>) -> Int64? {
        guard (1...18).contains(digits.count), digits.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return digits.reduce(0) { $0 * 10 + Int64($1 - 0x30) }
    }
}
