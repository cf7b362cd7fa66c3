import Glibc

/// The address of a request: `http` or `https`, a host, and perhaps a port, a path and a query.
///
/// Checked here and by nobody's leave elsewhere: two parsers that read an address differently are how a request ends up
/// at another machine than the one that was allowed. So what libcurl would guess at or mend is refused: user names and
/// passwords, fragments, spaces, backslashes, letters outside ASCII (names in other scripts are written `xn--…`).
///
/// A query may hold a secret; the description has scheme, host and port alone.
public struct HTTPURL: Sendable, Hashable, CustomStringConvertible {
    /// In bytes.
    public static let maximumLength = 4_096

    /// Why a text is no such address.
    public enum Fault: Error, Hashable, CaseIterable {
        /// Longer than ``HTTPURL/maximumLength``.
        case tooLong
        /// It does not begin with `http://` or `https://`.
        case notHTTP
        /// There is an `@` before the path.
        case hasCredentials
        case noHost
        /// Neither a name of letters, digits, `.`, `-` and `_`, nor an IPv4 address, nor an IPv6 one in brackets.
        case badHost
        /// Not 1…65535.
        case badPort
        /// A control character, a space, a letter outside ASCII, or one of `"<>\^{|}` and the grave accent.
        case badCharacter
        /// `%` without two hexadecimal digits.
        case badEscape
        /// A `#`: that part is a browser's own and is never sent.
        case hasFragment
    }

    /// As it is sent: scheme and host in small letters, and `/` for an empty path.
    public let text: String
    /// `http` or `https`.
    public let scheme: String
    /// An IPv6 address with its brackets.
    public let host: String
    /// 80 or 443 unless told.
    public let port: Int

    /// - Throws: ``HTTPClientError/badURL(_:)``.
    public init(_ text: String) throws(HTTPClientError) {
        do throws(Fault) { self = try Self(parsing: text) } catch { throw .badURL(error) }
    }

    public var description: String { "\(scheme)://\(host):\(port)" }

    /// This address with more path: each segment is escaped, so that none of them can leave its place, and so are names
    /// and values of the query.
    ///
    /// ```swift
    /// let hub = try HTTPURL("https://hub.example")
    /// let photo = try hub.appending(["api", "photos", id], query: [("size", "large")])
    /// ```
    /// - Throws: ``HTTPClientError/badURL(_:)`` where it gets too long, this address has a query, or a segment is empty,
    ///   `.` or `..`, which no escape keeps from being taken for a step in the path.
    public func appending(
        _ segments: [String], query: [(name: String, value: String)] = []
    ) throws(HTTPClientError) -> HTTPURL {
        guard !text.utf8.contains(UInt8(ascii: "?")) else { throw .badURL(.badCharacter) }
        var made = text
        for segment in segments {
            guard !["", ".", ".."].contains(segment) else { throw .badURL(.badCharacter) }
            if !made.hasSuffix("/") { made += "/" }
            made += Self.escape(segment)
        }
        for (place, entry) in query.enumerated() {
            made += (place == 0 ? "?" : "&") + Self.escape(entry.name) + "=" + Self.escape(entry.value)
        }
        return try HTTPURL(made)
    }

    // MARK: Parsing

    private init(parsing text: String) throws(Fault) {
        let bytes = Array(text.utf8)
        guard bytes.count <= Self.maximumLength else { throw .tooLong }
        try Self.checkCharacters(bytes)
        let lower = text.lowercased()
        guard let scheme = ["http", "https"].first(where: { lower.hasPrefix($0 + "://") }) else { throw .notHTTP }
        let rest = bytes[(scheme.utf8.count + 3)...]
        let authority = rest.prefix { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") }
        let tail = rest[authority.endIndex...]
        guard !authority.contains(UInt8(ascii: "@")) else { throw .hasCredentials }
        let (host, port) = try Self.splitHost(authority)
        let path = tail.first == UInt8(ascii: "/") ? "" : "/"
        self.scheme = scheme
        self.host = host
        self.port = port ?? (scheme == "http" ? 80 : 443)
        self.text =
            scheme + "://" + host + (port.map { ":\($0)" } ?? "") + path + String(decoding: tail, as: UTF8.self)
    }

    private static func checkCharacters(_ bytes: [UInt8]) throws(Fault) {
        for (place, byte) in bytes.enumerated() {
            switch byte {
            case UInt8(ascii: "#"): throw .hasFragment
            case UInt8(ascii: "%"):
                guard place + 2 < bytes.count, isHexadecimal(bytes[place + 1]), isHexadecimal(bytes[place + 2]) else {
                    throw .badEscape
                }
            case 0x21...0x7E where !"\"<>\\^`{|}".utf8.contains(byte): continue
            default: throw .badCharacter
            }
        }
    }

    private static func splitHost(_ authority: ArraySlice<UInt8>) throws(Fault) -> (host: String, port: Int?) {
        let isV6 = authority.first == UInt8(ascii: "[")
        let end: Int
        if isV6 {
            guard let bracket = authority.firstIndex(of: UInt8(ascii: "]")) else { throw .badHost }
            end = bracket + 1
        } else {
            end = authority.firstIndex(of: UInt8(ascii: ":")) ?? authority.endIndex
        }
        let host = String(decoding: authority[..<end], as: UTF8.self).lowercased()
        guard !host.isEmpty else { throw .noHost }
        guard isV6 ? isAddress(host.dropFirst().dropLast()) : isName(host) else { throw .badHost }
        let rest = authority[end...]
        guard let colon = rest.first else { return (host, nil) }
        guard colon == UInt8(ascii: ":") else { throw .badHost }
        let digits = rest.dropFirst()
        guard (1...5).contains(digits.count), digits.allSatisfy({ (0x30...0x39).contains($0) }),
            let port = Int(String(decoding: digits, as: UTF8.self)), (1...65_535).contains(port)
        else { throw .badPort }
        return (host, port)
    }

    /// As DNS has them. A text of digits and dots alone has to be an IPv4 address as everybody writes it: `127.1` and
    /// `2130706433` are the same machine to the C library, and look like none.
    private static func isName(_ host: String) -> Bool {
        let isPlain = host.utf8.allSatisfy { byte in
            switch byte {
            case 0x30...0x39, 0x61...0x7A, UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"): true
            default: false
            }
        }
        guard isPlain, host.utf8.count <= 253, !host.hasPrefix("."), !host.contains("..") else { return false }
        let labels = host.split(separator: ".")
        guard let last = labels.last, labels.allSatisfy({ $0.utf8.count <= 63 }) else { return false }
        guard let first = last.utf8.first, (0x30...0x39).contains(first) else { return true }
        var address = in_addr()
        return inet_pton(AF_INET, host, &address) == 1
    }

    private static func isAddress(_ host: Substring) -> Bool {
        var address = in6_addr()
        return inet_pton(AF_INET6, String(host), &address) == 1
    }

    private static func isHexadecimal(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x46, 0x61...0x66: true
        default: false
        }
    }

    /// Everything but what RFC 3986 calls unreserved.
    private static func escape(_ text: String) -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        var bytes: [UInt8] = []
        for byte in text.utf8 {
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"),
                UInt8(ascii: "~"):
                bytes.append(byte)
            default: bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
