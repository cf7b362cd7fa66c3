import Foundation
import ServiceMesh
import Synchronization

/// A Chromium without a window, with a profile of its own that goes when it ends.
///
/// It talks to this machine alone: every other name is unknown to it. It ends with this value, and with this process.
public final class Browser: Sendable {
    private let socket: DevToolsSocket
    private let process: Ended
    private let profile: String
    /// As the browser calls itself to servers.
    let userAgent: String
    public let pid: Int32

    /// A process's end. A class, because the handler is set before there is a browser.
    private final class Ended: Sendable {
        private struct State {
            var hasEnded = false
            var waiting: [CheckedContinuation<Void, Never>] = []
        }

        private let state = Mutex(State())

        func tell() {
            let waiting = state.withLock { state in
                state.hasEnded = true
                defer { state.waiting = [] }
                return state.waiting
            }
            for continuation in waiting { continuation.resume() }
        }

        var hasEnded: Bool { state.withLock { $0.hasEnded } }

        func wait() async {
            await withCheckedContinuation { continuation in
                let hasEnded = state.withLock { state in
                    if !state.hasEnded { state.waiting.append(continuation) }
                    return state.hasEnded
                }
                if hasEnded { continuation.resume() }
            }
        }
    }

    /// Where Chromium is, or nil where PATH has none.
    public static var program: String? {
        let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin").split(separator: ":")
        return ["chromium", "chromium-browser", "google-chrome"].lazy
            .flatMap { name in folders.map { "\($0)/\(name)" } }
            .first { access($0, X_OK) == 0 }
    }

    /// Starts one, and returns when it answers.
    /// - Parameters:
    ///   - language: that it asks pages for at first, such as `de-DE`; also of its dates and numbers.
    ///   - arguments: beside those that every browser gets here.
    /// - Throws: ``BrowserFault`` where there is no Chromium, or it does not start; with what it said.
    public static func start(language: String = "en-GB", arguments: [String] = []) async throws -> Browser {
        guard let program else {
            throw BrowserFault("There is no Chromium. Install it: apt-get install chromium.")
        }
        let profile = FileManager.default.temporaryDirectory.path + "/browser-\(UUID().uuidString)"
        try FileManager.default.createDirectory(
            atPath: profile, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        do {
            return try await Browser(program, arguments: arguments, language: language, profile: profile)
        } catch {
            let said = (try? String(contentsOfFile: profile + "/said", encoding: .utf8)) ?? ""
            try? FileManager.default.removeItem(atPath: profile)
            throw BrowserFault("\(program) does not start: \(error) \(said.suffix(800))")
        }
    }

    private init(_ program: String, arguments: [String], language: String, profile: String) async throws {
        var ends: [Int32] = [-1, -1]
        guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0, &ends) == 0 else {
            throw BrowserFault("There are no sockets left.")
        }
        let socket = DevToolsSocket(ends[0])
        let far = FileHandle(fileDescriptor: ends[1], closeOnDealloc: true)
        let said = profile + "/said"
        _ = FileManager.default.createFile(atPath: said, contents: nil)
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        // The protocol's descriptors are 3 and 4; Foundation hands over only the first three.
        process.arguments =
            ["-c", #"exec "$0" "$@" 3<&0 4>&1 </dev/null >/dev/null"#, program]
            + Self.arguments(language: language, profile: profile) + arguments
        var environment = ProcessInfo.processInfo.environment
        environment["HOME"] = profile
        environment["LANGUAGE"] = language
        process.environment = environment
        process.standardInput = far
        process.standardOutput = far
        process.standardError = try FileHandle(forWritingTo: URL(fileURLWithPath: said))
        let ended = Ended()
        process.terminationHandler = { _ in ended.tell() }
        do {
            try process.run()
        } catch {
            socket.shutDown()
            throw error
        }
        // Only the browser has it now, so that its end is told to the thread that reads.
        try far.close()
        do {
            let version = try await socket.send("Browser.getVersion", [:], session: nil, within: .seconds(60))
            userAgent = version["userAgent"]?.stringValue ?? ""
        } catch {
            socket.shutDown()
            kill(process.processIdentifier, SIGKILL)
            throw error
        }
        self.socket = socket
        self.process = ended
        self.profile = profile
        pid = process.processIdentifier
    }

    private static func arguments(language: String, profile: String) -> [String] {
        var arguments = [
            "--headless=new", "--remote-debugging-pipe", "--user-data-dir=\(profile)", "--lang=\(language)",
            "--no-first-run", "--no-default-browser-check", "--disable-background-networking",
            "--disable-component-update", "--disable-sync", "--disable-extensions", "--disable-default-apps",
            "--disable-features=Translate,OptimizationHints,MediaRouter", "--password-store=basic",
            "--use-mock-keychain",
            // Machines that run tests have no graphics card, and the one in software is slower than none.
            "--disable-gpu",
            // A container's /dev/shm is small, and a page that finds it full crashes.
            "--disable-dev-shm-usage",
            // Pages in the background are measured and tested like those in front.
            "--disable-background-timer-throttling", "--disable-backgrounding-occluded-windows",
            "--disable-renderer-backgrounding",
            "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE 127.0.0.1",
        ]
        // Chromium's own sandbox refuses to work for root, as whom containers run tests. The pages are ours alone.
        if geteuid() == 0 { arguments.append("--no-sandbox") }
        return arguments
    }

    deinit {
        socket.shutDown()
        if !process.hasEnded { kill(pid, SIGKILL) }
        try? FileManager.default.removeItem(atPath: profile)
    }

    /// Ends it, and returns when it has ended and its profile is gone.
    public func close() async throws {
        _ = try? await socket.send("Browser.close", [:], session: nil, within: .seconds(5))
        socket.shutDown()
        let pid = pid
        let process = process
        // One that hangs is ended the hard way.
        let late = DispatchWorkItem { if !process.hasEnded { kill(pid, SIGKILL) } }
        DispatchQueue.global().asyncAfter(deadline: .now() + 5, execute: late)
        await process.wait()
        late.cancel()
        try? FileManager.default.removeItem(atPath: profile)
    }

    /// A new page, empty, 1280 by 800 CSS pixels.
    /// - Parameters:
    ///   - page: whose cookies, storage and service worker it shares: another tab. Without one it is another device.
    ///   - logsRequests: whether ``Page/requests`` are kept; without, measuring is not disturbed by it.
    public func newPage(beside page: Page? = nil, logsRequests: Bool = true) async throws -> Page {
        let context: String
        if let page {
            context = page.context
        } else {
            context = try await send("Target.createBrowserContext", [:])["browserContextId"]?.stringValue ?? ""
        }
        let target = try await send(
            "Target.createTarget", ["url": "about:blank", "browserContextId": .string(context)])["targetId"]
        let session = try await send("Target.attachToTarget", ["targetId": target ?? .null, "flatten": true])
        guard let session = session["sessionId"]?.stringValue, let target = target?.stringValue else {
            throw BrowserFault("The browser has made no page.")
        }
        return try await Page(
            of: self, socket, context: context, target: target, session: session, logsRequests: logsRequests)
    }

    /// A command of the DevTools protocol to the browser itself, and its result.
    /// - Throws: ``BrowserFault``.
    @discardableResult
    public func send(
        _ method: String, _ parameters: [String: JSONValue] = [:], within limit: Duration = .seconds(30)
    ) async throws -> JSONValue {
        try await socket.send(method, parameters, session: nil, within: limit)
    }
}
