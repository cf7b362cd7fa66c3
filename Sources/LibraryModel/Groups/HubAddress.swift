import ServiceMesh

/// Where another machine keeps groups or lets others in: `https://photos.example:8468`, and a path where its page has one.
public struct HubAddress: Sendable, Equatable, CustomStringConvertible {
    /// Without a slash at its end.
    public let text: String
    public let isSecure: Bool
    /// In lower case, without brackets.
    public let host: String

    public var description: String { text }

    /// UTF-8 bytes.
    public static let maximumLength = 500

    /// - Throws: `invalid_argument` for anything but `http` or `https`, a host, a port and a path, in plain ASCII.
    public init(_ address: String) throws {
        let wrong = MeshError(
            .invalidArgument, "An address is as in https://photos.example:8468. This is none.")
        guard address.utf8.count <= Self.maximumLength, let colon = address.range(of: "://") else { throw wrong }
        let scheme = address[..<colon.lowerBound].lowercased()
        guard ["http", "https"].contains(scheme) else { throw wrong }
        let rest = address[colon.upperBound...]
        let end = rest.firstIndex(of: "/") ?? rest.endIndex
        let (authority, path) = (rest[..<end].lowercased(), String(rest[end...]))
        guard let (host, port) = Self.parts(of: authority), path.utf8.allSatisfy(Self.isOfPath), !path.contains("..")
        else { throw wrong }
        isSecure = scheme == "https"
        self.host = host
        let name = host.contains(":") ? "[\(host)]" : host
        text =
            scheme + "://" + name + (port.map { ":\($0)" } ?? "")
            + String(path.reversed().drop { $0 == "/" }.reversed())
    }

    private static func parts(of authority: String) -> (host: String, port: UInt16?)? {
        var host = Substring(authority)
        var port: UInt16?
        if let colon = host.lastIndex(of: ":"), host.last != "]" {
            guard let number = UInt16(host[host.index(after: colon)...]), number > 0 else { return nil }
            port = number
            host = host[..<colon]
        }
        if host.hasPrefix("["), host.hasSuffix("]") {
            let inner = host.dropFirst().dropLast()
            let isAddress = inner.utf8.allSatisfy {
                isHexDigit($0) || $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: ".")
            }
            return inner.isEmpty || !isAddress ? nil : (String(inner), port)
        }
        let isName = host.utf8.allSatisfy {
            isLetterOrDigit($0) || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "_")
        }
        return host.isEmpty || host.utf8.count > 253 || !isName ? nil : (String(host), port)
    }

    /// Whether what is sent there can be read by nobody on the way.
    public var isPrivate: Bool { isSecure || host == "localhost" || host == "::1" || Self.isLoopback(host) }

    private static func isLoopback(_ host: String) -> Bool {
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
    }

    private static func isHexDigit(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x61...0x66).contains(byte)
    }

    private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte)
    }

    private static func isOfPath(_ byte: UInt8) -> Bool {
        isLetterOrDigit(byte) || (0x41...0x5A).contains(byte) || "/-._~".utf8.contains(byte)
    }
}

/// What somebody who invites hands over: the machine's address, and in its fragment, which no log has, what it is for and the token:
/// `#join=TOKEN` for groups, `#reviews=TOKEN` for reviews. So whoever opens or pastes one in the wrong place is told so.
public struct InvitationLink: Sendable, Equatable, CustomStringConvertible {
    public enum Purpose: String, Sendable, CaseIterable {
        /// ``InviteGroupMember``, ``JoinGroups``.
        case groups = "join"
        /// ``ShareReviews``, ``JoinReviews``.
        case reviews

        var mark: String { "#\(rawValue)=" }

        /// What takes such an invitation.
        var command: String {
            switch self {
            case .groups: "smilepile groups join"
            case .reviews: "smilepile swipe join"
            }
        }
    }

    public let address: HubAddress
    public let token: String
    public let purpose: Purpose

    public init(address: HubAddress, token: String, for purpose: Purpose = .groups) {
        self.address = address
        self.token = token
        self.purpose = purpose
    }

    /// - Throws: `invalid_argument`, also for an invitation to something else.
    public init(_ text: String, for purpose: Purpose = .groups) throws {
        guard let mark = text.range(of: purpose.mark) else {
            if let other = Purpose.allCases.first(where: { text.contains($0.mark) }) {
                throw MeshError(
                    .invalidArgument, "This invitation is for \(other) and not for \(purpose): \(other.command)")
            }
            throw MeshError(
                .invalidArgument,
                "An invitation is as in https://photos.example:8468/\(purpose.mark)TOKEN. This is none.")
        }
        address = try HubAddress(String(text[..<mark.lowerBound]))
        token = try Self.validated(token: String(text[mark.upperBound...]))
        self.purpose = purpose
    }

    /// - Throws: `invalid_argument` for what no header can have.
    public static func validated(token: String) throws -> String {
        let isPlain = token.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }
        guard (16...1000).contains(token.utf8.count), isPlain else {
            throw MeshError(.invalidArgument, "This token cannot be right. Copy the whole invitation.")
        }
        return token
    }

    public var description: String { address.text + "/" + purpose.mark + token }
}
