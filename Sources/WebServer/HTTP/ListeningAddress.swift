import Foundation
import ServiceMesh

/// Where a server listens: a numeric address and a port, as `127.0.0.1:8468` or `[::1]:8468`.
public struct ListeningAddress: Sendable, Equatable, CustomStringConvertible {
    public static let standardPort: UInt16 = 8468
    /// This machine alone.
    public static let standard = ListeningAddress(host: "127.0.0.1", port: standardPort, isIPv6: false)

    /// Numeric, without brackets.
    public let host: String
    /// 0 for any that is free.
    public let port: UInt16
    let isIPv6: Bool

    private init(host: String, port: UInt16, isIPv6: Bool) {
        self.host = host
        self.port = port
        self.isIPv6 = isIPv6
    }

    /// `ADDRESS`, `ADDRESS:PORT`, `[ADDRESS]:PORT` or `:PORT`; nil for anything else, names too: what a name stands for
    /// is somebody else's to change.
    public init?(_ text: String) {
        var host = Substring(text)
        var port = Self.standardPort
        if text.hasPrefix("[") {
            guard let end = text.firstIndex(of: "]") else { return nil }
            host = text[text.index(after: text.startIndex)..<end]
            let rest = text[text.index(after: end)...]
            guard rest.isEmpty || rest.hasPrefix(":") else { return nil }
            if !rest.isEmpty {
                guard let number = UInt16(rest.dropFirst()) else { return nil }
                port = number
            }
        } else if text.filter({ $0 == ":" }).count == 1, let colon = text.firstIndex(of: ":") {
            guard let number = UInt16(text[text.index(after: colon)...]) else { return nil }
            (host, port) = (text[..<colon], number)
        }
        if host.isEmpty { host = "0.0.0.0" }
        var four = in_addr()
        var six = in6_addr()
        let name = String(host)
        if inet_pton(AF_INET, name, &four) == 1 {
            self.init(host: name, port: port, isIPv6: false)
        } else if inet_pton(AF_INET6, name, &six) == 1 {
            self.init(host: name, port: port, isIPv6: true)
        } else {
            return nil
        }
    }

    /// Where a socket listens; nil for one that does not.
    init?(listener: Int32) {
        var (isListening, size) = (Int32(0), socklen_t(MemoryLayout<Int32>.size))
        var bound = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        guard getsockopt(listener, SOL_SOCKET, SO_ACCEPTCONN, &isListening, &size) == 0, isListening != 0 else {
            return nil
        }
        let found = withUnsafeMutablePointer(to: &bound) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address -> (String, UInt16)? in
                guard getsockname(listener, address, &length) == 0 else { return nil }
                return (Self.text(of: address), Self.port(of: address))
            }
        }
        guard let found, [sa_family_t(AF_INET), sa_family_t(AF_INET6)].contains(bound.ss_family) else { return nil }
        self.init(host: found.0, port: found.1, isIPv6: bound.ss_family == sa_family_t(AF_INET6))
    }

    /// An address in digits, as this machine's system writes it, with a port.
    public init?(host: String, port: UInt16) {
        guard let parsed = ListeningAddress(host.contains(":") ? "[\(host)]" : host) else { return nil }
        self = parsed.with(port: port)
    }

    /// Whether only this machine reaches it.
    public var isLoopback: Bool { host == "::1" || (!isIPv6 && host.hasPrefix("127.")) }

    /// Whether it stands for every address of this machine.
    public var isAny: Bool { host == "0.0.0.0" || host == "::" }

    public var description: String { (isIPv6 ? "[\(host)]" : host) + ":\(port)" }

    /// A socket that listens there, and its port.
    /// - Throws: `MeshError` with the status `failed_precondition`.
    func listen(backlog: Int32) throws -> (socket: Int32, port: UInt16) {
        let family = isIPv6 ? AF_INET6 : AF_INET
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        let descriptor = socket(family, kind, 0)
        guard descriptor >= 0 else { throw failure() }
        var yes: Int32 = 1
        // Only a listener that has gone may be followed at once: two at a time never share a port by this.
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
        var bound = sockaddr_storage()
        let status = withUnsafeMutablePointer(to: &bound) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, fill($0)) }
        }
        guard status == 0, Foundation.listen(descriptor, backlog) == 0 else {
            let error = failure()
            close(descriptor)
            throw error
        }
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let port = withUnsafeMutablePointer(to: &bound) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                getsockname(descriptor, address, &length)
                return Self.port(of: address)
            }
        }
        return (descriptor, port)
    }

    func with(port: UInt16) -> ListeningAddress { ListeningAddress(host: host, port: port, isIPv6: isIPv6) }

    private func failure() -> MeshError {
        let reason =
            switch errno {
            case EADDRINUSE: "another program listens there already. Choose another port with --listen"
            case EADDRNOTAVAIL:
                "this machine does not have that address. Those that it has are told by: ip -brief address"
            case EACCES: "ports below 1024 are for root. Choose another port with --listen"
            case let code: String(cString: strerror(code)).lowercased()
            }
        return MeshError(.failedPrecondition, "The web server cannot listen on \(self): \(reason).")
    }

    private func fill(_ address: UnsafeMutablePointer<sockaddr>) -> socklen_t {
        let raw = UnsafeMutableRawPointer(address)
        if isIPv6 {
            let six = raw.assumingMemoryBound(to: sockaddr_in6.self)
            six.pointee.sin6_family = sa_family_t(AF_INET6)
            six.pointee.sin6_port = port.bigEndian
            inet_pton(AF_INET6, host, &six.pointee.sin6_addr)
            return socklen_t(MemoryLayout<sockaddr_in6>.size)
        }
        let four = raw.assumingMemoryBound(to: sockaddr_in.self)
        four.pointee.sin_family = sa_family_t(AF_INET)
        four.pointee.sin_port = port.bigEndian
        inet_pton(AF_INET, host, &four.pointee.sin_addr)
        return socklen_t(MemoryLayout<sockaddr_in>.size)
    }

    private static func port(of address: UnsafePointer<sockaddr>) -> UInt16 {
        let raw = UnsafeRawPointer(address)
        return address.pointee.sa_family == sa_family_t(AF_INET6)
            ? UInt16(bigEndian: raw.assumingMemoryBound(to: sockaddr_in6.self).pointee.sin6_port)
            : UInt16(bigEndian: raw.assumingMemoryBound(to: sockaddr_in.self).pointee.sin_port)
    }

    /// An address without its port. One of IPv4 that came over IPv6 is the same client.
    /// What counts as one client: an address of IPv4; of one of IPv6 the first 64 bits, since a client has all addresses with these.
    static func network(of address: UnsafePointer<sockaddr>) -> String {
        let text = text(of: address)
        guard text.contains(":") else { return text }
        let six = UnsafeRawPointer(address).assumingMemoryBound(to: sockaddr_in6.self).pointee.sin6_addr
        return withUnsafeBytes(of: six) { bytes in
            bytes.prefix(8).map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined() + "/64"
        }
    }

    static func text(of address: UnsafePointer<sockaddr>) -> String {
        var text = [CChar](repeating: 0, count: 64)
        let raw = UnsafeRawPointer(address)
        if address.pointee.sa_family == sa_family_t(AF_INET6) {
            var six = raw.assumingMemoryBound(to: sockaddr_in6.self).pointee.sin6_addr
            inet_ntop(AF_INET6, &six, &text, socklen_t(text.count))
        } else {
            var four = raw.assumingMemoryBound(to: sockaddr_in.self).pointee.sin_addr
            inet_ntop(AF_INET, &four, &text, socklen_t(text.count))
        }
        let shown = String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
        return shown.hasPrefix("::ffff:") ? String(shown.dropFirst(7)) : shown
    }
}
