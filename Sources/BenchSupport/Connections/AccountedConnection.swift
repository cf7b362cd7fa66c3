import Foundation
import ServiceMesh

/// Requests and replies of one client, whichever link they go through, and their accounts: each request has one reply,
/// and no reply comes without a request.
package final class AccountedConnection {
    /// What became of a request, for whoever keeps track of what the library must hold.
    package enum Ending {
        case done(Data)
        /// Refused: nothing was done.
        case refused(ReplyFault)
        /// Cancelled, too late, or without an answer: done or not.
        case unknown

        package init(_ fault: ReplyFault) {
            switch fault.data.status {
            case .cancelled, .deadlineExceeded, .unavailable, .internal, .dataLoss: self = .unknown
            default: self = .refused(fault)
            }
        }
    }

    private struct Pending {
        let method: String
        let request: String
        let began: UInt64
        let waits: Bool
        let take: (Ending) -> Void
    }

    struct Silent: Error, CustomStringConvertible {
        let description: String
    }

    /// A reply that takes longer is missing. Far above what the slowest job and the busiest machine need.
    private static let patience: UInt64 = 60_000_000_000

    package let name: String
    let socket: String
    package var ledger = RequestLedger()
    private var link: LineLink?
    private var pending: [Int: Pending] = [:]
    private var lastID = 0
    /// Whether something was refused to the connection's role.
    package private(set) var wasDenied = false
    private var refusalsExpected = 0
    /// Whether nothing more may be sent: the daemon would not take it.
    private var isOutputOver = false
    /// Whether the time from request to reply says something about the daemon.
    package var isTimed = true

    package init(name: String, socket: String) {
        self.name = name
        self.socket = socket
    }

    // MARK: The link

    package func open() throws {
        link = try LineLink(path: socket)
        isOutputOver = false
        wasDenied = false
        ledger.connections += 1
    }

    /// Requests whose replies depend on nothing else: an observation may go on for as long as its connection.
    package var waiting: Int { pending.values.count { !$0.waits } }

    /// Ends the connection now. What has no reply yet is lost.
    package func close() {
        link?.close()
        link = nil
        refusalsExpected = 0
        let lost = pending.values
        pending = [:]
        for request in lost {
            ledger[request.method].lost += 1
            request.take(.unknown)
        }
    }

    package func endOutput() throws {
        isOutputOver = true
        try pump(reads: true) { self.link?.hasUnsent == true }
        link?.endOutput()
    }

    // MARK: Requests

    /// Writes a request; `take` hears what became of it.
    /// - Parameter waits: its answer comes when something else ends.
    /// - Returns: its id.
    @discardableResult
    package func send<M: Message>(
        _ message: M, deadlineMs: Int? = nil, waits: Bool = false, _ take: @escaping (Ending) -> Void
    ) throws -> Int {
        try send(M.method, try JSONEncoder().encode(message), deadlineMs: deadlineMs, waits: waits, take)
    }

    @discardableResult
    package func send(
        _ method: String, _ params: Data, deadlineMs: Int? = nil, waits: Bool = false,
        _ take: @escaping (Ending) -> Void
    ) throws -> Int {
        lastID += 1
        let deadline = deadlineMs.map { ",\"deadlineMs\":\($0)" } ?? ""
        let request =
            "{\"jsonrpc\":\"2.0\",\"id\":\(lastID),\"method\":\"\(method)\"\(deadline),\"params\":"
            + String(decoding: params, as: UTF8.self) + "}"
        pending[lastID] = Pending(
            method: method, request: request, began: MonotonicClock.now(), waits: waits, take: take)
        ledger[method].sent += 1
        put(request + "\n")
        return lastID
    }

    /// Sends what follows from a reply, of which nothing more is to be known than that it is answered.
    package func follow<M: Message>(_ message: M) {
        guard !isOutputOver else { return }
        do {
            try send(message) { _ in }
        } catch {
            ledger.fail("\(name): \(M.method) cannot be written: \(error)")
        }
    }

    package func cancel(_ id: Int) {
        put("{\"jsonrpc\":\"2.0\",\"method\":\"$/cancelRequest\",\"params\":{\"id\":\(id)}}\n")
    }

    /// Writes a line that is longer than a line may be, after which the daemon takes no more.
    package func putOversized() {
        put([UInt8](repeating: UInt8(ascii: " "), count: 3 << 19), refused: true)
        isOutputOver = true
    }

    /// Writes bytes that are no request. With `refused`, they have one answer, which names no request.
    package func put(_ bytes: some Sequence<UInt8>, refused: Bool) {
        if refused {
            refusalsExpected += 1
            ledger.malformed += 1
        }
        link?.put(bytes)
    }

    private func put(_ text: String) { link?.put(Array(text.utf8)) }

    // MARK: Replies

    /// Sends and receives for as long as `condition` holds.
    /// - Throws: ``Silent`` where the daemon ends the connection meanwhile, or nothing comes.
    package func pump(reads: Bool, while condition: () -> Bool) throws {
        var lastMoved = MonotonicClock.now()
        while condition() {
            switch step(milliseconds: 100, reads: reads) {
            case .moved: lastMoved = MonotonicClock.now()
            case .quiet:
                guard MonotonicClock.now() - lastMoved < Self.patience else {
                    throw silent("no reply within \(Self.patience / 1_000_000_000) s")
                }
            case .ended: throw silent("the daemon ended the connection")
            }
        }
    }

    /// Sends what fits and takes what is there, without waiting.
    package func pumpOnce(reads: Bool) throws {
        if step(milliseconds: 0, reads: reads) == .ended { throw silent("the daemon ended the connection") }
    }

    /// Waits for all replies. Requests that wait for something else are cancelled where `isOver` or nothing else is left.
    package func drain(isOver: () -> Bool) throws {
        var hasCancelled = false
        try pump(reads: true) {
            if !hasCancelled, isOver() || pending.values.allSatisfy(\.waits) {
                hasCancelled = true
                for (id, request) in pending where request.waits { cancel(id) }
            }
            return !pending.isEmpty || refusalsExpected > 0
        }
    }

    /// Reads until the daemon ends the connection, which it may only do with every reply given.
    package func readToEnd() throws {
        var lastMoved = MonotonicClock.now()
        reading: while true {
            switch step(milliseconds: 100, reads: true) {
            case .moved: lastMoved = MonotonicClock.now()
            case .quiet:
                guard MonotonicClock.now() - lastMoved < Self.patience else {
                    throw silent("the daemon does not end the connection")
                }
            case .ended: break reading
            }
        }
        if !pending.isEmpty || refusalsExpected > 0 { throw silent("the daemon ended the connection") }
    }

    private func step(milliseconds: Int32, reads: Bool) -> LineLink.Movement {
        guard let link else { return .ended }
        return link.pump(milliseconds: milliseconds, reads: reads) { take($0) }
    }

    private func silent(_ what: String) -> Silent {
        let requests = pending.values.map(\.request).sorted().prefix(3).joined(separator: " ")
        return Silent(
            description: "\(name): \(what), with \(pending.count) requests and \(refusalsExpected) refusals to come: "
                + requests)
    }

    private func take(_ line: ArraySlice<UInt8>) {
        switch AccountedReply(line) {
        case .update: break
        case .result(let id, let data):
            guard let request = finish(id) else { return }
            ledger[request.method].succeeded += 1
            request.take(.done(data))
        case .error(nil, let fault):
            refusalsExpected -= 1
            if refusalsExpected < 0 { ledger.fail("\(name): a refusal that answers nothing: \(fault.message)") }
        case .error(let id?, let fault):
            guard let request = finish(id) else { return }
            if fault.data.status == .permissionDenied { wasDenied = true }
            if fault.isBeforeTheMesh {
                ledger[request.method].faults += 1
            } else {
                ledger[request.method].errors[fault.data.status, default: 0] += 1
            }
            if fault.data.status == .internal || fault.data.status == .dataLoss {
                ledger.fail("\(name): \(fault.data.status.rawValue): \(fault.message) for \(request.request)")
            }
            request.take(Ending(fault))
        case .senseless:
            ledger.fail("\(name): a line that is no reply: \(String(decoding: line.prefix(200), as: UTF8.self))")
        }
    }

    private func finish(_ id: Int) -> Pending? {
        guard let request = pending.removeValue(forKey: id) else {
            ledger.fail("\(name): a second reply, or one to no request: id \(id)")
            return nil
        }
        if isTimed {
            ledger[request.method].microseconds.append(
                UInt32(clamping: (MonotonicClock.now() - request.began) / 1000))
        }
        return request
    }

    // MARK: One at a time

    /// Sends `message` and waits for its reply.
    package func ask<M: Message>(_ message: M) throws -> M.Reply {
        var answer: Result<M.Reply, any Error>?
        try send(message) { ending in
            switch ending {
            case .done(let data): answer = Result { try JSONDecoder().decode(M.Reply.self, from: data) }
            case .refused(let fault):
                answer = .failure(MeshError(fault.data.status, "\(M.method): \(fault.message)"))
            case .unknown: answer = .failure(Silent(description: "\(M.method) was not answered"))
            }
        }
        try pump(reads: true) { answer == nil }
        guard let answer else { throw silent("no answer") }
        return try answer.get()
    }
}
