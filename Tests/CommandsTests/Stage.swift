import ControlSocket
import Foundation
import LibraryModel
import ServiceMesh
import Synchronization

@testable import CommandLineInterface
@testable import Commands

/// A place to run the program in without a daemon: answers by method, and what was written to either side.
final class Stage: Sendable {
    private struct State {
        var results = ""
        var messages = ""
        var calls: [(method: String, params: JSONValue)] = []
        var answers: [String: [Result<String, CommandFailure>]] = [:]
        var updates: [String: [String]] = [:]
        /// Beside the answers of a method, in their order.
        var files: [String: [[OwnedFile]]] = [:]
        var questions: [String] = []
        /// What a person types where it is not shown, one after the other.
        var secrets: [String] = []
    }

    private let state = Mutex(State())
    private let terminalColumns: Int?
    private let environment: [String: String]
    private let personSays: String?
    private let hasPerson: Bool
    /// What comes on standard input.
    private let input: [UInt8]
    /// Waited for before the reply of an observation, so that a test can act in between.
    private let gate: (@Sendable () async -> Void)?
    /// Called after a job was cancelled, and after anything was said on standard error.
    private let onCancel: @Sendable () -> Void
    private let onMessage: @Sendable () -> Void
    let currentFolder: String

    init(
        terminalColumns: Int? = nil, environment: [String: String] = [:], currentFolder: String = "/home/ada",
        personSays: String? = nil, secrets: [String] = [], input: [UInt8] = [],
        gate: (@Sendable () async -> Void)? = nil,
        onCancel: @escaping @Sendable () -> Void = {}, onMessage: @escaping @Sendable () -> Void = {}
    ) {
        self.onCancel = onCancel
        self.onMessage = onMessage
        self.terminalColumns = terminalColumns
        self.environment = environment
        self.currentFolder = currentFolder
        self.personSays = personSays
        hasPerson = !secrets.isEmpty || personSays != nil
        state.withLock { $0.secrets = secrets }
        self.input = input
        self.gate = gate
    }

    // MARK: Preparing

    /// The next answer to `method`. The last one is given again and again.
    func answer(_ method: String, _ json: String) { put(method, .success(json)) }

    /// The same with open files beside it.
    func answer(_ method: String, _ json: String, files: [OwnedFile]) {
        answer(method, json)
        state.withLock { $0.files[method, default: []].append(files) }
    }

    func answer(_ method: String, _ value: some Encodable) throws {
        put(method, .success(String(decoding: try JSONEncoder().encode(value), as: UTF8.self)))
    }

    /// The only answer to `method` from now on.
    func replace(_ method: String, _ value: some Encodable) throws {
        state.withLock { $0.answers[method] = nil }
        try answer(method, value)
    }

    func fail(_ method: String, _ failure: CommandFailure) { put(method, .failure(failure)) }

    func updates(_ method: String, _ values: [String]) { state.withLock { $0.updates[method] = values } }

    private func put(_ method: String, _ answer: Result<String, CommandFailure>) {
        state.withLock { $0.answers[method, default: []].append(answer) }
    }

    // MARK: Running

    func run(_ arguments: String...) async -> ExitCode { await program.run(arguments) }

    var program: Program {
        Program(
            environment: environment, currentFolder: currentFolder, console: console,
            connect: { [self] _ in Connection(stage: self) })
    }

    var console: Console {
        func side(_ write: @escaping @Sendable (String) -> Void) -> Console.Side {
            Console.Side(
                isTerminal: terminalColumns != nil, columns: { [terminalColumns] in terminalColumns },
                write: write)
        }
        let results = side { [self] text in state.withLock { $0.results += text } }
        let messages = side { [self] text in
            state.withLock { $0.messages += text }
            onMessage()
        }
        return Console(
            results: results, messages: messages, environment: environment,
            ask: { [self] question in
                state.withLock { $0.questions.append(question) }
                return personSays
            },
            secret: { [self] question in
                state.withLock { state in
                    state.questions.append(question)
                    return state.secrets.isEmpty ? nil : Array(state.secrets.removeFirst().utf8)
                }
            }, hasPerson: hasPerson,
            input: { [input] limit in Array(input.prefix(limit + 1)) })
    }

    func session(wantsJSON: Bool = false, interrupts: AsyncStream<Void>? = nil) -> Session {
        var session = Session(
            console: console, environment: environment, currentFolder: currentFolder, socketPath: "/run/test.sock",
            wantsJSON: wantsJSON, connect: { [self] _ in Connection(stage: self) },
            pins: PINEntry(console: console, file: nil))
        session.interrupts = { interrupts ?? AsyncStream { _ in } }
        session.leave = { _ in }
        return session
    }

    var connection: any LibraryConnection { Connection(stage: self) }

    // MARK: Looking

    var results: String { state.withLock { $0.results } }
    var messages: String { state.withLock { $0.messages } }
    var questions: [String] { state.withLock { $0.questions } }
    var methods: [String] { state.withLock { $0.calls.map(\.method) } }

    /// The params of the latest call of `method`.
    func params(_ method: String) -> JSONValue? {
        state.withLock { $0.calls.last { $0.method == method }?.params }
    }

    /// The params of all calls of `method`, in order.
    func allParams(_ method: String) -> [JSONValue] {
        state.withLock { $0.calls.filter { $0.method == method }.map(\.params) }
    }

    func json() throws -> JSONValue { try JSONDecoder().decode(JSONValue.self, from: Data(results.utf8)) }

    private struct Connection: LibraryConnection {
        let stage: Stage

        func call(_ method: String, params: Data) async throws -> Data {
            let value = try JSONDecoder().decode(JSONValue.self, from: params)
            let answer = stage.state.withLock { state -> Result<String, CommandFailure>? in
                state.calls.append((method, value))
                guard let next = state.answers[method]?.first else { return nil }
                if let left = state.answers[method]?.count, left > 1 { state.answers[method]?.removeFirst() }
                return next
            }
            guard let answer else {
                throw CommandFailure.refused(MeshError(.unimplemented, "The test has no answer to \(method)."))
            }
            if method == "job.cancel" { stage.onCancel() }
            return Data(try answer.get().utf8)
        }

        func callForFiles(_ method: String, params: Data) async throws -> ControlReply {
            let json = try await call(method, params: params)
            let files = stage.state.withLock { state in
                state.files[method]?.isEmpty == false ? state.files[method]?.removeFirst() : nil
            }
            return ControlReply(json: json, files: files ?? [])
        }

        func watch(
            _ method: String, params: Data, onUpdate: @escaping @Sendable (ObservedUpdate) async throws -> Void
        ) async throws -> Data {
            for (index, update) in stage.state.withLock({ $0.updates[method] ?? [] }).enumerated() {
                try await onUpdate(
                    ObservedUpdate(sequence: UInt64(index + 1), value: Data(update.utf8), overflowed: false))
            }
            if let gate = stage.gate { await gate() }
            return try await call(method, params: params)
        }

        func close() async {}
    }
}

/// Values that many tests need.
enum Sample {
    static let categories = CategoryList(categories: [
        category(1, "Family", photos: 3), category(2, "Cars"), category(3, "Été"),
    ])

    static func category(_ id: Int64, _ name: String, photos: Int = 0) -> Category {
        Category(
            id: id, displayName: name, position: Int(id) - 1, iconResource: nil, colorHex: "#4CAF50", isDefault: false,
            createdAt: Timestamp(milliseconds: 0), photoCount: photos)
    }

    static let hello = """
        {"version":"\(Release.version)","methodsVersion":"1","library":"/srv/photos","pid":4711,"role":"parent",
        "limits":{"lineBytes":1,"resultBytes":1,"requestsInFlight":1,"connections":1}}
        """

    static let status = status(ImageWorkerStatus(started: 2, crashed: 0, timedOut: 0, pids: [], peakMemoryBytes: 0))

    static func status(_ workers: ImageWorkerStatus, photos: Int = 3) -> LibraryStatus {
        LibraryStatus(
            version: Release.version, pid: 4711, path: "/srv/photos", photos: photos, favorites: 1, categories: 3,
            trashed: 2, photoBytes: 12_345_678, photosWithoutOriginal: 0, freeBytes: 5_000_000_000,
            lastBackupDate: nil, imageWorkers: workers, peakMemoryBytes: 0)
    }

    static func photo(
        _ id: Int64, name: String = "beach", path: String? = nil, size: Int64 = 5, caption: String? = nil
    ) -> Photo {
        Photo(
            id: id, uuid: "0b1c2d3e-0000-4000-8000-00000000000\(id % 10)", path: path ?? "photos/IMG_\(id).jpg",
            categoryId: 1, name: name, caption: caption, isFromAssets: false,
            createdAt: Timestamp(milliseconds: 1_750_000_000_000), fileSize: size, width: 2048, height: 1536,
            isFavorite: id == 1, takenAt: nil, contentDigest: String(repeating: "ab", count: 32),
            mediaType: "image/jpeg")
    }

    /// An import's snapshot as the daemon sends it.
    static func importJob(
        state: JobState = .finished, needsAttention: Bool = false, outcomes: [String: Int] = ["imported": 2],
        ending: JobEnding = .complete, isDryRun: Bool = false
    ) throws -> String {
        let files = outcomes.values.reduce(0, +)
        let receipt = ImportReceipt(
            categoryId: 1, files: files, imported: outcomes["imported"] ?? 0, reduced: 0, completed: 0,
            duplicates: outcomes["duplicate"] ?? 0, problems: outcomes["damaged"] ?? 0,
            notDone: outcomes["cancelled"] ?? 0, passedOver: [:], isDryRun: isDryRun, ending: ending)
        return try job(
            "library.import", state: state, needsAttention: needsAttention, outcomes: outcomes,
            receipt: state == .failed ? nil : receipt)
    }

    static func job(
        _ method: String, state: JobState = .finished, needsAttention: Bool = false, outcomes: [String: Int] = [:],
        receipt: (any Encodable & Sendable)? = nil, error: MeshError? = nil, obstacle: MeshError? = nil,
        phase: String = "importing", done: Int = 0, total: Int? = nil
    ) throws -> String {
        var members: [String: JSONValue] = [
            "id": "import-3f9a2c", "method": .string(method), "state": .string(state.rawValue),
            "needsAttention": .bool(needsAttention), "startedAt": "2025-06-15T10:00:00Z",
            "outcomes": .object(outcomes.mapValues { .integer(Int64($0)) }),
        ]
        var progress: [String: JSONValue] = [
            "phase": .string(phase), "itemsDone": .integer(Int64(done)), "bytesDone": 0, "rate": .number(2.5),
        ]
        if let total { progress["itemsTotal"] = .integer(Int64(total)) }
        members["progress"] = .object(progress)
        if let receipt {
            members["receipt"] = try JSONDecoder().decode(JSONValue.self, from: JSONEncoder().encode(receipt))
        }
        for (name, error) in [("error", error), ("obstacle", obstacle)] {
            guard let error else { continue }
            members[name] = try JSONDecoder().decode(JSONValue.self, from: JSONEncoder().encode(error))
        }
        return String(decoding: try JSONEncoder().encode(JSONValue.object(members)), as: UTF8.self)
    }
}
