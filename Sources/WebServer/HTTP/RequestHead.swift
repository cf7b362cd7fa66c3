/// A request's line and headers, checked as far as that goes without knowing what is asked.
struct RequestHead: Sendable {
    enum Method: String, Sendable {
        case get = "GET"
        case head = "HEAD"
        case post = "POST"
        case patch = "PATCH"
        case delete = "DELETE"
        case put = "PUT"
        case options = "OPTIONS"
        case propfind = "PROPFIND"
        case proppatch = "PROPPATCH"
        case mkcol = "MKCOL"
        case move = "MOVE"
        case copy = "COPY"
        case lock = "LOCK"
        case unlock = "UNLOCK"

        /// Whether it only asks.
        var isSafe: Bool { self == .get || self == .head }

        /// Whether it is none of those that the page and its programs use, but one of WebDAV's.
        var isDAVs: Bool {
            switch self {
            case .get, .head, .post, .patch, .delete: false
            case .put, .options, .propfind, .proppatch, .mkcol, .move, .copy, .lock, .unlock: true
            }
        }
    }

    let method: Method
    /// Begins with a slash and has only letters, digits, `.`, `_`, `-` and `/`. Nothing here needs more, so nothing has
    /// to be decoded, and no two spellings mean one thing. Below `/dav/` it is as it came, and ``davPath`` tells what it means.
    let path: String
    /// The names below `/dav/`, decoded; nil for every other address.
    let davPath: [String]?
    /// In the order of the address, decoded.
    let query: [(name: String, value: String)]
    /// Names in lower case, each once.
    private let headers: [String: String]
    /// Bytes of the body; 0 where there is none.
    let bodyBytes: UInt64
    /// The other side, as text without the port.
    let client: String
    /// What counts as one client, as ``ListeningAddress/network(of:)`` has it.
    let network: String
    /// Its entry in the table of connections.
    let connection: UInt64

    /// Headers of which two would leave open which one counts.
    private static let single: Set<String> = [
        "host", "origin", "cookie", "authorization", "content-length", "content-type", "range", "sec-fetch-site",
        "upload-name", "upload-folder", "upload-length", "upload-modified", "upload-offset", "last-event-id",
        "if-none-match", "if-range", "idempotency-key", "x-forwarded-proto", "depth", "destination", "overwrite",
        "x-oc-mtime", "content-range", "expect",
    ]

    /// - Parameter target: the path and query as they were sent.
    /// - Throws: ``Refusal``.
    init(
        method: String, target: String, headers sent: [(String, String)], client: String, network: String? = nil,
        connection: UInt64 = 0
    ) throws(Refusal) {
        let method = Method(rawValue: method)
        let isDAVs = DAVPath.isBelow(target)
        guard let method, isDAVs || !method.isDAVs else {
            throw Refusal(405, .unimplemented, "There is no such method here; use GET, HEAD, POST, PATCH or DELETE.")
        }
        let parts = target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        guard let path = parts.first, path.hasPrefix("/"), isDAVs || path.utf8.allSatisfy(Self.isPlain) else {
            throw Refusal.notFound
        }
        davPath = isDAVs ? try DAVPath.names(path) : nil
        var headers: [String: String] = [:]
        for (name, value) in sent {
            // `Host : x` is one header to some servers and another to others.
            guard !name.utf8.contains(where: { $0 <= 0x20 || $0 >= 0x7F }) else {
                throw Refusal(400, .invalidArgument, "A header's name has no spaces.")
            }
            let name = name.lowercased()
            if headers[name] != nil, Self.single.contains(name) {
                throw Refusal(400, .invalidArgument, "The header \(name) came twice. Send it once.")
            }
            headers[name] = value
        }
        // A length is known or the body is not taken: two servers in a row that count differently see different requests.
        guard headers["transfer-encoding"] == nil else {
            throw Refusal(411, .invalidArgument, "A body comes with Content-Length here, and not in chunks.")
        }
        var length: UInt64 = 0
        if let text = headers["content-length"] {
            guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = UInt64(text) else {
                throw Refusal(400, .invalidArgument, "Content-Length is a number of bytes.")
            }
            length = number
        }
        self.method = method
        self.path = String(path)
        query = parts.count == 2 ? try Self.query(parts[1]) : []
        self.headers = headers
        bodyBytes = length
        self.client = client
        self.network = network ?? client
        self.connection = connection
    }

    func header(_ name: String) -> String? { headers[name] }

    /// The one value of a name in the query; nil where there is none.
    func argument(_ name: String) -> String? { query.first { $0.name == name }?.value }

    /// The value of a cookie, where it came once. Two of one name are nobody's: one may have been planted.
    func cookie(_ name: String) -> String? {
        let pairs = (headers["cookie"] ?? "").split(separator: ";").map { $0.drop { $0 == " " } }
        let values = pairs.filter { $0.hasPrefix(name + "=") }.map { String($0.dropFirst(name.count + 1)) }
        return values.count == 1 ? values[0] : nil
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        case UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"), UInt8(ascii: "/"): true
        default: false
        }
    }

    private static func query(_ text: Substring) throws(Refusal) -> [(name: String, value: String)] {
        var query: [(name: String, value: String)] = []
        for item in text.split(separator: "&") {
            let pair = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = PercentEncoding.decode(pair[0]),
                let value = PercentEncoding.decode(pair.count == 2 ? pair[1] : "")
            else {
                throw Refusal(400, .invalidArgument, "The query of the address is not text in percent-encoded UTF-8.")
            }
            query.append((name, value))
        }
        return query
    }
}

/// What stands for bytes that an address or a header cannot have.
enum PercentEncoding {
    /// Once and once only; nil where a `%` is not followed by two digits, or the bytes are not UTF-8.
    static func decode(_ text: some StringProtocol) -> String? {
        var bytes: [UInt8] = []
        var rest = text.utf8.makeIterator()
        while let byte = rest.next() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard let high = rest.next().flatMap(digit), let low = rest.next().flatMap(digit) else { return nil }
            bytes.append(high << 4 | low)
        }
        return String(validating: bytes, as: UTF8.self)
    }

    /// Everything but letters, digits, `.`, `_` and `-` (RFC 8187's `attr-char` without what need not be).
    static func encode(_ text: String) -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        var bytes: [UInt8] = []
        for byte in text.utf8 {
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"):
                bytes.append(byte)
            default: bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case 0x30...0x39: byte - 0x30
        case 0x41...0x46: byte - 0x41 + 10
        case 0x61...0x66: byte - 0x61 + 10
        default: nil
        }
    }
}
