import Foundation
import ServiceMesh
import Synchronization

/// A door of plain HTTP beside a page that needs a certificate of this home's own: one page, that certificate, and nothing else.
///
/// It knows no devices and no daemon, takes nothing in, and sets no cookies. What it says is the same for all.
public final class HomeDoor: Sendable {
    /// What it gives.
    public struct Content: Sendable {
        let certificate: Data
        let profile: @Sendable (_ language: String) -> Data
        let page: @Sendable (_ language: String, _ host: String) -> Data
        let style: String

        /// - Parameters:
        ///   - certificate: DER.
        ///   - profile: for iPhones, in `en` or `de`.
        ///   - style: the digest by which the page's own style is allowed, as a Content Security Policy has it: `sha256-…`.
        ///   - page: HTML in `en` or `de`, for who came by this host: an address in digits, in brackets where it is one of IPv6, or a
        ///     name that the door has.
        public init(
            certificate: Data, profile: @escaping @Sendable (_ language: String) -> Data, style: String,
            page: @escaping @Sendable (_ language: String, _ host: String) -> Data
        ) {
            self.certificate = certificate
            self.profile = profile
            self.style = style
            self.page = page
        }
    }

    /// Of a few hundred clients at most, with little of each: one page, and a file of a kilobyte.
    private static let limits: HTTPLimits = {
        var limits = HTTPLimits()
        limits.connections = 256
        limits.connectionsOfAddress = 32
        limits.headBytes = 8 << 10
        limits.bodyBytes = 0
        limits.requestsPerSecond = 20
        limits.requestsAtOnce = 100
        limits.idleSeconds = 15
        limits.silentSeconds = 20
        limits.threads = 1
        return limits
    }()

    /// What the server's threads look at.
    private final class Held: Sendable {
        let content: Mutex<Content>

        init(_ content: Content) { self.content = Mutex(content) }
    }

    private let http: HTTPServer
    private let held: Held

    /// - Parameters:
    ///   - listeners: the door's from now on.
    ///   - names: under which browsers reach it, beside `localhost` and addresses in digits.
    ///   - content: until another one comes (``change(to:)``).
    /// - Throws: `MeshError`.
    public init(on listeners: [WebListener], names: [String] = [], content: Content) throws {
        let safety = Safety(names: names)
        let limits = Self.limits
        let rate = RequestRate(perSecond: limits.requestsPerSecond, atOnce: limits.requestsAtOnce)
        let table = ConnectionTable(most: limits.connections, mostOfNetwork: limits.connectionsOfAddress)
        let held = Held(content)
        self.held = held
        let core = HTTPCore(limits: limits, table: table, headers: []) { head in
            .respond(Self.answer(head, safety, rate, held.content.withLock { $0 }))
        }
        http = try HTTPServer(listeners: listeners.map(\.socket), identity: nil, core: core)
    }

    /// Listens on these from now on, and on no others.
    public func listen(on listeners: [WebListener]) { http.listen(on: listeners.map(\.socket)) }

    /// Gives this from now on.
    public func change(to content: Content) { held.content.withLock { $0 = content } }

    /// Takes no client in any more, and returns when the door's threads have ended.
    public func stop() async { await http.stop() }

    // MARK: Answers

    /// Nothing but its own style: no script, no picture, no form, in nobody's frame.
    private static func headers(_ style: String) -> [Header] {
        [
            Header(
                "Content-Security-Policy",
                "default-src 'none'; style-src '\(style)'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"),
            Header("Cache-Control", "no-store"),
        ] + Safety.headers.filter { $0.name != "Content-Security-Policy" }
    }

    private static func answer(
        _ head: RequestHead, _ safety: Safety, _ rate: RequestRate, _ content: Content
    ) -> Response {
        do throws(Refusal) {
            guard rate.take(head.network, now: MonotonicClock.now()) else { throw Router.tooMany }
            try safety.checkHost(head)
            guard ["/", "/smilepile.crt", "/smilepile.mobileconfig"].contains(head.path) else { throw Refusal.notFound }
            try head.require(.get, .head)
            let language = isGerman(head.header("accept-language") ?? "") ? "de" : "en"
            func response(_ type: String, _ bytes: Data, name: String? = nil) -> Response {
                let saved = name.map { [Header("Content-Disposition", "attachment; filename=\"\($0)\"")] } ?? []
                let language = [Header("Content-Language", language), Header("Vary", "Accept-Language")]
                return Response(
                    200, headers: headers(content.style) + [Header("Content-Type", type)] + saved + language,
                    body: .bytes(bytes))
            }
            switch head.path {
            case "/smilepile.crt":
                return response("application/x-x509-ca-cert", content.certificate, name: "smilepile.crt")
            case "/smilepile.mobileconfig":
                // Without a name to save it by: then Safari offers to install it.
                return response("application/x-apple-aspen-config", content.profile(language))
            default:
                let host = Safety.name(of: head.header("host") ?? "") ?? "localhost"
                return response(
                    "text/html; charset=utf-8", content.page(language, host.contains(":") ? "[\(host)]" : host))
            }
        } catch {
            var response = Response(error)
            response.headers += headers(content.style)
            return response
        }
    }

    /// Whether German is wanted more than English: the first of the two in the list, whose order is that of the wishes in every browser.
    private static func isGerman(_ accepted: String) -> Bool {
        let wished = accepted.lowercased().split(separator: ",").compactMap { item -> String? in
            let tag = item.split(separator: ";").first.map { $0.trimmingCharacters(in: .whitespaces) } ?? ""
            return ["de", "en"].first { tag == $0 || tag.hasPrefix($0 + "-") }
        }
        return wished.first == "de"
    }
}
