import Foundation
import ServiceMesh
import Synchronization

/// A tab of a ``Browser``.
public final class Page: Sendable {
    /// A request that the page made, also one that was answered from a cache.
    public struct Request: Sendable {
        public let method: String
        public let url: String
        /// What it was made for, in the protocol's words: `Document`, `Script`, `Image`, `Fetch`, `EventSource`…
        public let kind: String
    }

    struct State {
        var requests: [Request] = []
        var complaints: [String] = []
        /// How often the page was loaded, and who waits for the next time.
        var loads = 0
        var isClosed = false
        var waiting: [Int: CheckedContinuation<Void, any Error>] = [:]
    }

    /// So many requests and complaints are kept, the first ones.
    static let logged = 20_000

    private let browser: Browser
    private let socket: DevToolsSocket
    let context: String
    private let target: String
    private let session: String
    private let log: Log

    /// What happens in the page. A class, because events come before there is a page.
    private final class Log: Sendable {
        let state = Mutex(State())
    }

    init(
        of browser: Browser, _ socket: DevToolsSocket, context: String, target: String, session: String,
        logsRequests: Bool
    ) async throws {
        self.browser = browser
        self.socket = socket
        self.context = context
        self.target = target
        self.session = session
        let log = Log()
        self.log = log
        socket.listen(to: session) { [weak socket] event, parameters in
            if event == "Page.javascriptDialogOpening" {
                // Nobody is there to answer: a page that asks whether to leave it is left.
                Task {
                    _ = try? await socket?.send(
                        "Page.handleJavaScriptDialog", ["accept": true], session: session, within: .seconds(10))
                }
            }
            Self.take(event, parameters, log.state)
        }
        for domain in ["Page", "Runtime", "Log"] + (logsRequests ? ["Network"] : []) {
            try await send(domain + ".enable")
        }
        try await emulate(width: 1280, height: 800)
    }

    deinit { socket.forget(session) }

    /// Closes the tab. Its browser's other tabs stay.
    public func close() async throws {
        log.state.withLock { $0.isClosed = true }
        socket.forget(session)
        try await browser.send("Target.closeTarget", ["targetId": .string(target)])
    }

    /// A command of the DevTools protocol to this page, and its result.
    /// - Throws: ``BrowserFault``.
    @discardableResult
    public func send(
        _ method: String, _ parameters: [String: JSONValue] = [:], within limit: Duration = .seconds(30)
    ) async throws -> JSONValue {
        // The browser would not answer.
        if log.state.withLock({ $0.isClosed }) { throw BrowserFault("The page is closed.") }
        return try await socket.send(method, parameters, session: session, within: limit)
    }

    // MARK: What happens

    /// The requests of this page in their order, at most 20,000; those of its service worker are not among them.
    public var requests: [Request] { log.state.withLock { $0.requests } }

    /// What the page's console has as errors and warnings, exceptions that nobody caught, what the browser refused to
    /// load or to run, and that the page crashed; at most 20,000.
    public var complaints: [String] { log.state.withLock { $0.complaints } }

    /// Begins to log anew.
    public func forgetLog() { log.state.withLock { ($0.requests, $0.complaints) = ([], []) } }

    private static func take(_ event: String, _ parameters: JSONValue, _ state: borrowing Mutex<State>) {
        switch event {
        case "Page.loadEventFired":
            let waiting = state.withLock { state in
                state.loads += 1
                defer { state.waiting = [:] }
                return state.waiting
            }
            for continuation in waiting.values { continuation.resume() }
        case "Network.requestWillBeSent":
            let request = parameters["request"]
            let made = Request(
                method: request?["method"]?.stringValue ?? "", url: request?["url"]?.stringValue ?? "",
                kind: parameters["type"]?.stringValue ?? "")
            state.withLock { if $0.requests.count < logged { $0.requests.append(made) } }
        default:
            guard let complaint = complaint(event, parameters) else { return }
            state.withLock { if $0.complaints.count < logged { $0.complaints.append(complaint) } }
        }
    }

    private static func complaint(_ event: String, _ parameters: JSONValue) -> String? {
        switch event {
        case "Runtime.exceptionThrown":
            let details = parameters["exceptionDetails"]
            return details?["exception"]?["description"]?.stringValue ?? details?["text"]?.stringValue
        case "Runtime.consoleAPICalled":
            guard let type = parameters["type"]?.stringValue, ["error", "warning", "assert"].contains(type) else {
                return nil
            }
            return (parameters["args"]?.arrayValue ?? [])
                .map { $0["value"]?.stringValue ?? $0["description"]?.stringValue ?? "" }.joined(separator: " ")
        case "Log.entryAdded":
            guard let entry = parameters["entry"], let level = entry["level"]?.stringValue,
                ["error", "warning"].contains(level)
            else { return nil }
            return [entry["text"]?.stringValue, entry["url"]?.stringValue].compactMap { $0 }.joined(separator: " ")
        case "Inspector.targetCrashed": return "The page crashed."
        default: return nil
        }
    }

    // MARK: Addresses

    /// Goes to an address and returns when the page is loaded: its scripts have run, its first requests may still be under
    /// way. Returns at once where only the fragment changes.
    /// - Throws: ``BrowserFault`` where nobody answers there.
    public func navigate(_ address: String, within limit: Duration = .seconds(30)) async throws {
        let loads = log.state.withLock { $0.loads }
        let answer = try await send("Page.navigate", ["url": .string(address)], within: limit)
        if let fault = answer["errorText"]?.stringValue { throw BrowserFault("\(address) cannot be opened: \(fault).") }
        guard answer["loaderId"] != nil else { return }
        try await nextLoad(after: loads, within: limit, of: address)
    }

    /// Loads the page again, as its reader would.
    public func reload(within limit: Duration = .seconds(30)) async throws {
        let loads = log.state.withLock { $0.loads }
        try await send("Page.reload", within: limit)
        try await nextLoad(after: loads, within: limit, of: "The page")
    }

    private func nextLoad(after loads: Int, within limit: Duration, of address: String) async throws {
        let id = Int.random(in: .min ... .max)
        let log = log
        let timer = DispatchSource.makeTimerSource()
        timer.setEventHandler {
            log.state.withLock { $0.waiting.removeValue(forKey: id) }?
                .resume(throwing: BrowserFault("\(address) was not loaded within \(limit)."))
        }
        timer.schedule(deadline: .now() + .milliseconds(Int(limit / .milliseconds(1))))
        defer { timer.cancel() }
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            let isLoaded = log.state.withLock { state in
                if state.loads == loads { state.waiting[id] = continuation }
                return state.loads != loads
            }
            // Before anybody could wait for nothing.
            timer.activate()
            if isLoaded { continuation.resume() }
        }
    }

    // MARK: Scripts

    /// The value of an expression of JavaScript in the page; of a promise, what it is kept with.
    /// - Throws: ``BrowserFault`` with what the script threw; `DecodingError` where the value is of another type.
    public func evaluate<T: Decodable & Sendable>(
        _ expression: String, as type: T.Type = T.self, within limit: Duration = .seconds(30)
    ) async throws -> T {
        let value = try await value(of: expression, within: limit)
        if let value = value as? T { return value }
        return try JSONDecoder().decode(T.self, from: JSONEncoder().encode(value))
    }

    /// Runs statements, which may `await`; what they `return` is ignored.
    public func run(_ statements: String, within limit: Duration = .seconds(30)) async throws {
        _ = try await value(of: "(async () => { \(statements)\n; })().then(() => null)", within: limit)
    }

    private func value(of expression: String, within limit: Duration) async throws -> JSONValue {
        let answer = try await send(
            "Runtime.evaluate",
            [
                "expression": .string(expression), "awaitPromise": true, "returnByValue": true, "userGesture": true,
            ], within: limit)
        if let details = answer["exceptionDetails"] {
            let said = details["exception"]?["description"]?.stringValue ?? details["text"]?.stringValue ?? ""
            throw BrowserFault("\(said) in: \(expression.prefix(400))")
        }
        return answer["result"]?["value"] ?? .null
    }

    /// Returns when an expression of JavaScript is true, also where the page is loaded anew meanwhile. The page looks whenever
    /// its document changes, and every 50 ms. What the expression throws counts as not yet.
    /// - Throws: ``BrowserFault`` where it is not within `limit`.
    public func wait(until condition: String, within limit: Duration = .seconds(30)) async throws {
        let end = ContinuousClock.now + limit
        var last = ""
        repeat {
            let left = max(0, Int((end - ContinuousClock.now) / .milliseconds(1)))
            do {
                if try await evaluate(Self.waiting(for: condition, left), within: .milliseconds(left + 5000)) { return }
            } catch let fault as BrowserFault {
                // The page that was asked is no longer there.
                guard fault.description.contains("context") || fault.description.contains("navigat") else {
                    throw fault
                }
                last = " (\(fault))"
            }
        } while ContinuousClock.now < end
        throw BrowserFault("This did not happen within \(limit): \(condition)\(last)")
    }

    private static func waiting(for condition: String, _ milliseconds: Int) -> String {
        """
        new Promise((done) => {
          const end = performance.now() + \(milliseconds);
          const holds = () => { try { return Boolean(\(condition)); } catch { return false; } };
          let observer, timer;
          const finish = (found) => { observer?.disconnect(); clearInterval(timer); done(found); };
          const look = () => { if (holds()) finish(true); else if (performance.now() > end) finish(false); };
          observer = new MutationObserver(look);
          observer.observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
          timer = setInterval(look, 50);
          look();
        })
        """
    }

    // MARK: The window

    /// Makes the window so many CSS pixels large.
    /// - Parameters:
    ///   - scale: device pixels a CSS pixel.
    ///   - dark: whether the person prefers dark colours.
    ///   - reducesMotion: whether the person wants nothing to move.
    ///   - touch: whether it is a phone's: fingers, and its way of laying out pages.
    public func emulate(
        width: Int, height: Int, scale: Double = 1, dark: Bool = false, reducesMotion: Bool = true, touch: Bool = false
    ) async throws {
        try await send(
            "Emulation.setDeviceMetricsOverride",
            [
                "width": .integer(Int64(width)), "height": .integer(Int64(height)), "deviceScaleFactor": .number(scale),
                "mobile": .bool(touch),
            ])
        try await send("Emulation.setTouchEmulationEnabled", ["enabled": .bool(touch)])
        let media: [JSONValue] = [
            ["name": "prefers-color-scheme", "value": dark ? "dark" : "light"],
            ["name": "prefers-reduced-motion", "value": reducesMotion ? "reduce" : "no-preference"],
        ]
        try await send("Emulation.setEmulatedMedia", ["features": .array(media)])
    }

    /// Asks pages for another language from the next load on, such as `de-DE`.
    public func speak(_ language: String) async throws {
        try await send(
            "Emulation.setUserAgentOverride",
            ["userAgent": .string(browser.userAgent), "acceptLanguage": .string(language)])
        try await send("Emulation.setLocaleOverride", ["locale": .string(language)])
    }

    /// What the window shows, as a PNG file.
    public func screenshot() async throws -> Data {
        let answer = try await send("Page.captureScreenshot", ["format": "png"])
        guard let text = answer["data"]?.stringValue, let data = Data(base64Encoded: text) else {
            throw BrowserFault("The browser has made no picture.")
        }
        return data
    }
}
