import ControlSocket
import Foundation
import ServiceMesh
import Synchronization

/// `GET /events`: observations as server-sent events.
extension Router {
    /// What is asked for in one `observe` of the address.
    struct Wanted: Decodable, Sendable {
        /// Chosen by the page, and told with every change.
        let id: String
        let method: String
        let params: JSONValue?
    }

    /// Observations of one stream, and bytes of an id.
    private static let mostObservations = 16
    private static let idBytes = 64

    func events(_ head: RequestHead, _ visitor: Visitor) throws -> Intake {
        let wanted = try head.query.filter { $0.name == "observe" }.map { item in
            guard let wanted = try? JSONDecoder().decode(Wanted.self, from: Data(item.value.utf8)),
                wanted.id.utf8.count <= Self.idBytes
            else {
                throw Refusal(
                    400, .invalidArgument,
                    "Each 'observe' is {\"id\":…,\"method\":…,\"params\":{…}}, with an id of at most \(Self.idBytes) bytes."
                )
            }
            return wanted
        }
        guard (1...Self.mostObservations).contains(wanted.count), Set(wanted.map(\.id)).count == wanted.count else {
            throw Refusal(
                400, .invalidArgument,
                "A stream has 1 to \(Self.mostObservations) 'observe' in its address, each with an id of its own.")
        }
        let lastID = head.header("last-event-id").flatMap(UInt64.init) ?? 0
        // One that has no room left would begin again.
        let after = lastID < UInt64.max / 2 ? lastID : 0
        return .ask(bodyBytes: 0) { [methods] _ in
            await Response.of {
                let session = try await visitor.session()
                let stream = EventStream(after: after, now: MonotonicClock.now())
                guard session.begin(stream, observations: wanted.count) else {
                    throw Refusal(
                        429, .resourceExhausted,
                        "This browser observes too much at once. Close some of its windows with SmilePile.",
                        headers: [Header("Retry-After", "5")])
                }
                let relay = ObservationRelay(stream: stream, session: session, methods: methods)
                let task = Task { await relay.run(wanted) }
                stream.onLeave { task.cancel() }
                return Response(
                    200,
                    headers: [
                        Header("Content-Type", "text/event-stream"), Header("Cache-Control", "no-store"),
                        // A proxy that waits until it has a page full would keep them all.
                        Header("X-Accel-Buffering", "no"),
                    ], body: .events(stream))
            }
        }
    }
}

/// Brings the changes of some observations into one stream of events, also when the daemon is restarted meanwhile.
///
/// | Event | Data |
/// |---|---|
/// | `change` | `{"id":…,"sequence":…,"value":…}`, and `"overflow":true` where values before it were left out |
/// | `failed` | `{"id":…,"error":…}`: no more comes of this one |
/// | `ended` | `{"id":…,"value":…}`: it has come to its end, as `job.watch` does, and this is its reply |
/// | `away`, `back` | `{}`: the daemon is gone; it is there again, and every observation begins with its current value |
private final class ObservationRelay: Sendable {
    /// Between two attempts to reach the daemon; the first is soon, for one that was only restarted.
    private static let firstPause = Duration.milliseconds(100)
    private static let longestPause = Duration.seconds(2)

    private let stream: EventStream
    private let session: DeviceSession
    private let methods: Methods
    private let isAway = Mutex(false)

    init(stream: EventStream, session: DeviceSession, methods: Methods) {
        self.stream = stream
        self.session = session
        self.methods = methods
    }

    /// Returns when nothing more will come, or the task is cancelled.
    func run(_ wanted: [Router.Wanted]) async {
        await withTaskGroup(of: Void.self) { group in
            for one in wanted {
                group.addTask { await self.follow(one) }
            }
        }
        session.end(stream, observations: wanted.count)
        stream.end()
    }

    private func follow(_ wanted: Router.Wanted) async {
        var pause = Self.firstPause
        while !Task.isCancelled {
            do {
                let connection = try await session.connection()
                try await methods.checkObservation(wanted.method, on: connection)
                tellBack()
                pause = Self.firstPause
                let value = try await observe(wanted, on: connection)
                return send("ended", wanted.id, ",\"value\":", value)
            } catch let error as MeshError where error.status != .unavailable {
                if error.status == .cancelled, Task.isCancelled { return }
                // The object itself, without the name that it has in a reply.
                let object = Data(ErrorObject.json(error).dropFirst("{\"error\":".utf8.count).dropLast())
                return send("failed", wanted.id, ",\"error\":", object)
            } catch {
                tellAway()
            }
            // A timer by nature: between two tries to reach a daemon that is away, longer each time. Cancelled, it ends.
            try? await Task.sleep(for: pause)
            pause = min(pause * 2, Self.longestPause)
        }
    }

    private func observe(_ wanted: Router.Wanted, on connection: any DaemonConnection) async throws -> Data {
        let params = try wanted.params.map { try JSONEncoder().encode($0) } ?? Data()
        let stream = stream
        let name = JSONText.quoted(wanted.id)
        let key = "change/" + wanted.id
        return try await connection.observe(method: wanted.method, params: params) { update in
            let event = EventStream.Event(name: "change") { overflowed in
                var data = Array("{\"id\":\(name),\"sequence\":\(update.sequence)".utf8)
                if overflowed || update.overflowed { data += ",\"overflow\":true".utf8 }
                data += ",\"value\":".utf8
                data += update.value
                data.append(UInt8(ascii: "}"))
                return data
            }
            stream.send(event, key: key)
        }
    }

    private func send(_ event: String, _ id: String, _ member: String, _ value: Data) {
        let begin = "{\"id\":\(JSONText.quoted(id))\(member)"
        stream.send(
            EventStream.Event(name: event) { _ in Array(begin.utf8) + value + [UInt8(ascii: "}")] },
            key: event + "/" + id)
    }

    private func tellAway() { tell(away: true, "away") }

    private func tellBack() { tell(away: false, "back") }

    /// Once for all observations of the stream.
    private func tell(away: Bool, _ name: String) {
        let isNews = isAway.withLock { isAway in
            defer { isAway = away }
            return isAway != away
        }
        if isNews { stream.send(EventStream.Event(name: name) { _ in Array("{}".utf8) }, key: "daemon") }
    }
}

/// Text as JSON.
enum JSONText {
    static func quoted(_ text: String) -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.withoutEscapingSlashes]
        return (try? encoder.encode(text)).map { String(decoding: $0, as: UTF8.self) } ?? "\"\""
    }
}
