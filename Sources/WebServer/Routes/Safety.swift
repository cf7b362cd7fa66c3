import Foundation
import ServiceMesh

/// Who may ask at all, before anything else is looked at: whether a browser was led here by somebody else's page.
struct Safety: Sendable {
    /// With every response. No inline script or style, nothing from elsewhere, in nobody's frame.
    static let headers = [
        Header(
            "Content-Security-Policy",
            "default-src 'self'; img-src 'self' blob: data:; object-src 'none'; base-uri 'none'; form-action 'self'; "
                + "frame-ancestors 'none'"),
        Header("X-Content-Type-Options", "nosniff"),
        Header("X-Frame-Options", "DENY"),
        Header("Referrer-Policy", "no-referrer"),
        Header("Cross-Origin-Opener-Policy", "same-origin"),
        Header("Cross-Origin-Resource-Policy", "same-origin"),
        Header("Permissions-Policy", "camera=(), microphone=(), geolocation=(), payment=(), usb=()"),
    ]

    /// Names that this server has, in lower case.
    private let names: Set<String>

    /// - Parameter names: beside `localhost` and addresses in digits.
    init(names: [String]) { self.names = Set(names.map { $0.lowercased() } + ["localhost"]) }

    /// Refuses a name that is not this server's. Another's name that leads here is how a page from elsewhere would become
    /// one of ours in the eyes of a browser (DNS rebinding); an address in digits cannot be made to lead elsewhere.
    func checkHost(_ head: RequestHead) throws(Refusal) {
        guard let host = head.header("host"), let name = Self.name(of: host) else {
            throw Refusal(400, .invalidArgument, "A request names its host.")
        }
        guard names.contains(name) || Self.isAddress(name) else {
            throw Refusal(
                421, .failedPrecondition,
                "This server is not \(name.prefix(80)). Use its address in digits, or start it with --name for that name."
            )
        }
    }

    /// Refuses what another page made the browser send. `Sec-Fetch-Site` is written by the browser and by nobody else; pages
    /// of other ports and programs of this machine count as the same site, but not as the same origin.
    func checkOrigin(_ head: RequestHead) throws(Refusal) {
        let site = head.header("sec-fetch-site")
        let isOurs = site == "same-origin"
        guard isOurs || site == nil || (site == "none" && head.method.isSafe) else { throw Self.foreign }
        guard let origin = head.header("origin") else {
            // Every browser says one of the two when something is to change.
            if head.method.isSafe || isOurs { return }
            throw Refusal(
                403, .permissionDenied,
                "A request that changes something says where it comes from: send the header Origin with this address.")
        }
        let host = head.header("host")?.lowercased() ?? ""
        guard origin.lowercased() == "http://" + host || origin.lowercased() == "https://" + host else {
            throw Self.foreign
        }
    }

    private static let foreign = Refusal(
        403, .permissionDenied, "This comes from another page. Open SmilePile's own page, and do it there.")

    /// The host without port and brackets, in lower case; nil where it is none.
    static func name(of host: String) -> String? {
        var name = Substring(host)
        if name.hasPrefix("[") {
            guard let end = name.firstIndex(of: "]") else { return nil }
            let rest = name[name.index(after: end)...]
            guard rest.isEmpty || isPort(rest) else { return nil }
            name = name[name.index(after: name.startIndex)..<end]
        } else if let colon = name.firstIndex(of: ":") {
            guard isPort(name[colon...]) else { return nil }
            name = name[..<colon]
        }
        if name.hasSuffix(".") { name = name.dropLast() }
        return name.isEmpty ? nil : name.lowercased()
    }

    private static func isPort(_ text: Substring) -> Bool {
        text.hasPrefix(":") && (text.count == 1 || UInt16(text.dropFirst()) != nil)
    }

    private static func isAddress(_ name: String) -> Bool {
        var four = in_addr()
        var six = in6_addr()
        return inet_pton(AF_INET, name, &four) == 1 || inet_pton(AF_INET6, name, &six) == 1
    }
}

/// The cookie that a paired browser has.
struct TokenCookie: Sendable {
    private let name: String
    private let attributes: String

    /// - Parameter port: a browser keeps one set of cookies for all ports of a host.
    init(port: UInt16, isSecure: Bool) {
        name = (isSecure ? "__Host-" : "") + "smilepile-\(port)"
        attributes = "; Path=/; HttpOnly; SameSite=Strict" + (isSecure ? "; Secure" : "")
    }

    /// The token that came; nil where none did, or what came cannot be one.
    func token(in head: RequestHead) -> String? { head.cookie(name).flatMap { Devices.isToken($0) ? $0 : nil } }

    /// As long as browsers keep any: 400 days.
    func setting(_ token: String) -> Header {
        Header("Set-Cookie", "\(name)=\(token)\(attributes); Max-Age=34560000")
    }

    var removing: Header { Header("Set-Cookie", "\(name)=\(attributes); Max-Age=0") }
}
